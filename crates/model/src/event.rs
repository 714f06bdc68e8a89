// SPDX-License-Identifier: GPL-2.0-or-later
//! What happens while an instrument measures, reported as it happens.

use crate::cell::Cell;
use crate::configuration::Configuration;
use crate::key::Key;

/// What happens while an instrument measures: the same for all of them.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    Stage {
        kernel: &'a str,
        /// What is done: `counting hooks`.
        what: &'static str,
    },
    Planned {
        cells: usize,
        /// Of them finished before, as the journal says.
        finished: usize,
    },
    /// A boot, or a run of the agent on the host, begins.
    Boot {
        kernel: &'a str,
        configuration: &'a Configuration,
    },
    Begin(&'a Key),
    /// A cell is finished, and in the journal.
    Cell(&'a Cell),
}
