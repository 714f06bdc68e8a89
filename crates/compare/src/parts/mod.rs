// SPDX-License-Identifier: GPL-2.0-or-later
//! Run documents of the parts of an experiment become that of the whole.

mod merge;

pub use merge::{Doubts, Merged, Part, by_machine, merge};
