// SPDX-License-Identifier: GPL-2.0-or-later
//! Kernels: how they are named, fetched, built, added, cached and read: their images,
//! symbols, types and hooks.
//!
//! A [`Store`] keeps them under one directory, keyed by their content. Nothing
//! in it is half there: an entry is written beside, synced and renamed.

mod apt;
pub mod arch;
pub mod btf;
mod build;
pub mod bytes;
pub mod child;
mod deb;
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
