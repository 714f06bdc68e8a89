// SPDX-License-Identifier: GPL-2.0-or-later
//! A run's environment: store, kernels, QEMU and options.

use kernels::arch::Arch;
use kernels::{Kernel, Store};
use model::{Failure, Shard};

use crate::cache::Reuse;
use crate::catalogue::{agent, agent_of};
use crate::error::LabError;
use crate::plan::Treatment;
use crate::prepare::Hooks;
use crate::qemu::Qemu;
use crate::root::Root;

#[derive(Debug, Clone, Copy)]
pub struct Setup<'a> {
    pub store: &'a Store,
    pub kernels: &'a [Kernel],
    /// QEMU for the kernels' common architecture, or for the first kernel's; None on the host.
    pub qemu: Option<&'a Qemu>,
    pub others: &'a [Qemu],
    pub agent: &'a [u8],
    pub root: Option<&'a Root>,
    pub keep_samples: bool,
    pub hooks: Option<Hooks<'a>>,
    pub treatment: Treatment<'a>,
    pub shard: Option<Shard>,
    pub reuse: Reuse,
    /// Number of the machines, from 0. Machines with other numbers differ only in memory addresses.
    pub machine: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ground {
    pub arch: &'static Arch,
    pub is_process: bool,
}

impl Ground {
    pub fn new(kernel: &Kernel) -> Ground {
        Ground {
            arch: kernel.arch(),
            is_process: kernel.is_program,
        }
    }
}

impl<'a> Setup<'a> {
    /// A kernel's boot method, and its agent.
    pub fn target(&self, kernel: usize) -> Result<(&'a Qemu, &'a [u8]), LabError> {
        let arch = self.kernels[kernel].arch();
        let agent = match arch.is_native() {
            true => self.agent,
            false => agent_of(arch)?,
        };
        Ok((self.emulator(arch)?, agent))
    }

    /// The grounds, without duplicates, in the kernels' order; empty on the host.
    pub fn grounds(&self) -> Vec<Ground> {
        let mut all: Vec<Ground> = Vec::new();
        for ground in self.kernels.iter().map(Ground::new) {
            if !all.contains(&ground) {
                all.push(ground);
            }
        }
        all
    }

    /// Emulators of [`Setup::grounds`]; None for UML kernels, and without emulation.
    pub fn emulators(&self) -> Result<Vec<Option<&'a Qemu>>, LabError> {
        let emulator = |ground: Ground| match self.qemu {
            Some(_) if !ground.is_process => self.emulator(ground.arch).map(Some),
            _ => Ok(None),
        };
        self.grounds().into_iter().map(emulator).collect()
    }

    fn emulator(&self, arch: &Arch) -> Result<&'a Qemu, LabError> {
        let mut all = self.qemu.into_iter().chain(self.others);
        all.find(|qemu| qemu.arch == arch).ok_or_else(|| {
            Failure::usage(
                format!("kernels for {arch} cannot be measured in one run with the other kernels"),
                "start a separate run for each architecture",
            )
            .into()
        })
    }

    pub fn new(store: &'a Store) -> Setup<'a> {
        Setup {
            store,
            kernels: &[],
            qemu: None,
            others: &[],
            agent: agent(),
            root: None,
            keep_samples: false,
            hooks: None,
            treatment: Treatment::default(),
            shard: None,
            reuse: Reuse::Use,
            machine: 0,
        }
    }
}
