// SPDX-License-Identifier: GPL-2.0-or-later
//! TOMOYO learns what benchmarks do: one boot, in which each runs in a domain that the kernel
//! adds their accesses to, and the policy that comes of it.
//!
//! `guest/settings/given-learn.c` tells what was learned; `patterns.rs` makes patterns of its
//! names, and `policy.rs` what enforces it.

mod patterns;
mod policy;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use diagnostics::Failure;
use experiment::{Access, Event, Experiment, Status};
use kernels::{Kernel, Store};

use crate::catalogue::{agent_of_settings, modules_for};
use crate::error::LabError;
use crate::initramfs::Guest;
use crate::plan::{OWN_BOOT_OPERATIONS, Plan, Treatment};
use crate::policy::{self as policies, LEARNING_DOMAIN, PolicyError, PolicySetup};
use crate::prepare;
use crate::protocol::LearnedFile;
use crate::qemu::{Accelerator, Qemu};
use crate::session::{AgentEvent, Patience};
use crate::visit::{active_lsms, compare_stacks};
use crate::vm::{self, Boot, BootCell};

pub use policy::{KindCount, LearnedPolicy};

/// What is to be learned, and on what.
#[derive(Debug)]
pub struct Lesson<'a> {
    /// Which benchmarks, on which file system; it has one kernel and one configuration, whose
    /// stack has TOMOYO.
    pub experiment: &'a Experiment,
    /// Where kernels are kept.
    pub store: &'a Store,
    /// The experiment's kernel.
    pub kernel: &'a Kernel,
    /// The emulator.
    pub qemu: &'a Qemu,
    /// Accesses to be learned besides.
    pub allowed: &'a [Access],
}

/// How a benchmark went while TOMOYO learned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// `benchmark:variant`
    pub benchmark: String,
    /// How it ended.
    pub status: Status,
    /// Why, unless ok.
    pub reason: String,
}

/// What was learned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learned {
    /// `uname -r`
    pub release: String,
    /// What enforces it.
    pub policy: LearnedPolicy,
    /// The benchmarks that it was learned of.
    pub tried: Vec<Tried>,
}

/// Has TOMOYO learn. `follow` is called from this thread only.
///
/// # Errors
/// If the kernel has no TOMOYO, or the boot does not come to its end; [`LabError::Interrupted`] if
/// it was cancelled.
pub fn learn(
    lesson: &Lesson<'_>,
    cancel: &AtomicBool,
    follow: &mut dyn FnMut(Event<'_>),
) -> Result<Learned, LabError> {
    let experiment = lesson.experiment;
    let (Some(configuration), Some(filesystem)) =
        (experiment.configurations.first(), experiment.filesystem)
    else {
        return Err(Failure::usage("nothing is booted", "measure in the lab").into());
    };
    let plan = Plan::new(experiment)?;
    let setup = setup(lesson)?;
    let scratch =
        kernels::scratch::Scratch::new().map_err(LabError::io("create", &std::env::temp_dir()))?;
    let prepared = scratch.path().join("prepared");
    std::fs::create_dir(&prepared).map_err(LabError::io("create", &prepared))?;
    let bootable = prepare::prepare(
        lesson.store,
        agent_of_settings(),
        lesson.kernel,
        Guest {
            modules: &modules_for(experiment)?,
            ..filesystem.into()
        },
        None,
        &prepared,
    )?;
    let cell = |number: usize| BootCell {
        number: number as u32,
        metric: plan.cells[number].key.metric,
        kinds: None,
    };
    let cells: Vec<BootCell> = (0..plan.cells.len()).map(cell).collect();
    let stack = &configuration.stack;
    let parameter = stack.lsm_parameter();
    let parameter = parameter.map_or(String::new(), |lsm| format!("lsm={lsm} "));
    let boot = Boot {
        qemu: lesson.qemu,
        bootable: &bootable,
        cmdline: &format!(
            "{parameter}{}{}",
            setup.kernel_arguments, experiment.cmdline
        ),
        accelerator: Accelerator::Tcg(experiment.clock),
        plugin: None,
        directives: &format!("{}{}", setup.directives, directives(&plan, experiment)),
        files: &setup.files,
        root: None,
        cells: &cells,
        patience: Patience {
            boot: Duration::from_secs(experiment.boot_timeout_s.into()),
            cell: Duration::from_secs(experiment.cell_timeout_s.into()),
        },
        scratch: scratch.path(),
    };
    follow(Event::Boot {
        kernel: &lesson.kernel.name,
        configuration,
    });
    let mut class = Class::new(&plan);
    let outcome = vm::boot(&boot, cancel, &mut |event| match event {
        AgentEvent::Hello(facts) => {
            class.hello(&facts);
            let active = active_lsms(facts.get("lsm").map_or("", String::as_str));
            compare_stacks(stack, &active).map_err(|mismatch| {
                class.unable = true;
                mismatch.reason()
            })
        }
        event => {
            class.hear(event, follow);
            Ok(())
        }
    });
    match outcome {
        Ok(_) => class.end(experiment),
        Err(end) => match end.reason() {
            None => Err(LabError::Interrupted),
            Some(reason) => Err(class.lost(reason).into()),
        },
    }
}

/// What the kernel boots with so that it learns.
fn setup(lesson: &Lesson<'_>) -> Result<PolicySetup, LabError> {
    let experiment = lesson.experiment;
    let request = policies::Request {
        configuration: &experiment.configurations[0],
        work_dir: experiment.work_dir.as_deref(),
        given: &BTreeMap::new(),
        programs: false,
        kernel: Some(lesson.kernel),
        cache: Path::new(""),
    };
    policies::learning(&request, lesson.allowed).map_err(|error| match error {
        PolicyError::Unsupported(reason) => unable(&reason).into(),
        PolicyError::Environment(failure) => failure.into(),
    })
}

fn unable(reason: &str) -> Failure {
    Failure::environment(
        reason,
        "learn on a kernel that has TOMOYO, such as debian:6.12 (--kernel)",
    )
}

/// Each benchmark, as often as it is counted in a run; of one that takes thousands of operations
/// the first do.
fn directives(plan: &Plan, experiment: &Experiment) -> String {
    let mut text = plan.directives(experiment, &Treatment::default(), 0, &[]);
    for (number, cell) in plan.cells.iter().enumerate() {
        let is_long = |times: u32| times >= OWN_BOOT_OPERATIONS;
        let directive = &cell.job.directive;
        let _ = if cell.job.repetitions.is_some_and(is_long) {
            writeln!(
                text,
                "cell {number} {directive} time warmup=1 samples=1 share=1000"
            )
        } else {
            let (warmup, samples) = (experiment.warmup, experiment.samples.instructions);
            writeln!(
                text,
                "cell {number} {directive} instructions warmup={warmup} samples={samples}"
            )
        };
    }
    text
}

/// What is known while it learns.
struct Class<'a> {
    plan: &'a Plan,
    release: String,
    /// The kernel did not take the stack.
    unable: bool,
    current: Option<usize>,
    tried: Vec<Tried>,
    files: [String; LearnedFile::ALL.len()],
}

