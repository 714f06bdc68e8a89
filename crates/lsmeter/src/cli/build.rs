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
/// Debian's kernels include neither Smack nor the Tunable Security Module. Flavour `all` includes
/// every module, the integrity subsystems, BTF and the Tunable module. `nolsm` is `all` with
/// CONFIG_SECURITY=n. `um` is a User-mode Linux (UML) kernel with every module, for `lsmeter run
/// --on um`; `um-nolsm` is a UML kernel without any. `all-nosmp` is `all` for one processor,
/// configured like `um`: use it to count the operations that you time with `um`. Options that
/// change the cost of system calls are set as in distribution kernels.
///
/// lsmeter does not write into the source directory. It keeps object files, so that an interrupted
/// build can continue and a change recompiles as little as possible. A kernel with the same source
/// and options is not built twice.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  lsmeter kernel build 6.12-all --source linux-source-6.12
  lsmeter kernel build 6.12-dac --source linux-source-6.12 --flavour nolsm
  lsmeter kernel build um --source linux-source-6.12 --flavour um
  lsmeter kernel build um --source linux-source-6.12 --flavour um --layouts 8
  lsmeter kernel build um-dac --source linux-source-6.12 --flavour um-nolsm --layouts 8
  lsmeter kernel build 6.12-up --source linux-source-6.12 --flavour all-nosmp
  lsmeter kernel build um-locks --source linux-source-6.12 --flavour um --layouts 8 \\
      --with lock-prefixes
  lsmeter kernel build 6.12-any-order --source linux-source-6.12 --any-order
  lsmeter kernel build 6.12-arm64 --source linux-source-6.12 --arch arm64
  lsmeter kernel build 6.12-cfi --source linux-source-6.12 --compiler clang-19 --config cfi.config
  lsmeter kernel build before --source ~/linux --config mine.config
  lsmeter run --kernel build:6.12-dac --kernel build:6.12-all --stack capability

Needs compilers, headers and 3 GiB of disk space. Missing compilers and headers are listed before
the build starts.")]
pub struct BuildArgs {
    /// Name the kernel build:NAME
    pub name: String,
    /// Build Debian's package linux-source-VERSION, or this source directory
    #[arg(long, value_name = "linux-source-VERSION|PATH", value_hint = ValueHint::DirPath)]
    pub source: Source,
    /// Build for this architecture, with its cross-compiler [default: this machine's]
    #[arg(long, value_name = "ARCH", value_parser = architectures())]
    pub arch: Option<Architecture>,
    #[command(flatten)]
    pub configuration: ConfigurationArgs,
    /// Run N compilers at once [default: one per processor]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Fetch a newer version of the source package, if any
    #[arg(long)]
    pub refresh: bool,
    /// Let lsm= put capability anywhere; unmodified Linux puts it first
    #[arg(long)]
    pub any_order: bool,
    /// Link build:NAME.1 to build:NAME.N, each with its own function order; um and um-nolsm only
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub layouts: Option<u32>,
    /// Add lock prefixes to atomics, or retpolines; um and um-nolsm only [default: neither]
    #[arg(long, value_name = "FEATURE", value_delimiter = ',', value_parser = words::<With>(&With::ALL))]
    pub with: Vec<With>,
    /// Do not print progress
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct ConfigurationArgs {
    /// Build with every security module (all, all-nosmp, um) or none (nolsm, um-nolsm)
    #[arg(long, default_value_t, value_name = "all|all-nosmp|nolsm|um|um-nolsm")]
    pub flavour: Flavour,
    /// Compile with this compiler and its tools
    #[arg(long, default_value_t, value_name = "gcc|clang|clang-N")]
    pub compiler: Compiler,
    /// Add this .config fragment to the flavour's options; repeatable
    #[arg(long, value_name = "FRAGMENT", value_hint = ValueHint::FilePath)]
    pub config: Vec<PathBuf>,
}
