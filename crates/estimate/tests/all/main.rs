// SPDX-License-Identifier: GPL-2.0-or-later
//! A single test program, so that only one has to be linked.

mod fitted;
mod predicted;
