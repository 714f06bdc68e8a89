// SPDX-License-Identifier: GPL-2.0-or-later
//! A conversation with the agent: checks the order of its messages and its time-outs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use model::{Denials, Status};
use rustix::process::Pid;

use crate::deadline::Deadline;
use crate::port::Port;
use crate::protocol::{
    Decoder, Message, ModuleSection, NamedTask, ProtocolError, Sample, encode_experiment,
};
use crate::recorded::Recorded;

const TICK: Duration = Duration::from_millis(50);

const LOG_LIMIT_BYTES: usize = 16 << 10;

const STEPS_LIMIT: usize = 256;
const STEP_LIMIT_CHARS: usize = 512;

/// Time-outs. The time that the agent's process waits for a processor does not count.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    pub boot: Duration,
    pub cell: Duration,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct CellReport {
    pub cell: u32,
    pub status: Status,
    pub reason: String,
    pub samples: Vec<Sample>,
    pub questions: Vec<String>,
    pub tasks: Vec<NamedTask>,
    pub denials: Option<Denials>,
    pub batch: u32,
    pub disturbed: u32,
    pub took: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Break {
    Cancelled,
    /// The process got SIGKILL, from a user or because memory ran out.
    Killed(String),
    Failed(String),
    /// Results that should be the same differ, which is a bug in lsmeter.
    Unequal(String),
}

impl Break {
    pub fn reason(&self) -> Option<&str> {
        match self {
            Break::Cancelled => None,
            Break::Killed(reason) | Break::Failed(reason) | Break::Unequal(reason) => Some(reason),
        }
    }

    #[must_use]
    pub(crate) fn map_reason(self, map: impl FnOnce(String) -> String) -> Break {
        match self {
            Break::Cancelled => Break::Cancelled,
            Break::Killed(reason) => Break::Killed(map(reason)),
            Break::Failed(reason) => Break::Failed(map(reason)),
            Break::Unequal(reason) => Break::Unequal(reason),
        }
    }
}

#[derive(Debug)]
pub enum AgentEvent {
    Hello(BTreeMap<String, String>),
    /// Code sections of loaded modules, right after the hello, then of BPF programs.
    Modules(Vec<ModuleSection>),
    Step(String),
    Undelayed(Vec<String>),
    CellBegin(u32),
    CellEnd {
        report: CellReport,
        /// The plugin's counts, for instruction measurements of boots that ended well; added by the
        /// host.
        counts: Option<Result<Box<Recorded>, String>>,
    },
}

pub struct Session<'a> {
    pub port: Port,
    pub cells: &'a [u32],
    pub patience: Patience,
    pub process: Option<Pid>,
    pub cancel: &'a AtomicBool,
}

#[derive(Default)]
struct Progress<'a> {
    expected: std::slice::Iter<'a, u32>,
    /// The measurement that has begun, and when.
    current: Option<(CellReport, Instant)>,
    hello: bool,
    /// `modules` frames that are still valid: after the hello, before the first measurement.
    modules: u8,
    steps: usize,
    log: String,
}

impl Session<'_> {
    /// Sends the directives, unless the agent has them, and returns the agent's log after its end.
    /// `ended` reports the process's exit once the stream is closed.
    ///
    /// # Errors
    /// [`Break`] when the conversation ended early; unreported measurements have no result.
    pub fn run(
        mut self,
        directives: Option<&str>,
        ended: &mut dyn FnMut() -> Option<Break>,
        listener: &mut dyn FnMut(AgentEvent) -> Result<(), String>,
    ) -> Result<String, Break> {
        if let Some(directives) = directives {
            // If the agent exited, its exit status explains more than EPIPE.
            let _ = self.port.write_all(&encode_experiment(directives));
        }
        let mut progress = Progress::new(self.cells);
        let mut decoder = Decoder::default();
        let mut buffer = vec![0; 64 << 10];
        let mut deadline = Deadline::new(self.process, self.patience.boot);
        loop {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(Break::Cancelled);
            }
            // Check this before the read, so that the last output counts.
            let how = ended();
            let n = match (self.port.read(&mut buffer, TICK), how) {
                (Ok(None), None) => 0,
                (Ok(None), Some(how)) => return Err(how),
                // A broken stream counts as ended.
                (Ok(Some(0)) | Err(_), _) => return Err(gone(ended, &progress)),
                (Ok(Some(n)), _) => n,
            };
            let messages = decoder
                .push(&buffer[..n])
                .map_err(|error: ProtocolError| Break::Failed(error.to_string()))?;
            for message in messages {
                if matches!(message, Message::Done) {
                    return progress.finish();
                }
                if let Some(event) = progress.take(message).map_err(Break::Failed)? {
                    deadline.restart(self.patience.cell);
                    listener(event).map_err(Break::Failed)?;
                }
            }
            // Check the deadline even while bytes arrive, because an endless log is not progress.
            if deadline.is_over() {
                return Err(Break::Failed(progress.overdue(self.patience)));
            }
        }
    }
}

