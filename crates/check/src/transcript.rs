// SPDX-License-Identifier: GPL-2.0-or-later
//! From what a guest says, line by line, to a document of counts. The guest runs the kernel
//! under test: what it says is bounded, and checked to make sense.

use experiment::check::{CountedBenchmark, CountedHook};
use experiment::{CountsDocument, LeftOutFunction, SCHEMA_VERSION, Status, Tool};

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

/// What was said so far.
#[derive(Debug)]
pub struct Transcript {
    document: CountsDocument,
    /// The benchmark at hand.
    open: Option<usize>,
    /// Benchmarks that have begun.
    begun: usize,
    unavailable: Option<String>,
    lost: Option<u64>,
}

impl Transcript {
    /// Of these benchmarks. The subject's release is what the guest says it is.
    pub fn new(subject: &Subject, cells: &[CountedCell]) -> Transcript {
        let counted = cells.iter().map(|cell| CountedBenchmark {
            benchmark: cell.benchmark.clone(),
            variant: cell.variant.clone(),
            syscalls: cell.syscalls.clone(),
            status: Status::Failed,
            reason: Some("the guest did not come to it".to_owned()),
            hooks: Vec::new(),
        });
        Transcript {
            document: CountsDocument {
                schema_version: SCHEMA_VERSION,
                tool: Tool::this(),
                kernel: subject.kernel.clone(),
                release: String::new(),
                stack: subject.stack.clone(),
                active_lsms: Vec::new(),
                fs: subject.fs.clone(),
                left_out: Vec::new(),
                counted: counted.collect(),
            },
            open: None,
            begun: 0,
            unavailable: None,
            lost: None,
        }
    }

    /// The benchmark that is being counted, for a progress line.
    pub fn current(&self) -> Option<&CountedBenchmark> {
        self.document.counted.get(self.open?)
    }

    /// Has all been said?
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
                self.document.release.clone_from(release);
            }
            (Line::Lsm(stack), None) if self.begun == 0 => {
                self.document.active_lsms = stack.split(',').map(str::to_owned).collect();
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
                if *at as usize != self.begun || self.begun == self.document.counted.len() {
                    return refuse("is not the next benchmark");
                }
                self.open = Some(self.begun);
                self.begun += 1;
            }
            (Line::Count(hook, short, long), Some(at)) => {
                let hooks = &mut self.document.counted[at].hooks;
                bounded(hooks.len(), "hooks of a benchmark")?;
                if hooks.iter().any(|other| other.hook == *hook) {
                    return refuse("is said twice");
                }
                let more = *long as f64 - *short as f64;
                let operations = (OPERATIONS[1] - OPERATIONS[0]) as f64;
                if more != 0.0 {
                    hooks.push(CountedHook {
                        hook: hook.clone(),
                        calls: more / operations,
                    });
                }
            }
            (Line::Failed(why) | Line::Unsupported(why), Some(at)) => {
                let counted = &mut self.document.counted[at];
                counted.hooks.clear();
                if matches!(line, Line::Unsupported(_)) {
                    counted.status = Status::Unsupported;
                }
                counted.reason = Some(why.clone());
                self.open = None;
            }
            (Line::Ended, Some(at)) => {
                let counted = &mut self.document.counted[at];
                (counted.status, counted.reason) = (Status::Ok, None);
                self.open = None;
            }
            (Line::Lost(calls), None) => self.lost = Some(*calls),
            _ => return refuse("does not belong there"),
        }
        Ok(())
    }

    /// What was counted; or why nothing could be, as the guest says. If calls were lost, no
    /// benchmark's count can be believed, and all failed.
    ///
    /// # Errors
    /// [`TranscriptError::Unfinished`] if the guest ended before it was through.
    pub fn finish(self) -> Result<Result<CountsDocument, String>, TranscriptError> {
        if let Some(why) = self.unavailable {
            return Ok(Err(why));
        }
        let mut document = self.document;
        let lost = self.lost.ok_or(TranscriptError::Unfinished)?;
        if lost > 0 {
            let why = format!("{lost} calls of the run were lost, for want of room or time");
            for counted in &mut document.counted {
                fail(counted, &why);
            }
        }
        Ok(Ok(document))
    }

    /// What was counted until the guest ended too early, for this reason: the benchmark at
    /// hand and those after it failed.
    pub fn broken(mut self, why: &str) -> CountsDocument {
        let ended = self.begun - usize::from(self.open.is_some());
        for counted in &mut self.document.counted[ended..] {
            fail(counted, why);
        }
        self.document
    }
}

fn fail(counted: &mut CountedBenchmark, why: &str) {
    counted.hooks.clear();
    counted.status = Status::Failed;
    counted.reason = Some(why.to_owned());
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
