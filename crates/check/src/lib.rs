// SPDX-License-Identifier: GPL-2.0-or-later
//! Whether instruments agree on the same operations: documents in, a
//! [`CheckDocument`](experiment::CheckDocument) out.
//!
//! [`check()`] puts the hook counts of a profile, of a monitor, of a sweep and the bounds of a
//! placement beside each other. Where two do not agree, [`Facts`] may explain it.
//! [`Transcript`] turns what a guest that monitored itself says, line by line, into counts.
//!
//! Nothing here opens a file or prints.

mod compare;
mod error;
mod facts;
mod line;
mod residual;
mod row;
mod subject;
mod transcript;

pub use compare::{Inputs, check};
pub use error::{CheckError, TranscriptError};
pub use facts::Facts;
pub use line::Line;
pub use subject::{Subject, Wanted};
pub use transcript::{CountedCell, OPERATIONS, Transcript};
