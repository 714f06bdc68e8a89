// SPDX-License-Identifier: GPL-2.0-or-later
//! Run documents of the parts of an experiment become that of the whole.

mod error;
mod merge;
mod read;

pub use error::ClusterError;
pub use merge::{Doubts, MergeError, Merged, Part, by_machine, merge};
pub use read::read_part;
