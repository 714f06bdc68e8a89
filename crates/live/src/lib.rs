// SPDX-License-Identifier: GPL-2.0-or-later
//! What a monitor sees, while it sees it.
//!
//! - [`Session`]: a live machine that is watched, interval by interval.
//! - [`show`]: a session, or a recording ([`Replay`]), on a terminal.
//! - [`Publisher`]: the same for Prometheus: [`OpenMetrics`] text on a small HTTP [`Server`].
//!
//! Nothing is printed but by the terminal view, which has the terminal to itself.

mod error;
mod interval;
mod open_metrics;
mod publisher;
mod recorder;
mod replay;
mod serve;
mod session;
mod target;
mod view;

pub use error::LiveError;
pub use open_metrics::{OPEN_METRICS_TYPE, OpenMetrics};
pub use publisher::Publisher;
pub use recorder::{KEPT, joined};
pub use replay::Replay;
pub use serve::{Server, address};
pub use session::{Ended, Keep, Request, Session, Subject};
pub use view::{Reading, Source, show};
