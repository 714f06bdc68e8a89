// SPDX-License-Identifier: GPL-2.0-or-later
//! What another stack would cost where calls of hooks were recorded: documents in, a
//! [`PredictionDocument`](model::PredictionDocument) out.
//!
//! [`Load`]s are calls that were recorded, [`Costs`] what a call costs in the lab under each
//! stack. [`predict()`] multiplies.
//!
//! Nothing here opens a file or prints.

mod costs;
mod doubt;
mod error;
mod forms;
mod load;
mod predict;

pub use costs::{Cost, Costs, Wanted};
pub use error::PredictError;
pub use load::{Load, Recorded, Recording};
pub use predict::predict;
