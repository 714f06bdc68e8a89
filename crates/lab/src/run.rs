// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs an experiment: visits in parallel where possible, a result file at the end.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};

use model::{Event, Experiment, Failure, Key, PolicyProof};

use crate::cache::{self, Cache};
use crate::document::document;
use crate::environment::{self, Begun};
use crate::error::LabError;
use crate::gather::Gathering;
use crate::machine::Machine;
use crate::outcome::{Finished, Outcome};
use crate::plan::{Plan, Visit};
use crate::policy::{cache_use, taken};
use crate::prepare::Hooks;
use crate::profiles::compare_programs;
use crate::setup::{Ground, Setup};
use crate::um;
use crate::visit::{Message, Work, make_ready, measure_copy, visit};
use crate::workplace::Workplace;

pub fn run(
    experiment: &Experiment,
    setup: &Setup<'_>,
    cancel: &AtomicBool,
    follow: &mut dyn FnMut(Event<'_>),
) -> Result<Outcome, LabError> {
    refuse_untried(experiment, setup)?;
    let limit = cache::limit()?;
    let setup = &for_experiment(experiment, setup)?;
    let plan = plan(experiment, setup)?;
    let planned = plan.measured().len();
    let begun = Begun::now(experiment, &setup.emulators()?);
    follow(Event::Planned { cells: planned });
    let visits: VecDeque<Visit> = plan.visits.iter().cloned().collect();
    let place = Workplace::prepare(experiment, setup, &visits)?;
    let work = Work {
        plan: &plan,
        experiment,
        treatment: setup.treatment,
        reuse: setup.reuse,
        machine: setup.machine,
    };
    let mut running = Running {
        gathering: gathering(&work, &visits),
        work: &work,
        setup,
        place: &place,
        finished: BTreeMap::new(),
        proved: BTreeSet::new(),
        proofs: VecDeque::new(),
        undelayed: BTreeMap::new(),
        follow,
    };
    let (timed, counting): (VecDeque<Visit>, VecDeque<Visit>) =
        visits.into_iter().partition(|visit| visit.timed);
    let jobs = match experiment.jobs {
        Some(jobs) => jobs as usize,
        None => environment::cores(),
    };
    // Timed machines must not disturb each other.
    for (queue, jobs) in [(counting, jobs), (timed, 1)] {
        let mut handle = |message| running.take(message);
        distribute(&place, &work, queue, jobs, cancel, &mut handle)?;
    }
    running.visit_again(cancel)?;
    Cache::new(setup.store).trim(limit);
    let mut finished = running.finished;
    let cancelled = cancel.load(Ordering::Relaxed) && finished.len() < planned;
    let traces = finished.iter_mut();
    let traces = traces.map(|(key, entry)| (key.clone(), std::mem::take(&mut entry.trace)));
    let traces = traces.collect();
    let mut run = document(experiment, &plan, setup, begun, finished, cancelled);
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
    gathering: BTreeMap<usize, Gathering>,
    finished: BTreeMap<Key, Finished>,
    proved: BTreeSet<(usize, usize)>,
    proofs: VecDeque<PolicyProof>,
    undelayed: BTreeMap<String, BTreeSet<String>>,
    follow: &'b mut dyn FnMut(Event<'_>),
}

impl Running<'_, '_> {
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
            Message::Unequal(what) => return Err(LabError::Unequal(what)),
            Message::CellBegin(cell) => (self.follow)(Event::Begin(&plan.cells[cell].key)),
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
                let Some(entry) =
                    gathering.and_then(|gathering| gathering.take(finding, keep_samples))
                else {
                    return Ok(());
                };
                self.finish(entry);
            }
        }
        Ok(())
    }

    /// Repeats timed measurements that were disturbed in most rounds, as long as that helps, and
    /// then finishes them.
    fn visit_again(&mut self, cancel: &AtomicBool) -> Result<(), LabError> {
        let (place, work) = (self.place, self.work);
        let mut before = u32::MAX;
        while !cancel.load(Ordering::Relaxed) {
            let missing: u32 = self.gathering.values().map(Gathering::lacks).sum();
            // Fewer than 10 % of the missing rounds were obtained, so more visits would not help.
            if missing == 0 || 10 * u64::from(missing) > 9 * u64::from(before) {
                break;
            }
            before = missing;
            let queue = self.again();
            let mut handle = |message| self.take(message);
            distribute(place, work, queue, 1, cancel, &mut handle)?;
        }
        let keep_samples = self.setup.keep_samples;
        let waiting = self.gathering.values_mut();
        let entries: Vec<_> = waiting
            .filter_map(|gathering| gathering.give_up(keep_samples))
            .collect();
        entries.into_iter().for_each(|entry| self.finish(entry));
        Ok(())
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
                Some(gathering) if gathering.lacks() > 0 => {
                    gathering.visit_again();
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

    fn finish(&mut self, mut entry: Finished) {
        entry.proof = self.proofs.pop_front();
        entry.warnings.extend(self.place.doubt_symbols(&entry.cell));
        match self.work.treatment.sweep {
            // Only sweeps need them.
            None => entry.trace.operations = None,
            Some(_) => {
                let undelayed = self.undelayed.get(&entry.cell.key.kernel);
                entry.trace.undelayed = undelayed.cloned().unwrap_or_default();
            }
        }
        (self.follow)(Event::Cell(&entry.cell));
        self.finished.insert(entry.cell.key.clone(), entry);
    }
}

/// Programs have a separate agent, and their hooks are always profiled. Transfers have names.
fn for_experiment<'a>(experiment: &Experiment, setup: &Setup<'a>) -> Result<Setup<'a>, LabError> {
    if experiment.programs.is_some() && setup.root.is_none() {
        let what = "only `run` and `profile` measure workloads";
        return Err(Failure::usage(what, "give benchmarks to this command").into());
    }
    let mut hooks = match &experiment.programs {
        Some(_) => Some(Hooks {
            optional: false,
            ..setup.hooks.unwrap_or_default()
        }),
        None => setup.hooks,
    };
    if let Some(hooks) = &mut hooks {
        hooks.words = experiment
            .metrics
            .iter()
            .any(|metric| metric.is_of_transfers());
        hooks.keep_trees |= hooks.words;
    }
    Ok(Setup { hooks, ..*setup })
}

