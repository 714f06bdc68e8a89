// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter bisect`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::build::ConfigurationArgs;
use super::counted::CountedArgs;
use super::output::OutputArgs;

/// Find the commit with which counts changed, in a git history of kernels
///
/// Builds and measures the commits that `git bisect` asks for, between one with the old counts
/// and one with the new ones, and tells the first commit that changed a count, by how much, and
/// which hooks and functions hold the change. It works in a git worktree of its own, in
/// lsmeter's cache: no checkout of yours is touched, and only what differs from one commit to
/// the next is compiled. What was measured is kept: an interrupted search goes on where it
/// stopped.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter bisect --good v6.12 --bad HEAD --repo ~/linux --bench open:AA --stack capability,selinux
  lsmeter bisect --good HEAD~16 --bad HEAD --bench 'open*' --flavour dac --stack capability
                                               in the repository that this directory is of
  lsmeter bisect --good v6.12 --bad HEAD --fail-above '20 instructions'
  lsmeter bisect --good v6.12 --bad HEAD --image $(make -s image_name) \\
      --build 'cp ~/my.config .config && make olddefconfig && make -j8'
                                               built by yourself
  git bisect run lsmeter bisect --step --good-document good.json --image $(make -s image_name) \\
      --build 'make -j8'                       in your checkout, walked by git

A commit is good if all counts are those of the good end, and bad if one differs; with
--fail-above it is bad if a cell is worse by more than that. What does not build, boot or count
is skipped, as `git bisect skip` does.

Exit status: 0 if the commit was found, 5 if the ends do not differ or skipped commits hide it,
4 if interrupted. With --step 0 is good, 1 bad, 125 skip, and 255 ends `git bisect run`.")]
pub struct BisectArgs {
    /// Commit with the old counts
    #[arg(long, value_name = "REV", required_unless_present = "step", conflicts_with = "step",
        help_heading = HISTORY)]
    pub good: Option<String>,
    /// Commit with the new ones
    #[arg(long, value_name = "REV", required_unless_present = "step", conflicts_with = "step",
        help_heading = HISTORY)]
    pub bad: Option<String>,
    /// The git repository
    #[arg(long, value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath,
        help_heading = HISTORY)]
    pub repo: PathBuf,
    /// Run document of the good end, which is then not built; without flags of cells, what it
    /// holds is measured
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = HISTORY)]
    pub good_document: Option<PathBuf>,
    /// Bad is what is worse than the good end by more than this: 1%, 20 instructions
    /// [default: any difference]
    #[arg(long, value_name = "LIMIT", help_heading = HISTORY)]
    pub fail_above: Option<String>,
    /// Measure the bad end first, too, which is spared if another commit is bad
    #[arg(long, conflicts_with = "step", help_heading = HISTORY)]
    pub check_ends: bool,
    /// Forget what was measured before
    #[arg(long, conflicts_with = "step", help_heading = HISTORY)]
    pub start_over: bool,
    /// Measure the tree as it stands in --repo, for `git bisect run`
    #[arg(long, requires = "good_document", help_heading = HISTORY)]
    pub step: bool,
    /// How lsmeter configures what it builds
    #[command(flatten, next_help_heading = "How it is built")]
    pub configuration: ConfigurationArgs,
    /// How it is built otherwise
    #[command(flatten)]
    pub own: OwnBuildArgs,
    /// Compilers at a time [default: the number of processors]
    #[arg(long, value_name = "N", help_heading = "How it is built")]
    pub build_jobs: Option<NonZeroUsize>,
    /// What is counted
    #[command(flatten)]
    pub counted: CountedArgs,
    /// What is printed, and where it goes
    #[command(flatten)]
    pub out: OutputArgs,
    /// No progress
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

const HISTORY: &str = "Which commits";

/// Kernels that lsmeter does not build.
#[derive(Debug, Args)]
#[command(next_help_heading = "How it is built")]
pub struct OwnBuildArgs {
    /// Build with this command, which the shell runs in the tree, in place of lsmeter's builder
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["flavour", "compiler", "config", "build_jobs"])]
    pub build: Option<String>,
    /// The kernel that is built: a path in the tree, or an absolute one for make O=DIR [default: as
    /// --kernel finds it in a build directory]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub image: Option<PathBuf>,
}
