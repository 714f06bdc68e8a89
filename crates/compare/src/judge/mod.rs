// SPDX-License-Identifier: GPL-2.0-or-later
//! Decides whether a difference is real, for tables, figures, comparisons and checks.
//!
//! - [`Measured`]: a figure with its evidence.
//! - [`together`]: verdicts on pairs of figures, with p values corrected for their number;
//!   [`Judgements`]: on a run's cells and their baselines.
//! - [`Layouts`]: times of several layouts of a kernel, with intervals; [`aa_layouts`]: their false
//!   alarms.
//! - [`unexplained`]: differences outside hooks without a known reason.

mod changes;
mod judgements;
mod layouts;
mod measured;
mod pair;

pub use changes::unexplained;
pub use judgements::{Baselines, Judgements};
pub use layouts::{FEWEST_LAYOUTS, GETPPID, Layouts, OtherKernel, aa_layouts, quiet};
pub use measured::{Measured, figures};
pub use pair::{ALPHA, Judged, together};
