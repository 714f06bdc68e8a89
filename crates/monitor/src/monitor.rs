// SPDX-License-Identifier: GPL-2.0-or-later
//! Attaches programs and reads their data.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use model::{Failure, LeftOutFunction, MonitorCost, MonitorMode};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::attach::{Attacher, Programs};
use crate::error::MonitorError;
use crate::hooks::{self, Found, Probe, Selection};
use crate::layout::{BUCKETS, Layout, ROW_BUCKETS};
use crate::object::Object;
use crate::options::{Filter, Options};
use crate::snapshot::{HookFigures, Reader, Snapshot};
use crate::{capabilities, kernel, processes};
use kernels::btf::{BtfError, Types};

const BTF: &str = "/sys/kernel/btf/vmlinux";
const STACK: &str = "/sys/kernel/security/lsm";
const STACK_MAX: usize = 4096;
const OTHER_FILES: u64 = 128;

/// Progress of the start, which takes seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    Calibrating,
    Attaching {
        done: usize,
        total: usize,
        function: &'a str,
    },
}

/// Programs in the kernel that record calls. They are detached when this is dropped, or when the
/// process ends in any way, which is faster.
pub struct Monitor {
    programs: Programs,
    object: Object,
    layout: Layout,
    pub mode: MonitorMode,
    probes: Vec<Arc<Probe>>,
    pub left_out: Vec<LeftOutFunction>,
    pub cost: MonitorCost,
    /// Kernel memory for the data, which is constant.
    pub memory_bytes: usize,
    started: Instant,
}

impl Monitor {
    /// Tests with an empty program whether hooks can be watched here; returns the number of hooks.
    /// Errors are those of [`Monitor::start`].
    pub fn try_here() -> Result<usize, MonitorError> {
        let btf = read_btf()?;
        let found = find(&Types::read(&btf).map_err(bad_btf)?, &Selection::default())?;
        Ok(found.probes.len())
    }

