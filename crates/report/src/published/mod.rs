// SPDX-License-Identifier: GPL-2.0-or-later
//! Published figures, alone and next to a run's own.

mod publication;
mod tables;

pub use publication::publication_report;
pub use tables::{beside_report, published_records, published_report};
