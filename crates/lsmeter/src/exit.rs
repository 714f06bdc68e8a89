// SPDX-License-Identifier: GPL-2.0-or-later
//! Exit codes, as the help lists them.

pub use diagnostics::{EXIT_STATUS_HELP as HELP, Exit};
