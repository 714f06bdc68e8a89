// SPDX-License-Identifier: GPL-2.0-or-later
//! Lines on standard error: the one place that writes them.

use std::io::Write as _;

/// Prints a line to standard error, formatted as `format!` does.
macro_rules! note {
    ($($words:tt)*) => {
        $crate::notes::print(&format!($($words)*))
    };
}

/// Prints a line to standard error. Text of any origin may be in it: a terminal takes it as
/// text. A log on a full disk changes neither the result nor the exit code.
pub fn print(line: &str) {
    let line = format!("{}\n", model::harmless(line));
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}
