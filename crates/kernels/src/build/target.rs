// SPDX-License-Identifier: GPL-2.0-or-later

use super::Flavour;
use crate::arch::Arch;

#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    /// `ARCH`, unless it is make's default on this machine.
    pub arch: Option<&'static str>,
    /// The architecture, if this machine's compilers cannot build for it.
    pub cross: Option<&'static Arch>,
    /// `$(SRCARCH)`: directory below `arch` with its Kconfig file.
    pub source: &'static str,
    pub name: &'static str,
    pub image: &'static str,
    pub installed: &'static str,
}

impl Target {
    pub fn new(flavour: Flavour, arch: &'static Arch) -> Target {
        match flavour {
            Flavour::All | Flavour::AllNoSmp | Flavour::NoLsm => {
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
            Flavour::Um | Flavour::UmNoLsm => Target {
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
