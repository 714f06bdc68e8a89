// SPDX-License-Identifier: GPL-2.0-or-later
//! Tests that need no kernel.

mod figures;
mod hooks;
mod object;
