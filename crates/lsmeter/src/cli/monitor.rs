// SPDX-License-Identifier: GPL-2.0-or-later
//! Flags of `lsmeter monitor`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};

use super::output::OutputArgs;

/// Watch the LSM hooks of a live machine: calls, times, errors
///
/// lsmeter attaches eBPF programs to the kernel's security_*() functions and, with --functions, to
/// functions of modules. Every call is counted in the kernel; nothing is sampled. It measures its
/// own overhead at the start, prints it and subtracts it from the times. At the end, all programs
/// are detached.
///
/// This needs Linux 5.15 or later with BTF, and either root or both CAP_BPF and CAP_PERFMON.
#[derive(Debug, Args)]
#[command(mut_arg("output", |output| output.visible_alias("record")),
    after_long_help = "\
Examples:
  lsmeter monitor                                  the whole machine, live
  lsmeter monitor --duration 10                    for ten seconds, then a table
  lsmeter monitor -- make -j8                      a command and its descendants
  lsmeter monitor --system-calls -- du -s /usr     adds the share of hooks in system calls
  lsmeter monitor --pid 1234 --histogram           a process, with percentiles
  lsmeter monitor --cgroup /sys/fs/cgroup/system.slice
  lsmeter monitor --hooks 'inode_*' --functions 'selinux_*'
  lsmeter monitor --record night.json --interval 60
  lsmeter monitor --replay night.json --rows 0
  lsmeter monitor --textfile /var/lib/prometheus/node-exporter/lsmeter.prom

Without --duration, lsmeter runs until Ctrl-C, or until the command or the last watched process
ends. A hook's time excludes the hooks that are called inside it.")]
#[command(next_help_heading = "What is watched")]
pub struct MonitorArgs {
    /// Watch this process and its descendants; repeatable [default: all processes]
    #[arg(short, long = "pid", value_name = "PID")]
    pub processes: Vec<u32>,
    /// Watch this control group (cgroup v2) and the groups below it
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath,
        conflicts_with = "processes")]
    pub cgroup: Option<PathBuf>,
    /// Watch these hooks, with * and ?
    #[arg(
        long = "hooks",
        value_name = "GLOB,…",
        value_delimiter = ',',
        default_value = "*"
    )]
    pub hooks: Vec<String>,
    /// Watch functions of modules too: by name (selinux_*) or module (landlock)
    #[arg(long = "functions", value_name = "GLOB|LSM,…", value_delimiter = ',')]
    pub functions: Vec<String>,
    /// Run this command and watch it
    #[arg(last = true, value_name = "COMMAND", num_args = 1.., value_hint = ValueHint::CommandWithArguments,
        conflicts_with_all = ["processes", "cgroup", "replay"])]
    pub command: Vec<OsString>,
    /// Show this recording instead of a live machine
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath,
        conflicts_with_all = ["processes", "cgroup", "hooks", "functions", "count", "histogram",
            "duration", "output"])]
    pub replay: Option<PathBuf>,
    /// Count calls without timing them, at the lowest overhead
    #[arg(long, conflicts_with = "histogram", help_heading = "How")]
    pub count: bool,
    /// Keep histograms of times, for percentiles
    #[arg(long, help_heading = "How")]
    pub histogram: bool,
    /// Time whole system calls too; slows down every system call and uses 32 MiB
    #[arg(long, conflicts_with_all = ["count", "replay"], help_heading = "How")]
    pub system_calls: bool,
    /// Stop after this time, in seconds [default: at Ctrl-C]
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds, help_heading = "How")]
    pub duration: Option<Duration>,
    /// Report at this interval, in seconds [default: 1, but plain tables only at the end]
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds, help_heading = "How")]
    pub interval: Option<Duration>,
    /// Keep counts for at most N pairs of hook and system call on each processor
    #[arg(
        long,
        value_name = "N",
        default_value_t = 4096,
        value_parser = clap::value_parser!(u32).range(1..=65_536),
        help_heading = "How"
    )]
    pub pairs: u32,
    /// Print tables at the end, without the live view
    #[arg(long, help_heading = "Output")]
    pub plain: bool,
    /// Print N rows of each table, 0 for all [default: 25]
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub rows: Option<usize>,
    #[command(flatten)]
    pub out: OutputArgs,
    /// Print each interval as a line of JSON
    #[arg(long, conflicts_with_all = ["json", "format"], help_heading = "Output")]
    pub json_lines: bool,
    /// Write this file for node_exporter at each interval; remove it at the end
    #[arg(long, value_name = "FILE.prom", value_parser = textfile, value_hint = ValueHint::FilePath,
        help_heading = "Output")]
    pub textfile: Option<PathBuf>,
    /// Do not print progress
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

/// node_exporter's textfile collector reads only files with this ending.
fn textfile(text: &str) -> Result<PathBuf, &'static str> {
    let path = PathBuf::from(text);
    let is_read = path.extension().is_some_and(|ending| ending == "prom");
    is_read.then_some(path).ok_or("must end in .prom")
}

/// From a tenth of a second to a year.
fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.strip_suffix('s').unwrap_or(text);
    let seconds: f64 = number.parse().map_err(|_| "not a number of seconds")?;
    if (0.1..=31_536_000.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("must be from 0.1 to 31536000 seconds".to_owned())
    }
}
