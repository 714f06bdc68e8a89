// SPDX-License-Identifier: GPL-2.0-or-later
//! Which security modules a kernel can have, asked before it is booted.

use std::collections::BTreeSet;

use crate::error::LabError;
use crate::prepare::{elf, symbols};
use kernels::hooks::built_in_modules;
use kernels::image::find;
use kernels::{Kernel, Store};

/// The security modules of a kernel, as far as its image tells.
#[derive(Debug)]
pub enum BuiltIn {
    Listed(BTreeSet<String>),
    /// The image of a kernel that does not list them.
    Unlisted(Vec<u8>),
}

impl BuiltIn {
    pub fn of(store: &Store, kernel: &Kernel) -> Result<BuiltIn, LabError> {
        let bytes = elf(kernel)?;
        let listed = symbols(store, kernel)?
            .ok()
            .and_then(|symbols| built_in_modules(&bytes, &symbols));
        Ok(listed.map_or(BuiltIn::Unlisted(bytes), BuiltIn::Listed))
    }

    /// Can the kernel have a module of this name? One that does not list its modules has
    /// the name somewhere in its image, as a string in C.
    pub fn may_have(&self, module: &str) -> bool {
        match self {
            BuiltIn::Listed(names) => names.contains(module),
            BuiltIn::Unlisted(bytes) => find(bytes, format!("{module}\0").as_bytes()).is_some(),
        }
    }

    /// The names of its modules, if it lists them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = match self {
            BuiltIn::Listed(names) => Some(names),
            BuiltIn::Unlisted(_) => None,
        };
        names.into_iter().flatten().map(String::as_str)
    }
}
