// SPDX-License-Identifier: GPL-2.0-or-later
//! Attaches a copy of the programs to each function.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use libbpf_rs::libbpf_sys as sys;
use model::{Failure, LeftOutFunction, MonitorCost, MonitorMode};

use crate::calibrate::{self, FUNCTIONS};
use crate::error::{MonitorError, Refused};
use crate::hooks::{Found, Probe};
use crate::kernel::{self, EBUSY, EINVAL, ENOENT, ENOSYS, ENOTSUPP, EPERM, Place};
use crate::layout::{Layout, patch};
use crate::object::{Constants, Object};
use crate::options::Filter;
use crate::snapshot::Reader;
use crate::{capabilities, processes};
use kernels::btf::{Function, Returns, Types};

/// Errors that would repeat with the next function: no permission, too many open files on the machine
/// (ENFILE) or in this process (EMFILE), out of memory (ENOMEM).
const FATAL: [i32; 4] = [EPERM, 23, 24, 12];

const FROM_OUTSIDE: &str = "run lsmeter outside the container; if the kernel itself refuses, \
    measure in the lab: lsmeter profile";

pub fn check_kernel(function: u32) -> Result<(), MonitorError> {
    let instructions = [0xb7, 0x95].map(|code| sys::bpf_insn {
        code,
        ..Default::default()
    });
    let Err(refused) = kernel::load(c"lsmeter_probe", Place::Entry, function, &instructions) else {
        return Ok(());
    };
    let missing = capabilities::missing();
    Err(match refused.source.raw_os_error() {
        Some(EPERM) if !missing.is_empty() => {
            let missing = missing.join(" and ");
            Failure::environment(
                format!("cannot load eBPF programs without {missing}"),
                "run lsmeter as root, or grant it the capabilities: \
                 setcap cap_bpf,cap_perfmon,cap_sys_resource+ep lsmeter",
            )
        }
        Some(EPERM) if is_confidential() => Failure::environment(
            "the kernel is locked down (lockdown=confidentiality) and refuses eBPF programs that \
             read its memory",
            "boot with lockdown=integrity or none, or measure in the lab: lsmeter profile",
        ),
        Some(EPERM) => Failure::environment(
            "the kernel refuses fentry programs (EPERM) although this process has CAP_BPF and \
             CAP_PERFMON: the kernel is hardened, or a container filters bpf()",
            FROM_OUTSIDE,
        ),
        Some(ENOSYS) => Failure::environment(
            "the kernel has no bpf() system call, or a filter hides it",
            FROM_OUTSIDE,
        ),
        Some(EINVAL | ENOTSUPP) => Failure::environment(
            format!(
                "the kernel does not support fentry programs: {}",
                refused.source
            ),
            "use Linux 5.15 or newer on x86-64 with CONFIG_BPF_JIT=y and \
             CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS=y",
        ),
        _ => return Err(MonitorError::kernel("load an eBPF program")(refused)),
    }
    .into())
}

fn is_confidential() -> bool {
    std::fs::read_to_string("/sys/kernel/security/lockdown")
        .is_ok_and(|levels| levels.contains("[confidentiality]"))
}

#[derive(Default)]
pub struct Programs {
    probed: Vec<Option<Attached>>,
    others: Vec<OwnedFd>,
}

#[derive(Default)]
struct Attached {
    links: Vec<OwnedFd>,
    /// Kept open to read their counts of missed runs.
    programs: Vec<OwnedFd>,
}

impl Programs {
    pub fn is_probed(&self, number: usize) -> bool {
        matches!(self.probed.get(number), Some(Some(_)))
    }

    pub fn missed(&self) -> Option<u64> {
        let mut missed = 0u64;
        for attached in self.probed.iter().flatten() {
            for program in &attached.programs {
                missed = missed.saturating_add(kernel::missed_runs(program.as_fd()).ok()?);
            }
        }
        Some(missed)
    }
}

pub struct Attacher<'a> {
    object: &'a Object,
    layout: &'a Layout,
    mode: MonitorMode,
    filter: &'a Filter,
    types: &'a Types<'a>,
    runner: OwnedFd,
    calibration: MonitorCost,
    programs: Programs,
    refused: Vec<LeftOutFunction>,
}

