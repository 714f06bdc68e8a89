// SPDX-License-Identifier: GPL-2.0-or-later
//! Tests without a virtual machine.

mod agent_host;
#[path = "../common/mod.rs"]
mod common;
mod policies;
mod recipes;
mod undisturbed;
