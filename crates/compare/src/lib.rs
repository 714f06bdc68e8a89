// SPDX-License-Identifier: GPL-2.0-or-later
//! What differs between two documents, and whether it is real.
//!
//! Data goes one way: a document's cells become items (a key, a figure and what stands
//! behind it), items of two sides are paired, [`judge`] says which
//! differences are real, and a gate asks each pair for its limit. Documents in, a document out: no I/O.
//!
//! - [`compare`]: two documents; [`across`]: cells of one run along an axis; [`with_baselines`]: those
//!   of a run with their baselines.
//! - [`Budget`]: how much worse each benchmark may be.
//! - [`aa`]: what runs of an experiment without a change say of the machine.

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

pub use aa::{aa, aa_doubt, keep_figures};
pub use across::{across, with_baselines};
pub use budget::{BUDGET_LIMIT_BYTES, Budget};
pub use compare::{Named, Options, compare};
