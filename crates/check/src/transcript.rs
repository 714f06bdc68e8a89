// SPDX-License-Identifier: GPL-2.0-or-later
//! From what a guest says, line by line, to a document of counts. The guest runs the kernel
//! under test: what it says is bounded, and checked to make sense.

use std::collections::BTreeMap;

use experiment::{
    Cell, Document, Environment, Evidence, HookCalls, Key, Kind, LeftOutFunction, Metric, Outcome,
    Policy, Status, Tuning,
};

use crate::error::TranscriptError;
use crate::line::Line;
use crate::subject::Subject;

/// Operations of the shorter and the longer of two runs: what they do not have in common
/// are operations.
pub const OPERATIONS: [u64; 2] = [8, 24];

/// Most hooks of a benchmark, and most that are left out.
const HOOKS_MAX: usize = 1024;

/// A benchmark that a guest is to count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedCell {
    /// Benchmark.
    pub benchmark: String,
    /// Its variant.
    pub variant: String,
    /// System calls of one operation.
    pub syscalls: Vec<String>,
}

/// What the guest has said so far.
#[derive(Debug)]
pub struct Transcript {
    document: Document,
    /// The benchmark at hand.
    open: Option<usize>,
    /// What was counted of it.
    hooks: BTreeMap<String, f64>,
    /// Benchmarks that have begun.
    begun: usize,
    unavailable: Option<String>,
    lost: Option<u64>,
}

impl Transcript {
    /// For these benchmarks. The subject's release is what the guest says it is.
    pub fn new(subject: &Subject, cells: &[CountedCell]) -> Transcript {
        let cells = cells.iter().map(|cell| Cell {
            syscalls: cell.syscalls.clone(),
            outcome: Outcome::without(Status::Failed, "the guest did not come to it"),
            ..Cell::unmeasured(Key {
                architecture: subject.architecture,
                kernel: subject.kernel.clone(),
                stack: subject.stack.clone(),
                integrity: Vec::new(),
                policy: Policy::default(),
                tuning: Tuning::default(),
                filesystem: subject.fs.clone(),
                subject: experiment::Subject::benchmark(&cell.benchmark, &cell.variant),
                delay: None,
                metric: Metric::Calls,
            })
        });
        Transcript {
            document: Document {
                cells: cells.collect(),
                ..Document::new(Kind::Counts, Environment::unknown())
            },
            open: None,
            hooks: BTreeMap::new(),
            begun: 0,
            unavailable: None,
            lost: None,
        }
    }

    /// The benchmark that is being counted, for a progress line.
    pub fn current(&self) -> Option<&Cell> {
        self.document.cells.get(self.open?)
    }

    /// Has the guest said its last line?
    pub fn is_finished(&self) -> bool {
        self.lost.is_some() || self.unavailable.is_some()
    }

    /// Takes a line.
    ///
    /// # Errors
    /// [`TranscriptError`] if it makes no sense there; nothing more is to be taken then.
    pub fn line(&mut self, text: &str) -> Result<(), TranscriptError> {
        let line: Line = text.parse()?;
        let refuse = |why| {
            Err(TranscriptError::Order {
                line: line.to_string(),
                why,
            })
        };
        if self.is_finished() {
            return refuse("comes after the end");
        }
        match (&line, self.open) {
            (Line::Release(release), None) if self.begun == 0 => {
                for cell in &mut self.document.cells {
                    cell.release.clone_from(release);
                }
            }
            (Line::Lsm(stack), None) if self.begun == 0 => {
                for cell in &mut self.document.cells {
                    cell.active_lsms = stack.split(',').map(str::to_owned).collect();
                }
            }
            (Line::LeftOut(name, reason), None) if self.begun == 0 => {
                let left_out = &mut self.document.left_out;
                bounded(left_out.len(), "left out hooks")?;
                left_out.push(LeftOutFunction {
                    name: name.clone(),
                    reason: reason.clone(),
                });
            }
            (Line::Unavailable(why), None) if self.begun == 0 => {
                self.unavailable = Some(why.clone());
            }
            (Line::Begin(at), None) => {
                if *at as usize != self.begun || self.begun == self.document.cells.len() {
                    return refuse("is not the next benchmark");
                }
                self.open = Some(self.begun);
                self.begun += 1;
            }
            (Line::Count(hook, short, long), Some(_)) => {
                bounded(self.hooks.len(), "hooks of a benchmark")?;
                if self.hooks.contains_key(hook) {
                    return refuse("comes twice");
                }
                let more = *long as f64 - *short as f64;
                let operations = (OPERATIONS[1] - OPERATIONS[0]) as f64;
                if more != 0.0 {
                    self.hooks.insert(hook.clone(), more / operations);
                }
            }
            (Line::Failed(why), Some(at)) => {
                self.end(at, Outcome::without(Status::Failed, why));
            }
            (Line::Unsupported(why), Some(at)) => {
                self.end(at, Outcome::without(Status::Unsupported, why));
            }
            (Line::Ended, Some(at)) => {
                let hooks = std::mem::take(&mut self.hooks);
                self.end(at, Evidence::HookCalls(HookCalls { hooks }).into());
            }
            (Line::Lost(calls), None) => self.lost = Some(*calls),
            _ => return refuse("does not belong there"),
        }
        Ok(())
    }

    /// The benchmark at hand has ended like that.
    fn end(&mut self, at: usize, outcome: Outcome) {
        self.document.cells[at].outcome = outcome;
        self.hooks.clear();
        self.open = None;
    }

    /// What was counted; or why nothing could be, as the guest says. If calls were lost, no
    /// benchmark's count can be believed, and all failed.
    ///
    /// # Errors
    /// [`TranscriptError::Unfinished`] if the guest ended before it was through.
    pub fn finish(self) -> Result<Result<Document, String>, TranscriptError> {
        if let Some(why) = self.unavailable {
            return Ok(Err(why));
        }
        let mut document = self.document;
        let lost = self.lost.ok_or(TranscriptError::Unfinished)?;
        if lost > 0 {
            let why = format!("{lost} calls of the run were lost, for want of room or time");
            fail(&mut document.cells, &why);
        }
        Ok(Ok(document))
    }

    /// What was counted until the guest ended too early, for this reason: the benchmark at
    /// hand and those after it failed.
    pub fn broken(mut self, why: &str) -> Document {
        let ended = self.begun - usize::from(self.open.is_some());
        fail(&mut self.document.cells[ended..], why);
        self.document
    }
}

fn fail(cells: &mut [Cell], why: &str) {
    for cell in cells {
        cell.outcome = Outcome::without(Status::Failed, why);
    }
}

fn bounded(len: usize, what: &'static str) -> Result<(), TranscriptError> {
    match len < HOOKS_MAX {
        true => Ok(()),
        false => Err(TranscriptError::TooMany {
            what,
            limit: HOOKS_MAX,
        }),
    }
}