/// Replays the output of a machine until it was ready, or of a copy for its measurement. `took` is
/// the time that it took.
///
/// # Errors
/// [`Break`] if it is incomplete.
pub(crate) fn replay(
    messages: Vec<Message>,
    cell: Option<u32>,
    took: Duration,
    listener: &mut dyn FnMut(AgentEvent) -> Result<(), String>,
) -> Result<String, Break> {
    let mut progress = Progress::new(cell.as_slice());
    progress.hello = cell.is_some();
    for message in messages {
        if matches!(message, Message::Done) {
            return progress.finish();
        }
        let event = progress.take(message).map_err(Break::Failed)?;
        if let Some(mut event) = event {
            if let AgentEvent::CellEnd { report, .. } = &mut event {
                report.took = took;
            }
            listener(event).map_err(Break::Failed)?;
        }
    }
    Err(Break::Failed(
        "the guest ended during a measurement".to_owned(),
    ))
}

fn gone(ended: &mut dyn FnMut() -> Option<Break>, progress: &Progress<'_>) -> Break {
    // The port closes shortly before the process can be reaped.
    for _ in 0..40 {
        if let Some(how) = ended() {
            return how;
        }
        std::thread::sleep(TICK);
    }
    let when = match &progress.current {
        Some(_) => "during a measurement",
        None => "before it was done",
    };
    Break::Failed(format!("the agent closed its port {when}"))
}

