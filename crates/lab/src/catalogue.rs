// SPDX-License-Identifier: GPL-2.0-or-later
//! The embedded agent's benchmarks. The agent itself prints the list (`agent --list` at build
//! time), so it cannot differ from what the agent can measure.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use kernels::arch::Arch;
use model::{Choice, Experiment, Failure, Metric, SelectError, Suite};
use serde::Serialize;

use crate::error::LabError;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Measures {
    pub latency: bool,
    pub throughput: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Benchmark {
    /// Unique together with `variant`; no blank and no `:`.
    pub name: String,
    /// `AA/BB`, `4KB`, `depth3`; no blank and no `:`.
    pub variant: String,
    pub suite: Suite,
    /// Order within the suite; for the paper's benchmarks, the row of Table 3.
    pub number: u32,
    /// One of the paper's eight classes of file access (section 4.1: `file`, `directory`, `link`,
    /// `attribute`, `xattr`, `descriptor`, `read-write`, `event`); of other calls `process`,
    /// `socket`, `message`, `ipc`, `signal`, `trace`, `credentials`, `scheduling`, `namespace`,
    /// `admin`; or `floor`: what any system call costs.
    pub class: String,
    pub measures: Measures,
    /// System calls in the measured region, in order, by the kernel's names.
    pub syscalls: Vec<String>,
    /// The table, section, e-mail or manual page that defines it.
    pub source: String,
    pub summary: String,
    /// The largest number of operations in a timed batch; `None` means that there is no limit.
    pub max_batch: Option<u32>,
    /// One operation is the sum of several measured regions (a tree walk).
    pub composite: bool,
    pub counts_children: bool,
    /// Required number of counted operations per measurement (if composite, of timed ones too);
    /// `None` lets the caller decide.
    pub repetitions: Option<u32>,
    /// Path components that an operation walks straight down; `None` if it has no such path.
    pub depth: Option<u32>,
    pub modules: Vec<String>,
}

impl Benchmark {
    pub fn id(&self) -> String {
        format!("{}:{}", self.name, self.variant)
    }

    pub fn choice(&self) -> Choice<'_> {
        (&self.name, &self.variant, self.suite)
    }

    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split('\t');
        let mut next = || fields.next();
        let number_or_none = |n: u32| (n != 0).then_some(n);
        let benchmark = Self {
            suite: next()?.parse().ok()?,
            number: next()?.parse().ok()?,
            name: next()?.to_owned(),
            variant: next()?.to_owned(),
            class: next()?.to_owned(),
            measures: {
                let bits: u32 = next()?.parse().ok()?;
                Measures {
                    latency: bits & 1 != 0,
                    throughput: bits & 2 != 0,
                }
            },
            syscalls: next()?.split_whitespace().map(str::to_owned).collect(),
            source: next()?.to_owned(),
            summary: next()?.to_owned(),
            max_batch: number_or_none(next()?.parse().ok()?),
            composite: next()? == "1",
            counts_children: next()? == "1",
            repetitions: number_or_none(next()?.parse().ok()?),
            depth: number_or_none(next()?.parse().ok()?),
            modules: match next()? {
                "-" => Vec::new(),
                modules => modules.split_whitespace().map(str::to_owned).collect(),
            },
        };
        fields.next().is_none().then_some(benchmark)
    }
}

struct Embedded {
    agent: &'static [u8],
    list: &'static str,
}

const NATIVE: Embedded = Embedded {
    agent: include_bytes!(concat!(env!("OUT_DIR"), "/agent")),
    list: include_str!(concat!(env!("OUT_DIR"), "/benchmarks.tsv")),
};

static OTHERS: &[(&str, Embedded)] = include!(concat!(env!("OUT_DIR"), "/others.rs"));

static CATALOGUES: LazyLock<BTreeMap<&str, Vec<Benchmark>>> = LazyLock::new(|| {
    let parse = |line| Benchmark::parse(line).expect("a line of the agent's list");
    let native = (kernels::arch::native().name, &NATIVE);
    let others = OTHERS.iter().map(|(name, embedded)| (*name, embedded));
    let all = [native].into_iter().chain(others);
    all.map(|(name, embedded)| (name, embedded.list.lines().map(parse).collect()))
        .collect()
});

pub fn catalogue() -> &'static [Benchmark] {
    catalogue_of(kernels::arch::native())
}

/// In the order of suites and numbers; empty if lsmeter has no agent for the architecture.
pub fn catalogue_of(arch: &Arch) -> &'static [Benchmark] {
    CATALOGUES.get(arch.name).map_or(&[], Vec::as_slice)
}

fn missing(arch: &Arch) -> LabError {
    let name = arch.name;
    let hint = format!(
        "install the compiler {name}-linux-gnu-gcc and its headers (Debian: apt-get install \
         gcc-{package}-linux-gnu libc6-dev-{debian}-cross), then build lsmeter again",
        package = name.replace('_', "-"),
        debian = arch.debian.name,
    );
    let what = format!("this lsmeter was built without an agent for {name}");
    Failure::environment(what, hint).into()
}

