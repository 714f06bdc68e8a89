// SPDX-License-Identifier: GPL-2.0-or-later
//! Whether a difference is real: asked by tables, figures, comparisons and checks.
//!
//! - [`Measured`]: a cell's figure, and what stands behind it.
//! - [`together`]: what each of many pairs of figures says, p values corrected for how many
//!   pairs there are; [`Judgements`]: the same of a run's cells and their baselines.
//! - [`Layouts`]: times of several layouts of a kernel, and intervals over them; [`aa_layouts`]: how
//!   many of these are false.
//! - [`unexplained`]: what differs outside hooks for no known reason.

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