impl<'a> Attacher<'a> {
    pub fn new(
        object: &'a Object,
        layout: &'a Layout,
        mode: MonitorMode,
        filter: &'a Filter,
        types: &'a Types<'a>,
    ) -> Result<Attacher<'a>, MonitorError> {
        let function = test_function(types, RUNNER)?;
        let constants = Constants::new(layout, 0, 0);
        let program = object.program(c"tell_tgid", &constants);
        let runner = kernel::load(c"lsm_tell_tgid", Place::Entry, function.id, &program)
            .map_err(MonitorError::kernel("load a program for the calibration"))?;
        let link = kernel::attach(runner.as_fd())
            .map_err(MonitorError::kernel("attach to a test function"))?;
        kernel::run_test_functions(runner.as_fd())
            .map_err(MonitorError::kernel("run the test functions"))?;
        let programs = Programs {
            probed: Vec::new(),
            others: vec![link],
        };
        Ok(Attacher {
            object,
            layout,
            mode,
            filter,
            types,
            runner,
            calibration: MonitorCost::default(),
            programs,
            refused: Vec::new(),
        })
    }

    pub fn calibrate(&mut self) -> Result<(), MonitorError> {
        let own = self.object.own_tgid();
        let probe = self.layout.probes - 1;
        let functions = (1..=FUNCTIONS).map(|number| test_function(self.types, number));
        let functions: Vec<Function> = functions.collect::<Result<_, _>>()?;
        let constants = Constants::new(self.layout, probe, 0);
        let by_process = matches!(self.filter, Filter::Processes(_));
        if by_process {
            processes::add(self.object.words(".bss.targets"), own)?;
        }
        let reader = Reader {
            object: self.object,
            layout: self.layout,
            mode: self.mode,
        };
        let noted = || {
            let calls = reader.system_calls(probe);
            calls.values().fold((0u64, 0i64), |(count, sum), figures| {
                (count + figures.count, sum.wrapping_add(figures.sum_ns))
            })
        };
        let mut attach = || {
            let mut links = Vec::new();
            for function in &functions {
                let attached = self.attach(function, &constants);
                let mut attached = attached.map_err(|refusal| {
                    MonitorError::kernel(format!("attach to {}", function.name))(refusal.why)
                })?;
                links.append(&mut attached.links);
            }
            Ok(links)
        };
        let result = calibrate::calibrate(self.runner.as_fd(), &mut attach, &noted);
        if by_process {
            processes::remove(self.object.words(".bss.targets"), own);
        }
        let (calibration, mut links) = result?;
        self.calibration = calibration;
        self.programs.others.append(&mut links);
        Ok(())
    }

    pub fn follow_processes(&mut self) -> Result<(), MonitorError> {
        self.trace(&[
            (c"follow_fork", "btf_trace_sched_process_fork"),
            (c"forget_process", "btf_trace_sched_process_free"),
        ])
    }

    pub fn time_system_calls(&mut self) -> Result<(), MonitorError> {
        let begin = match self.filter {
            Filter::Machine => c"begin_all",
            Filter::Processes(_) => c"begin_processes",
            Filter::Cgroup(_) => c"begin_cgroup",
        };
        // The exit program comes first, because an entry without an exit would never end.
        self.trace(&[
            (c"forget_call", "btf_trace_sched_process_fork"),
            (c"end_any", "btf_trace_sys_exit"),
            (begin, "btf_trace_sys_enter"),
        ])
    }

    fn trace(&mut self, programs: &[(&CStr, &str)]) -> Result<(), MonitorError> {
        let constants = Constants::new(self.layout, 0, self.object.own_tgid());
        for (program, tracepoint) in programs {
            let action = || format!("attach to the tracepoint {tracepoint}");
            let missing = || io::Error::from_raw_os_error(ENOENT);
            let id = self.types.typedef(tracepoint).ok_or_else(missing);
            let id = id.map_err(MonitorError::kernel(action()))?;
            let instructions = self.object.program(program, &constants);
            let fd = kernel::load(program, Place::Tracepoint, id, &instructions)
                .map_err(MonitorError::kernel(action()))?;
            let link = kernel::attach(fd.as_fd()).map_err(MonitorError::kernel(action()))?;
            self.programs.others.push(link);
        }
        Ok(())
    }

    pub fn probe(&mut self, number: usize, probe: &Probe) -> Result<(), MonitorError> {
        let around_ns = calibrate::around_ns(&self.calibration);
        let mut constants = Constants::new(self.layout, number, self.object.own_tgid())
            .with(patch::WINDOW, self.calibration.within_ns as usize)
            .with(patch::OUTSIDE, around_ns as usize)
            .with(patch::PART, usize::from(probe.module.is_some()));
        if probe.function.returns == Returns::Int {
            constants.result_at = Some(probe.function.argument_words);
        }
        let attached = match self.attach(&probe.function, &constants) {
            Ok(attached) => Some(attached),
            Err(refusal) => {
                let code = refusal.why.source.raw_os_error().unwrap_or(0);
                if FATAL.contains(&code) {
                    let action = format!("probe {}", probe.function.name);
                    return Err(MonitorError::kernel(action)(refusal.why));
                }
                self.refused.push(LeftOutFunction {
                    name: probe.function.name.clone(),
                    reason: refusal.reason(),
                });
                None
            }
        };
        self.programs.probed.push(attached);
        Ok(())
    }

    /// The exit program comes first: an exit without its entry is ignored, but an entry without its
    /// exit would never end.
    fn attach(&self, function: &Function, constants: &Constants) -> Result<Attached, Refusal> {
        let mut attached = Attached::default();
        for (name, title, place) in self.programs_of_mode() {
            let instructions = self.object.program(name, constants);
            let program = kernel::load(title, place, function.id, &instructions);
            let program = program.map_err(|why| Refusal { why, loading: true })?;
            let link = kernel::attach(program.as_fd()).map_err(|error| Refusal {
                why: error.into(),
                loading: false,
            })?;
            attached.links.push(link);
            attached.programs.push(program);
        }
        Ok(attached)
    }

    fn programs_of_mode(&self) -> Vec<(&'static CStr, &'static CStr, Place)> {
        let (count, enter) = match self.filter {
            Filter::Machine => (c"count_all", c"enter_all"),
            Filter::Processes(_) => (c"count_processes", c"enter_processes"),
            Filter::Cgroup(_) => (c"count_cgroup", c"enter_cgroup"),
        };
        let leave = match self.mode {
            MonitorMode::Count => return vec![(count, c"lsm_count", Place::Entry)],
            MonitorMode::Time => c"leave_time",
            MonitorMode::Histogram => c"leave_histogram",
        };
        vec![
            (leave, c"lsm_leave", Place::Exit),
            (enter, c"lsm_enter", Place::Entry),
        ]
    }

    /// Returns the attached programs, their cost, and the functions that could not be probed.
    pub fn end(
        self,
        found: &Found,
    ) -> Result<(Programs, MonitorCost, Vec<LeftOutFunction>), MonitorError> {
        if self.programs.probed.iter().all(Option::is_none)
            && let Some(first) = self.refused.first()
        {
            let (tried, function, reason) = (found.probes.len(), &first.name, &first.reason);
            return Err(Failure::environment(
                format!("none of {tried} functions can be probed; {function}: {reason}"),
                "check whether live patching or another user of ftrace blocks it",
            )
            .into());
        }
        Ok((self.programs, self.calibration, self.refused))
    }
}

