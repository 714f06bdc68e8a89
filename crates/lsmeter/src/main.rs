// SPDX-License-Identifier: GPL-2.0-or-later
//! What does this security module cost?
fn main() {}
