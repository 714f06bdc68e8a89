// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs one visit. For counted measurements, it boots a machine and makes each measurement in a
//! copy of it. For timed ones, it boots (or starts the agent) until each is made or has failed. A
//! measurement that breaks the guest fails, and later ones get another boot.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::time::Duration;

use model::{Experiment, Stack, Status};

use crate::active::{active_lsms, compare_stacks};
use crate::cache::{Cache, Reuse};
use crate::gather::Finding;
use crate::host;
use crate::machine::{Machine, Wanted};
use crate::plan::{Plan, Treatment, Visit};
use crate::policy::PolicySetup;
use crate::qemu::{Accelerator, PluginMode, Qemu};
use crate::recorded::Recorded;
use crate::root::Root;
use crate::session::{AgentEvent, Break, CellReport, Patience};
use crate::um::{self, Programs};
use crate::vm::{self, Boot, Bootable};
use kernels::scratch::Scratch;

/// After this many lost boots in one visit, its remaining measurements fail.
const LOST_BOOTS: u32 = 3;

#[derive(Debug)]
pub enum Testbed<'a> {
    Host { agent: &'a [u8] },
    Vm(VmTestbed<'a>),
    Um(Programs),
}

#[derive(Debug)]
pub struct VmTestbed<'a> {
    pub emulators: BTreeMap<usize, &'a Qemu>,
    pub root: Option<&'a Root>,
    pub plugin: PathBuf,
    pub bootables: BTreeMap<usize, Bootable>,
    pub programs: Programs,
    pub cache: Cache,
}

#[derive(Debug, Clone, Copy)]
pub struct Work<'a> {
    pub plan: &'a Plan,
    pub experiment: &'a Experiment,
    pub treatment: Treatment<'a>,
    pub reuse: Reuse,
    pub machine: u32,
}

#[derive(Debug)]
pub enum Message {
    VisitBegin {
        kernel: usize,
        configuration: usize,
    },
    Seen {
        cells: Vec<usize>,
        release: String,
        active_lsms: Vec<String>,
        probes: bool,
    },
    Proved {
        kernel: usize,
        configuration: usize,
        steps: Vec<String>,
    },
    Undelayed {
        kernel: usize,
        hooks: Vec<String>,
    },
    CellBegin(usize),
    Found {
        cell: usize,
        finding: Finding,
    },
    /// See [`Break::Unequal`].
    Unequal(String),
}

struct Listening<'a> {
    stack: &'a Stack,
    visit: &'a Visit,
    steps: Vec<String>,
    pending: Vec<usize>,
    current: Option<usize>,
    /// Whether the kernel itself is limited: measurements are then unsupported, not failed.
    unable: bool,
    clock_ns: f64,
    sender: &'a Sender<Message>,
}

