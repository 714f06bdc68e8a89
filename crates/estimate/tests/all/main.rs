// SPDX-License-Identifier: GPL-2.0-or-later
//! One program, so that it is linked once.

mod fitted;
mod predicted;
