// SPDX-License-Identifier: GPL-2.0-or-later
//! Flags that several commands share.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use lab::cache::Reuse;
use model::{
    Architecture, Fault as _, FileSystem, IntegrityList, Place, Policy, Select, Spec, Suite,
};
use serde::Serialize;

/// What `--qemu` is for, and its default.
pub fn qemu_help(what: &str) -> String {
    let program = kernels::arch::native().machine.program;
    format!("{what} [default: {program} in PATH]")
}

/// Which cells. Fields are called as the keys of an experiment file.
#[derive(Debug, Args, Serialize)]
#[command(next_help_heading = "What is measured")]
pub struct CellArgs {
    /// Kernels and benchmarks
    #[command(flatten)]
    #[serde(skip)]
    pub selection: SelectionArgs,
    /// Stack of LSMs, as in lsm=; repeatable [default: the preset's]
    #[arg(short, long = "stack", value_name = "LSM,…")]
    pub stacks: Vec<String>,
    /// State of policies: none, permissive, enforcing [default: none]
    #[arg(short = 'P', long = "policy", value_name = "STATE,…", value_delimiter = ',',
        value_parser = words::<Policy>(Policy::ALL),
        hide_possible_values = true)]
    pub policies: Vec<Policy>,
    /// Custom policies, in TOML [default: lsmeter's small ones]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[serde(skip)]
    pub policy_file: Option<PathBuf>,
    /// Integrity subsystems: audit, ima, evm; repeatable [default: none]
    #[arg(long, value_name = "LSM,…", help_heading = RARE, hide_short_help = true)]
    pub integrity: Vec<IntegrityList>,
    /// Rules in each policy [default: what benchmarks need]
    #[arg(long, value_name = "N,…", value_delimiter = ',', help_heading = RARE, hide_short_help = true)]
    pub rules: Vec<u32>,
    /// Landlock rulesets on top of each other [default: 1]
    #[arg(long, value_name = "N,…", value_delimiter = ',', help_heading = RARE, hide_short_help = true)]
    pub layers: Vec<u32>,
}

/// Which kernels and benchmarks. Fields are called as the keys of an experiment file.
#[derive(Debug, Default, Args, Serialize)]
#[command(next_help_heading = "What is measured")]
pub struct SelectionArgs {
    /// Kernel, or a pattern; repeatable [default: debian:6.12]
    #[arg(short, long = "kernel", value_name = "KERNEL")]
    pub kernels: Vec<String>,
    /// Benchmarks: open, 'open:*', '!stat' [default: the preset's]
    #[arg(short, long = "bench", value_name = "PATTERN,…", value_delimiter = ',')]
    pub benchmarks: Vec<String>,
    /// Suites to select from (`lsmeter list benchmarks`) [default: all]
    #[arg(long = "suite", value_name = "SUITE,…", value_delimiter = ',',
        value_parser = words::<Suite>(Suite::ALL), hide_possible_values = true)]
    pub suites: Vec<Suite>,
    /// Variants of each benchmark: first or all [default: all]
    #[arg(long = "variants", value_name = "WHICH", value_parser = words::<Select>(Select::ALL),
        hide_possible_values = true)]
    pub select: Option<Select>,
}

/// Whole programs, in place of benchmarks.
#[derive(Debug, Default, Args)]
pub struct ProgramArgs {
    /// Directory, tar file or OCI layout to run in
    #[arg(long, value_name = "ROOT", value_hint = ValueHint::AnyPath, conflicts_with = "programs",
        help_heading = PROGRAMS)]
    pub root: Option<PathBuf>,
    /// Make a root with these programs and their libraries
    #[arg(long, value_name = "PROGRAM,…", value_delimiter = ',', help_heading = PROGRAMS)]
    pub programs: Vec<String>,
    /// Add these files and directories to that root
    #[arg(long, value_name = "PATH,…", value_delimiter = ',', conflicts_with = "root",
        help_heading = PROGRAMS)]
    pub files: Vec<String>,
    /// Add this directory to that root as /tree, and run there
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "programs",
        help_heading = PROGRAMS)]
    pub tree: Option<PathBuf>,
    /// Run this before each measurement, unmeasured; repeatable
    #[arg(long = "prepare", value_name = "COMMAND", help_heading = PROGRAMS)]
    pub prepare: Vec<String>,
    /// Measure it this many times [default: 3]
    #[arg(long, value_name = "N", help_heading = PROGRAMS)]
    pub repeat: Option<u32>,
    /// Program and arguments [default: what the image names]
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "benchmarks",
        help_heading = PROGRAMS)]
    pub command: Vec<String>,
}