impl<'a> Listening<'a> {
    fn new(work: &Work<'a>, visit: &'a Visit, sender: &'a Sender<Message>) -> Listening<'a> {
        Listening {
            stack: &work.experiment.configurations[visit.configuration].stack,
            visit,
            steps: Vec::new(),
            pending: visit.cells.clone(),
            current: None,
            unable: false,
            clock_ns: 0.0,
            sender,
        }
    }

    fn begin(&mut self, setup: &PolicySetup) -> Result<(), String> {
        self.current = None;
        self.steps.clone_from(&setup.steps);
        self.send(Message::VisitBegin {
            kernel: self.visit.kernel,
            configuration: self.visit.configuration,
        })
    }

    fn send(&self, message: Message) -> Result<(), String> {
        // The receiver exists until the whole run ends.
        self.sender
            .send(message)
            .map_err(|_| "the run has ended".to_owned())
    }

    fn handle(&mut self, event: AgentEvent) -> Result<(), String> {
        match event {
            AgentEvent::Hello(facts) => self.hello(&facts),
            AgentEvent::Modules(_) => Ok(()),
            AgentEvent::Step(text) => {
                self.steps.push(text);
                Ok(())
            }
            AgentEvent::Undelayed(hooks) => self.send(Message::Undelayed {
                kernel: self.visit.kernel,
                hooks,
            }),
            AgentEvent::CellBegin(cell) => self.cell_begin(cell as usize),
            AgentEvent::CellEnd { report, counts } => self.cell_end(report, counts),
        }
    }

    fn hello(&mut self, facts: &BTreeMap<String, String>) -> Result<(), String> {
        let fact = |key: &str| facts.get(key).map_or("", String::as_str);
        let active_lsms = active_lsms(fact("lsm"));
        self.clock_ns = fact("clock_ns").parse().unwrap_or(0.0);
        let compared = compare_stacks(self.stack, &active_lsms);
        self.send(Message::Seen {
            cells: self.pending.clone(),
            release: fact("release").to_owned(),
            active_lsms,
            probes: facts.contains_key(um::UNDISTURBED),
        })?;
        compared.map_err(|(reason, unable)| {
            self.unable = unable;
            reason
        })
    }

    /// The policies are in force.
    fn prove(&mut self) -> Result<(), String> {
        match std::mem::take(&mut self.steps) {
            steps if steps.is_empty() => Ok(()),
            steps => self.send(Message::Proved {
                kernel: self.visit.kernel,
                configuration: self.visit.configuration,
                steps,
            }),
        }
    }

    fn cell_begin(&mut self, cell: usize) -> Result<(), String> {
        self.prove()?;
        self.current = Some(cell);
        self.send(Message::CellBegin(cell))
    }

    fn cell_end(
        &mut self,
        report: CellReport,
        counts: Option<Result<Box<Recorded>, String>>,
    ) -> Result<(), String> {
        let cell = report.cell as usize;
        self.current = None;
        self.pending.retain(|&pending| pending != cell);
        let finding = Finding::Report {
            report,
            counts,
            clock_ns: self.clock_ns,
        };
        self.send(Message::Found { cell, finding })
    }

    fn end_all(&mut self, status: Status, reason: &str) {
        for cell in self.pending.clone() {
            self.end(cell, status, reason);
        }
    }

    /// Ends a measurement without a report.
    fn end(&mut self, cell: usize, status: Status, reason: &str) {
        self.pending.retain(|&pending| pending != cell);
        let finding = Finding::Nothing(status, reason.to_owned());
        let _ = self.send(Message::Found { cell, finding });
    }
}

/// Makes the measurements of a visit without copies, under the policies of `setup`.
pub fn visit(
    testbed: &Testbed<'_>,
    setup: Result<&PolicySetup, &str>,
    work: &Work<'_>,
    visit: &Visit,
    cancel: &AtomicBool,
    sender: &Sender<Message>,
) {
    let mut listening = Listening::new(work, visit, sender);
    let Ok(setup) = setup.map_err(|reason| listening.end_all(Status::Unsupported, reason)) else {
        return;
    };
    for lost in 1..=LOST_BOOTS {
        if listening.pending.is_empty() || listening.begin(setup).is_err() {
            return;
        }
        let before = listening.pending.len();
        let Err(end) = measure(testbed, setup, work, cancel, &mut listening) else {
            return;
        };
        let Some(reason) = end.reason() else {
            return;
        };
        if listening.unable {
            listening.end_all(Status::Unsupported, reason);
            return;
        }
        if let Some(cell) = listening.current {
            listening.end(cell, Status::Failed, reason);
        }
        // A guest that breaks before its first measurement will break again, unless it was killed.
        let nothing_ended = listening.pending.len() == before;
        let breaks_again = nothing_ended && !matches!(end, Break::Killed(_));
        if breaks_again || lost == LOST_BOOTS {
            listening.end_all(Status::Failed, reason);
        }
    }
}

/// Boots the machine whose copies make a visit's measurements. None if all were refused or lost.
pub fn make_ready<'a>(
    testbed: &'a Testbed<'_>,
    setup: Result<&'a PolicySetup, &str>,
    work: &Work<'a>,
    visit: &Visit,
    cancel: &AtomicBool,
    sender: &Sender<Message>,
) -> Option<Machine<'a>> {
    let mut listening = Listening::new(work, visit, sender);
    let Ok(setup) = setup.map_err(|reason| listening.end_all(Status::Unsupported, reason)) else {
        return None;
    };
    listening.begin(setup).ok()?;
    let mut booted = boot_ready(testbed, setup, work, cancel, &mut listening);
    if matches!(booted, Err(Break::Killed(_))) {
        // The kernel is not the cause of these failures.
        listening.begin(setup).ok()?;
        booted = boot_ready(testbed, setup, work, cancel, &mut listening);
    }
    match &booted {
        Ok(_) => listening.prove().ok()?,
        Err(Break::Unequal(what)) => listening.send(Message::Unequal(what.clone())).ok()?,
        Err(end) => match end.reason() {
            Some(reason) if listening.unable => listening.end_all(Status::Unsupported, reason),
            Some(reason) => listening.end_all(Status::Failed, reason),
            None => {}
        },
    }
    booted.ok()
}

fn boot_ready<'a>(
    testbed: &'a Testbed<'_>,
    setup: &'a PolicySetup,
    work: &Work<'a>,
    cancel: &AtomicBool,
    listening: &mut Listening<'_>,
) -> Result<Machine<'a>, Break> {
    let Testbed::Vm(testbed) = testbed else {
        return Err(unprepared());
    };
    let scratch = Scratch::new().map_err(no_scratch)?;
    let directives = work.plan.machine(work.experiment, &work.treatment);
    let directives = format!("{}{directives}", setup.directives);
    let boot = boot_of(testbed, setup, work, listening, directives, scratch.path())?;
    let reuse = work.reuse;
    let key = boot.digest().filter(|_| reuse != Reuse::Never);
    let entries = key.and_then(|key| testbed.cache.machine(&key));
    let mut handle = |event| listening.handle(event);
    Machine::new(boot, scratch, (entries, reuse), cancel, &mut handle)
}

