// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter placement`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use model::Architecture;

use super::output::OutputArgs;
use super::shared::architectures;

#[derive(Debug, Args)]
#[command(next_help_heading = "What is analysed")]
pub struct ScopeArgs {
    /// Analyse these directories in fs/, or tmpfs [default: ext4; with --agree, the profile's]
    #[arg(long, value_name = "FS,…", value_delimiter = ',')]
    pub fs: Vec<String>,
    /// Print the hooks of these system calls, named without sys_ [default: file system calls]
    #[arg(long = "syscall", value_name = "NAME,…", value_delimiter = ',')]
    pub syscalls: Vec<String>,
    /// Analyse all system calls of the tree
    #[arg(long, conflicts_with = "syscalls")]
    pub all: bool,
    /// Evaluate #if with this .config [default: every option is set]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// Analyse this architecture [default: x86_64; with --agree, the profile's]
    #[arg(long, value_name = "ARCH", value_parser = architectures())]
    pub arch: Option<Architecture>,
    /// Do not use the cache $XDG_CACHE_HOME/lsmeter/placement
    #[arg(long)]
    pub no_cache: bool,
}

#[derive(Debug, Args)]
pub struct TreeArgs {
    /// Read this kernel tree, tarball (.tar.xz, .tar), or git repository with --rev
    #[arg(required = true, value_hint = ValueHint::AnyPath)]
    pub tree: Option<PathBuf>,
    /// Read this tag, branch or commit, without a checkout
    #[arg(long, value_name = "REVISION", help_heading = "What is analysed")]
    pub rev: Option<String>,
    #[command(flatten)]
    pub scope: ScopeArgs,
}

/// List the LSM hooks that each system call can reach, from kernel sources
///
/// lsmeter reads a kernel tree without building, configuring or booting it. It prints the hooks
/// that each security module implements. For each system call, it prints the hooks, and how often
/// they are called: on the success path, and at most. Both numbers may contain D (path components
/// looked up) and S (symbolic links followed).
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
  lsmeter placement ~/linux --agree measured.json  are all measured hooks in the static set?
  lsmeter placement diff ~/linux ~/patched         does this series add a hook to a path?
  lsmeter placement checks ~/linux                 checks made twice, or by only some modules

Calls made when objects are released (teardown), and calls that modules make inside other hooks,
are listed separately. With --agree the exit status is 1 if a measured hook is not in the static set
or exceeds its upper bound, and 5 if nothing could be compared.

Write the path of a tree named diff or checks as ./diff or ./checks."
)]
pub struct PlacementArgs {
    #[command(subcommand)]
    pub command: Option<PlacementCommand>,
    #[command(flatten)]
    pub tree: TreeArgs,
    /// Compare with the hooks in this result file of `lsmeter profile`
    #[arg(long, value_name = "PROFILE.json", value_hint = ValueHint::FilePath,
        conflicts_with_all = ["all", "output", "trace", "reach", "explain"],
        help_heading = "What is analysed")]
    pub agree: Option<PathBuf>,
    /// Print the hooks of each success path in call order, with callers
    #[arg(long, help_heading = "Output")]
    pub trace: bool,
    /// Print every hook of each system call, even off the success path
    #[arg(long, help_heading = "Output")]
    pub reach: bool,
    /// Print undecided conditions, unparsed code, built-in facts that match nothing, and timing
    #[arg(long, help_heading = "Output")]
    pub explain: bool,
    #[command(flatten)]
    pub table: TableArgs,
}

// Variants take the help of their arguments.
#[derive(Debug, Subcommand)]
pub enum PlacementCommand {
    Diff(DiffArgs),
    Checks(ChecksArgs),
}

#[derive(Debug, Args)]
pub struct TableArgs {
    #[command(flatten)]
    pub out: OutputArgs,
    /// Do not print progress
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

/// Show the hook calls that a patch or a release adds or removes
///
/// A and B are kernel trees, tarballs, or result files of `lsmeter placement --output`. With --repo
/// they are revisions of a git repository. lsmeter lists the hooks that each system call gains,
/// loses, or calls more or less often on its success path. It also lists changes to the framework
/// and modules.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter placement diff linux-6.1 linux-6.12
  lsmeter placement diff --repo ~/linux master my-series --syscall open --trace
  lsmeter placement diff before.json ~/linux --fail-on-gain

With --fail-on-gain the exit status is 1 if a system call gains a hook call on its success path,
and 5 if no system call could be compared.")]
pub struct DiffArgs {
    /// Take this tree, tarball, result file or revision as the old state
    #[arg(value_name = "A", value_hint = ValueHint::AnyPath)]
    pub before: PathBuf,
    /// Compare this tree, tarball, result file or revision with A
    #[arg(value_name = "B", value_hint = ValueHint::AnyPath)]
    pub after: PathBuf,
    /// Read revisions A and B of this git repository, without a checkout
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "What is analysed")]
    pub repo: Option<PathBuf>,
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Exit 1 if a success path gains a hook call
    #[arg(long, help_heading = "Output")]
    pub fail_on_gain: bool,
    /// Print differences off the success path and in upper bounds too
    #[arg(long, help_heading = "Output")]
    pub reach: bool,
    /// Print call chains to hooks that are new or gone
    #[arg(long, help_heading = "Output")]
    pub trace: bool,
    #[command(flatten)]
    pub table: TableArgs,
}

/// List checks that are made twice, or by only some modules
///
/// lsmeter reads a tree, a tarball, or a result file of `lsmeter placement --output`. It lists
/// hooks that a system call calls twice for one object on its success path. It also lists checks
/// that one module with a file policy makes and another does not. Each finding is printed with a
/// confidence and a reason.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter placement checks ~/linux
  lsmeter placement checks ~/linux --syscall rename --unknown
  lsmeter placement checks ~/linux --format csv > findings.csv")]
pub struct ChecksArgs {
    /// Read this tree, tarball, result file, or git repository with --rev
    #[arg(value_name = "TREE", value_hint = ValueHint::AnyPath)]
    pub tree: PathBuf,
    /// Read this tag, branch or commit, without a checkout
    #[arg(long, value_name = "REVISION", help_heading = "What is analysed")]
    pub rev: Option<String>,
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Print uncertain findings too
    #[arg(long, help_heading = "Output")]
    pub unknown: bool,
    #[command(flatten)]
    pub table: TableArgs,
}
