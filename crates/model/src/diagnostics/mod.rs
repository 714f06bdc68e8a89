// SPDX-License-Identifier: GPL-2.0-or-later
//! How lsmeter tells its user that something went wrong.
//!
//! - [`Exit`]: how a process ends, the one place where the codes are defined.
//! - [`Fault`]: what every room's errors know of themselves: an exit code and a hint.
//! - [`Failure`]: an error that only has to be shown.
//! - [`printable`], [`harmless`]: text from outside, made harmless for a terminal.
//! - [`heard`]: what a C library prints, as text.

mod callback;
mod exit;
mod fault;
mod text;

pub use callback::heard;
pub use exit::{EXIT_STATUS_HELP, Exit};
pub use fault::{Failure, Fault};
pub use text::{harmless, listed, printable};
