// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs an experiment: visits in parallel where possible, finished cells to the journal, a result
//! file at the end.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};

use model::{Clock, Event, Experiment, Failure, Key, PolicyProof, Status, journal::JournalHeader};

use crate::document::document;
use crate::environment;
use crate::error::LabError;
use crate::gather::Gathering;
use crate::journal::JournalFile;
use crate::outcome::{JournalEntry, Outcome, Trace};
use crate::plan::{Plan, Visit};
use crate::policy::{cache_use, taken};
use crate::prepare::Hooks;
use crate::profiles::compare_programs;
use crate::setup::{Ground, Setup};
use crate::um;
use crate::visit::{Message, Work, visit};
use crate::workplace::Workplace;

pub fn run(
    experiment: &Experiment,
    setup: &Setup<'_>,
    cancel: &AtomicBool,
    follow: &mut dyn FnMut(Event<'_>),
) -> Result<Outcome, LabError> {
    refuse_untried(experiment, setup)?;
    let setup = &with_programs(experiment, setup)?;
    let plan = plan(experiment, setup)?;
    let planned = plan.measured().len();
    let header = JournalHeader {
        shard: setup.shard,
        treatment: setup.treatment.describe(setup.hooks),
        ..environment::header(experiment, &setup.emulators()?)
    };
    let (journal, finished) = open_journal(setup, &header, &plan)?;
    follow(Event::Planned {
        cells: planned,
        finished: finished.len(),
    });
    let mut visits: VecDeque<Visit> = plan.visits.iter().cloned().collect();
    for visit in &mut visits {
        let is_new = |&cell: &usize| !finished.contains_key(&plan.cells[cell].key);
        visit.cells.retain(is_new);
    }
    visits.retain(|visit| !visit.cells.is_empty());
    let place = Workplace::prepare(experiment, setup, &visits).inspect_err(|_| {
        if !setup.resume {
            // A journal without cells would be in the way of the next try.
            let _ = std::fs::remove_file(setup.journal);
        }
    })?;
    let work = Work {
        plan: &plan,
        experiment,
        treatment: setup.treatment,
    };
    let mut running = Running {
        gathering: gathering(&work, &visits),
        work: &work,
        setup,
        place: &place,
        journal,
        finished,
        proved: BTreeSet::new(),
        proofs: VecDeque::new(),
        undelayed: BTreeMap::new(),
        follow,
    };
    let (timed, counting): (VecDeque<Visit>, VecDeque<Visit>) =
        visits.into_iter().partition(|visit| visit.timed);
    let jobs = match (experiment.jobs, experiment.clock) {
        (Some(jobs), _) => jobs as usize,
        (None, Clock::Deterministic) => machines_at_a_time(counting.len(), environment::cores()),
        (None, _) => environment::cores(),
    };
    // Timed machines must not disturb each other.
    for (queue, jobs) in [(counting, jobs), (timed, 1)] {
        let mut handle = |message| running.take(message);
        distribute(&place, &work, queue, jobs, cancel, &mut handle)?;
    }
    running.visit_again(cancel)?;
    let mut finished = running.finished;
    let cancelled = cancel.load(Ordering::Relaxed) && finished.len() < planned;
    let traces = finished.iter_mut();
    let traces = traces.filter_map(|(key, entry)| Some((key.clone(), entry.trace.take()?)));
    let traces = traces.collect();
    let mut run = document(experiment, &plan, setup, header, finished, cancelled);
    compare_programs(&mut run.cells, experiment, &traces);
    let digests = setup.kernels.iter().map(|kernel| kernel.digest.clone());
    run.kernel_digests = experiment.kernels.iter().cloned().zip(digests).collect();
    Ok(Outcome {
        run,
        cancelled,
        traces,
    })
}

fn gathering(work: &Work<'_>, visits: &VecDeque<Visit>) -> BTreeMap<usize, Gathering> {
    let mut gathering = BTreeMap::new();
    for visit in visits {
        let rounds = if visit.timed {
            work.experiment.rounds
        } else {
            1
        };
        for &cell in &visit.cells {
            let new = || Gathering::new(work.plan.cells[cell].clone(), rounds);
            gathering.entry(cell).or_insert_with(new);
        }
    }
    gathering
}

struct Running<'a, 'b> {
    work: &'a Work<'a>,
    setup: &'a Setup<'a>,
    place: &'a Workplace<'a>,
    journal: JournalFile,
    gathering: BTreeMap<usize, Gathering>,
    finished: BTreeMap<Key, JournalEntry>,
    proved: BTreeSet<(usize, usize)>,
    proofs: VecDeque<PolicyProof>,
    undelayed: BTreeMap<String, BTreeSet<String>>,
    follow: &'b mut dyn FnMut(Event<'_>),
}

