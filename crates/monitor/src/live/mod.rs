// SPDX-License-Identifier: GPL-2.0-or-later
//! A monitor's data while it runs.
//!
//! - [`Session`]: watches a live machine, interval by interval.
//! - [`show`]: a session, or a recording ([`Replay`]), on a terminal.
//! - [`Textfile`]: the same for Prometheus, through `node_exporter`.

mod interval;
mod replay;
mod session;
mod target;
mod textfile;
mod view;

pub use replay::Replay;
pub use session::{Ended, Keep, Request, Session, Subject};
pub use textfile::{Metrics, Textfile};
pub use view::{Reading, Source, show};
