// SPDX-License-Identifier: GPL-2.0-or-later
//! Merges result files of an experiment's parts.

mod merge;

pub use merge::{Doubts, Merged, Part, by_machine, merge};
