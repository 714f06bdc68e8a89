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

/// Help of `--qemu`, with its default.
pub fn qemu_help(what: &str) -> String {
    let program = kernels::arch::native().machine.program;
    format!("{what} [default: {program} in PATH]")
}

/// Selects measurements. Fields have the names of an experiment file's keys.
#[derive(Debug, Args, Serialize)]
#[command(next_help_heading = "What is measured")]
pub struct CellArgs {
    #[command(flatten)]
    #[serde(skip)]
    pub selection: SelectionArgs,
    /// Boot with this stack (lsm=); repeatable [default: the preset's]
    #[arg(short, long = "stack", value_name = "LSM,…")]
    pub stacks: Vec<String>,
    /// Set the policy state: none, permissive, enforcing [default: none]
    #[arg(short = 'P', long = "policy", value_name = "STATE,…", value_delimiter = ',',
        value_parser = words::<Policy>(Policy::ALL),
        hide_possible_values = true)]
    pub policies: Vec<Policy>,
    /// Load the policies in this TOML file [default: lsmeter's own]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[serde(skip)]
    pub policy_file: Option<PathBuf>,
    /// Enable integrity subsystems: audit, ima, evm; repeatable [default: none]
    #[arg(long, value_name = "LSM,…", help_heading = RARE, hide_short_help = true)]
    pub integrity: Vec<IntegrityList>,
    /// Add N rules to each policy [default: none]
    #[arg(long, value_name = "N,…", value_delimiter = ',', help_heading = RARE, hide_short_help = true)]
    pub rules: Vec<u32>,
    /// Nest N Landlock rulesets [default: 1]
    #[arg(long, value_name = "N,…", value_delimiter = ',', help_heading = RARE, hide_short_help = true)]
    pub layers: Vec<u32>,
}

/// Selects kernels and benchmarks. Fields have the names of an experiment file's keys.
#[derive(Debug, Default, Args, Serialize)]
#[command(next_help_heading = "What is measured")]
pub struct SelectionArgs {
    /// Boot this kernel or pattern; repeatable [default: debian:6.12]
    #[arg(short, long = "kernel", value_name = "KERNEL")]
    pub kernels: Vec<String>,
    /// Select benchmarks, e.g. 'open:*', '!stat' [default: the preset's]
    #[arg(short, long = "bench", value_name = "PATTERN,…", value_delimiter = ',')]
    pub benchmarks: Vec<String>,
    /// Use these suites [default: the preset's; with --bench, all]
    #[arg(long = "suite", value_name = "SUITE,…", value_delimiter = ',',
        value_parser = words::<Suite>(Suite::ALL), hide_possible_values = true)]
    pub suites: Vec<Suite>,
    /// Variants to run: first, all [default: the preset's, else all]
    #[arg(long = "variants", value_name = "WHICH", value_parser = words::<Select>(Select::ALL),
        hide_possible_values = true)]
    pub select: Option<Select>,
}

/// Whole programs instead of benchmarks.
#[derive(Debug, Default, Args)]
pub struct ProgramArgs {
    /// Use this root file system: a directory, tar file or OCI layout
    #[arg(long, value_name = "ROOT", value_hint = ValueHint::AnyPath, conflicts_with = "programs",
        help_heading = PROGRAMS)]
    pub root: Option<PathBuf>,
    /// Build a root file system from these programs and their libraries
    #[arg(long, value_name = "PROGRAM,…", value_delimiter = ',', help_heading = PROGRAMS)]
    pub programs: Vec<String>,
    /// Add these files and directories to the root of --programs
    #[arg(long, value_name = "PATH,…", value_delimiter = ',', conflicts_with = "root",
        help_heading = PROGRAMS)]
    pub files: Vec<String>,
    /// Add this directory to the root of --programs as /tree, and run there
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "programs",
        help_heading = PROGRAMS)]
    pub tree: Option<PathBuf>,
    /// Run this command, unmeasured, before each measurement; repeatable
    #[arg(long = "prepare", value_name = "COMMAND", help_heading = PROGRAMS)]
    pub prepare: Vec<String>,
    /// Measure the command N times [default: 3]
    #[arg(long, value_name = "N", help_heading = PROGRAMS)]
    pub repeat: Option<u32>,
    /// Run this command [default: the container image's]
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "benchmarks",
        help_heading = PROGRAMS)]
    pub command: Vec<String>,
}

