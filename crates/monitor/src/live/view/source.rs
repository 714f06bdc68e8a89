// SPDX-License-Identifier: GPL-2.0-or-later
//! Where the view's figures come from.

use model::Interval;

/// Where figures come from: a live machine, or a recording.
pub trait Source {
    /// What happened since the start, and since the last call.
    fn read(&mut self) -> Reading;

    /// Has what is watched ended? It is asked before each reading: the one after it has
    /// ended is the last.
    fn ended(&mut self) -> bool;
}

#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    pub total: Interval,
    /// Since the reading before.
    pub since_last: Interval,
}
