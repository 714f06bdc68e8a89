// SPDX-License-Identifier: GPL-2.0-or-later
//! The host, or the kernels and emulators that visits are measured with, and their policies.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use kernels::scratch::Scratch;
use model::{Cell, Experiment, FileSystem, Place, Warning, WarningKind};

use crate::cache::Cache;
use crate::catalogue::modules_for;
use crate::error::LabError;
use crate::host;
use crate::initramfs::Guest;
use crate::plan::Visit;
use crate::policy::{self, PolicyError, PolicySetup};
use crate::prepare;
use crate::root::Root;
use crate::setup::Setup;
use crate::um::{self, Programs};
use crate::visit::{Testbed, VmTestbed};
use crate::vm::Bootable;

pub(crate) struct Workplace<'a> {
    kernels: &'a [String],
    pub(crate) testbed: Testbed<'a>,
    setups: Setups,
    _scratch: Scratch,
}

impl<'a> Workplace<'a> {
    pub(crate) fn setup(&self, visit: &Visit) -> Result<&PolicySetup, &str> {
        match self.setups.get(&(visit.kernel, visit.configuration)) {
            Some(Ok(setup)) => Ok(setup),
            Some(Err(reason)) => Err(reason),
            None => Err("the policies were not prepared"),
        }
    }

    /// Warns if the kernel of a counted measurement has no symbols for interrupts.
    pub(crate) fn doubt_symbols(&self, cell: &Cell) -> Option<Warning> {
        let Testbed::Vm(vms) = &self.testbed else {
            return None;
        };
        let kernel = self
            .kernels
            .iter()
            .position(|name| *name == cell.key.kernel)?;
        let why = vms.bootables.get(&kernel)?.landmarks.as_ref().err()?;
        cell.key.metric.is_recorded().then(|| {
            Warning::new(
                WarningKind::NoSymbols,
                format!(
                    "{} has no usable symbols ({why}): regions with a page fault look like those \
                     with an interrupt and are dropped",
                    cell.key.kernel
                ),
            )
        })
    }

    pub(crate) fn prepare(
        experiment: &'a Experiment,
        setup: &Setup<'a>,
        visits: &VecDeque<Visit>,
    ) -> Result<Workplace<'a>, LabError> {
        let dir = Scratch::new().map_err(LabError::io("create", &std::env::temp_dir()))?;
        let used: BTreeSet<usize> = visits.iter().map(|visit| visit.kernel).collect();
        let testbed = match (experiment.place, setup.qemu, experiment.filesystem) {
            (Place::Lab, Some(_), Some(filesystem)) => {
                let plugin = write_plugin(dir.path())?;
                let modules = modules_for(experiment)?;
                let images = setup.store.dir().join("images");
                let mut bootables: BTreeMap<usize, Bootable> = BTreeMap::new();
                let mut emulators = BTreeMap::new();
                let (own, used): (Vec<usize>, Vec<usize>) =
                    { used.into_iter() }.partition(|&index| setup.kernels[index].is_program);
                let programs = programs(setup, own, filesystem, dir.path())?;
                for index in used {
                    let own = subdirectory(dir.path(), index)?;
                    let (qemu, agent) = setup.target(index)?;
                    let bootable = prepare::prepare(
                        setup.store,
                        agent,
                        &setup.kernels[index],
                        Guest {
                            filesystem,
                            root: setup.root,
                            modules: &modules,
                            images: Some(&images),
                        },
                        setup.hooks,
                        qemu,
                        &own,
                    )?;
                    bootables.insert(index, bootable);
                    emulators.insert(index, qemu);
                }
                Testbed::Vm(VmTestbed {
                    emulators,
                    root: setup.root,
                    plugin,
                    bootables,
                    programs,
                    cache: Cache::new(setup.store),
                })
            }
            (Place::Um, _, Some(filesystem)) => {
                Testbed::Um(programs(setup, used, filesystem, dir.path())?)
            }
            _ => {
                if let Some(dir) = &experiment.dir {
                    host::check_directory(Path::new(dir))?;
                }
                Testbed::Host { agent: setup.agent }
            }
        };
        Ok(Workplace {
            kernels: &experiment.kernels,
            testbed,
            setups: setups(experiment, setup, visits)?,
            _scratch: dir,
        })
    }
}

fn programs(
    setup: &Setup<'_>,
    positions: impl IntoIterator<Item = usize>,
    filesystem: FileSystem,
    dir: &Path,
) -> Result<Programs, LabError> {
    let prepared = positions.into_iter().map(|index| {
        let own = subdirectory(dir, index)?;
        Ok((index, um::prepare(&setup.kernels[index], filesystem, &own)?))
    });
    Ok(Programs::new(prepared.collect::<Result<_, LabError>>()?))
}

fn subdirectory(dir: &Path, index: usize) -> Result<PathBuf, LabError> {
    let own = dir.join(index.to_string());
    std::fs::create_dir(&own).map_err(LabError::io("create", &own))?;
    Ok(own)
}

/// Keys are indices of kernel and configuration. The error is the reason for failed measurements.
type Setups = BTreeMap<(usize, usize), Result<PolicySetup, String>>;

fn setups(
    experiment: &Experiment,
    setup: &Setup<'_>,
    visits: &VecDeque<Visit>,
) -> Result<Setups, LabError> {
    let cache = setup.store.dir().join("policies");
    let mut setups = BTreeMap::new();
    for visit in visits {
        let key = (visit.kernel, visit.configuration);
        if setups.contains_key(&key) {
            continue;
        }
        let request = policy::Request {
            configuration: &experiment.configurations[visit.configuration],
            work_dir: experiment.work_dir.as_deref(),
            custom: &experiment.custom,
            root: setup.root.map(Root::path),
            kernel: setup.kernels.get(visit.kernel),
            cache: &cache,
        };
        let is_process = request.kernel.is_some_and(|kernel| kernel.is_program);
        let made = match policy::prepare(&request) {
            Ok(made) if is_process && !made.directives.is_empty() => {
                Err(um::NO_POLICIES.to_owned())
            }
            Ok(made) => Ok(made),
            Err(PolicyError::Unsupported(reason)) => Err(reason),
            Err(PolicyError::Environment(lack)) => return Err(lack.into()),
        };
        setups.insert(key, made);
    }
    Ok(setups)
}

pub fn write_plugin(dir: &Path) -> Result<PathBuf, LabError> {
    let path = dir.join("plugin.so");
    std::fs::write(&path, counts::PLUGIN).map_err(LabError::io("write", &path))?;
    Ok(path)
}