/// Refuses features that are untested on other architectures than this machine's.
fn refuse_untried(experiment: &Experiment, setup: &Setup<'_>) -> Result<(), LabError> {
    let mut architectures = setup.grounds().into_iter().map(|ground| ground.arch);
    let Some(arch) = architectures.find(|arch| !arch.is_native()) else {
        return Ok(());
    };
    if experiment.programs.is_none() {
        return Ok(());
    }
    Err(Failure::environment(
        format!("whole programs cannot be measured yet on kernels for {arch}"),
        format!(
            "measure benchmarks instead, or use a kernel for {}",
            kernels::arch::native()
        ),
    )
    .into())
}

fn plan(experiment: &Experiment, setup: &Setup<'_>) -> Result<Plan, LabError> {
    let grounds: Vec<Ground> = setup.kernels.iter().map(Ground::new).collect();
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
    Ok(match setup.shard {
        Some(shard) => plan.shard(experiment, shard),
        None => plan,
    })
}

/// The state shared by threads.
enum Task<'a> {
    Visit(Visit),
    Copy(Arc<(Visit, Machine<'a>)>, usize),
}

#[derive(Default)]
struct Tasks<'a> {
    queue: VecDeque<Task<'a>>,
    /// The number of visits that have started. No thread ends before all visits have ended: QEMU
    /// ends with the thread that started it, and other threads may use its copies.
    running: usize,
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
    let tasks = Mutex::new(Tasks {
        queue: queue.into_iter().map(Task::Visit).collect(),
        running: 0,
    });
    let more = Condvar::new();
    let lock = || tasks.lock().unwrap_or_else(PoisonError::into_inner);
    let next = || {
        let mut tasks = lock();
        loop {
            if stop.load(Ordering::Relaxed) || cancel.load(Ordering::Relaxed) {
                return None;
            }
            match tasks.queue.pop_front() {
                Some(task) => {
                    tasks.running += 1;
                    return Some(task);
                }
                None if tasks.running == 0 => return None,
                None => tasks = more.wait(tasks).unwrap_or_else(PoisonError::into_inner),
            }
        }
    };
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let (sender, next, lock, more) = (sender.clone(), &next, &lock, &more);
            scope.spawn(move || {
                while let Some(task) = next() {
                    let ready = match task {
                        Task::Copy(machine, cell) => {
                            let (visit, machine) = &*machine;
                            measure_copy(machine, work, visit, cell, cancel, &sender);
                            None
                        }
                        Task::Visit(own) if own.timed => {
                            let setup = place.setup(&own);
                            visit(&place.testbed, setup, work, &own, cancel, &sender);
                            None
                        }
                        Task::Visit(own) => {
                            let setup = place.setup(&own);
                            make_ready(&place.testbed, setup, work, &own, cancel, &sender)
                                .map(|machine| Arc::new((own, machine)))
                        }
                    };
                    let mut tasks = lock();
                    tasks.running -= 1;
                    // Do this before further machines are booted, because each takes memory.
                    if let Some(ready) = ready {
                        for &cell in ready.0.cells.iter().rev() {
                            tasks.queue.push_front(Task::Copy(ready.clone(), cell));
                        }
                    }
                    drop(tasks);
                    more.notify_all();
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
                more.notify_all();
            }
        }
        outcome
    })
}
