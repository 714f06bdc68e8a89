// SPDX-License-Identifier: GPL-2.0-or-later
//! A single test program, so that only one has to be linked.

#[path = "../common/mod.rs"]
mod common;

mod aa;
mod compare;
mod evidence;
mod judged;
mod layouts;
mod merge;
mod walk;
