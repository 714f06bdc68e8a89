// SPDX-License-Identifier: GPL-2.0-or-later
//! One file per command.

pub mod bisect;
pub mod compare;
mod counted;
pub mod doctor;
mod documents;
pub mod estimate;
pub mod export;
pub mod foreign;
pub mod generate;
pub mod given;
pub mod kernel;
pub mod kernel_build;
pub mod list;
mod measure;
pub mod merge;
pub mod monitor;
pub mod placement;
pub mod predict;
pub mod profile;
pub mod programs;
mod recording;
pub mod report;
pub mod run;
pub mod sensitivity;
