// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter placement`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use model::Architecture;

use super::output::OutputArgs;
use super::shared::architectures;

/// What is analysed.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is analysed")]
pub struct ScopeArgs {
    /// File systems of the paths, named like their directories in fs, or tmpfs
    /// [default: ext4, or those of the profiles]
    #[arg(long, value_name = "FS,…", value_delimiter = ',')]
    pub fs: Vec<String>,
    /// System calls, without sys_; shows their hooks [default: those on files]
    #[arg(long = "syscall", value_name = "NAME,…", value_delimiter = ',')]
    pub syscalls: Vec<String>,
    /// All system calls that the tree defines
    #[arg(long, conflicts_with = "syscalls")]
    pub all: bool,
    /// Decide #if by a kernel's .config, instead of taking every option as set
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// Architecture, whose directory and system calls are read [default: x86_64, or that of the
    /// profiles]
    #[arg(long, value_name = "ARCH", value_parser = architectures())]
    pub arch: Option<Architecture>,
    /// Neither read nor write $XDG_CACHE_HOME/lsmeter/placement
    #[arg(long)]
    pub no_cache: bool,
}

/// A kernel's sources, and how they are read.
#[derive(Debug, Args)]
pub struct TreeArgs {
    /// Top of a kernel tree, a linux-source tarball (.tar.xz, .tar), or a git repository
    /// with --rev
    #[arg(required = true, value_hint = ValueHint::AnyPath)]
    pub tree: Option<PathBuf>,
    /// Revision in a git repository: a tag, a branch or a commit; nothing is checked out
    #[arg(long, value_name = "REVISION", help_heading = "What is analysed")]
    pub rev: Option<String>,
    /// What of it
    #[command(flatten)]
    pub scope: ScopeArgs,
}

/// List the LSM hooks that each system call can reach, from kernel sources
///
/// Reads a kernel tree: no build, no configuration, no boot. Prints what each security module
/// implements, and the hooks that each system call calls: on the success path (all goes well) and
/// at most, as a sum of a number, D (path components looked up) and S (symbolic links followed).
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    after_long_help = "\
Examples:
  lsmeter placement ~/linux                        modules, and all system calls on files
  lsmeter placement linux-source-6.12.tar.xz --fs tmpfs --fs ext4
  lsmeter placement ~/linux --rev v6.12 --syscall open
  lsmeter placement ~/linux --syscall rename --trace
  lsmeter placement ~/linux --all --format csv > hooks.csv
  lsmeter profile suite --kernel debian:6.12 --output measured.json
  lsmeter placement ~/linux --agree measured.json  is what was measured in the static set?
  lsmeter placement diff ~/linux ~/patched         does this series add a hook to a path?
  lsmeter placement checks ~/linux                 asked twice, or by some modules only

Calls while objects are released (teardown), and by modules from inside other hooks, are told
apart from the others. With --agree the exit status is 1 if a hook was measured that is not
in the static set, or more often than at most; 5 if nothing could be compared.

A tree that is named diff or checks is custom with its directory: ./diff."
)]
pub struct PlacementArgs {
    /// What to do with several kernels
    #[command(subcommand)]
    pub command: Option<PlacementCommand>,
    /// Which sources
    #[command(flatten)]
    pub tree: TreeArgs,
    /// Compare with the hooks that `lsmeter profile --output` measured on this kernel
    #[arg(long, value_name = "PROFILE.json", value_hint = ValueHint::FilePath,
        conflicts_with_all = ["all", "output", "trace", "reach", "explain"],
        help_heading = "What is analysed")]
    pub agree: Option<PathBuf>,
    /// Print the hooks of each success path in the order of their calls, with their callers
    #[arg(long, help_heading = "Output")]
    pub trace: bool,
    /// Print every hook of each system call, even those that are not on the success path
    #[arg(long, help_heading = "Output")]
    pub reach: bool,
    /// Print what could not be decided or parsed, facts that match nothing, and timing
    #[arg(long, help_heading = "Output")]
    pub explain: bool,
    /// Output
    #[command(flatten)]
    pub out: OutputArgs,
    /// No progress
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

/// What is asked of several kernels.
#[derive(Debug, Subcommand)]
pub enum PlacementCommand {
    // Their help is that of their arguments.
    Diff(DiffArgs),
    Checks(ChecksArgs),
}

/// Where and how it is printed.
#[derive(Debug, Args)]
pub struct TableArgs {
    /// Output
    #[command(flatten)]
    pub out: OutputArgs,
    /// No progress
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

/// Show what a patch or a release changed: does this series add a hook to the open path?
///
/// A and B are kernel trees, tarballs, or result files of `lsmeter placement --output`; with --repo,
/// revisions of a git repository. Lists the hooks that each system call gains, loses, or calls more or
/// less often on its success path, and how the framework and the modules differ.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter placement diff linux-6.1 linux-6.12
  lsmeter placement diff --repo ~/linux master my-series --syscall open --trace
  lsmeter placement diff before.json ~/linux --fail-on-gain

With --fail-on-gain the exit status is 1 if a system call asks a hook on its success path that it did not
ask, or more often; 5 if no system call could be compared.")]
pub struct DiffArgs {
    /// The first
    #[arg(value_name = "A", value_hint = ValueHint::AnyPath)]
    pub before: PathBuf,
    /// The second
    #[arg(value_name = "B", value_hint = ValueHint::AnyPath)]
    pub after: PathBuf,
    /// A git repository; A and B are its revisions, and nothing is checked out
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "What is analysed")]
    pub repo: Option<PathBuf>,
    /// What of them
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Exit with 1 if a system call gains a hook call on its success path
    #[arg(long, help_heading = "Output")]
    pub fail_on_gain: bool,
    /// Also print differences off the success path, and in upper bounds
    #[arg(long, help_heading = "Output")]
    pub reach: bool,
    /// Print the calls that newly lead to hooks, and those that no longer do
    #[arg(long, help_heading = "Output")]
    pub trace: bool,
    /// Tables
    #[command(flatten)]
    pub table: TableArgs,
}

/// List checks made twice, and checks that some modules make and others do not
///
/// For a tree, a tarball, or a result file of `lsmeter placement --output`: on the success path of each
/// system call, hooks called twice for one object, and checks that one module with a policy on files
/// makes and another does not. Each finding has a confidence and a reason.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter placement checks ~/linux
  lsmeter placement checks ~/linux --syscall rename --unknown
  lsmeter placement checks ~/linux --format csv > findings.csv")]
pub struct ChecksArgs {
    /// A tree, a tarball or a result file; a git repository with --rev
    #[arg(value_name = "TREE", value_hint = ValueHint::AnyPath)]
    pub tree: PathBuf,
    /// Revision in a git repository: a tag, a branch or a commit; nothing is checked out
    #[arg(long, value_name = "REVISION", help_heading = "What is analysed")]
    pub rev: Option<String>,
    /// What of it
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Also print uncertain findings
    #[arg(long, help_heading = "Output")]
    pub unknown: bool,
    /// Tables
    #[command(flatten)]
    pub table: TableArgs,
}
