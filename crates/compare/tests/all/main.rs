// SPDX-License-Identifier: GPL-2.0-or-later
//! One program, so that it is linked once.

#[path = "../common/mod.rs"]
mod common;

mod aa;
mod compare;
mod evidence;
mod judged;
mod layouts;
mod merge;
mod walk;
