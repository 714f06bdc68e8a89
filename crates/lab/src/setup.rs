// SPDX-License-Identifier: GPL-2.0-or-later
//! What measuring takes besides what is measured.

use std::path::Path;

use experiment::Shard;
use kernels::{Kernel, Store};

use crate::catalogue::agent;
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
    /// QEMU; None on the host.
    pub qemu: Option<&'a Qemu>,
    /// The program that measures: [`agent`].
    pub agent: &'a [u8],
    /// Where finished cells go as they finish.
    pub journal: &'a Path,
    /// Go on with the journal that is there.
    pub resume: bool,
    /// What the experiment's programs run in, if it has any.
    pub root: Option<&'a Root>,
    /// Keep every sample in the document.
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

impl<'a> Setup<'a> {
    /// For all of an experiment on this machine, of which figures alone are kept.
    pub fn new(store: &'a Store, journals: &'a Journals) -> Setup<'a> {
        Setup {
            store,
            kernels: &[],
            qemu: None,
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
