// SPDX-License-Identifier: GPL-2.0-or-later
//! Counts guest kernel instructions with a QEMU TCG plugin.

pub mod calls;
pub mod calltree;
pub mod counts;
pub mod functions;
pub mod hooks;
pub mod landmarks;
pub mod profile;
pub mod program;
pub mod records;
pub mod trace;
pub mod walk;
pub mod words;

/// The QEMU plugin, a shared object for this machine. Write it to a file, and pass that file to
/// `-plugin`. It loads into QEMU 7.2 to 11.1.
pub static PLUGIN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugin.so"));
