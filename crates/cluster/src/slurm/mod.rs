// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter run --slurm`: a job array for the shards, followed to its end, and merged.

mod directory;
mod queue;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use diagnostics::Failure;
use experiment::Spec;

use self::directory::Directory;
use self::queue::State;
use crate::ClusterError;
use crate::merge::{Doubts, Merged, merge};
use crate::plan::{JobPlan, slurm_job};

/// Times that a shard is submitted before it is given up: once, and three times more.
const ATTEMPTS: u32 = 4;

/// Between two questions to Slurm.
const POLL: Duration = Duration::from_secs(2);

/// How long a document may be on its way from a node that has ended its task.
const LATE: Duration = Duration::from_secs(6);

/// Questions that Slurm may leave without an answer, one after the other: its controller
/// may be started anew meanwhile.
const SILENT_POLLS: u32 = 150;

/// What a run is made of.
pub struct Order<'a> {
    /// What it is called.
    pub name: &'a str,
    /// What was asked for, flags included.
    pub spec: &'a Spec,
    /// Parts that it is measured in.
    pub shards: u32,
    /// Where the shards' files go: all nodes see it under this name.
    pub directory: &'a Path,
    /// Is a run in the directory that is to go on?
    pub resume: bool,
    /// lsmeter, as a node finds it.
    pub program: String,
    /// What stands behind the spec on a node's command line.
    pub flags: Vec<String>,
    /// Times are taken: nothing may run beside a job.
    pub exclusive: bool,
    /// Further arguments for sbatch.
    pub sbatch: Vec<OsString>,
    /// Finds reasons to doubt the whole.
    pub doubts: Doubts<'a>,
}

/// How a run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// What is happening now, in place of the line before.
    Now(String),
    /// What the user should know when it is over.
    Note(String),
}

/// What became of it.
pub enum Followed {
    /// All shards ended, or were given up.
    Ended(Box<Merged>),
    /// The user did not want to wait.
    Cancelled,
}

/// Has Slurm measure the shards, until all are there or given up, and merges them.
///
/// # Errors
/// If Slurm refuses or fails, or the shards do not fit together.
pub fn follow(
    order: &Order<'_>,
    cancel: &AtomicBool,
    tell: &dyn Fn(Progress),
) -> Result<Followed, ClusterError> {
    let script = script(order)?;
    let directory = Directory::prepare(order.directory, &script, order.spec, order.resume)?;
    let mut follower = Follower {
        order,
        directory: &directory,
        attempts: BTreeMap::new(),
        looked_at: BTreeSet::new(),
        jobs: Vec::new(),
        tell,
    };
    let followed = follower.follow(cancel);
    if !matches!(followed, Ok(true)) {
        follower.cancel();
    }
    if followed.is_err() && follower.attempts.is_empty() && !order.resume {
        // Nothing is in it, and it would be in the way of the next try.
        directory.remove();
    }
    if !followed? {
        return Ok(Followed::Cancelled);
    }
    let mut parts = Vec::new();
    let mut given_up = Vec::new();
    for shard in 1..=order.shards {
        match directory.read(shard)? {
            Some(part) => parts.push(part),
            None => given_up.push(shard),
        }
    }
    if parts.is_empty() {
        return Err(ClusterError::from(Failure::environment(
            format!("no shard came to its end: {}", directory.last_line(1)),
            format!("the nodes' messages are in {}", order.directory.display()),
        )));
    }
    for shard in given_up {
        let why = directory.last_line(shard);
        tell(Progress::Note(format!("shard {shard}: given up: {why}")));
    }
    Ok(Followed::Ended(merge(&parts, order.doubts)?.into()))
}

/// What each task runs.
fn script(order: &Order<'_>) -> Result<String, ClusterError> {
    let directory =
        std::path::absolute(order.directory).map_err(ClusterError::io("find", order.directory))?;
    let spec = directory.join(directory::SPEC);
    let mut arguments = vec![spec.to_string_lossy().into_owned()];
    arguments.extend_from_slice(&order.flags);
    let plan = JobPlan {
        name: order.name.to_owned(),
        shards: order.shards,
        program: order.program.clone(),
        arguments,
        image: String::new(),
        exclusive: order.exclusive,
    };
    Ok(slurm_job(&plan, &directory.to_string_lossy()))
}

struct Follower<'a> {
    order: &'a Order<'a>,
    directory: &'a Directory,
    /// Times that each shard was submitted.
    attempts: BTreeMap<u32, u32>,
    /// Shards of whose documents it is known whether cells failed.
    looked_at: BTreeSet<u32>,
    jobs: Vec<Job>,
    tell: &'a dyn Fn(Progress),
}

/// What was submitted at a time.
struct Job {
    number: u32,
    /// Its tasks that have not ended, with when they were first seen to be over.
    tasks: BTreeMap<u32, Option<Instant>>,
}