struct Refusal {
    why: Refused,
    loading: bool,
}

impl Refusal {
    fn reason(&self) -> String {
        let Refused { source, log } = &self.why;
        match (source.raw_os_error(), self.loading) {
            (Some(ENOTSUPP), _) => {
                "it has more or larger arguments than this kernel's trampolines support".into()
            }
            (Some(ENOENT), true) => "the kernel does not find its address".to_owned(),
            (Some(EBUSY), false) => {
                "it cannot be traced (notrace), or something else has changed its first \
                 instruction"
                    .to_owned()
            }
            (_, true) => format!("the kernel refuses a program for it: {source}{log}"),
            (_, false) => format!("the kernel refuses to attach to it: {source}"),
        }
    }
}

/// The test function on which this process detects its number. Programs attached later run earlier,
/// so on a measured function this program would be measured as well.
const RUNNER: usize = FUNCTIONS + 1;

fn test_function(types: &Types<'_>, number: usize) -> Result<Function, MonitorError> {
    let wanted = format!("bpf_fentry_test{number}");
    let function = types.functions(|name| name == wanted).pop();
    let missing = || Refused {
        source: io::Error::from_raw_os_error(ENOENT),
        log: ": is this kernel older than 5.5, or without CONFIG_NET?".to_owned(),
    };
    let function = function.ok_or_else(missing);
    function.map_err(MonitorError::kernel(format!("calibrate on {wanted}")))
}
