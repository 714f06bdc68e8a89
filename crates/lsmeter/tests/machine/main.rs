// SPDX-License-Identifier: GPL-2.0-or-later
//! lsmeter on machines: kernels that it boots, live ones in which it runs itself, and this
//! one. SLOW: minutes. What each part needs stands in its file.
//!
//! One program, so that it is linked once, and two tests that wait for their machines run
//! at a time.

#[path = "../common/mod.rs"]
mod common;

mod agreement;
mod bisect;
mod boots;
mod calls;
mod cells;
mod check;
mod gate;
mod host;
mod inside;
mod live;
mod monitor;
mod paths;
mod policies;
mod predict;
mod profile;
mod programs;
mod prometheus;
mod resume;
mod roots;
mod sensitivity;
mod slurm;
mod tutorials;
mod um;
mod view;
mod vm;