impl Follower<'_> {
    /// Until all is there or given up; false if it was cancelled.
    fn follow(&mut self, cancel: &AtomicBool) -> Result<bool, ClusterError> {
        let mut silent = 0;
        loop {
            self.set_aside()?;
            let wanted = self.lost();
            if !wanted.is_empty() {
                self.submit(&wanted)?;
            }
            self.jobs.retain(|job| !job.tasks.is_empty());
            if self.jobs.is_empty() {
                return Ok(true);
            }
            let until = Instant::now() + POLL;
            while Instant::now() < until {
                if cancel.load(Ordering::Relaxed) {
                    return Ok(false);
                }
                std::thread::sleep(Duration::from_millis(100));
            }
            silent = if self.look()? { 0 } else { silent + 1 };
            if silent > SILENT_POLLS {
                return Err(ClusterError::from(Failure::environment(
                    "Slurm's controller no longer answers",
                    "when `squeue` answers again, the same command with --resume goes on",
                )));
            }
        }
    }

    /// Has shards measured once more of which cells failed: a node may have been too busy for
    /// its guests, or full.
    fn set_aside(&mut self) -> Result<(), ClusterError> {
        for shard in 1..=self.order.shards {
            if self.directory.has(shard) && self.looked_at.insert(shard) {
                let failed = self.directory.set_aside(shard)?;
                if failed > 0 {
                    (self.tell)(Progress::Note(format!(
                        "shard {shard}: failed cells: {failed}; measured once more"
                    )));
                    self.looked_at.remove(&shard);
                    self.attempts.remove(&shard);
                }
            }
        }
        Ok(())
    }

    /// Shards without a document that no task works on and that may be tried again.
    fn lost(&self) -> Vec<u32> {
        let busy: BTreeSet<u32> = self
            .jobs
            .iter()
            .flat_map(|job| job.tasks.keys().copied())
            .collect();
        let tried = |shard: &u32| self.attempts.get(shard).copied().unwrap_or(0);
        (1..=self.order.shards)
            .filter(|shard| !busy.contains(shard) && !self.directory.has(*shard))
            .filter(|shard| tried(shard) < ATTEMPTS)
            .collect()
    }

    fn submit(&mut self, shards: &[u32]) -> Result<(), ClusterError> {
        let mut arguments: Vec<OsString> = vec![
            "--parsable".into(),
            // A shard that is lost is submitted again by us, at once.
            "--no-requeue".into(),
            format!("--array={}", ranges(shards)).into(),
            format!("--job-name=lsmeter-{}", self.order.name).into(),
            format!("--output={}", self.directory.log_pattern()).into(),
        ];
        if self.order.exclusive {
            arguments.push("--exclusive".into());
        }
        arguments.extend_from_slice(&self.order.sbatch);
        arguments.push(self.directory.script().into());
        let number = queue::submit(&arguments)?;
        self.directory.note(number)?;
        for &shard in shards {
            let attempt = self.attempts.entry(shard).or_insert(0);
            *attempt += 1;
            if *attempt > 1 {
                (self.tell)(Progress::Note(format!(
                    "shard {shard}: lost; submitted again ({attempt} of {ATTEMPTS})"
                )));
            }
        }
        self.jobs.push(Job {
            number,
            tasks: shards.iter().map(|&shard| (shard, None)).collect(),
        });
        Ok(())
    }

    /// Asks Slurm what became of the tasks; false if it gave no answer.
    fn look(&mut self) -> Result<bool, ClusterError> {
        let (mut waiting, mut running) = (0, 0);
        let mut answered = true;
        for job in &mut self.jobs {
            let Some(states) = queue::tasks(job.number)? else {
                answered = false;
                continue;
            };
            let count = |of: State| states.values().filter(|state| **state == of).count();
            waiting += count(State::Waiting);
            running += count(State::Running);
            let directory = self.directory;
            job.tasks.retain(|shard, over| {
                if directory.has(*shard) {
                    return false;
                }
                if states.contains_key(shard) {
                    *over = None;
                    return true;
                }
                over.get_or_insert_with(Instant::now).elapsed() < LATE
            });
        }
        let done = (1..=self.order.shards)
            .filter(|&shard| self.directory.has(shard))
            .count();
        let count = self.order.shards;
        (self.tell)(Progress::Now(format!(
            "{done} of {count} shards done, {running} running, {waiting} waiting"
        )));
        Ok(answered)
    }

    fn cancel(&self) {
        for job in &self.jobs {
            queue::cancel(job.number);
        }
    }
}

/// Numbers as sbatch takes them: 1-3,7.
fn ranges(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let text = runs.map(|run| match run {
        [one] => one.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    });
    text.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_follow_each_other_are_a_range() {
        assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), "1-3,7,9-10");
        assert_eq!(ranges(&[4]), "4");
        assert_eq!(ranges(&[]), "");
    }
}
