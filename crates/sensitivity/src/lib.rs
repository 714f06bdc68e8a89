// SPDX-License-Identifier: GPL-2.0-or-later
//! How often an operation asks for authorisation: the slope of its cost over the time
//! that a decision takes, after section 4.2 and 5.3 of *Analyzing the Overhead of
//! Filesystem Protection Using Linux Security Modules*.
//!
//! [`sweep()`] counts the hooks that operations call without any delay, has the lab run
//! them under delays ([`points`] says which), and fits lines to what they cost then
//! ([`slopes`]). [`rules`] says how counts grow with the depth of a path, [`predict`]
//! what a module's decisions should cost, [`advice`] what is asked twice.

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
