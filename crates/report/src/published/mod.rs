// SPDX-License-Identifier: GPL-2.0-or-later
//! What others published, alone and beside a run's own: tables of it for
//! [`crate::terminal`] and [`crate::markdown`], and CSV for programs.

mod csv;
mod tables;

pub use csv::{BESIDE_CSV_COLUMNS, PUBLISHED_CSV_COLUMNS, beside_csv, published_csv};
pub use tables::{beside_report, published_report};
