// SPDX-License-Identifier: GPL-2.0-or-later
//! Guests that panic, hang, lie and write garbage. Each results in a failed measurement with its
//! reason, and does not affect other measurements.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use lab::cache::Reuse;
use lab::{Outcome, Setup};
use model::{Cell, Experiment, PathCount, Spec, Status};

use super::{Laboratory, common};

impl Laboratory {
    /// One experiment at a time.
    fn run(&self, experiment: &Experiment, agent: &[u8]) -> Outcome {
        static MACHINE: Mutex<()> = Mutex::new(());
        let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
        let setup = Setup {
            kernels: &[self.kernel("debian:6.12")],
            qemu: Some(&self.qemu),
            agent,
            reuse: Reuse::Never,
            ..Setup::new(&self.store)
        };
        lab::run(experiment, &setup, &AtomicBool::new(false), &mut |_| {}).unwrap()
    }
}

fn experiment(stacks: &[&str], boot_timeout_s: u32, measurement_timeout_s: u32) -> Experiment {
    let strings = |words: &[&str]| Some(words.iter().map(|&word| word.to_owned()).collect());
    let spec = Spec {
        stacks: strings(stacks),
        benchmarks: strings(&["getppid"]),
        filesystem: Some("tmpfs".parse().unwrap()),
        jobs: Some(2),
        boot_timeout_s: Some(boot_timeout_s),
        measurement_timeout_s: Some(measurement_timeout_s),
        ..Spec::default()
    };
    spec.resolve().unwrap()
}

fn by_stack(outcome: &Outcome) -> BTreeMap<String, Vec<&Cell>> {
    let mut stacks: BTreeMap<String, Vec<&Cell>> = BTreeMap::new();
    for cell in &outcome.run.cells {
        let stack = cell.key.stack.join(",");
        stacks.entry(stack).or_default().push(cell);
    }
    stacks
}

fn dominant(cell: &Cell) -> PathCount {
    cell.counted().unwrap().paths.as_ref().unwrap().dominant
}

/// The stack selects the fault (`tests/fault_agent.c`). The text is the start of the reason, or a
/// part of it.
const FAULTS: &[(&str, &str)] = &[
    ("capability,selinux", "Kernel panic - not syncing: "),
    (
        "capability,apparmor",
        "the measurement did not end within 5 s",
    ),
    ("capability,tomoyo", "garbage on the results port: "),
    (
        "capability,landlock",
        "the guest ended during a measurement",
    ),
    (
        "capability,yama",
        "Kernel panic - not syncing: Attempted to kill init",
    ),
    ("capability,bpf", "the measurement did not end within 5 s"),
    ("capability,landlock,yama", "a damaged frame of type 5"),
    ("capability,yama,landlock", "a frame of 4294967295 bytes"),
    (
        "capability,landlock,bpf",
        "the measurement did not end within 5 s",
    ),
    (
        "capability,yama,bpf",
        "the plugin recorded nothing for this measurement",
    ),
    (
        "capability,bpf,yama",
        "the agent reported measurement 4000000000 out of turn",
    ),
];

#[test]
fn every_fault_is_a_failed_cell_and_costs_no_other() {
    let laboratory = Laboratory::new();
    let agent = laboratory.agent_with("fault_agent.c");
    // There is a working stack before the broken ones, and one among them.
    let mut stacks = vec!["capability"];
    stacks.extend(FAULTS[..5].iter().map(|(stack, _)| *stack));
    stacks.push("capability,tomoyo,yama");
    stacks.extend(FAULTS[5..].iter().map(|(stack, _)| *stack));
    let outcome = laboratory.run(&experiment(&stacks, 90, 5), &agent);
    assert!(!outcome.cancelled);
    let cells = by_stack(&outcome);
    assert_eq!(cells.len(), stacks.len());

    for (stack, why) in FAULTS {
        for cell in &cells[*stack] {
            assert_eq!(cell.status(), Status::Failed, "{cell:#?}");
            assert_eq!(cell.headline(), None);
            let reason = cell.reason().unwrap();
            assert!(reason.len() < 4_000, "{}", reason.len());
            assert!(
                !reason.contains(|c: char| c.is_control() && c != '\n'),
                "{reason:?}"
            );
        }
        let first = cells[*stack][0].reason().unwrap();
        assert!(first.starts_with(why), "{stack}: {first}");
        // The guest reached the agent, so its modules are known.
        assert!(cells[*stack][0].release.starts_with("6.12."));
    }
    let panic = cells["capability,selinux"][0].reason().unwrap();
    assert!(
        panic.lines().any(|line| line.starts_with("console: ")),
        "{panic}"
    );

    for stack in ["capability", "capability,tomoyo,yama"] {
        for cell in &cells[stack] {
            assert_eq!(cell.status(), Status::Ok, "{cell:#?}");
            assert!(dominant(cell).instructions > 50);
        }
        let getppid = |stack: &str| dominant(cells[stack][0]).instructions;
        assert_eq!(getppid(stack), getppid("capability"));
    }
}

/// Guests that fail before the agent's first message.
#[test]
fn a_guest_that_says_nothing_fails() {
    let laboratory = Laboratory::new();
    let silent = laboratory.dir.path().join("silent.c");
    let c = "void _start(void) { for (;;) asm volatile(\"pause\"); }\n";
    fs::write(&silent, c).unwrap();
    let program = laboratory.dir.path().join("silent");
    common::compile(&program, &[], &[silent]);
    let program = fs::read(program).unwrap();
    for (agent, patience_s, why) in [
        (
            &program[..],
            8,
            "no sign of the agent within 8 s after the boot",
        ),
        (b"no program at all", 90, "Kernel panic - not syncing: "),
    ] {
        let outcome = laboratory.run(&experiment(&["capability"], patience_s, 10), agent);
        assert_eq!(outcome.run.cells.len(), 1);
        for cell in &outcome.run.cells {
            assert_eq!(cell.status(), Status::Failed);
            let reason = cell.reason().unwrap();
            assert!(reason.starts_with(why), "{reason}");
            assert!(cell.release.is_empty() && cell.active_lsms.is_empty());
        }
    }
}
