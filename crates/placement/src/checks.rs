// SPDX-License-Identifier: GPL-2.0-or-later

mod missing;
mod redundant;
mod value;

pub(crate) use missing::missing;
pub(crate) use redundant::{Finder, Pairs, redundant};