/// Makes one measurement in a copy of its machine.
pub fn measure_copy(
    machine: &Machine<'_>,
    work: &Work<'_>,
    visit: &Visit,
    cell: usize,
    cancel: &AtomicBool,
    sender: &Sender<Message>,
) {
    let mut listening = Listening::new(work, visit, sender);
    let Work {
        plan,
        experiment,
        treatment,
        ..
    } = work;
    let key = &plan.cells[cell].key;
    let wanted = Wanted {
        metric: key.metric,
        kinds: treatment.sweep.map(|sweep| sweep.kinds_of(key)),
        directives: plan.directives(experiment, treatment, 0, cell, Wanted::NUMBER),
    };
    let outcome = machine.measure(&wanted, cancel, &mut |event| match event {
        AgentEvent::CellBegin(_) => listening.cell_begin(cell),
        AgentEvent::CellEnd { mut report, counts } => {
            report.cell = cell as u32;
            listening.cell_end(report, counts)
        }
        _ => Ok(()),
    });
    let Err(end) = outcome else {
        return;
    };
    match (&end, end.reason()) {
        (Break::Unequal(what), _) => {
            let what = format!("{}: {what}", key.title());
            let _ = listening.send(Message::Unequal(what));
        }
        (_, Some(reason)) => listening.end(cell, Status::Failed, reason),
        _ => {}
    }
}

fn unprepared() -> Break {
    Break::Failed("the kernel was not prepared".to_owned())
}

fn no_scratch(error: std::io::Error) -> Break {
    Break::Failed(format!("cannot create a scratch directory: {error}"))
}

fn boot_of<'a>(
    testbed: &'a VmTestbed<'_>,
    setup: &'a PolicySetup,
    work: &Work<'a>,
    listening: &Listening<'_>,
    directives: String,
    scratch: &Path,
) -> Result<Boot<'a>, Break> {
    let visit = listening.visit;
    let (Some(bootable), Some(qemu)) = (
        testbed.bootables.get(&visit.kernel),
        testbed.emulators.get(&visit.kernel),
    ) else {
        return Err(unprepared());
    };
    let mode = match (&bootable.functions, &bootable.profiling) {
        (Some(_), _) => PluginMode::Tasks,
        (None, Some(profiling)) if profiling.events => PluginMode::Events,
        (None, Some(_)) => PluginMode::Traces,
        (None, None) => PluginMode::Counts,
    };
    let stack = listening.stack.lsm_parameter();
    let stack = stack.map_or(String::new(), |lsm| format!("lsm={lsm} "));
    Ok(Boot {
        qemu,
        bootable,
        cmdline: format!(
            "{stack}{}{}",
            setup.kernel_arguments, work.experiment.cmdline
        ),
        files: &setup.files,
        root: testbed.root,
        accelerator: match (visit.timed, qemu.kvm) {
            (true, true) => Accelerator::Kvm,
            _ => Accelerator::Tcg,
        },
        plugin: (!visit.timed).then_some((testbed.plugin.as_path(), mode)),
        directives,
        machine: work.machine,
        patience: patience(work.experiment),
        processors: work.experiment.processors,
        scratch: scratch.to_owned(),
    })
}

fn patience(experiment: &Experiment) -> Patience {
    Patience {
        boot: Duration::from_secs(experiment.boot_timeout_s.into()),
        cell: Duration::from_secs(experiment.measurement_timeout_s.into()),
    }
}

fn measure(
    testbed: &Testbed<'_>,
    setup: &PolicySetup,
    work: &Work<'_>,
    cancel: &AtomicBool,
    listening: &mut Listening<'_>,
) -> Result<String, Break> {
    let Work {
        plan,
        experiment,
        treatment,
        ..
    } = work;
    let visit = listening.visit;
    let mut directives = format!(
        "{}{}",
        setup.directives,
        plan.machine(experiment, treatment)
    );
    let numbers: Vec<u32> = listening.pending.iter().map(|&cell| cell as u32).collect();
    for &cell in &listening.pending {
        directives += &plan.directives(experiment, treatment, visit.round, cell, cell as u32);
    }
    let patience = patience(experiment);
    let programs = match testbed {
        Testbed::Host { agent } => {
            let mut handle = |event| listening.handle(event);
            return host::measure(agent, &directives, &numbers, patience, cancel, &mut handle);
        }
        Testbed::Vm(testbed) => &testbed.programs,
        Testbed::Um(programs) => programs,
    };
    if let Some(program) = programs.by_kernel.get(&visit.kernel) {
        let stack = listening.stack.lsm_parameter();
        let stack = stack.map(|lsm| format!("lsm={lsm}"));
        let boot = um::Boot {
            programs,
            program,
            cmdline: stack
                .iter()
                .map(String::as_str)
                .chain(experiment.cmdline.split(' ')),
            directives: &directives,
            cells: &numbers,
            patience,
        };
        let mut handle = |event| listening.handle(event);
        return um::boot(boot, cancel, &mut handle);
    }
    let Testbed::Vm(testbed) = testbed else {
        return Err(unprepared());
    };
    let scratch = Scratch::new().map_err(no_scratch)?;
    let boot = boot_of(testbed, setup, work, listening, directives, scratch.path())?;
    vm::boot(&boot, &numbers, cancel, &mut |event| {
        listening.handle(event)
    })
}
