// SPDX-License-Identifier: GPL-2.0-or-later
//! What a monitor sees, while it sees it.
//!
//! - [`Session`]: a live machine that is watched, interval by interval.
//! - [`show`]: a session, or a recording ([`Replay`]), on a terminal.
//! - [`Textfile`]: the same for Prometheus, by way of `node_exporter`.
//!
//! Nothing is printed but by the terminal view, which has the terminal to itself.

mod interval;
mod recorder;
mod replay;
mod session;
mod target;
mod textfile;
mod view;

pub use recorder::{KEPT, joined};
pub use replay::Replay;
pub use session::{Ended, Keep, Request, Session, Subject};
pub use textfile::{Metrics, Textfile};
pub use view::{Reading, Source, show};
