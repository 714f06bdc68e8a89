// SPDX-License-Identifier: GPL-2.0-or-later
//! What others published, alone and beside a run's own: tables of it for
//! [`crate::terminal`] and [`crate::markdown`], and records for programs.

mod alternatives;
mod publication;
mod records;
mod single;
mod tables;

pub use publication::publication_report;
pub use records::published_records;
pub use tables::{beside_report, published_report};
