// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter learn`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::shared::{LabArgs, SelectionArgs};

/// Have TOMOYO learn a policy of what benchmarks do, to be measured under
///
/// Boots one virtual machine in which TOMOYO learns, runs each benchmark there with all that sets it
/// up, and writes what the kernel learned as tomoyo-savepolicy(8) does: profile.conf,
/// exception_policy.conf and domain_policy.conf. Names that are others in each run have
/// become patterns, and the domain `<kernel> /lsmeter` enforces.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter learn suite --allowed 'read /etc/hosts' -o policy
  lsmeter run suite --tomoyo-policy policy --tomoyo-domain '<kernel> /lsmeter' \\
      --denied 'read /etc/shadow' --allowed 'read /etc/hosts'
                                               learned in one boot, enforced in the next
  lsmeter learn --bench open:AA,creat --fs tmpfs --work-dir /srv/www -o policy

What is measured under the policy has to be learned: the same benchmarks, the same directory. Any
other is denied, and fails.")]
pub struct LearnArgs {
    /// A preset (`lsmeter list presets`) or a TOML file, of which the benchmarks are learned
    #[arg(value_name = "PRESET|SPEC.toml", default_value = "quick", value_hint = ValueHint::FilePath)]
    pub spec: String,
    /// Kernel and benchmarks
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Stack of LSMs, with TOMOYO, as lsm= takes it
    #[arg(
        short,
        long,
        value_name = "LSM,…",
        default_value = "capability,tomoyo",
        help_heading = "What is measured"
    )]
    pub stack: String,
    /// Access to be learned besides, by which a run can prove that the policy allows something;
    /// may be given several times [default: read /etc/hosts]
    #[arg(
        long = "allowed",
        value_name = "ACCESS",
        help_heading = "What is measured"
    )]
    pub allowed: Vec<String>,
    /// Directory in the virtual machine that benchmarks work in [default: /mnt]
    #[arg(long, value_name = "PATH", help_heading = "What is measured")]
    pub work_dir: Option<String>,
    /// How it boots
    #[command(flatten)]
    pub lab: LabArgs,
    /// Directory that the policy is written to; it must be empty, or not there
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Output")]
    pub output: PathBuf,
    /// Write it over a policy that is there
    #[arg(long, help_heading = "Output")]
    pub force: bool,
    /// Tell what was learned as JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// No progress
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}
