// SPDX-License-Identifier: GPL-2.0-or-later
//! Exit codes, which are defined only here.

/// Stable: scripts may rely on these numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    Fine = 0,
    Regression = 1,
    /// The command line or a file named on it is invalid.
    Usage = 2,
    /// The command cannot run on this machine; a hint names what is missing.
    Environment = 3,
    /// Some measurements failed or were not made; the rest are saved.
    CellsFailed = 4,
    /// A requested check has no clear result.
    Inconclusive = 5,
    Internal = 70,
}

pub const EXIT_STATUS_HELP: &str = "\
Exit status:
  0   success
  1   a regression, or a failed check
  2   usage error
  3   not possible on this machine (see the hint)
  4   some measurements failed or were not made; the rest are saved
  5   inconclusive
  70  a fault in lsmeter";
