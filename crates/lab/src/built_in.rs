// SPDX-License-Identifier: GPL-2.0-or-later
//! The security modules in a kernel image, found before it is booted.

use std::collections::BTreeSet;

use crate::error::LabError;
use crate::prepare::{elf, symbols};
use kernels::hooks::built_in_modules;
use kernels::image::find;
use kernels::{Kernel, Store};

#[derive(Debug)]
pub enum BuiltIn {
    Listed(BTreeSet<String>),
    Unlisted(Vec<u8>),
}

impl BuiltIn {
    pub fn read(store: &Store, kernel: &Kernel) -> Result<BuiltIn, LabError> {
        let bytes = elf(kernel)?;
        let listed = symbols(store, kernel)?
            .ok()
            .and_then(|symbols| built_in_modules(&bytes, &symbols));
        Ok(listed.map_or(BuiltIn::Unlisted(bytes), BuiltIn::Listed))
    }

    /// Whether the kernel may have this module. If there is no list of modules, whether the image
    /// contains the name as a C string.
    pub fn may_have(&self, module: &str) -> bool {
        match self {
            BuiltIn::Listed(names) => names.contains(module),
            BuiltIn::Unlisted(bytes) => find(bytes, format!("{module}\0").as_bytes()).is_some(),
        }
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = match self {
            BuiltIn::Listed(names) => Some(names),
            BuiltIn::Unlisted(_) => None,
        };
        names.into_iter().flatten().map(String::as_str)
    }
}
