// SPDX-License-Identifier: GPL-2.0-or-later
//! What make is asked for.

use super::Flavour;
use crate::arch::Arch;

/// An architecture as the kernel's makefiles know it, and the kernel that comes out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    /// `ARCH`, unless it is what make takes by itself on this machine.
    pub arch: Option<&'static str>,
    /// Of which architecture it is, if compilers of this machine's make nothing for it.
    pub cross: Option<&'static Arch>,
    /// `$(SRCARCH)`: the directory below `arch` with its Kconfig file.
    pub source: &'static str,
    pub name: &'static str,
    pub image: &'static str,
    /// What it is called in the cache.
    pub installed: &'static str,
}

impl Target {
    pub fn of(flavour: Flavour, arch: &'static Arch) -> Target {
        match flavour {
            Flavour::All | Flavour::AllUp | Flavour::Dac => {
                let source = &arch.source;
                let cross = (arch != crate::arch::native()).then_some(arch);
                Target {
                    arch: cross.map(|arch| arch.source.name),
                    cross,
                    source: source.name,
                    name: source.target,
                    image: source.image,
                    installed: "vmlinuz",
                }
            }
            Flavour::Um | Flavour::UmDac => Target {
                arch: Some("um"),
                cross: None,
                source: "um",
                name: "linux",
                image: "linux",
                installed: "vmlinux",
            },
        }
    }
}
