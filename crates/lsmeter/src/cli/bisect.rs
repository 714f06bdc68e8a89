// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter bisect`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::build::ConfigurationArgs;
use super::counted::CountedArgs;

/// Find the commit that changed a count, in the git history of a kernel
///
/// Builds and measures the commits that git chooses between a commit with the old counts and one
/// with the new ones. Prints the first commit that changed a count, with the hooks and functions
/// that account for it, as `lsmeter compare --explain` does. It works in a git worktree of its own,
/// which is removed at the end: your checkout stays as it is.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter bisect --good v6.12 --bad HEAD --repo ~/linux --bench open:AA --stack capability,selinux
  lsmeter bisect --good v6.12 --bad HEAD --fail-above '20 instructions'
  lsmeter bisect --good v6.12 --bad HEAD --image $(make -s image_name) \\
      --build 'cp ~/my.config .config && make olddefconfig && make -j8'

A commit is good if all counts are those of the good end, and bad if one differs; with
--fail-above it is bad if a measurement is worse by more than that. Commits that do not build, boot
or count are skipped, as by `git bisect skip`.

Exit status: 0 if the commit was found, 5 if the ends do not differ or skipped commits hide it,
4 if interrupted.")]
pub struct BisectArgs {
    /// Commit with the old counts
    #[arg(long, value_name = "REV", help_heading = HISTORY)]
    pub good: String,
    /// Commit with the new ones
    #[arg(long, value_name = "REV", help_heading = HISTORY)]
    pub bad: String,
    /// The git repository
    #[arg(long, value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath,
        help_heading = HISTORY)]
    pub repo: PathBuf,
    /// Bad is worse than the good end by more than this: 1%, 20 instructions
    /// [default: any difference]
    #[arg(long, value_name = "LIMIT", help_heading = HISTORY)]
    pub fail_above: Option<String>,
    /// How lsmeter configures the kernels that it builds
    #[command(flatten, next_help_heading = BUILD)]
    pub configuration: ConfigurationArgs,
    /// Build with this command, which the shell runs in the worktree
    #[arg(long, value_name = "COMMAND", requires = "image", help_heading = BUILD,
        conflicts_with_all = ["flavour", "compiler", "config", "build_jobs"])]
    pub build: Option<String>,
    /// Kernel that the command builds: a path in the worktree, or an absolute one (make O=DIR)
    #[arg(long, value_name = "PATH", requires = "build", value_hint = ValueHint::AnyPath,
        help_heading = BUILD)]
    pub image: Option<PathBuf>,
    /// Compilers at a time [default: the number of processors]
    #[arg(long, value_name = "N", help_heading = BUILD)]
    pub build_jobs: Option<NonZeroUsize>,
    /// Measurements
    #[command(flatten)]
    pub counted: CountedArgs,
    /// No progress
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

const HISTORY: &str = "Which commits";
const BUILD: &str = "How it is built";
