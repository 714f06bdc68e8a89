// SPDX-License-Identifier: GPL-2.0-or-later
//! Slurm's commands, and what they answer.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::{Command, Output, Stdio};

use diagnostics::{Failure, printable};

/// Longest of Slurm's messages that is repeated, in characters.
const MESSAGE_LIMIT: usize = 300;

/// What an array's tasks are doing that are not over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It waits for a node.
    Waiting,
    /// It is on a node.
    Running,
}

fn start(program: &str, arguments: &[OsString]) -> Result<Output, Failure> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output();
    output.map_err(|error| {
        Failure::environment(
            format!("cannot start {program}: {error}"),
            "run this where Slurm's commands are (Debian: slurm-client), or have others start \
             jobs: `lsmeter plan`, `lsmeter run --shard`",
        )
    })
}

/// The first line of what a program complained of.
fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| !line.trim().is_empty());
    printable(line.unwrap_or("it does not say why"), MESSAGE_LIMIT)
}

/// Submits a job and gives its number.
///
/// # Errors
/// If there is no Slurm, or it refuses.
pub fn submit(arguments: &[OsString]) -> Result<u32, Failure> {
    let output = start("sbatch", arguments)?;
    let refused = |why: String| {
        Failure::environment(
            format!("Slurm refuses the job: {why}"),
            "see `sinfo`, and --partition and --sbatch-arg",
        )
    };
    if !output.status.success() {
        return Err(refused(complaint(&output)));
    }
    // `--parsable`: 12, or 12;cluster.
    let text = String::from_utf8_lossy(&output.stdout);
    let number = text.trim().split(';').next().unwrap_or_default();
    let number = number.parse();
    number.map_err(|_| refused(format!("sbatch says {}", printable(&text, MESSAGE_LIMIT))))
}

/// The tasks of a job that are not over, by their number in the array; None if Slurm cannot
/// be asked now.
///
/// # Errors
/// If there is no squeue.
pub fn tasks(job: u32) -> Result<Option<BTreeMap<u32, State>>, Failure> {
    let job = format!("--jobs={job}");
    let arguments = [
        "--noheader",
        "--array",
        "--states=all",
        "--format=%K %T",
        &job,
    ];
    let output = start("squeue", &arguments.map(OsString::from))?;
    if output.status.success() {
        return Ok(Some(states(&String::from_utf8_lossy(&output.stdout))));
    }
    // So it says of jobs that have long ended.
    let gone = String::from_utf8_lossy(&output.stderr).contains("Invalid job id");
    Ok(gone.then(BTreeMap::new))
}

/// Ends a job, as far as Slurm lets us.
pub fn cancel(job: u32) {
    let _ = start("scancel", &[OsString::from(job.to_string())]);
}

/// States of tasks that are not over. A task that completes is over: on a node that died it
/// may do so for hours.
fn states(text: &str) -> BTreeMap<u32, State> {
    let state = |line: &str| {
        let (task, state) = line.trim().split_once(' ')?;
        let state = match state.trim() {
            "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT" => {
                State::Waiting
            }
            "RUNNING" | "CONFIGURING" | "SUSPENDED" | "STOPPED" | "STAGE_OUT" | "SIGNALING"
            | "RESIZING" => State::Running,
            _ => return None,
        };
        Some((task.parse().ok()?, state))
    };
    text.lines().filter_map(state).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_that_are_over_are_none() {
        let text =
            "1 COMPLETED\n2 RUNNING\n 3 PENDING\n4 NODE_FAIL\n5 COMPLETING\nN/A PENDING\n6\n";
        let expected = [(2, State::Running), (3, State::Waiting)];
        assert_eq!(states(text), BTreeMap::from(expected));
        assert_eq!(states(""), BTreeMap::new());
    }
}
