// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs an experiment: visits in parallel where they may be, cells to the journal as
//! they finish, a run document at the end.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};

use experiment::journal::{JournalEntry, JournalHeader};
use experiment::{
    Cell, Configuration, Document, Experiment, Key, Place, PolicyProof, Shard, Status, Warning,
    WarningKind,
};
use instructions::profile::CellProfile;

use crate::document::document;
use crate::environment;
use crate::error::LabError;
use crate::gather::{Finished, Gathering};
use crate::host;
use crate::journal::JournalFile;
use crate::plan::{Manner, Plan, Visit};
use crate::policy::{self, PolicyError, PolicySetup};
use crate::prepare::{self, Hooks};
use crate::qemu::Qemu;
use crate::visit::{Bench, Message, VmBench, Work, visit};
use crate::vm::{Bootable, remove_stale_scratch, scratch};
use kernels::{Kernel, Store};

/// What a run needs besides the experiment.
#[derive(Debug)]
pub struct Setup<'a> {
    /// Where kernels are kept.
    pub store: &'a Store,
    /// The experiment's kernels, in its order; empty on the host.
    pub kernels: &'a [Kernel],
    /// QEMU; None on the host.
    pub qemu: Option<&'a Qemu>,
    /// The program that measures: [`crate::catalogue::agent`].
    pub agent: &'a [u8],
    /// Where finished cells go as they finish.
    pub journal: &'a Path,
    /// Go on with the journal that is there.
    pub resume: bool,
    /// Keep every sample in the document.
    pub keep_samples: bool,
    /// Tell the hooks in instruction cells apart.
    pub hooks: Option<Hooks<'a>>,
    /// What is done to each operation besides measuring it.
    pub manner: Manner<'a>,
    /// Measure this part of the experiment only.
    pub shard: Option<Shard>,
    /// Boots that share a configuration's counted cells; 1 keeps them together, so that
    /// each has the same history in every run.
    pub parts: usize,
}

/// What happens while an experiment runs.
#[derive(Debug)]
pub enum Progress<'a> {
    /// All cells, or all of the shard, and those that the journal already had.
    Planned {
        /// Cells to be measured.
        cells: usize,
        /// Of them finished before.
        finished: usize,
    },
    /// A boot, or a run of the agent on the host, begins.
    VisitBegin {
        /// Kernel.
        kernel: &'a str,
        /// What it is set up with.
        configuration: &'a Configuration,
    },
    /// A cell begins.
    CellBegin {
        /// Which.
        key: &'a Key,
    },
    /// A cell is finished and in the journal.
    CellEnd {
        /// The cell.
        cell: &'a Cell,
    },
}

/// What became of an experiment.
#[derive(Debug)]
pub struct Outcome {
    /// The run document.
    pub run: Document,
    /// It was cancelled before all cells were measured; the journal can be resumed.
    pub cancelled: bool,
    /// Of instruction cells whose hooks were told apart, measured in this run and not
    /// taken from the journal: what was called in them.
    pub profiles: BTreeMap<Key, CellProfile>,
    /// In a sweep, of cells measured in this run: each operation's figure in order, in the
    /// metric's unit; None where something else ran in it. Operation `i` ran under the
    /// point `i % points`.
    pub operations: BTreeMap<Key, Vec<Option<f64>>>,
    /// In a sweep that is to tell it: what one operation asked of hooks, in order, as
    /// `HOOK OBJECT DETAIL` (`crates/sensitivity/kernel/README.md`).
    pub questions: BTreeMap<Key, Vec<String>>,
    /// In a sweep: hooks by kernel that cannot be delayed although they were listed. Their
    /// points had no effect.
    pub undelayed: BTreeMap<String, BTreeSet<String>>,
}

