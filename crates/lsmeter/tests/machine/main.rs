// SPDX-License-Identifier: GPL-2.0-or-later
//! lsmeter on kernels that it boots, in live guests, and on this machine. SLOW: minutes. Each file
//! lists its requirements. Kernels are taken from the user's cache; nothing is fetched.
//!
//! One test program: it is linked once, and tests that wait for machines run in parallel.

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
mod packages;
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
mod transfers;
mod tutorials;
mod um;
mod view;
mod vm;
