// SPDX-License-Identifier: GPL-2.0-or-later
//! Flags of `lsmeter bisect`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::build::ConfigurationArgs;
use super::counted::CountedArgs;

/// Find the commit in a kernel's git history that changed a count
///
/// Like `git bisect`, lsmeter searches between a good and a bad commit; it builds and measures each
/// candidate. It prints the first commit that changed a count, and the hooks and functions that
/// account for the change, as `lsmeter compare --explain` does. It works in a separate git
/// worktree, which it removes at the end, and does not touch your checkout.
#[derive(Debug, Args)]
#[command(mut_arg("cmdline", |cmdline| cmdline.help("Append this to the kernel command line \
            [default: indirect_target_selection=off]")),
    after_long_help = "\
Examples:
  lsmeter bisect --good v6.12 --bad HEAD --repo ~/linux --bench open:AA --stack capability,selinux
  lsmeter bisect --good v6.12 --bad HEAD --fail-above '20 instructions'
  lsmeter bisect --good v6.12 --bad HEAD --image $(make -s image_name) \\
      --build 'cp ~/my.config .config && make olddefconfig && make -j8'

A commit is bad if any count differs from the good commit's. With --fail-above, it is bad if a cost
rises by more than LIMIT. Commits that cannot be built, booted or measured are skipped, as by
`git bisect skip`.

The exit status is 0 if the commit was found, and 4 after an interruption. It is 5 if --bad names a
commit that is not bad, or if skipped commits leave several candidates.")]
pub struct BisectArgs {
    /// Start from this commit, with the old counts
    #[arg(long, value_name = "REV", help_heading = HISTORY)]
    pub good: String,
    /// End at this commit, with the new counts
    #[arg(long, value_name = "REV", help_heading = HISTORY)]
    pub bad: String,
    /// Search this git repository
    #[arg(long, value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath,
        help_heading = HISTORY)]
    pub repo: PathBuf,
    /// Call a commit bad if a cost rises by more than LIMIT, such as 1% [default: any difference]
    #[arg(long, value_name = "LIMIT", help_heading = HISTORY)]
    pub fail_above: Option<String>,
    #[command(flatten, next_help_heading = BUILD)]
    pub configuration: ConfigurationArgs,
    /// Build with this shell command, in the worktree
    #[arg(long, value_name = "COMMAND", requires = "image", help_heading = BUILD,
        conflicts_with_all = ["flavour", "compiler", "config", "build_jobs"])]
    pub build: Option<String>,
    /// Boot the image that --build creates at this path (absolute, or relative to the worktree)
    #[arg(long, value_name = "PATH", requires = "build", value_hint = ValueHint::AnyPath,
        help_heading = BUILD)]
    pub image: Option<PathBuf>,
    /// Run N compilers at once [default: one per processor]
    #[arg(long, value_name = "N", help_heading = BUILD)]
    pub build_jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    pub counted: CountedArgs,
    /// Do not print progress
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

const HISTORY: &str = "Which commits";
const BUILD: &str = "How kernels are built";