/// Runs an experiment. `progress` is called from this thread only.
///
/// # Errors
/// [`LabError`] if it cannot run at all. Cells that fail do not make an error.
pub fn run(
    experiment: &Experiment,
    setup: &Setup<'_>,
    cancel: &AtomicBool,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Outcome, LabError> {
    let plan = plan(experiment, setup)?;
    let planned = plan.measured();
    let now = JournalHeader {
        shard: setup.shard,
        ..environment::header(experiment, setup.qemu)
    };
    let (mut journal, mut finished) = open_journal(setup, &now)?;
    if setup.shard.is_some() {
        drop_torn_visits(&plan, &mut finished);
    }
    let done = |cell: usize, finished: &BTreeMap<Key, JournalEntry>| {
        finished.contains_key(&plan.cells[cell].key)
    };
    progress(Progress::Planned {
        cells: planned.len(),
        finished: finished.len(),
    });

    let mut visits: VecDeque<Visit> = plan.visits.iter().cloned().collect();
    for visit in &mut visits {
        visit.cells.retain(|&cell| !done(cell, &finished));
    }
    visits.retain(|visit| !visit.cells.is_empty());
    let mut gathering: BTreeMap<usize, Gathering> = BTreeMap::new();
    for visit in &visits {
        for &cell in &visit.cells {
            let visits = if visit.timed { experiment.rounds } else { 1 };
            gathering
                .entry(cell)
                .or_insert_with(|| Gathering::new(plan.cells[cell].clone(), visits));
        }
    }

    let mut profiles = BTreeMap::new();
    let mut operations = BTreeMap::new();
    let mut questions = BTreeMap::new();
    let mut undelayed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut proved: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut proofs: VecDeque<PolicyProof> = VecDeque::new();
    let place = Workplace::prepare(experiment, setup, &visits).inspect_err(|_| {
        if !setup.resume {
            // It holds no cell yet, and would be in the way of the next try.
            let _ = std::fs::remove_file(setup.journal);
        }
    })?;
    let counting: VecDeque<Visit> = visits
        .iter()
        .filter(|visit| !visit.timed)
        .cloned()
        .collect();
    let timed: VecDeque<Visit> = visits.into_iter().filter(|visit| visit.timed).collect();
    let jobs = experiment
        .jobs
        .map_or_else(environment::cores, |jobs| jobs as usize);
    // Machines that are timed must not disturb each other.
    for (queue, jobs) in [(counting, jobs), (timed, 1)] {
        work(
            &place,
            &Work {
                plan: &plan,
                experiment,
                manner: setup.manner,
            },
            queue,
            jobs,
            cancel,
            &mut |message| match message {
                Message::VisitBegin {
                    kernel,
                    configuration,
                } => {
                    progress(Progress::VisitBegin {
                        kernel: &experiment.kernels[kernel],
                        configuration: &experiment.configurations[configuration],
                    });
                    Ok(())
                }
                Message::Undelayed { kernel, hooks } => {
                    let of = undelayed.entry(experiment.kernels[kernel].clone());
                    of.or_default().extend(hooks);
                    Ok(())
                }
                Message::CellBegin { cell } => {
                    progress(Progress::CellBegin {
                        key: &plan.cells[cell].key,
                    });
                    Ok(())
                }
                Message::Seen {
                    cells,
                    release,
                    active_lsms,
                } => {
                    for cell in cells {
                        if let Some(gathering) = gathering.get_mut(&cell) {
                            gathering.seen_in(&release, &active_lsms);
                        }
                    }
                    Ok(())
                }
                Message::Proved {
                    kernel,
                    configuration,
                    steps,
                } => {
                    if proved.insert((kernel, configuration)) {
                        proofs.push_back(PolicyProof {
                            kernel: experiment.kernels[kernel].clone(),
                            configuration: experiment.configurations[configuration].clone(),
                            steps,
                        });
                    }
                    Ok(())
                }
                Message::Found { cell, finding } => {
                    let Some(gathering) = gathering.get_mut(&cell) else {
                        return Ok(());
                    };
                    let Some(done) = gathering.take(finding, setup.keep_samples) else {
                        return Ok(());
                    };
                    let Finished { mut entry, .. } = done;
                    entry.proof = proofs.pop_front();
                    entry.warnings.extend(place.doubt_symbols(&entry.cell));
                    journal.add(&entry)?;
                    let key = &entry.cell.key;
                    if let Some(profile) = done.profile {
                        profiles.insert(key.clone(), profile);
                    }
                    if setup.manner.sweep.is_some()
                        && let Some(figures) = done.operations
                    {
                        operations.insert(key.clone(), figures);
                    }
                    if !done.questions.is_empty() {
                        questions.insert(key.clone(), done.questions);
                    }
                    progress(Progress::CellEnd { cell: &entry.cell });
                    finished.insert(entry.cell.key.clone(), entry);
                    Ok(())
                }
            },
        )?;
    }
    let cancelled = cancel.load(Ordering::Relaxed) && finished.len() < planned.len();
    let mut run = document(experiment, &plan, now, finished, cancelled);
    let digests = setup.kernels.iter().map(|kernel| kernel.digest.clone());
    run.kernel_digests = experiment.kernels.iter().cloned().zip(digests).collect();
    Ok(Outcome {
        run,
        cancelled,
        profiles,
        operations,
        questions,
        undelayed,
    })
}

/// The visits of this run.
fn plan(experiment: &Experiment, setup: &Setup<'_>) -> Result<Plan, LabError> {
    let plan = Plan::new(experiment)?;
    let plan = match setup.shard {
        Some(shard) => plan.shard(experiment, shard),
        None => plan,
    };
    Ok(plan.split(setup.parts))
}

fn open_journal(
    setup: &Setup<'_>,
    now: &JournalHeader,
) -> Result<(JournalFile, BTreeMap<Key, JournalEntry>), LabError> {
    if !setup.resume {
        return Ok((JournalFile::begin(setup.journal, now)?, BTreeMap::new()));
    }
    let (file, journal) = JournalFile::resume(setup.journal, now)?;
    let mut finished = journal.finished;
    // What failed may have failed because the run was killed: it gets another try.
    finished.retain(|_, entry| entry.cell.status() != Status::Failed);
    Ok((file, finished))
}

/// Forgets the cells of counted visits that did not come to their end: a cell counts what it
/// does in the undivided run only in the same company.
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

/// Where visits are measured: the host, or a kernel and a QEMU for each.
struct Workplace<'a> {
    kernels: &'a [String],
    bench: Bench<'a>,
    setups: Setups,
    _scratch: tempfile::TempDir,
}

