// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of policies of the user's own.

use std::path::PathBuf;

use clap::{Args, ValueHint};

const POLICIES: &str = "Your own policies";

/// Policies in place of lsmeter's.
#[derive(Debug, Args)]
pub struct GivenArgs {
    /// AppArmor profiles to load: a file, or a directory as /etc/apparmor.d; may be given several
    /// times
    #[arg(long = "apparmor-profiles", value_name = "PATH", value_hint = ValueHint::AnyPath,
        help_heading = POLICIES)]
    pub apparmor_profiles: Vec<PathBuf>,
    /// Profile of these that confines the benchmarks; A//&B for two of them stacked [default: the
    /// only one]
    #[arg(long, value_name = "NAME", requires = "apparmor_profiles", help_heading = POLICIES)]
    pub apparmor_profile: Option<String>,
    /// SELinux policy to load: a binary one, or its modules (.cil, .pp, .pp.bz2), or a directory
    /// of modules; may be given several times
    #[arg(long = "selinux-modules", value_name = "PATH", value_hint = ValueHint::AnyPath,
        requires = "selinux_context", conflicts_with = "selinux_policy", help_heading = POLICIES)]
    pub selinux_modules: Vec<PathBuf>,
    /// Context that benchmarks run in
    #[arg(long, value_name = "CONTEXT", requires = "selinux_modules", help_heading = POLICIES)]
    pub selinux_context: Option<String>,
    /// File that says which file has which label
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath,
        requires = "selinux_modules", help_heading = POLICIES)]
    pub selinux_file_contexts: Option<PathBuf>,
    /// Label of the benchmarks' files [default: what the file contexts say of their directory]
    #[arg(long, value_name = "CONTEXT", requires = "selinux_modules", help_heading = POLICIES)]
    pub selinux_files_context: Option<String>,
    /// Conditional boolean that is not as the policy has it; may be given several times
    #[arg(long = "selinux-boolean", value_name = "NAME=on|off", requires = "selinux_modules",
        help_heading = POLICIES)]
    pub selinux_booleans: Vec<String>,
    /// TOMOYO policy to load: a directory as /etc/tomoyo/policy/current, or files of it; may be
    /// given several times
    #[arg(long = "tomoyo-policy", value_name = "PATH", value_hint = ValueHint::AnyPath,
        requires = "tomoyo_domain", help_heading = POLICIES)]
    pub tomoyo_policy: Vec<PathBuf>,
    /// Domain that benchmarks run in: `<kernel> /usr/sbin/sshd`
    #[arg(long, value_name = "DOMAIN", requires = "tomoyo_policy", help_heading = POLICIES)]
    pub tomoyo_domain: Option<String>,
    /// Smack rules to load: a directory as /etc/smack, or files as smackload takes them; may be
    /// given several times
    #[arg(long = "smack-policy", value_name = "PATH", value_hint = ValueHint::AnyPath,
        requires = "smack_label", help_heading = POLICIES)]
    pub smack_policy: Vec<PathBuf>,
    /// Label that benchmarks run with, a subject of these rules
    #[arg(long, value_name = "LABEL", requires = "smack_policy", help_heading = POLICIES)]
    pub smack_label: Option<String>,
    /// Label of the directory that benchmarks work in, which hands it on where a rule has `t`
    /// [default: that of the benchmarks]
    #[arg(long, value_name = "LABEL", requires = "smack_policy", help_heading = POLICIES)]
    pub smack_files_label: Option<String>,
    /// Label of what an access names, or of a directory above it; may be given several times
    /// [default: _]
    #[arg(long = "smack-path-label", value_name = "PATH=LABEL", requires = "smack_policy",
        help_heading = POLICIES)]
    pub smack_path_labels: Vec<String>,
    /// IMA rules to load, one a line, as /etc/ima/ima-policy has them; may be given several times
    #[arg(long = "ima-rules", value_name = "FILE", value_hint = ValueHint::FilePath,
        conflicts_with = "ima_policy", help_heading = POLICIES)]
    pub ima_rules: Vec<PathBuf>,
    /// Landlock ruleset, as landlockconfig's TOML has it; may be given several times, a layer each
    #[arg(long = "landlock-ruleset", value_name = "FILE", value_hint = ValueHint::FilePath,
        help_heading = POLICIES)]
    pub landlock_rulesets: Vec<PathBuf>,
    /// BPF object whose LSM programs are attached, or one program of it; may be given several
    /// times
    #[arg(long = "bpf-lsm", value_name = "OBJECT[:PROGRAM]", value_hint = ValueHint::FilePath,
        help_heading = POLICIES)]
    pub bpf_objects: Vec<String>,
    /// Access that the policy must deny, such as `read /etc/shadow`; with several policies
    /// `apparmor: read /etc/shadow`; may be given several times
    #[arg(long = "denied", value_name = "ACCESS", help_heading = POLICIES)]
    pub denied: Vec<String>,
    /// Access that the policy must allow; may be given several times
    #[arg(long = "allowed", value_name = "ACCESS", help_heading = POLICIES)]
    pub allowed: Vec<String>,
    /// Access that IMA must measure, such as `read /etc/shadow`; may be given several times
    #[arg(long = "measured", value_name = "ACCESS", requires = "ima_rules",
        help_heading = POLICIES)]
    pub measured: Vec<String>,
    /// Access that IMA must let pass without measuring the file; may be given several times
    #[arg(long = "not-measured", value_name = "ACCESS", requires = "ima_rules",
        help_heading = POLICIES)]
    pub not_measured: Vec<String>,
    /// Directory in the virtual machine that benchmarks work in [default: /mnt]
    #[arg(long, value_name = "PATH", help_heading = POLICIES)]
    pub work_dir: Option<String>,
}
