// SPDX-License-Identifier: GPL-2.0-or-later
//! Result files of every kind. One test program, so that it is compiled and linked once.

#[path = "../common/mod.rs"]
mod common;

mod any;
mod damaged;
mod monitor;
mod placement;
mod runs;
mod schema;
