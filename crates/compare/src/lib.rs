// SPDX-License-Identifier: GPL-2.0-or-later
//! Compares result files: finds what differs, and decides whether the difference is real.
//!
//! Measurements become items (a key, a figure and its evidence). Items of both sides are paired,
//! [`judge`] decides which differences are real, and a gate checks each pair's limit. This crate
//! does no I/O.
//!
//! - [`compare`]: two files; [`across`]: measurements of one run along an axis;
//!   [`with_baselines`]: a run's measurements with their baselines.
//! - [`Budget`]: limits by benchmark.
//! - [`aa`]: false alarms in runs of an experiment without a change.

mod aa;
mod across;
pub mod bisect;
mod budget;
mod compare;
mod doubt;
mod environment;
mod explain;
mod gate;
mod item;
pub mod judge;
mod pair;
pub mod parts;
mod recordings;

pub use aa::{aa, keep_figures};
pub use across::{across, with_baselines};
pub use budget::{BUDGET_LIMIT_BYTES, Budget};
pub use compare::{Named, Options, compare};