/// A static ELF program without a C library: init in a VM, a process on the host.
pub fn agent() -> &'static [u8] {
    NATIVE.agent
}

pub fn agent_of(arch: &Arch) -> Result<&'static [u8], LabError> {
    if arch.is_native() {
        return Ok(NATIVE.agent);
    }
    let found = OTHERS.iter().find(|(name, _)| *name == arch.name);
    found.map_or_else(|| Err(missing(arch)), |(_, other)| Ok(other.agent))
}

/// Kernel modules that the experiment's benchmarks need, sorted, without duplicates.
pub fn modules_for(experiment: &Experiment) -> Result<Vec<&'static str>, SelectError> {
    if experiment.programs.is_some() || experiment.metrics.contains(&Metric::Memory) {
        return Ok(Vec::new());
    }
    let choices = catalogue().iter().map(Benchmark::choice);
    let chosen = experiment.selection.choose(choices)?.into_iter();
    let modules = chosen.flat_map(|index| &catalogue()[index].modules);
    let modules: BTreeSet<&str> = modules.map(String::as_str).collect();
    Ok(modules.into_iter().collect())
}

pub fn find(name: &str, variant: &str) -> Option<&'static Benchmark> {
    catalogue()
        .iter()
        .find(|b| b.name == name && b.variant == variant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_sub_benchmarks_are_all_there() {
        let count = |name: &str| catalogue().iter().filter(|b| b.name == name).count();
        assert_eq!([count("open"), count("stat")], [13, 13]);
        assert_eq!([count("rename"), count("chmod")], [5, 5]);
        assert_eq!([count("read"), count("write"), count("copy")], [4, 4, 4]);
        let mut paper: Vec<&str> = catalogue()
            .iter()
            .filter(|b| b.suite == Suite::Paper)
            .map(|b| b.name.as_str())
            .collect();
        paper.dedup();
        assert_eq!(
            paper,
            [
                "open", "openat", "rename", "creat", "mkdir", "rmdir", "unlink", "symlink",
                "chmod", "stat", "fstatat", "read", "write", "copy"
            ]
        );
        let mut all = catalogue_of(kernels::arch::ALL[0]).iter();
        let creat = all.find(|b| b.id() == "creat:random").unwrap();
        assert_eq!(creat.syscalls, ["rename", "creat", "close"]);
        let mkdir = find("mkdir", "9437-names").unwrap();
        assert_eq!(mkdir.max_batch, Some(9437));
        assert!(mkdir.measures.latency && mkdir.measures.throughput);
    }

    #[test]
    fn suites_and_numbers_are_in_order() {
        assert!(catalogue().is_sorted_by_key(|b| (b.suite, b.number)));
        for b in catalogue() {
            assert!(!b.syscalls.is_empty(), "{} lists no system call", b.id());
            assert!(b.measures.latency || b.measures.throughput, "{}", b.id());
        }
    }

    #[test]
    fn depths_are_those_that_names_tell() {
        for b in catalogue() {
            assert_eq!(b.depth, model::path_depth(&b.variant), "{}", b.id());
        }
    }

    #[test]
    fn modules_are_those_of_what_is_selected() {
        let modules = |toml: &str| {
            let experiment = model::Spec::parse("test", toml).unwrap();
            modules_for(&experiment.resolve().unwrap()).unwrap()
        };
        assert!(modules("benchmarks = ['socket:tcp', 'stat:*']").is_empty());
        assert_eq!(
            modules("benchmarks = ['socket:*', 'overlay:*', 'bind:sctp']"),
            ["overlay", "sctp"]
        );
    }

    #[test]
    fn agents_of_other_architectures_are_theirs() {
        for (name, embedded) in OTHERS {
            let arch = kernels::arch::by_name(name).unwrap();
            assert!(embedded.agent.starts_with(b"\x7fELF"), "{name}");
            let machine = u16::from_le_bytes([embedded.agent[18], embedded.agent[19]]);
            assert_eq!(machine, arch.elf_machine, "{name}");
            let ids = |all: &[Benchmark]| all.iter().map(Benchmark::id).collect::<BTreeSet<_>>();
            let (own, native) = (ids(catalogue_of(arch)), ids(catalogue()));
            assert!(own.intersection(&native).count() > 390, "{name}");
            let open = catalogue_of(arch)
                .iter()
                .find(|benchmark| benchmark.name == "open");
            assert_eq!(open.unwrap().syscalls.len(), 2, "{name}");
        }
        let other = kernels::arch::ALL
            .iter()
            .find(|arch| !arch.is_native())
            .unwrap();
        let (missing, name) = (missing(other), other.name);
        assert!(missing.to_string().contains(name), "{missing}");
        let hint = model::Fault::hint(&missing).unwrap();
        assert!(hint.contains(&format!("{name}-linux-gnu-gcc")), "{hint}");
    }
}
