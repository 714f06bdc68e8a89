// SPDX-License-Identifier: GPL-2.0-or-later
//! The words that specs, flags and documents share.

use crate::hint::nearest;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{word}`; one of {}", known.join(", "))]
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
    /// What processor a kernel is built for.
    #[derive(Default)]
    Architecture, "architecture":
    /// 64-bit x86.
    #[default]
    X86_64 = "x86_64",
    /// 64-bit Arm.
    Aarch64 = "aarch64",
}

words! {
    /// The unit of what a sweep's operations cost.
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
}

words! {
    DelayModule, "module":
    /// The Tunable Security Module, in a kernel built with it.
    Tunable = "tunable",
    /// Programs of the BPF LSM, on a stock kernel.
    Bpf = "bpf",
}

words! {
    /// What a monitor notes of each call of a hook.
    #[derive(Default)]
    MonitorMode, "mode":
    Count = "count",
    /// Also its result and how long it took.
    #[default]
    Time = "time",
    /// Also a histogram of times.
    Histogram = "histogram",
}

words! {
    /// What a kernel's caches know of the path that an operation walks.
    Caches, "state of the caches":
    Warm = "warm",
    /// Dentries and inodes that nobody uses were dropped before each operation.
    Cold = "cold",
}

words! {
    /// Where a set of benchmarks comes from.
    Suite, "suite":
    /// LMBench-Hook: the 14 benchmarks of *Analyzing the Overhead of Filesystem
    /// Protection Using Linux Security Modules*, Table 3 and section 4.1.
    Paper = "paper",
    /// LMbench as LSMPMON's Tables 3 and 4 use it.
    Lmbench = "lmbench",
    /// The tree walk of the credentials patch mail.
    Howells = "howells",
    /// File system calls that neither of them measured.
    Beyond = "beyond",
    Network = "network",
    /// Pipes, queues, signals, and what tasks do to each other.
    Ipc = "ipc",
    Process = "process",
    Admin = "admin",
}

words! {
    /// How many variants of a benchmark a pattern without a variant selects.
    Select, "selection":
    /// The first one listed.
    First = "first",
    All = "all",
}

words! {
    /// Where benchmarks run.
    Place, "place":
    Lab = "lab",
    /// On this machine's running kernel, as it is.
    Host = "host",
    /// In kernels that are processes of this machine and measure themselves.
    Um = "um",
}

words! {
    /// What the modules of a stack decide with.
    #[derive(Default)]
    Policy, "policy state":
    /// No policy loaded: hooks run, nothing decides (hooking cost).
    #[default]
    None = "none",
    /// A policy loaded whose denials are only logged.
    Permissive = "permissive",
    /// A policy loaded and deciding (enforcement cost).
    Enforcing = "enforcing",
}

words! {
    Integrity, "integrity subsystem":
    /// Audit: rules by which system calls are logged.
    Audit = "audit",
    /// IMA: files are hashed, and appraised by what their hash should be.
    Ima = "ima",
    /// EVM: the security attributes of files are protected by an HMAC.
    Evm = "evm",
}

words! {
    /// Which policy SELinux loads.
    SelinuxPolicy, "SELinux policy":
    /// lsmeter's own, as small as it can be.
    Minimal = "minimal",
    /// The distribution's reference policy (Debian: selinux-policy-default).
    Reference = "reference",
}

words! {
    /// Which rules audit has, as `auditctl` takes them.
    AuditRules, "set of audit rules":
    /// None, and all that tasks do may be recorded (`-D`): what audit's own packaging, and so
    /// RHEL, and Debian and Ubuntu install.
    None = "none",
    /// Tasks get no context to be recorded in (`-a task,never`), as Fedora installs it:
    /// `10-no-audit.rules` of audit's.
    NeverTask = "never-task",
    /// One: opens that are refused with EACCES.
    One = "one",
    /// Six: refused opens, and changes of modes, owners, attributes and names by who has logged
    /// in. What lsmeter loads if it is not told.
    FileAccess = "file-access",
    /// The 34 of audit's `30-stig.rules` as it was when Linux 5.3 was new, for 64 and for 32 bits.
    Stig = "stig",
}

words! {
    /// Which rules IMA has.
    ImaPolicy, "IMA policy":
    /// What `ima_policy=tcb` measures, the file system of the benchmarks in any case, and all
    /// files there are appraised. What lsmeter loads if it is not told.
    FileSystem = "file-system",
    /// The kernel's own `ima_policy=tcb`: what root reads and what is executed is measured.
    Tcb = "tcb",
    /// The kernel's own `ima_policy=appraise_tcb`: root's files are appraised.
    AppraiseTcb = "appraise-tcb",
    /// Both, as `ima_policy=tcb|appraise_tcb`.
    TcbAndAppraiseTcb = "tcb-and-appraise-tcb",
}

words! {
    /// What each operation is the first after, so that modules decide anew.
    #[derive(Default)]
    FirstAfter, "event":
    /// Nothing: others came before, and modules remember what they decided.
    #[default]
    Nothing = "nothing",
    /// The policies of SELinux and of AppArmor are loaded again.
    Load = "load",
    /// The files that are worked on get a label of SELinux's that no file has had.
    Relabel = "relabel",
}

words! {
    /// Which correction p values get for the number of cells that are tested.
    #[derive(Default)]
    Correction, "correction":
    /// Holm's: no false alarm at all, with the stated confidence.
    #[default]
    Holm = "holm",
    /// Benjamini's and Hochberg's: of the alarms, the stated share may be false.
    Bh = "bh",
    /// None: each cell by itself may be a false alarm.
    None = "none",
}

words! {
    Status, "status":
    Ok = "ok",
    /// It should have worked and did not.
    Failed = "failed",
    /// The kernel, file system or host cannot do it.
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
