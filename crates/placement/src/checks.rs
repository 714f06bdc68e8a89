// SPDX-License-Identifier: GPL-2.0-or-later
//! Hooks that are asked twice, and checks that some modules make and others do not.

mod missing;
mod redundant;
mod value;

pub(crate) use missing::missing;
pub(crate) use redundant::{Finder, Pairs, redundant};