    /// Finds the functions, calibrates and attaches. Calls `progress` before each step.
    ///
    /// After a [`MonitorError`] nothing stays attached. A function that cannot be probed is not an
    /// error: see `left_out`.
    pub fn start(
        options: &Options,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Monitor, MonitorError> {
        let btf = read_btf()?;
        let types = Types::read(&btf).map_err(bad_btf)?;
        let found = find(&types, &options.selection)?;
        let cgroup = match &options.filter {
            Filter::Cgroup(path) => Some((open_cgroup(path)?, path)),
            Filter::Processes(_) => {
                processes::check_namespace()?;
                None
            }
            Filter::Machine => None,
        };
        let layout = layout(options, found.probes.len())?;
        raise_file_limit(layout.probes);
        let object = Object::new(&layout)?;
        if let Some((directory, path)) = &cgroup {
            kernel::set_cgroup(object.cgroup_map(), directory.as_fd()).map_err(no_cgroup(path))?;
        }
        let mut attacher = Attacher::new(&object, &layout, options.mode, &options.filter, &types)?;
        progress(Progress::Calibrating);
        attacher.calibrate()?;
        if let Filter::Processes(numbers) = &options.filter {
            attacher.follow_processes()?;
            for &number in numbers {
                processes::add_with_descendants(object.words(".bss.targets"), number)?;
            }
        }
        let total = found.probes.len();
        for (done, probe) in found.probes.iter().enumerate() {
            progress(Progress::Attaching {
                done,
                total,
                function: &probe.function.name,
            });
            attacher.probe(done, probe)?;
        }
        if layout.system_calls {
            attacher.time_system_calls()?;
        }
        let (programs, cost, refused) = attacher.end(&found)?;
        let left_out = left_out(&found, refused);
        Ok(Monitor {
            programs,
            layout,
            mode: options.mode,
            probes: found.probes.into_iter().map(Arc::new).collect(),
            left_out,
            cost,
            memory_bytes: layout.memory_bytes(),
            started: Instant::now(),
            object,
        })
    }

    /// The counts until now. Only reads memory, without a system call.
    pub fn snapshot(&self) -> Snapshot {
        let reader = Reader {
            object: &self.object,
            layout: &self.layout,
            mode: self.mode,
        };
        let probed = self.probes.iter().enumerate();
        let probed = probed.filter(|(number, _)| self.programs.is_probed(*number));
        let hooks = probed.map(|(number, probe)| HookFigures {
            probe: Arc::clone(probe),
            system_calls: reader.system_calls(number),
            errnos: reader.errnos(number),
        });
        let hooks: Vec<_> = hooks.collect();
        let wholes = reader.wholes(&hooks, self.cost.added_ns);
        let taken = Instant::now();
        Snapshot {
            taken,
            elapsed: taken.saturating_duration_since(self.started),
            hooks,
            wholes,
            lost: reader.lost(),
            pairs_refused: reader.pairs_refused(),
        }
    }

    /// Calls that were missed because the program was already running on the same processor. None
    /// if the kernel does not report it. One system call per program.
    pub fn missed(&self) -> Option<u64> {
        self.programs.missed()
    }

    /// Drops the capabilities that are no longer needed (`CAP_BPF` and similar ones).
    ///
    /// [`MonitorError::Kernel`] if the system refuses.
    pub fn drop_capabilities(&self) -> Result<(), MonitorError> {
        capabilities::drop_unneeded().map_err(MonitorError::kernel("drop capabilities"))
    }
}

fn read_btf() -> Result<Vec<u8>, Failure> {
    let none = |error| no_types(format!("the kernel has no BTF: {BTF}: {error}"));
    fs::read(BTF).map_err(none)
}

fn bad_btf(error: BtfError) -> Failure {
    no_types(format!("the kernel's BTF cannot be read: {error}"))
}

fn no_types(what: String) -> Failure {
    let hint = "use a kernel with CONFIG_DEBUG_INFO_BTF=y, as in distributions; in a \
                container, mount /sys";
    Failure::environment(what, hint)
}

/// The selected functions. Fails if the kernel does not accept programs.
fn find(types: &Types<'_>, selection: &Selection) -> Result<Found, MonitorError> {
    let found = hooks::find(types, &active_modules(), selection).map_err(bad_btf)?;
    let Some(first) = found.probes.first() else {
        let patterns = selection.hooks.join("`, `");
        return Err(Failure::usage(
            format!("no LSM hook in this kernel matches `{patterns}`"),
            "use names from the kernel's lsm_hook_defs.h, for example inode_permission, or \
             patterns such as 'inode_*'",
        )
        .into());
    };
    crate::attach::check_kernel(first.function.id)?;
    Ok(found)
}

fn layout(options: &Options, probes: usize) -> Result<Layout, MonitorError> {
    let row_words = match options.mode {
        MonitorMode::Count => 1,
        MonitorMode::Time => ROW_BUCKETS,
        MonitorMode::Histogram => ROW_BUCKETS + BUCKETS,
    };
    let cpus = libbpf_rs::num_possible_cpus().map_err(std::io::Error::other);
    let action = "count the possible processors";
    let cpus = cpus.map_err(MonitorError::kernel(action))?;
    let targets = matches!(options.filter, Filter::Processes(_));
    let layout = Layout::new(probes + 1, cpus, options.pairs, row_words, targets);
    let layout = layout.ok_or_else(|| {
        let pairs = options.pairs;
        Failure::usage(
            format!(
                "{probes} functions on {cpus} processors with {pairs} rows need too much memory"
            ),
            "select fewer hooks, or allow fewer rows (--pairs)",
        )
    })?;
    Ok(Layout {
        system_calls: options.system_calls && options.mode != MonitorMode::Count,
        ..layout
    })
}

fn left_out(found: &Found, refused: Vec<LeftOutFunction>) -> Vec<LeftOutFunction> {
    let twice = "several kernel functions have this name";
    let none = "the kernel has no function for this hook: it is inlined, or configured out";
    let twice = found.ambiguous.iter().map(|name| (name, twice));
    let others = twice.chain(found.unserved.iter().map(|name| (name, none)));
    let others = others.map(|(name, reason)| LeftOutFunction {
        name: name.clone(),
        reason: reason.to_owned(),
    });
    refused.into_iter().chain(others).collect()
}

fn active_modules() -> Vec<String> {
    let list = fs::read_to_string(STACK).unwrap_or_default();
    let list = list.get(..list.len().min(STACK_MAX)).unwrap_or_default();
    let modules = list.trim().split(',').filter(|module| !module.is_empty());
    modules.map(str::to_owned).collect()
}

fn open_cgroup(path: &Path) -> Result<File, Failure> {
    fs::metadata(path.join("cgroup.procs")).map_err(no_cgroup(path))?;
    File::open(path).map_err(no_cgroup(path))
}

fn no_cgroup(path: &Path) -> impl FnOnce(io::Error) -> Failure {
    move |error| {
        Failure::usage(
            format!("control group {}: {error}", path.display()),
            "give a cgroup version 2 directory, such as /sys/fs/cgroup/system.slice",
        )
    }
}

/// This is best effort; if the limit is too low, this is detected later.
fn raise_file_limit(probes: usize) {
    let wanted = 4 * probes as u64 + OTHER_FILES;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= wanted) {
        return;
    }
    let enough = limit.maximum.is_none_or(|maximum| maximum >= wanted);
    let raised = Rlimit {
        current: Some(wanted),
        maximum: if enough { limit.maximum } else { Some(wanted) },
    };
    if setrlimit(Resource::Nofile, raised).is_err() {
        let (current, maximum) = (limit.maximum, limit.maximum);
        let _ = setrlimit(Resource::Nofile, Rlimit { current, maximum });
    }
}
