// SPDX-License-Identifier: GPL-2.0-or-later
//! Lines on standard error; no other code writes there.

use std::io::Write as _;

/// Prints a line to standard error, with arguments of `format!`.
macro_rules! note {
    ($($words:tt)*) => {
        $crate::notes::print(&format!($($words)*))
    };
}

/// Makes untrusted text safe for a terminal. Write errors are ignored: a log on a full disk changes
/// neither result nor exit code.
pub fn print(line: &str) {
    let line = format!("{}\n", model::harmless(line));
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}