impl Running<'_, '_> {
    /// Handles a message; a finished cell is written to the journal before it is reported.
    fn take(&mut self, message: Message) -> Result<(), LabError> {
        let Work {
            plan, experiment, ..
        } = *self.work;
        match message {
            Message::VisitBegin {
                kernel,
                configuration,
            } => (self.follow)(Event::Boot {
                kernel: &experiment.kernels[kernel],
                configuration: &experiment.configurations[configuration],
            }),
            Message::Undelayed { kernel, hooks } => {
                let kernel = experiment.kernels[kernel].clone();
                self.undelayed.entry(kernel).or_default().extend(hooks);
            }
            Message::CellBegin { cell } => (self.follow)(Event::Begin(&plan.cells[cell].key)),
            Message::Seen {
                cells,
                release,
                active_lsms,
                probes,
            } => {
                for cell in cells {
                    if let Some(gathering) = self.gathering.get_mut(&cell) {
                        gathering.seen_in(&release, &active_lsms);
                        gathering.set_probed(probes);
                    }
                }
            }
            Message::Proved {
                kernel,
                configuration,
                steps,
            } => {
                if self.proved.insert((kernel, configuration)) {
                    self.proofs.push_back(PolicyProof {
                        kernel: experiment.kernels[kernel].clone(),
                        configuration: experiment.configurations[configuration].clone(),
                        cache: cache_use(&steps),
                        took: taken(&steps),
                        steps,
                    });
                }
            }
            Message::Found { cell, finding } => {
                let gathering = self.gathering.get_mut(&cell);
                let keep_samples = self.setup.keep_samples;
                let Some(entry) = gathering.and_then(|of| of.take(finding, keep_samples)) else {
                    return Ok(());
                };
                self.finish(entry)?;
            }
        }
        Ok(())
    }

    /// Repeats timed cells that were disturbed in most rounds, while that helps, then finishes
    /// them.
    fn visit_again(&mut self, cancel: &AtomicBool) -> Result<(), LabError> {
        let (place, work) = (self.place, self.work);
        let mut before = u32::MAX;
        while !cancel.load(Ordering::Relaxed) {
            let lacking: u32 = self.gathering.values().map(Gathering::lacks).sum();
            // Fewer than 10 % of the missing rounds came in: more visits would not help.
            if lacking == 0 || 10 * u64::from(lacking) > 9 * u64::from(before) {
                break;
            }
            before = lacking;
            let queue = self.again();
            let mut handle = |message| self.take(message);
            distribute(place, work, queue, 1, cancel, &mut handle)?;
        }
        let keep_samples = self.setup.keep_samples;
        let waiting = self.gathering.values_mut();
        let entries: Vec<_> = waiting.filter_map(|of| of.give_up(keep_samples)).collect();
        entries.into_iter().try_for_each(|entry| self.finish(entry))
    }

    fn again(&mut self) -> VecDeque<Visit> {
        let Work { plan, .. } = *self.work;
        let visits = plan
            .visits
            .iter()
            .filter(|visit| visit.timed && visit.round == 0);
        let again = visits.filter_map(|visit| {
            let mut cells = visit.cells.clone();
            cells.retain(|cell| match self.gathering.get_mut(cell) {
                Some(of) if of.lacks() > 0 => {
                    of.visit_again();
                    true
                }
                _ => false,
            });
            (!cells.is_empty()).then(|| Visit {
                cells,
                ..visit.clone()
            })
        });
        again.collect()
    }

