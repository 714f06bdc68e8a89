// SPDX-License-Identifier: GPL-2.0-or-later
//! Counts permission checks per operation. Their number is the slope of the operation's cost as a
//! function of the duration of a check. See sections 4.2 and 5.3 of *Analyzing the Overhead of
//! Filesystem Protection Using Linux Security Modules*.
//!
//! [`sweep()`] counts hook calls without delays, runs operations under delays ([`points`]), and
//! fits lines ([`slopes`]). [`rules`] describes growth with path depth, [`predict`] a module's
//! expected cost, [`advice`] repeated requests.

pub mod advice;
mod cell;
pub mod delays;
mod error;
mod hooks;
pub mod live;
pub mod points;
pub mod predict;
pub mod rules;
pub mod slopes;
mod sweep;

pub use delays::{Delays, DelaysError};
pub use live::{LiveRequest, sweep_here};
pub use sweep::{Predict, Request, sweep};
