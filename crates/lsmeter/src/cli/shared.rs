// SPDX-License-Identifier: GPL-2.0-or-later
//! Flags that several commands share.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use model::{
    Architecture, AuditRules, Clock, FileSystem, FirstAfter, ImaPolicy, IntegrityList, Place,
    Policy, Select, SelinuxPolicy, Suite,
};

/// What `--qemu` is for, and its default.
pub fn qemu_help(what: &str) -> String {
    let program = kernels::arch::native().machine.program;
    format!("{what} [default: {program} in PATH]")
}

/// Which cells.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is measured")]
pub struct CellArgs {
    /// Kernels and benchmarks
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Stack of LSMs, as lsm= takes it; may be given several times
    #[arg(short, long = "stack", value_name = "LSM,…")]
    pub stacks: Vec<String>,
    /// State of the modules' policies: none, permissive, enforcing or withdrawn; may be given
    /// several times
    #[arg(short = 'P', long = "policy", value_name = "STATE",
        value_parser = words::<Policy>(Policy::ALL))]
    pub policies: Vec<Policy>,
    /// Integrity subsystems at work: none, or of audit,ima,evm; may be given several times
    #[arg(long = "integrity", value_name = "LIST")]
    pub integrity: Vec<IntegrityList>,
    /// Rules that each policy holds; may be given several times
    #[arg(long = "rules", value_name = "N")]
    pub rules: Vec<u32>,
    /// Landlock rulesets on top of each other; may be given several times
    #[arg(long = "layers", value_name = "N")]
    pub layers: Vec<u32>,
    /// Most entries of SELinux's access vector cache
    #[arg(long, value_name = "N")]
    pub avc_entries: Option<u32>,
    /// Which policy SELinux loads
    #[arg(long, value_name = "WHICH", value_parser = words::<SelinuxPolicy>(SelinuxPolicy::ALL))]
    pub selinux_policy: Option<SelinuxPolicy>,
    /// Labels of SELinux's that files of benchmarks bear in turn
    #[arg(long, value_name = "N")]
    pub labels: Option<u32>,
    /// Have enforcing policies deny some of a few files, which the benchmark denied-open opens
    #[arg(long)]
    pub denials: bool,
    /// What each operation is the first after, so that SELinux and AppArmor decide anew:
    /// nothing, load or relabel
    #[arg(long, value_name = "EVENT,…", value_delimiter = ',',
        value_parser = words::<FirstAfter>(FirstAfter::ALL))]
    pub first_after: Vec<FirstAfter>,
    /// Which rules audit has
    #[arg(long, value_name = "WHICH", value_parser = words::<AuditRules>(AuditRules::ALL))]
    pub audit_rules: Option<AuditRules>,
    /// Which rules IMA has
    #[arg(long, value_name = "WHICH", value_parser = words::<ImaPolicy>(ImaPolicy::ALL))]
    pub ima_policy: Option<ImaPolicy>,
}

/// Which kernels and benchmarks.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "What is measured")]
pub struct SelectionArgs {
    /// Kernel to boot, or a pattern for those in the cache: `build:um.*`; may be given several
    /// times
    #[arg(short, long = "kernel", value_name = "KERNEL")]
    pub kernels: Vec<String>,
    /// Benchmark, or benchmark:variant, with * and ?; `!` excludes
    #[arg(short, long = "bench", value_name = "PATTERN,…", value_delimiter = ',')]
    pub benchmarks: Vec<String>,
    /// Suite to choose benchmarks from
    #[arg(long = "suite", value_name = "SUITE", value_parser = words::<Suite>(Suite::ALL))]
    pub suites: Vec<Suite>,
    /// The first variant of each benchmark, or all
    #[arg(long, value_name = "WHICH", value_parser = words::<Select>(Select::ALL))]
    pub variants: Option<Select>,
}