    fn finish(&mut self, mut entry: JournalEntry) -> Result<(), LabError> {
        entry.proof = self.proofs.pop_front();
        entry.warnings.extend(self.place.doubt_symbols(&entry.cell));
        let trace = entry.trace.get_or_insert_default();
        match self.work.treatment.sweep {
            // Only sweeps need them, and the journal stays small.
            None => trace.operations = None,
            Some(_) => {
                let undelayed = self.undelayed.get(&entry.cell.key.kernel);
                trace.undelayed = undelayed.cloned().unwrap_or_default();
            }
        }
        entry.trace = entry.trace.filter(|trace| *trace != Trace::default());
        self.journal.add(&entry)?;
        (self.follow)(Event::Cell(&entry.cell));
        self.finished.insert(entry.cell.key.clone(), entry);
        Ok(())
    }
}

/// Programs have an agent of their own, and their hooks are always profiled.
fn with_programs<'a>(experiment: &Experiment, setup: &Setup<'a>) -> Result<Setup<'a>, LabError> {
    if experiment.programs.is_some() && setup.root.is_none() {
        let what = "workloads are measured by `run` and `profile` only";
        return Err(Failure::usage(what, "give this command benchmarks").into());
    }
    let hooks = match &experiment.programs {
        Some(_) => Some(Hooks {
            optional: false,
            ..setup.hooks.unwrap_or_default()
        }),
        None => setup.hooks,
    };
    Ok(Setup { hooks, ..*setup })
}

/// Refuses features that are untested on other architectures than this machine's.
fn refuse_untried(experiment: &Experiment, setup: &Setup<'_>) -> Result<(), LabError> {
    let mut architectures = setup.grounds().into_iter().map(|of| of.arch);
    let Some(arch) = architectures.find(|arch| !arch.is_native()) else {
        return Ok(());
    };
    if experiment.programs.is_none() {
        return Ok(());
    }
    Err(Failure::environment(
        format!("on kernels of {arch} whole programs cannot be measured yet"),
        format!(
            "count benchmarks there, or give a kernel of {}",
            kernels::arch::native()
        ),
    )
    .into())
}

fn plan(experiment: &Experiment, setup: &Setup<'_>) -> Result<Plan, LabError> {
    let grounds: Vec<Ground> = setup.kernels.iter().map(Ground::of).collect();
    if !experiment.metrics.iter().any(|metric| metric.is_timed()) {
        for kernel in setup.kernels {
            um::refuse_program(kernel)?;
        }
    }
    let mut plan = Plan::on(experiment, &grounds)?;
    for cell in &mut plan.cells {
        let kernels = experiment.kernels.iter().zip(setup.kernels);
        let own = { kernels }.find(|(name, _)| **name == cell.key.kernel);
        if let Some((_, kernel)) = own {
            cell.key.architecture = kernel.architecture;
        }
    }
    let plan = match setup.shard {
        Some(shard) => plan.shard(experiment, shard),
        None => plan,
    };
    Ok(plan.split(setup.parts))
}

fn open_journal(
    setup: &Setup<'_>,
    now: &JournalHeader,
    plan: &Plan,
) -> Result<(JournalFile, BTreeMap<Key, JournalEntry>), LabError> {
    if !setup.resume {
        return Ok((JournalFile::begin(setup.journal, now)?, BTreeMap::new()));
    }
    let (mut file, journal) = JournalFile::resume(setup.journal, now)?;
    let mut finished = journal.finished;
    let read = finished.len();
    // The run's end may have caused the failure: try again.
    finished.retain(|_, entry| entry.cell.status() != Status::Failed);
    drop_torn_visits(plan, &mut finished);
    if finished.len() < read {
        file.replace(journal.header.as_ref().unwrap_or(now), finished.values())?;
    }
    Ok((file, finished))
}

/// Drops the cells of unfinished counted visits: a cell's count depends on the cells that ran
/// before it in the same boot, so the boot is repeated whole.
fn drop_torn_visits(plan: &Plan, finished: &mut BTreeMap<Key, JournalEntry>) {
    for visit in plan.visits.iter().filter(|visit| !visit.timed) {
        let keys = || visit.cells.iter().map(|&cell| &plan.cells[cell].key);
        if !keys().all(|key| finished.contains_key(key)) {
            for key in keys() {
                finished.remove(key);
            }
        }
    }
}

