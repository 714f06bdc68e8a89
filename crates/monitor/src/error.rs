// SPDX-License-Identifier: GPL-2.0-or-later
//! Why a machine cannot be monitored.

use std::io;
use std::path::PathBuf;

use kernels::btf::BtfError;
use model::{Exit, Fault};

/// Why monitoring could not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MonitorError {
    /// The kernel does not describe its types.
    #[error("the kernel has no BTF: {path}: {source}", path = .path.display())]
    NoBtf {
        /// Where it would be.
        path: PathBuf,
        source: io::Error,
    },
    /// It does, but not in a way that can be read.
    #[error("the kernel's BTF cannot be read: {0}")]
    Btf(#[from] BtfError),
    /// This process may not load programs.
    #[error("loading an eBPF program needs {}, which this process lacks", .missing.join(" and "))]
    Capabilities {
        /// `CAP_BPF`, `CAP_PERFMON`.
        missing: Vec<&'static str>,
    },
    /// The kernel protects its memory even from root.
    #[error(
        "the kernel refuses eBPF programs that read its memory: it is locked down \
         (lockdown=confidentiality)"
    )]
    Lockdown,
    #[error(
        "the kernel refuses fentry programs (EPERM) although this process has CAP_BPF and \
         CAP_PERFMON: a hardened kernel, or a container's filter"
    )]
    Refused,
    /// `bpf(2)` does not exist.
    #[error("the kernel has no bpf() system call, or a filter hides it")]
    NoBpf,
    /// It has no BPF trampolines.
    #[error("the kernel has no fentry programs: {source}")]
    NoTrampolines { source: io::Error },
    /// Programs are attached, but what they are attached to runs without them.
    #[error("programs are attached, but the kernel never runs them")]
    NeverRun,
    /// No hook has a name that was asked for.
    #[error("no LSM hook of this kernel is named `{}`", .patterns.join("`, `"))]
    NoHooks { patterns: Vec<String> },
    /// Every selected function was refused; this is the first.
    #[error("not one of {tried} functions can be probed; {function}: {reason}")]
    NoneAttached {
        tried: usize,
        function: String,
        reason: String,
    },
    /// The tables would be too large.
    #[error("{probes} functions on {cpus} processors with {pairs} rows need too much memory")]
    TooLarge {
        probes: usize,
        cpus: usize,
        /// Rows for pairs of a function and a system call.
        pairs: usize,
    },
    /// Process numbers mean something else here.
    #[error(
        "processes cannot be followed from inside a PID namespace: programs see the \
         kernel's process numbers"
    )]
    PidNamespace,
    #[error("there is no process {0}")]
    NoProcess(u32),
    /// A control group that cannot be watched.
    #[error("control group {path}: {source}", path = .path.display())]
    Cgroup { path: PathBuf, source: io::Error },
    /// The kernel refused something else.
    #[error("cannot {action}: {source}{log}")]
    Kernel {
        action: String,
        source: io::Error,
        /// What it or libbpf said about it; empty if nothing.
        log: String,
    },
}

#[derive(Debug)]
pub(crate) struct Refused {
    pub source: io::Error,
    /// What it or libbpf said about it; empty if nothing.
    pub log: String,
}

impl From<io::Error> for Refused {
    fn from(source: io::Error) -> Refused {
        let log = String::new();
        Refused { source, log }
    }
}

impl MonitorError {
    pub(crate) fn kernel<E: Into<Refused>>(
        action: impl Into<String>,
    ) -> impl FnOnce(E) -> MonitorError {
        move |refused| {
            let Refused { source, log } = refused.into();
            MonitorError::Kernel {
                action: action.into(),
                source,
                log,
            }
        }
    }
}

impl Fault for MonitorError {
    fn exit(&self) -> Exit {
        match self {
            MonitorError::NoHooks { .. }
            | MonitorError::NoProcess(_)
            | MonitorError::Cgroup { .. }
            | MonitorError::TooLarge { .. } => Exit::Usage,
            _ => Exit::Environment,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            MonitorError::NoBtf { .. } | MonitorError::Btf(_) => {
                "use a kernel with CONFIG_DEBUG_INFO_BTF=y, as distributions build it; in a \
                 container, mount /sys"
            }
            MonitorError::Capabilities { .. } => {
                "run it as root, or give it the capabilities: \
                 setcap cap_bpf,cap_perfmon,cap_sys_resource+ep lsmeter"
            }
            MonitorError::Lockdown => {
                "boot with lockdown=integrity or none, or measure in the lab: lsmeter profile"
            }
            MonitorError::Refused | MonitorError::NoBpf => {
                "monitor from outside the container; where the kernel itself refuses, \
                 measure in the lab: lsmeter profile"
            }
            MonitorError::NoTrampolines { .. } => {
                "use Linux 5.15 or newer on x86-64 with CONFIG_BPF_JIT=y and \
                 CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS=y"
            }
            MonitorError::NeverRun => {
                "tracing of functions is switched off: sysctl kernel.ftrace_enabled=1"
            }
            MonitorError::NoHooks { .. } => {
                "hooks are named as in the kernel's lsm_hook_defs.h: inode_permission, or \
                 'inode_*' for several"
            }
            MonitorError::TooLarge { .. } => "select fewer hooks, or allow fewer rows",
            MonitorError::PidNamespace => {
                "watch a control group instead, or run it outside the container"
            }
            MonitorError::Cgroup { .. } => {
                "name a directory of cgroup version 2, such as /sys/fs/cgroup/system.slice"
            }
            MonitorError::NoneAttached { .. } => {
                "is something else, such as live patching, in the way of ftrace?"
            }
            // EMFILE and ENFILE.
            MonitorError::Kernel { source, .. }
                if matches!(source.raw_os_error(), Some(23 | 24)) =>
            {
                "four descriptors are needed for each hook: raise the limit (ulimit -n), or \
                 select fewer hooks"
            }
            MonitorError::NoProcess(_) | MonitorError::Kernel { .. } => return None,
        };
        Some(hint.to_owned())
    }
}