impl Class<'_> {
    fn new(plan: &Plan) -> Class<'_> {
        Class {
            plan,
            release: String::new(),
            unable: false,
            current: None,
            tried: Vec::new(),
            files: Default::default(),
        }
    }

    fn hello(&mut self, facts: &BTreeMap<String, String>) {
        self.release = facts.get("release").cloned().unwrap_or_default();
    }

    fn hear(&mut self, event: AgentEvent, follow: &mut dyn FnMut(Event<'_>)) {
        match event {
            AgentEvent::CellBegin(cell) => {
                self.current = Some(cell as usize);
                follow(Event::Planned {
                    cells: self.plan.cells.len(),
                    finished: self.tried.len(),
                });
                follow(Event::Begin(&self.plan.cells[cell as usize].key));
            }
            AgentEvent::CellEnd { report, .. } => {
                self.current = None;
                self.tried.push(Tried {
                    benchmark: self.plan.cells[report.cell as usize].job.id(),
                    status: report.status,
                    reason: report.reason,
                });
            }
            AgentEvent::Learned { file, text } => self.files[file as usize] += &text,
            AgentEvent::Hello(_)
            | AgentEvent::Modules(_)
            | AgentEvent::Step(_)
            | AgentEvent::Undelayed(_) => {}
        }
    }

    fn end(self, experiment: &Experiment) -> Result<Learned, LabError> {
        let [profile, exceptions, domains] = self.files;
        let work_dir = experiment.work_dir.as_deref();
        let work_dir = work_dir.unwrap_or(policies::WORK_DIR);
        let policy = LearnedPolicy::new(profile, exceptions, &domains, work_dir);
        let policy = policy.ok_or_else(|| {
            Failure::environment(
                format!(
                    "{} told of no domain {LEARNING_DOMAIN} that learned",
                    self.release
                ),
                "try it again; if it stays so, report it",
            )
        })?;
        Ok(Learned {
            release: self.release,
            policy,
            tried: self.tried,
        })
    }

    /// The guest did not get to its end.
    fn lost(&self, reason: &str) -> Failure {
        if self.unable {
            return unable(reason);
        }
        let Some(cell) = self.current else {
            return Failure::environment(
                format!("the virtual machine that was to learn ended: {reason}"),
                "`lsmeter run` with the same flags may tell more",
            );
        };
        let benchmark = self.plan.cells[cell].job.id();
        Failure::environment(
            format!("{benchmark} ended the virtual machine that was to learn: {reason}"),
            format!("learn without it: --bench '*,!{benchmark}'; or give it more --cell-timeout"),
        )
    }
}