/// Number of machines to run in parallel if counts do not depend on speed. A last machine that
/// would leave at least half of the processors idle runs in parallel with the others.
fn machines_at_a_time(machines: usize, processors: usize) -> usize {
    let rounds = machines / processors.max(1);
    let left_over = machines % processors.max(1);
    match rounds > 0 && 2 * left_over <= processors {
        true => machines.div_ceil(rounds),
        false => processors,
    }
}

/// Runs visits in `jobs` threads; handles messages in this one. The first error ends everything.
fn distribute(
    place: &Workplace<'_>,
    work: &Work<'_>,
    queue: VecDeque<Visit>,
    jobs: usize,
    cancel: &AtomicBool,
    handle: &mut dyn FnMut(Message) -> Result<(), LabError>,
) -> Result<(), LabError> {
    let stop = AtomicBool::new(false);
    let jobs = jobs.min(queue.len());
    let queue = Mutex::new(queue);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let sender = sender.clone();
            let (queue, stop) = (&queue, &stop);
            scope.spawn(move || {
                loop {
                    let next = queue
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .pop_front();
                    let Some(next) = next else { break };
                    if stop.load(Ordering::Relaxed) || cancel.load(Ordering::Relaxed) {
                        break;
                    }
                    let setup = place.setup(&next);
                    visit(&place.testbed, setup, work, &next, cancel, &sender);
                }
            });
        }
        drop(sender);
        let mut outcome = Ok(());
        for message in receiver {
            if outcome.is_ok() {
                outcome = handle(message);
            }
            if outcome.is_err() {
                stop.store(true, Ordering::Relaxed);
                cancel.store(true, Ordering::Relaxed);
            }
        }
        outcome
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Cell, Spec};

    #[test]
    fn boots_that_did_not_finish_are_dropped_from_the_journal() {
        let text = "stacks = ['capability', 'capability,selinux', 'capability,tomoyo']\n\
                    benchmarks = ['getppid', 'open:AA', 'stat:AA']";
        let experiment = Spec::parse("test", text).unwrap().resolve().unwrap();
        let plan = Plan::new(&experiment).unwrap();
        let header = environment::header(&experiment, &[]);
        let entry = |cell: usize, failed: bool| {
            let mut measured = Cell::unmeasured(plan.cells[cell].key.clone());
            if !failed {
                let reason = "no such call".to_owned();
                measured.outcome = model::Outcome::Unsupported { reason };
            }
            JournalEntry {
                cell: measured,
                warnings: Vec::new(),
                proof: None,
                trace: None,
            }
        };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let mut journal = JournalFile::begin(&path, &header).unwrap();
        for cell in 0..8 {
            let failed = cell == 4;
            journal.add(&entry(cell, failed)).unwrap();
        }
        drop(journal);
        let store = kernels::Store::open(dir.path()).unwrap();
        let journals = crate::journal::Journals {
            first: path.clone(),
            resume: true,
        };
        let setup = Setup::new(&store, &journals);
        let (_, finished) = open_journal(&setup, &header, &plan).unwrap();
        let left: Vec<&Key> = finished.keys().collect();
        let mut first: Vec<&Key> = plan.cells[..3].iter().map(|cell| &cell.key).collect();
        first.sort();
        assert_eq!(left, first);
        let (_, again) = JournalFile::resume::<Trace>(&path, &header).unwrap();
        assert_eq!(again.finished.len(), 3);
        assert!(!dir.path().join("journal.1").exists());
    }

    #[test]
    fn a_few_machines_more_than_processors_run_beside_the_others() {
        let machines = |machines| machines_at_a_time(machines, 2);
        assert_eq!([1, 2, 3, 4, 5].map(machines), [2, 2, 3, 2, 3]);
        let machines = |machines| machines_at_a_time(machines, 16);
        assert_eq!(
            [16, 17, 24, 25, 32, 40].map(machines),
            [16, 17, 24, 16, 16, 20]
        );
    }
}
