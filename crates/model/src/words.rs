// SPDX-License-Identifier: GPL-2.0-or-later
//! Words shared by specs, flags and result files.

use crate::hint::nearest;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{word}`; expected one of {}", known.join(", "))]
pub struct UnknownWord {
    pub what: &'static str,
    pub word: String,
    pub known: Vec<&'static str>,
}

impl UnknownWord {
    pub fn hint(&self) -> Option<String> {
        nearest(&self.word, self.known.iter().copied())
            .map(|word| format!("did you mean `{word}`?"))
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $what:literal: $($(#[$vdoc:meta])* $variant:ident = $word:literal,)+) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
            schemars::JsonSchema,
        )]
        pub enum $name {
            $($(#[$vdoc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            pub fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::words::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                $name::ALL.iter().copied().find(|w| w.as_str() == word).ok_or_else(|| $crate::words::UnknownWord {
                    what: $what,
                    word: word.chars().take(80).collect(),
                    known: $name::ALL.iter().map(|w| w.as_str()).collect(),
                })
            }
        }
    };
}

pub(crate) use words;

words! {
    #[derive(Default)]
    Architecture, "architecture":
    /// 64-bit x86.
    #[default]
    X86_64 = "x86_64",
    /// 64-bit Arm.
    Aarch64 = "aarch64",
}

words! {
    /// Unit of cost in a sweep.
    Unit, "unit":
    /// Guest kernel instructions per operation.
    Instructions = "instructions",
    /// Nanoseconds per operation.
    Ns = "ns",
    /// Operations per second.
    OpsPerS = "ops/s",
}

words! {
    /// File system that a VM mounts on the working directory.
    FileSystem, "file system":
    /// ext4 with default parameters, on a block device in memory.
    Ext4 = "ext4",
    Tmpfs = "tmpfs",
    /// XFS, on a block device in memory.
    Xfs = "xfs",
    /// Btrfs, on a block device in memory.
    Btrfs = "btrfs",
    /// overlayfs: ext4 as above as the lower layer, tmpfs as the upper one.
    Overlay = "overlay",
}

words! {
    DelayModule, "module":
    /// The Tunable Security Module, in a kernel built with it.
    Tunable = "tunable",
    /// Programs of the BPF LSM, on a stock kernel.
    Bpf = "bpf",
}

words! {
    /// Detail that a monitor records of each hook call.
    #[derive(Default)]
    MonitorMode, "mode":
    Count = "count",
    /// Also its result and duration.
    #[default]
    Time = "time",
    /// Also a histogram of durations.
    Histogram = "histogram",
}

words! {
    /// State of the kernel's caches for the path of an operation.
    Caches, "state of the caches":
    Warm = "warm",
    /// Unused dentries and inodes were dropped before each operation.
    Cold = "cold",
}

words! {
    /// Origin of a set of benchmarks.
    Suite, "suite":
    /// LMBench-Hook: the 14 benchmarks of *Analyzing the Overhead of Filesystem
    /// Protection Using Linux Security Modules*, Table 3 and section 4.1.
    Paper = "paper",
    /// LMbench as LSMPMON's Tables 3 and 4 use it.
    Lmbench = "lmbench",
    /// The tree walk from the e-mail about the credentials patch.
    Howells = "howells",
    /// File system calls in neither of the suites above.
    Beyond = "beyond",
    Network = "network",
    /// Pipes, queues, signals, and operations of tasks on each other.
    Ipc = "ipc",
    Process = "process",
    Admin = "admin",
}

words! {
    /// Which variants are selected by a pattern that names no variant.
    Select, "selection":
    /// The first one listed.
    First = "first",
    All = "all",
}

words! {
    Place, "place":
    Lab = "lab",
    /// This machine's running kernel.
    Host = "host",
    /// UML kernels, in which times are measured.
    Um = "um",
}

words! {
    /// State of the policies of a stack's modules.
    #[derive(Default)]
    Policy, "policy state":
    /// No policy is loaded: hooks run, but modules decide nothing (hooking cost).
    #[default]
    None = "none",
    /// Policies are loaded, but denials are only logged.
    Permissive = "permissive",
    /// Policies are loaded and enforced (enforcement cost).
    Enforcing = "enforcing",
}

words! {
    Integrity, "integrity subsystem":
    /// Audit: rules select the system calls to log.
    Audit = "audit",
    /// IMA: files are hashed, and appraised against a stored hash.
    Ima = "ima",
    /// EVM: an HMAC protects the security attributes of files.
    Evm = "evm",
}

words! {
    SelinuxPolicy, "SELinux policy":
    /// A minimal policy that comes with lsmeter.
    Minimal = "minimal",
    /// The distribution's reference policy (Debian: selinux-policy-default).
    Reference = "reference",
}

words! {
    /// Audit's rules, as for `auditctl`.
    AuditRules, "set of audit rules":
    /// No rules, but tasks can be audited (`-D`): the default of the audit package, RHEL,
    /// Debian and Ubuntu.
    None = "none",
    /// Tasks get no audit context (`-a task,never`): `10-no-audit.rules` of audit, as installed by
    /// Fedora.
    NeverTask = "never-task",
    /// One rule: opens refused with EACCES.
    One = "one",
    /// Six rules: refused opens, and changes of modes, owners, attributes and names by logged-in
    /// users. The default of lsmeter.
    FileAccess = "file-access",
    /// The 34 rules in `30-stig.rules` of the audit package at the release of Linux 5.3, for 64 and 32 bits.
    Stig = "stig",
}

words! {
    /// What happens to the records of custom audit rules.
    AuditRecords, "destination of audit records":
    /// No audit daemon runs: the kernel writes records to its log.
    Absent = "absent",
    /// All but one a second are dropped (`auditctl -r 1`).
    Dropped = "dropped",
    /// A daemon receives them and writes them to a file.
    Written = "written",
}

words! {
    ImaPolicy, "IMA policy":
    /// The rules of `ima_policy=tcb`; the benchmarks' file system is always measured, and its files
    /// are appraised. The default of lsmeter.
    FileSystem = "file-system",
    /// The kernel's `ima_policy=tcb`: files that root reads or that are executed are measured.
    Tcb = "tcb",
    /// The kernel's `ima_policy=appraise_tcb`: files owned by root are appraised.
    AppraiseTcb = "appraise-tcb",
    /// Both, as `ima_policy=tcb|appraise_tcb`.
    TcbAndAppraiseTcb = "tcb-and-appraise-tcb",
}

words! {
    /// Event before each operation that invalidates cached decisions.
    #[derive(Default)]
    FirstAfter, "event":
    /// No event: modules use their cached decisions.
    #[default]
    Nothing = "nothing",
    /// SELinux and AppArmor policies are reloaded.
    Load = "load",
    /// Files get an SELinux label that no file had before.
    Relabel = "relabel",
}

words! {
    #[derive(Default)]
    Status, "status":
    #[default]
    Ok = "ok",
    /// Unexpected failure.
    Failed = "failed",
    /// Not supported by the kernel, file system or host.
    Unsupported = "unsupported",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_json_agree() {
        for place in Place::ALL {
            assert_eq!(
                serde_json::to_string(place).unwrap(),
                format!("\"{place}\"")
            );
            assert_eq!(place.as_str().parse(), Ok(*place));
        }
        assert_eq!(serde_json::to_string(&Unit::OpsPerS).unwrap(), "\"ops/s\"");
    }
}
