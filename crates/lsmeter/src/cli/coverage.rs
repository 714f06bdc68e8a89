// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter coverage`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use model::{Policy, Select, Suite};

use super::output::OutputArgs;
use super::shared::{LabArgs, number_within, words};

/// Tell which hooks of a kernel the benchmarks call, and why not the others
///
/// Lists every LSM hook of the kernel with the operations that call it, how often, and what
/// that costs in each module; then the hooks that no operation calls, with what it would take.
/// Unless stacks are named, each major module that the kernel has runs in turn, both without a
/// policy and with one that decides. Profiles that were saved can be read in place of measuring, and
/// what whole programs called.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter coverage
  lsmeter coverage --kernel debian:6.1 --variants all -o coverage.json
  lsmeter coverage --bench 'open,read,socket' --stack capability,selinux
  lsmeter coverage --source linux-source-6.12.tar.xz
  lsmeter coverage --at-least 70 coverage.json
  lsmeter coverage programs.json -o tests.json
  lsmeter coverage --format csv coverage.json > hooks.csv

The hooks are those of the kernel's BTF, the modules' functions those that its image registers.
An operation's hooks are those on the path that most of its executions take.

Exit status: 0 fine; 1 fewer are called than --at-least; 4 a benchmark failed under every
stack; 5 nothing tells of the kernel's hooks.")]
#[command(next_help_heading = "What is measured")]
pub struct CoverageArgs {
    /// Documents of `lsmeter profile` or `coverage`, or of whole programs by `lsmeter run`, to read
    /// in place of measuring
    #[arg(value_name = "PROFILE.json", value_hint = ValueHint::FilePath)]
    pub documents: Vec<PathBuf>,
    /// Kernel to boot; of documents, the one to tell of [default: debian:6.12; that of the
    /// documents]
    #[arg(short, long, value_name = "KERNEL")]
    pub kernel: Option<String>,
    /// Stack of LSMs, as lsm= takes it; may be given several times [default: capability with
    /// each of selinux, apparmor, smack, tomoyo, landlock and bpf that the kernel has]
    #[arg(
        short,
        long = "stack",
        value_name = "LSM,…",
        conflicts_with = "documents"
    )]
    pub stacks: Vec<String>,
    /// State of the modules' policies: none, permissive, enforcing or withdrawn; may be given
    /// several times [default: none and, where the lab has a policy, enforcing]
    #[arg(short = 'P', long = "policy", value_name = "STATE",
        value_parser = words::<Policy>(Policy::ALL), conflicts_with = "documents")]
    pub policies: Vec<Policy>,
    /// Benchmark, or benchmark:variant, with * and ?; `!` excludes [default: all but those that
    /// need a policy that denies, and the full tree walk]
    #[arg(
        short,
        long = "bench",
        value_name = "PATTERN,…",
        value_delimiter = ',',
        conflicts_with = "documents"
    )]
    pub benchmarks: Vec<String>,
    /// Suite to choose benchmarks from; may be given several times [default: all]
    #[arg(long = "suite", value_name = "SUITE", value_parser = words::<Suite>(Suite::ALL),
        conflicts_with = "documents")]
    pub suites: Vec<Suite>,
    /// The first variant of each benchmark, or all [default: first]
    #[arg(long, value_name = "WHICH", value_parser = words::<Select>(Select::ALL),
        conflicts_with = "documents")]
    pub variants: Option<Select>,
    /// The kernel's sources, a tree or a tarball, or a document of `lsmeter placement --all`: tells
    /// the system calls that could reach what no operation calls
    #[arg(long, value_name = "TREE", value_hint = ValueHint::AnyPath)]
    pub source: Option<PathBuf>,
    /// Fail (exit status 1) if fewer of the hooks that user space can have called without
    /// hardware are called
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub at_least: Option<f64>,
    /// How it is measured
    #[command(flatten)]
    pub lab: LabArgs,
    /// Also each module's functions that did not run, and all names in full
    #[arg(long, help_heading = "Output")]
    pub all: bool,
    /// What is printed, and where it goes
    #[command(flatten)]
    pub out: OutputArgs,
    /// Go on with what was interrupted [default: the one beside the document, or the newest]
    #[arg(long, value_name = "JOURNAL", num_args = 0..=1, value_hint = ValueHint::FilePath,
        conflicts_with = "documents", help_heading = "Output")]
    pub resume: Option<Option<PathBuf>>,
    /// No progress
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

/// A share.
fn percent(text: &str) -> Result<f64, String> {
    number_within(text, 0.0..=100.0)
}
