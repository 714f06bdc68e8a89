// SPDX-License-Identifier: GPL-2.0-or-later
//! Names, fetches, builds, imports, caches and reads kernels: images, symbols, types and hooks.
//!
//! A [`Store`] keeps kernels in one directory, keyed by content. Entries are written elsewhere,
//! synced and renamed, so they are never partial.

mod apt;
pub mod arch;
pub mod btf;
mod build;
pub mod bytes;
pub mod child;
pub mod decompress;
mod elf;
mod entry;
mod error;
mod fetch;
pub mod files;
#[cfg(test)]
mod fixtures;
pub mod fixups;
mod flat;
pub mod git;
pub mod hooks;
pub mod image;
mod import;
mod mirrors;
mod modinfo;
mod modules;
mod name;
mod package;
mod packages;
pub mod scratch;
mod store;
pub mod symbols;
pub mod tar;
mod um;
pub mod version;
mod wrapped;

pub use build::{BuildEvent, Built, Compiler, Flavour, Recipe, Source, With, build_by};
pub use entry::Kernel;
pub use error::Error;
pub use mirrors::Mirrors;
pub use modules::{Module, ModuleTree};
pub use name::{DebianKernel, KernelName, on_each, series_of};
pub use store::{FetchEvent, Store};

#[cfg(test)]
mod tests;