/// Help shows headings in the order of their first flags: commands flatten [`CellArgs`] last.
const RARE: &str = "Rare axes";
const PROGRAMS: &str = "Whole programs";

/// Where: virtual machines or this one.
#[derive(Debug, Args)]
#[command(next_help_heading = "Where and how")]
pub struct PlaceArgs {
    /// Where: lab (virtual machines), host, um (UML kernels) [default: lab]
    #[arg(long = "on", value_name = "WHERE", value_parser = words::<Place>(Place::ALL),
        hide_possible_values = true)]
    pub place: Option<Place>,
    /// Directory to work in; implies --on host
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
}

/// How they are measured in virtual machines. Fields are called as the keys of an experiment file.
#[derive(Debug, Args, Serialize)]
#[command(next_help_heading = "Where and how")]
pub struct LabArgs {
    /// Of Debian's kernels: x86_64, aarch64 [default: this machine's]
    #[arg(long, value_name = "ARCH,…", value_delimiter = ',', value_parser = architectures(),
        hide_possible_values = true,
        help_heading = "What is measured", display_order = 90)]
    pub arch: Vec<Architecture>,
    /// File system: ext4, tmpfs, xfs, btrfs [default: ext4]
    #[arg(long = "fs", value_name = "FS", value_parser = words::<FileSystem>(FileSystem::ALL),
        hide_possible_values = true)]
    pub filesystem: Option<FileSystem>,
    /// Append this to the kernel command line [default: nothing]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub cmdline: Option<String>,
    /// Samples of each measurement [default: 64, of times 300]
    #[arg(short = 'n', long, value_name = "N")]
    pub samples: Option<u32>,
    /// Virtual machines at a time [default: one per processor]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<u32>,
    /// Seconds for a boot or a measurement [default: 120, 300]
    #[arg(long, value_name = "SECONDS")]
    #[serde(skip)]
    pub timeout: Option<u32>,
    /// Set a key of the experiment file: avc_entries=16; repeatable
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = setting)]
    #[serde(skip)]
    pub settings: Vec<Spec>,
    #[arg(long, value_name = "PROGRAM", value_hint = ValueHint::ExecutablePath,
        help = qemu_help("QEMU to use"), hide_short_help = true)]
    #[serde(skip)]
    pub qemu: Option<PathBuf>,
    /// Do not fetch kernels that are not in the cache
    #[arg(long)]
    #[serde(skip)]
    pub offline: bool,
}

/// How a measurement goes on, and what it prints meanwhile.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct ProgressArgs {
    /// Make cached counts again; exit 70 if one differs
    #[arg(long, help_heading = "Where and how")]
    pub no_cache: bool,
    /// Print no progress
    #[arg(short, long)]
    pub quiet: bool,
}

impl ProgressArgs {
    pub fn reuse(&self) -> Reuse {
        match self.no_cache {
            true => Reuse::Verify,
            false => Reuse::Use,
        }
    }
}

/// A key of an experiment file and its value, as TOML has them.
fn setting(text: &str) -> Result<Spec, String> {
    Spec::parse("in TOML", text).map_err(|error| error.hint().unwrap_or(error.to_string()))
}

/// A number of this range.
pub fn number_within(text: &str, range: RangeInclusive<f64>) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number")?;
    if range.contains(&number) {
        Ok(number)
    } else {
        Err(format!("must be from {} to {}", range.start(), range.end()))
    }
}

/// A parser for an architecture, by its own name or by Debian's.
pub fn architectures() -> impl clap::builder::TypedValueParser<Value = Architecture> {
    use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _};
    let value = |arch: &&'static kernels::arch::Arch| {
        let value = PossibleValue::new(arch.name);
        match arch.debian.name == arch.name {
            true => value,
            false => value.alias(arch.debian.name),
        }
    };
    PossibleValuesParser::new(kernels::arch::ALL.iter().map(value)).try_map(|word| {
        let known = kernels::arch::by_name(&word).or_else(|| kernels::arch::by_debian_name(&word));
        known.map_or(&*word, |arch| arch.name).parse()
    })
}

/// A parser for one of experiment's word lists: clap then lists them in the help.
pub fn words<W>(all: &'static [W]) -> impl clap::builder::TypedValueParser<Value = W>
where
    W: Copy + std::fmt::Display + std::str::FromStr + Send + Sync + 'static,
    W::Err: std::error::Error + Send + Sync + 'static,
{
    use clap::builder::TypedValueParser as _;
    clap::builder::PossibleValuesParser::new(all.iter().map(ToString::to_string))
        .try_map(|word| word.parse::<W>())
}
