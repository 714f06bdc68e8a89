// SPDX-License-Identifier: GPL-2.0-or-later
//! debug
fn main() { let a: Vec<String> = std::env::args().collect(); placement::debug(&a[1], &a[2]); }
