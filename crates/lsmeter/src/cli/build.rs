// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter kernel build`: its arguments.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use kernels::{Compiler, Flavour, Source, With};
use model::Architecture;

use super::shared::{architectures, words};

/// Build a kernel from source, with every security module or with none
///
/// Stock kernels have neither Smack nor the Tunable Security Module. Flavour `all` has every
/// module, integrity, BTF and the Tunable one; `dac` is the same with CONFIG_SECURITY=n. Flavour
/// `um` is a UML kernel, for `lsmeter run --on um`, and `um-dac` is its counterpart without
/// modules; `all-up` is the code of `um` for a virtual machine, where it is counted. Options that
/// change the cost of system calls are those of distributions; the rest is small.
///
/// The source is not written to. Objects are kept: an interrupted build continues, and a change
/// recompiles only what it must. A recipe that was built before is found at once.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  lsmeter kernel build 6.12-all --source linux-source-6.12
  lsmeter kernel build 6.12-dac --source linux-source-6.12 --flavour dac
  lsmeter kernel build um --source linux-source-6.12 --flavour um
  lsmeter kernel build um --source linux-source-6.12 --flavour um --layouts 8
  lsmeter kernel build um-dac --source linux-source-6.12 --flavour um-dac --layouts 8
  lsmeter kernel build 6.12-up --source linux-source-6.12 --flavour all-up
  lsmeter kernel build um-locks --source linux-source-6.12 --flavour um --layouts 8 \\
      --with lock-prefixes
  lsmeter kernel build 6.12-any-order --source linux-source-6.12 --any-order
  lsmeter kernel build 6.12-arm64 --source linux-source-6.12 --arch arm64
  lsmeter kernel build 6.12-cfi --source linux-source-6.12 --compiler clang-19 --config cfi.config
  lsmeter kernel build before --source ~/linux --config mine.config
  lsmeter run --kernel build:6.12-dac --kernel build:6.12-all --stack capability

What else it takes (compilers, headers, 3 GiB of disk) it asks for by name before it starts.")]
pub struct BuildArgs {
    /// Its name: build:NAME
    pub name: String,
    /// Debian's package linux-source-VERSION, or a source directory
    #[arg(long, value_name = "linux-source-VERSION|PATH", value_hint = ValueHint::DirPath)]
    pub source: Source,
    /// Architecture, compiled with its cross-compiler [default: this machine's]
    #[arg(long, value_name = "ARCH", value_parser = architectures())]
    pub arch: Option<Architecture>,
    /// Configuration
    #[command(flatten)]
    pub configuration: ConfigurationArgs,
    /// Compilers at a time [default: the number of processors]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Look for a newer version of the source package
    #[arg(long)]
    pub refresh: bool,
    /// Let lsm= put capability anywhere (Linux has it first), for published orders of modules
    #[arg(long)]
    pub any_order: bool,
    /// Link it N times, with functions in N orders: build:NAME.1 to build:NAME.N (flavours um
    /// and um-dac)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub layouts: Option<u32>,
    /// Code that one processor without mitigations does not need (flavours um and um-dac)
    #[arg(long, value_name = "FEATURE", value_delimiter = ',', value_parser = words::<With>(&With::ALL))]
    pub with: Vec<With>,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
}

/// How a kernel is configured.
#[derive(Debug, Args)]
pub struct ConfigurationArgs {
    /// `all`: every security module; `dac`: none; `um`: every one, in a UML kernel; `um-dac`: none, in
    /// a UML kernel; `all-up`: every one, for one processor, configured like `um`, so that what is
    /// timed there can be counted
    #[arg(long, default_value_t, value_name = "all|all-up|dac|um|um-dac")]
    pub flavour: Flavour,
    /// Compiler and its tools: Clang for settings that only it has
    #[arg(long, default_value_t, value_name = "gcc|clang|clang-N")]
    pub compiler: Compiler,
    /// Options in addition to the flavour's, as lines of a .config (repeatable)
    #[arg(long, value_name = "FRAGMENT", value_hint = ValueHint::FilePath)]
    pub config: Vec<PathBuf>,
}
