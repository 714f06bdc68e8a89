// SPDX-License-Identifier: GPL-2.0-or-later
//! Tests of what needs no kernel.

mod figures;
mod hooks;
mod object;