impl<'a> Workplace<'a> {
    fn setup(&self, visit: &Visit) -> Result<&PolicySetup, &str> {
        match self.setups.get(&(visit.kernel, visit.configuration)) {
            Some(Ok(setup)) => Ok(setup),
            Some(Err(reason)) => Err(reason),
            None => Err("its policies were not made"),
        }
    }

    /// That the kernel of a counted cell does not say where interrupts begin.
    fn doubt_symbols(&self, cell: &Cell) -> Option<Warning> {
        let Bench::Vm(vms) = &self.bench else {
            return None;
        };
        let kernel = self
            .kernels
            .iter()
            .position(|name| *name == cell.key.kernel)?;
        let why = vms.bootables.get(&kernel)?.landmarks.as_ref().err()?;
        cell.key.metric.is_counted().then(|| {
            Warning::new(
                WarningKind::NoSymbols,
                format!(
                    "{} does not name its functions ({why}): a window with a page fault cannot \
                     be told from one with an interrupt, and is left out",
                    cell.key.kernel
                ),
            )
        })
    }

    fn prepare(
        experiment: &'a Experiment,
        setup: &Setup<'a>,
        visits: &VecDeque<Visit>,
    ) -> Result<Workplace<'a>, LabError> {
        remove_stale_scratch(&std::env::temp_dir());
        let dir = scratch().map_err(LabError::io("create", &std::env::temp_dir()))?;
        let bench = match (experiment.place, setup.qemu, experiment.filesystem) {
            (Place::Lab, Some(qemu), Some(filesystem)) => {
                let plugin = write_plugin(dir.path())?;
                let used: BTreeSet<usize> = visits.iter().map(|visit| visit.kernel).collect();
                let mut bootables: BTreeMap<usize, Bootable> = BTreeMap::new();
                for index in used {
                    let own = dir.path().join(index.to_string());
                    std::fs::create_dir(&own).map_err(LabError::io("create", &own))?;
                    let kernel = &setup.kernels[index];
                    let bootable = prepare::prepare(
                        setup.store,
                        setup.agent,
                        kernel,
                        filesystem,
                        setup.hooks,
                        &own,
                    )?;
                    bootables.insert(index, bootable);
                }
                Bench::Vm(VmBench {
                    qemu,
                    plugin,
                    bootables,
                })
            }
            _ => {
                if let Some(dir) = &experiment.dir {
                    host::check_directory(Path::new(dir))?;
                }
                Bench::Host { agent: setup.agent }
            }
        };
        Ok(Workplace {
            kernels: &experiment.kernels,
            bench,
            setups: setups(experiment, setup, visits)?,
            _scratch: dir,
        })
    }
}

/// By positions of kernel and configuration; an error is why it cannot be.
type Setups = BTreeMap<(usize, usize), Result<PolicySetup, String>>;

/// Makes the policies of all visits.
fn setups(
    experiment: &Experiment,
    setup: &Setup<'_>,
    visits: &VecDeque<Visit>,
) -> Result<Setups, LabError> {
    let cache = setup.store.dir().join("policies");
    std::fs::create_dir_all(&cache).map_err(LabError::io("create", &cache))?;
    let mut setups = BTreeMap::new();
    for visit in visits {
        let key = (visit.kernel, visit.configuration);
        if setups.contains_key(&key) {
            continue;
        }
        let request = policy::Request {
            configuration: &experiment.configurations[visit.configuration],
            kernel: setup.kernels.get(visit.kernel),
            cache: &cache,
        };
        let made = match policy::prepare(&request) {
            Ok(made) => Ok(made),
            Err(PolicyError::Unsupported(reason)) => Err(reason),
            Err(PolicyError::Environment { what, hint }) => {
                return Err(LabError::Environment { what, hint });
            }
        };
        setups.insert(key, made);
    }
    Ok(setups)
}

/// Writes lsmeter's plugin into `dir`, for QEMU to load.
///
/// # Errors
/// [`LabError::Io`].
pub fn write_plugin(dir: &Path) -> Result<PathBuf, LabError> {
    let path = dir.join("plugin.so");
    std::fs::write(&path, instructions::PLUGIN).map_err(LabError::io("write", &path))?;
    Ok(path)
}

/// Has `jobs` threads take visits from the queue; messages are handled here. The
/// first error ends everything.
fn work(
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
                    visit(&place.bench, setup, work, &next, cancel, &sender);
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