/// Help shows headings in the order of their first flags, so commands flatten [`CellArgs`] last.
const RARE: &str = "Rarely used";
const PROGRAMS: &str = "Whole programs";

#[derive(Debug, Args)]
#[command(next_help_heading = "Where and how")]
pub struct PlaceArgs {
    /// Measure on: lab (virtual machines), host, um (UML) [default: lab]
    #[arg(long = "on", value_name = "WHERE", value_parser = words::<Place>(Place::ALL),
        hide_possible_values = true)]
    pub place: Option<Place>,
    /// Work in this directory; implies --on host
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
}

/// Settings of virtual machines. Fields have the names of an experiment file's keys.
#[derive(Debug, Args, Serialize)]
#[command(next_help_heading = "Where and how")]
pub struct LabArgs {
    /// Boot Debian kernels for x86_64, aarch64 [default: this machine's]
    #[arg(long, value_name = "ARCH,…", value_delimiter = ',', value_parser = architectures(),
        hide_possible_values = true,
        help_heading = "What is measured", display_order = 90)]
    pub arch: Vec<Architecture>,
    /// Use ext4, tmpfs, xfs, btrfs or overlay [default: the preset's, else ext4]
    #[arg(long = "fs", value_name = "FS", value_parser = words::<FileSystem>(FileSystem::ALL),
        hide_possible_values = true)]
    pub filesystem: Option<FileSystem>,
    /// Append this to the kernel command line [default: nothing]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub cmdline: Option<String>,
    /// Take N samples [default: 64 for counts, 300 for times, 30 for throughput]
    #[arg(short = 'n', long, value_name = "N")]
    pub samples: Option<u32>,
    /// Run N virtual machines at once [default: one per processor]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<u32>,
    /// Stop a boot or a measurement after SECONDS [default: 120 and 300]
    #[arg(long, value_name = "SECONDS")]
    #[serde(skip)]
    pub timeout: Option<u32>,
    /// Set a key of the experiment file, e.g. avc_entries=16; repeatable
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = setting)]
    #[serde(skip)]
    pub settings: Vec<Spec>,
    #[arg(long, value_name = "PROGRAM", value_hint = ValueHint::ExecutablePath,
        help = qemu_help("Run this QEMU"), hide_short_help = true)]
    #[serde(skip)]
    pub qemu: Option<PathBuf>,
    /// Use only cached kernels; fetch none
    #[arg(long)]
    #[serde(skip)]
    pub offline: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct ProgressArgs {
    /// Count again; exit 70 if a count differs from the cached one
    #[arg(long, help_heading = "Where and how")]
    pub no_cache: bool,
    /// Do not print progress
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

/// Parses a key of an experiment file with its value, in TOML.
/// `KEY=VALUE` in TOML; a single word needs no quotation marks.
fn setting(text: &str) -> Result<Spec, String> {
    let is_word = |value: &str| {
        value
            .chars()
            .all(|char| char.is_alphanumeric() || "-_".contains(char))
    };
    let quoted = match text.split_once('=') {
        Some((key, value)) if is_word(value.trim()) => format!("{key}=\"{}\"", value.trim()),
        _ => text.to_owned(),
    };
    Spec::parse("in TOML", text)
        .or_else(|_| Spec::parse("in TOML", &quoted))
        .map_err(|error| error.hint().unwrap_or(error.to_string()))
}

pub fn number_within(text: &str, range: RangeInclusive<f64>) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number")?;
    if range.contains(&number) {
        Ok(number)
    } else {
        Err(format!("must be from {} to {}", range.start(), range.end()))
    }
}

/// Parses an architecture by its own name or by Debian's.
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

/// Parses one of `all`. Clap lists them in the help.
pub fn words<W>(all: &'static [W]) -> impl clap::builder::TypedValueParser<Value = W>
where
    W: Copy + std::fmt::Display + std::str::FromStr + Send + Sync + 'static,
    W::Err: std::error::Error + Send + Sync + 'static,
{
    use clap::builder::TypedValueParser as _;
    clap::builder::PossibleValuesParser::new(all.iter().map(ToString::to_string))
        .try_map(|word| word.parse::<W>())
}
