// SPDX-License-Identifier: GPL-2.0-or-later
//! Progress of a measurement, reported as it happens.

use crate::cell::Cell;
use crate::configuration::Configuration;
use crate::key::Key;

#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    Stage {
        kernel: &'a str,
        what: &'static str,
    },
    Planned {
        cells: usize,
    },
    Boot {
        kernel: &'a str,
        configuration: &'a Configuration,
    },
    Begin(&'a Key),
    Cell(&'a Cell),
}
