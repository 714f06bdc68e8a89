// SPDX-License-Identifier: GPL-2.0-or-later
//! What measuring takes besides what is measured.

use std::path::Path;

use kernels::arch::Arch;
use kernels::{Kernel, Store};
use model::{Failure, Shard};

use crate::catalogue::{agent, agent_of};
use crate::error::LabError;
use crate::journal::Journals;
use crate::plan::Treatment;
use crate::prepare::Hooks;
use crate::qemu::Qemu;
use crate::root::Root;

/// What a run needs besides the experiment.
#[derive(Debug, Clone, Copy)]
pub struct Setup<'a> {
    /// Where kernels are kept.
    pub store: &'a Store,
    /// The experiment's kernels, in its order; empty on the host.
    pub kernels: &'a [Kernel],
    /// QEMU of the architecture that its kernels share, or the first of them has; None on the
    /// host.
    pub qemu: Option<&'a Qemu>,
    pub others: &'a [Qemu],
    /// The program that measures: [`agent`].
    pub agent: &'a [u8],
    /// Where finished cells go as they finish.
    pub journal: &'a Path,
    /// Go on with the journal that is there.
    pub resume: bool,
    /// What the experiment's programs run in, if it has any.
    pub root: Option<&'a Root>,
    pub keep_samples: bool,
    /// Tell the hooks in instruction cells apart.
    pub hooks: Option<Hooks<'a>>,
    /// What is done to each operation besides measuring it.
    pub treatment: Treatment<'a>,
    /// Measure this part of the experiment only.
    pub shard: Option<Shard>,
    /// Boots that share a configuration's counted cells; 1 keeps them together, so that
    /// each has the same history in every run.
    pub parts: usize,
}

/// What a kernel runs on: the machine of an architecture, or this machine's processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ground {
    pub arch: &'static Arch,
    /// The kernel is a process of this machine.
    pub is_process: bool,
}

impl Ground {
    pub fn of(kernel: &Kernel) -> Ground {
        Ground {
            arch: kernel.arch(),
            is_process: kernel.is_program,
        }
    }
}

/// What a kernel is measured with: what its architecture decides.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    pub kernel: &'a Kernel,
    pub qemu: &'a Qemu,
    pub agent: &'a [u8],
}

impl<'a> Setup<'a> {
    /// What a kernel of the experiment is measured with, by its position.
    pub fn target(&self, kernel: usize) -> Result<Target<'a>, LabError> {
        let kernel = &self.kernels[kernel];
        let qemu = self.emulator(kernel.arch())?;
        let agent = match kernel.arch().is_native() {
            true => self.agent,
            false => agent_of(kernel.arch())?,
        };
        Ok(Target {
            kernel,
            qemu,
            agent,
        })
    }

    /// What its kernels run on, each once, in their order; nothing on the host.
    pub fn grounds(&self) -> Vec<Ground> {
        let mut all: Vec<Ground> = Vec::new();
        for ground in self.kernels.iter().map(Ground::of) {
            if !all.contains(&ground) {
                all.push(ground);
            }
        }
        all
    }

    /// The emulators of [`Setup::grounds`]; None for what is a process, and where nothing is emulated.
    pub fn emulators(&self) -> Result<Vec<Option<&'a Qemu>>, LabError> {
        let of = |ground: Ground| match self.qemu {
            Some(_) if !ground.is_process => self.emulator(ground.arch).map(Some),
            _ => Ok(None),
        };
        self.grounds().into_iter().map(of).collect()
    }

    fn emulator(&self, arch: &Arch) -> Result<&'a Qemu, LabError> {
        let mut all = self.qemu.into_iter().chain(self.others);
        all.find(|qemu| qemu.arch == arch).ok_or_else(|| {
            Failure::usage(
                format!("kernels of {arch} are measured in another run than those before them"),
                "give this command kernels of one architecture",
            )
            .into()
        })
    }

    /// For all of an experiment on this machine, of which figures alone are kept.
    pub fn new(store: &'a Store, journals: &'a Journals) -> Setup<'a> {
        Setup {
            store,
            kernels: &[],
            qemu: None,
            others: &[],
            agent: agent(),
            journal: &journals.first,
            resume: journals.resume,
            root: None,
            keep_samples: false,
            hooks: None,
            treatment: Treatment::default(),
            shard: None,
            parts: 1,
        }
    }
}
