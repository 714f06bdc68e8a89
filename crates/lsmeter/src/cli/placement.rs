// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter placement`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

/// How a placement is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables for a terminal or a mail
    Table,
    /// The same tables in Markdown
    Markdown,
    /// All modules and hooks, one in each row
    Csv,
    /// The call strings of one system call, for graphviz
    Dot,
    /// The call strings of one system call, for Markdown that draws Mermaid
    Mermaid,
}

/// A kernel's sources, and how they are read.
#[derive(Debug, Args)]
pub struct TreeArgs {
    /// Top of a kernel tree, a linux-source tarball (.tar.xz, .tar), or a git repository
    /// with --rev
    #[arg(value_hint = ValueHint::AnyPath)]
    pub tree: PathBuf,
    /// Revision in a git repository: a tag, a branch or a commit; nothing is checked out
    #[arg(long, value_name = "REVISION", help_heading = "What is analysed")]
    pub rev: Option<String>,
    /// File system that the paths lie on, as its directory in fs is named, or tmpfs; may
    /// be given several times [default: ext4, or those of the profiles]
    #[arg(long, value_name = "FS", help_heading = "What is analysed")]
    pub fs: Vec<String>,
    /// System call, without sys_; may be given several times; shows its hooks [default:
    /// those on files]
    #[arg(
        long = "syscall",
        value_name = "NAME",
        help_heading = "What is analysed"
    )]
    pub syscalls: Vec<String>,
    /// Every system call that the tree defines
    #[arg(long, conflicts_with = "syscalls", help_heading = "What is analysed")]
    pub all: bool,
    /// Decide #if by a kernel's .config, instead of taking every option as set
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "What is analysed")]
    pub config: Option<PathBuf>,
    /// Neither read nor write $XDG_CACHE_HOME/lsmeter/placement
    #[arg(long, help_heading = "What is analysed")]
    pub no_cache: bool,
}

/// Tell which LSM hooks each system call can reach, from a kernel's sources alone
///
/// Reads a kernel tree: no build, no configuration, no boot. Tells what each security
/// module implements, and for each system call which hooks it calls, on the path that it
/// takes if all goes well (nominal) and at most, as a sum of a number, of D (components
/// looked up on a path) and of S (symbolic links followed on it).
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter placement ~/linux                        modules, and all system calls on files
  lsmeter placement linux-source-6.12.tar.xz --fs tmpfs --fs ext4
  lsmeter placement ~/linux --rev v6.12 --syscall open
  lsmeter placement ~/linux --syscall rename --trace
  lsmeter placement ~/linux --syscall open --format dot | dot -Tsvg > open.svg
  lsmeter placement ~/linux --all --format csv > hooks.csv
  lsmeter profile suite --kernel debian:6.12 --output measured.json
  lsmeter placement ~/linux --agree measured.json  is what was measured in the static set?

Calls while objects are released (teardown), and by modules from inside other hooks, are told
apart from the others. With --agree the exit status is 1 if a hook was measured that is not
in the static set, or more often than at most; 5 if nothing could be compared.")]
pub struct PlacementArgs {
    /// Which sources
    #[command(flatten)]
    pub tree: TreeArgs,
    /// Compare with the hooks that `lsmeter profile --output` measured on this kernel
    #[arg(long, value_name = "PROFILE.json", value_hint = ValueHint::FilePath,
        conflicts_with_all = ["all", "output", "trace", "reach", "explain"],
        help_heading = "What is analysed")]
    pub agree: Option<PathBuf>,
    /// Print the hooks of each nominal path in the order of their calls, with their callers
    #[arg(long, help_heading = "Output")]
    pub trace: bool,
    /// Print every hook of each system call, also those that are not on the nominal path
    #[arg(long, help_heading = "Output")]
    pub reach: bool,
    /// Print what could not be decided or parsed, facts that match nothing, and timing
    #[arg(long, help_heading = "Output")]
    pub explain: bool,
    /// How it is printed
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "table",
        help_heading = "Output"
    )]
    pub format: Format,
    /// Print the placement as JSON
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    pub json: bool,
    /// Save the placement as JSON; - is standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// No progress
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}
