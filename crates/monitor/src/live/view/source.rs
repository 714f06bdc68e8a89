// SPDX-License-Identifier: GPL-2.0-or-later
//! The view's data source.

use model::Interval;

pub trait Source {
    fn read(&mut self) -> Reading;

    /// Checked before each reading: the reading after the end is the last.
    fn ended(&mut self) -> bool;
}

#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    pub total: Interval,
    pub since_last: Interval,
}