/// Whole programs, in place of benchmarks.
#[derive(Debug, Default, Args)]
pub struct ProgramArgs {
    /// Root of the program that runs: a directory, a tar file, an OCI image layout, or what
    /// `docker save` writes; #NAME behind it chooses one of several images
    #[arg(long, value_name = "ROOT", value_hint = ValueHint::AnyPath, conflicts_with = "programs",
        help_heading = PROGRAMS)]
    pub root: Option<PathBuf>,
    /// Make the root of these programs of this machine, with their libraries
    #[arg(long, value_name = "PROGRAM,…", value_delimiter = ',', help_heading = PROGRAMS)]
    pub programs: Vec<String>,
    /// Put these files and directories of this machine into it too; patterns as a shell's
    #[arg(long, value_name = "PATH,…", value_delimiter = ',', conflicts_with = "root",
        help_heading = PROGRAMS)]
    pub files: Vec<String>,
    /// Directory that lies in that root as /tree; the program runs there
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "programs",
        help_heading = PROGRAMS)]
    pub tree: Option<PathBuf>,
    /// Command that runs before it each time, and is not measured; may be given several times
    #[arg(long = "prepare", value_name = "COMMAND", help_heading = PROGRAMS)]
    pub prepare: Vec<String>,
    /// How often it is measured [default: 3]
    #[arg(long, value_name = "N", help_heading = PROGRAMS)]
    pub repeat: Option<u32>,
    /// Drop the kernel's dentries and inodes before each time
    #[arg(long, help_heading = PROGRAMS)]
    pub cold: bool,
    /// Program of the root to measure, from its start to the end of the last task that it
    /// creates, and its arguments [default: what a container image names]
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "benchmarks",
        help_heading = PROGRAMS)]
    pub command: Vec<String>,
}

const PROGRAMS: &str = "Whole programs";

/// Where: virtual machines or this one.
#[derive(Debug, Args)]
#[command(next_help_heading = "Where and how")]
pub struct PlaceArgs {
    /// Virtual machines, this machine's running kernel, or kernels that are processes of it
    #[arg(long = "on", value_name = "WHERE", value_parser = words::<Place>(Place::ALL))]
    pub place: Option<Place>,
    /// Directory to work in with --on host
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
}

/// How they are measured in virtual machines.
#[derive(Debug, Args)]
#[command(next_help_heading = "Where and how")]
pub struct LabArgs {
    /// Architecture of the kernels of Debian whose names tell none; each kernel on each if it is
    /// given several times [default: this machine's]
    #[arg(long, value_name = "ARCH", value_parser = architectures(),
        help_heading = "What is measured")]
    pub arch: Vec<Architecture>,
    /// File system to work on
    #[arg(long, value_name = "FS", value_parser = words::<FileSystem>(FileSystem::ALL))]
    pub fs: Option<FileSystem>,
    /// The guest's clock: its own instructions, or the host's time
    #[arg(long, value_name = "CLOCK", value_parser = words::<Clock>(Clock::ALL))]
    pub clock: Option<Clock>,
    /// Kernel command line to append, such as mitigations=off
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub cmdline: Option<String>,
    /// Processor of the emulated machine, as QEMU names it, such as cortex-a72: what a kernel takes
    /// for it may differ [default: a common core of servers]
    #[arg(long, value_name = "MODEL[,FEATURE…]")]
    pub cpu: Option<String>,
    /// Samples of each cell: counted operations, timed batches, or slices
    #[arg(short = 'n', long, value_name = "N")]
    pub samples: Option<u32>,
    /// Operations before the first sample
    #[arg(long, value_name = "N")]
    pub warmup: Option<u32>,
    /// Virtual machines at a time [default: about one per processor]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<u32>,
    /// Seconds until a boot is given up
    #[arg(long, value_name = "SECONDS")]
    pub boot_timeout: Option<u32>,
    /// Seconds until a cell is given up
    #[arg(long, value_name = "SECONDS")]
    pub cell_timeout: Option<u32>,
    #[arg(long, value_name = "PROGRAM", value_hint = ValueHint::ExecutablePath,
        help = qemu_help("QEMU to use"))]
    pub qemu: Option<PathBuf>,
    /// Do not fetch kernels that are not in the cache
    #[arg(long)]
    pub offline: bool,
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