impl<'a> Progress<'a> {
    fn new(cells: &'a [u32]) -> Progress<'a> {
        Progress {
            expected: cells.iter(),
            steps: STEPS_LIMIT,
            ..Progress::default()
        }
    }

    fn overdue(&self, patience: Patience) -> String {
        match (self.hello, &self.current) {
            (false, _) => {
                format!(
                    "no sign of the agent within {} s after the boot",
                    patience.boot.as_secs()
                )
            }
            (true, Some(_)) => format!(
                "the measurement did not end within {} s",
                patience.cell.as_secs()
            ),
            (true, None) => format!("the agent was silent for {} s", patience.cell.as_secs()),
        }
    }

    fn finish(self) -> Result<String, Break> {
        if self.current.is_some() || !self.expected.as_slice().is_empty() {
            return Err(Break::Failed(
                "the agent reports that it is done, but measurements are missing".into(),
            ));
        }
        Ok(self.log)
    }

    fn take(&mut self, message: Message) -> Result<Option<AgentEvent>, String> {
        match message {
            Message::Hello(_) if self.hello => Err("the agent sent hello twice".to_owned()),
            Message::Hello(facts) => {
                self.hello = true;
                self.modules = 2;
                Ok(Some(AgentEvent::Hello(facts)))
            }
            Message::Log(text) => {
                if self.log.len() + text.len() < LOG_LIMIT_BYTES {
                    self.log.push_str(text.trim_end());
                    self.log.push('\n');
                }
                Ok(None)
            }
            Message::Failed(reason) => Err(format!("the agent gave up: {reason}")),
            Message::Done => Ok(None),
            _ if !self.hello => Err("the agent did not send hello".to_owned()),
            Message::Modules(sections) => {
                let Some(left) = self.modules.checked_sub(1) else {
                    return Err("the agent reported modules out of turn".to_owned());
                };
                self.modules = left;
                Ok(Some(AgentEvent::Modules(sections)))
            }
            Message::Step(text) => {
                let Some(left) = self.steps.checked_sub(1) else {
                    return Err("the agent reported a policy out of turn".to_owned());
                };
                self.steps = left;
                Ok(Some(AgentEvent::Step(
                    text.chars().take(STEP_LIMIT_CHARS).collect(),
                )))
            }
            Message::Undelayed(hooks) => {
                if self.steps == 0 {
                    return Err("the agent reported hooks out of turn".to_owned());
                }
                Ok(Some(AgentEvent::Undelayed(hooks)))
            }
            of_cell => self.take_of_cell(of_cell),
        }
    }

    fn take_of_cell(&mut self, message: Message) -> Result<Option<AgentEvent>, String> {
        match message {
            Message::CellBegin(cell) => {
                self.modules = 0;
                self.steps = 0;
                if self.current.is_some() || self.expected.next() != Some(&cell) {
                    return Err(format!("the agent began measurement {cell} out of turn"));
                }
                let report = CellReport {
                    cell,
                    ..CellReport::default()
                };
                self.current = Some((report, Instant::now()));
                Ok(Some(AgentEvent::CellBegin(cell)))
            }
            Message::Asked { cell, questions } => {
                let (report, _) = self.in_turn(cell)?;
                if !report.questions.is_empty() {
                    return Err(format!(
                        "measurement {cell} reported its permission checks twice"
                    ));
                }
                report.questions = questions;
                Ok(None)
            }
            Message::Tasks { cell, tasks } => {
                let (report, _) = self.in_turn(cell)?;
                if !report.tasks.is_empty() {
                    return Err(format!("measurement {cell} reported its tasks twice"));
                }
                report.tasks = tasks;
                Ok(None)
            }
            Message::Denied { cell, denials } => {
                self.in_turn(cell)?.0.denials = Some(denials);
                Ok(None)
            }
            Message::Samples { cell, samples } => {
                let (report, _) = self.in_turn(cell)?;
                if report.samples.len() + samples.len() > 1_000_000 {
                    return Err(format!("measurement {cell} has too many samples"));
                }
                report.samples.extend(samples);
                Ok(None)
            }
            Message::CellEnd {
                cell,
                status,
                batch,
                disturbed,
                reason,
            } => {
                let (report, begun) = self.in_turn(cell)?;
                let report = CellReport {
                    status,
                    reason,
                    batch,
                    disturbed: disturbed.into(),
                    took: begun.elapsed(),
                    ..std::mem::take(report)
                };
                self.current = None;
                Ok(Some(AgentEvent::CellEnd {
                    report,
                    counts: None,
                }))
            }
            other => Err(format!("the agent sent a message out of turn: {other:?}")),
        }
    }

    fn in_turn(&mut self, cell: u32) -> Result<&mut (CellReport, Instant), String> {
        match &mut self.current {
            Some(current) if current.0.cell == cell => Ok(current),
            _ => Err(format!("the agent reported measurement {cell} out of turn")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_turn_is_refused() {
        let hello = || Message::Hello(BTreeMap::new());
        let step = || Message::Step("wrote a policy".to_owned());
        let modules = || {
            Message::Modules(vec![ModuleSection {
                module: "brd".to_owned(),
                section: ".text".to_owned(),
                address: 0xffff_ffff_a000_0000,
            }])
        };
        let cell = || Message::CellBegin(3);
        let log = || Message::Log("a line".to_owned());
        let mut many = vec![hello()];
        many.extend((0..=STEPS_LIMIT).map(|_| step()));
        for (messages, why) in [
            (vec![step()], "hello"),
            (vec![modules()], "hello"),
            (many, "out of turn"),
            (vec![hello(), hello()], "twice"),
            (vec![hello(), cell(), step()], "out of turn"),
            (
                vec![hello(), modules(), log(), modules(), modules()],
                "out of turn",
            ),
            (vec![hello(), cell(), modules()], "out of turn"),
        ] {
            let mut progress = Progress::new(&[3]);
            let last = messages.len() - 1;
            for (at, message) in messages.into_iter().enumerate() {
                let taken = progress.take(message);
                match at < last {
                    true => assert!(taken.is_ok(), "{taken:?}"),
                    false => assert!(taken.unwrap_err().contains(why), "{why}"),
                }
            }
        }
    }
}
