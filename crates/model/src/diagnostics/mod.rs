// SPDX-License-Identifier: GPL-2.0-or-later
//! Error reporting.
//!
//! - [`Exit`]: exit codes.
//! - [`Fault`]: an error's exit code and hint.
//! - [`Failure`]: an error that is only shown.
//! - [`printable`], [`harmless`]: make untrusted text safe for a terminal.
//! - [`collect_libbpf_warning`] and [`take_libbpf_warnings`]: messages of libbpf.

mod callback;
mod exit;
mod fault;
mod text;

pub use callback::{collect_libbpf_warning, take_libbpf_warnings};
pub use exit::{EXIT_STATUS_HELP, Exit};
pub use fault::{Failure, Fault};
pub use text::{harmless, listed, printable};
