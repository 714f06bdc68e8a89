// SPDX-License-Identifier: GPL-2.0-or-later
//! Properties of every prediction, for any recording and any costs.

use estimate::predict::{Costs, Load, Recorded, Recording, Wanted, predict};
use model::{
    Cell, Configuration, Counted, Document, Environment, Evidence, HookCost, HookedPath,
    Implementation, Key, Kind, Metric, PredictionDocument, Stored, Subject, WarningKind,
};
use proptest::prelude::*;

const STACKS: [&str; 2] = ["capability", "capability,selinux"];
const HOOKS: [&str; 3] = ["inode_permission", "file_open", "file_permission"];
const CALLS: [&str; 4] = ["open", "stat", "read", "none"];

/// The system calls of an operation, its hook, and the instructions of a hook call under each
/// stack.
type Operation = (Vec<usize>, usize, [u32; 2]);

fn cell(stack: &str, number: usize, operation: &Operation, at: usize) -> Cell {
    let (calls, hook, costs) = operation;
    let configuration = Configuration::of_stack(stack.parse().unwrap());
    let subject = Subject::benchmark(format!("b{number}"), "");
    let metric = Metric::Instructions;
    let key = Key::new("debian:6.12", &configuration, "ext4", subject, metric);
    let instructions = u64::from(costs[at]) * 2;
    let counted = Counted {
        hooked: Some(HookedPath {
            irqs_off: None,
            system_calls: std::collections::BTreeMap::new(),
            events: None,
            total: instructions,
            rep_iterations: None,
            regions: 1,
            hooked: instructions,
            hooks: vec![HookCost {
                hook: HOOKS[*hook].to_owned(),
                function: format!("security_{}", HOOKS[*hook]),
                calls: 2,
                inclusive: instructions,
                outermost: instructions,
                implementations: vec![Implementation {
                    events: None,
                    module: "capability".to_owned(),
                    function: "cap".to_owned(),
                    calls: 2,
                    inclusive: instructions / 3,
                }],
                ..HookCost::default()
            }],
        }),
        ..Counted::default()
    };
    Cell {
        release: "6.12".to_owned(),
        syscalls: calls.iter().map(|&call| CALLS[call].to_owned()).collect(),
        outcome: Evidence::from(counted).into(),
        ..Cell::unmeasured(key)
    }
}

fn profile(operations: &[Operation]) -> Document {
    let mut document = Document::new(Kind::Profile, Environment::default());
    for (at, stack) in STACKS.iter().enumerate() {
        for (number, operation) in operations.iter().enumerate() {
            document.cells.push(cell(stack, number, operation, at));
        }
    }
    document
}

fn recording(calls: &[(usize, usize, u32)], times: u64) -> Recording {
    let calls = calls.iter().map(|&(hook, call, n)| Recorded {
        hook: HOOKS[hook].to_owned(),
        system_call: CALLS[call].to_owned(),
        calls: u64::from(n) * times,
        ns: None,
    });
    Recording {
        release: "6.12".to_owned(),
        loads: vec![Load {
            name: "the machine".to_owned(),
            seconds: Some(2.0),
            calls: calls.collect(),
            ..Load::default()
        }],
        ..Recording::default()
    }
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let calls = proptest::sample::subsequence(vec![0, 1, 2], 1..=3);
    let operation = (calls, 0..HOOKS.len(), [0..2_000_u32, 0..2_000_u32]);
    proptest::collection::vec(operation, 1..12)
}

fn calls() -> impl Strategy<Value = Vec<(usize, usize, u32)>> {
    proptest::collection::vec((0..HOOKS.len(), 0..CALLS.len(), 0..1_000_000_u32), 1..12)
}

fn costs(operations: &[Operation]) -> Costs {
    Costs::new(&[profile(operations)], &Wanted::default()).unwrap()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0)
}

proptest! {
    /// Twice as many calls cost twice as much, and two recordings together cost the sum of both.
    #[test]
    fn it_is_linear_in_calls(operations in operations(), a in calls(), b in calls(), times in 1..5_u64) {
        let costs = costs(&operations);
        let added = |calls: &[(usize, usize, u32)], times| {
            let document = predict(&recording(calls, times), &costs);
            document.loads[0].stacks[1].added.unwrap()
        };
        let (one, other) = (added(&a, 1), added(&b, 1));
        let both = added(&[&a[..], &b[..]].concat(), times);
        let expected = one.plus(other).times(times as f64);
        prop_assert!(near(both.low, expected.low));
        prop_assert!(near(both.middle, expected.middle));
        prop_assert!(near(both.high, expected.high));
    }

    /// Every call is covered in one way or not at all. The interval contains the middle, modules
    /// add up to the total, and a written document can be read again.
    #[test]
    fn it_adds_up(operations in operations(), calls in calls()) {
        let document = predict(&recording(&calls, 1), &costs(&operations));
        let load = &document.loads[0];
        let all: u64 = calls.iter().map(|&(.., n)| u64::from(n)).sum();
        prop_assert_eq!(load.coverage.calls(), all);
        let added = load.stacks[1].added.unwrap();
        prop_assert!(added.low <= added.middle && added.middle <= added.high);
        prop_assert!(load.stacks[0].added.is_none());
        for stack in &load.stacks {
            let modules: f64 = stack.modules.iter().map(|module| module.instructions).sum();
            prop_assert!(near(modules, stack.instructions));
        }
        let mut bytes = Vec::new();
        document.write(&mut bytes).unwrap();
        let again = PredictionDocument::parse(&bytes).unwrap();
        prop_assert_eq!(again.loads.len(), 1);
        prop_assert_eq!(again.loads[0].coverage, load.coverage);
    }

    /// A recording of the operation whose costs are known is predicted to cost the same.
    #[test]
    fn one_operation_predicts_itself(hook in 0..HOOKS.len(), cost in [0..2_000_u32, 0..2_000_u32], n in 1..1_000_u32) {
        let costs = costs(&[(vec![0], hook, cost)]);
        let document = predict(&recording(&[(hook, 0, n)], 1), &costs);
        let added = document.loads[0].stacks[1].added.unwrap();
        let expected = (f64::from(cost[1]) - f64::from(cost[0])) * f64::from(n);
        prop_assert!(near(added.low, expected) && near(added.high, expected));
        prop_assert!(near(added.middle, expected));
    }
}

#[test]
fn the_nearest_operations_stand_for_a_call() {
    let operations = [
        (vec![0, 1], 0, [0, 100]),
        (vec![0], 0, [0, 10]),
        (vec![1, 2], 0, [0, 40]),
        (vec![0], 0, [0, 30]),
    ];
    let costs = costs(&operations);
    let added = |hook, system_call| {
        let cost = costs.of_call(hook, system_call)?;
        Some((cost.operations, cost.stacks[1].added?))
    };
    // Only operations that make no other system call are used. Forms of the call do not matter.
    let (operations, own) = added(HOOKS[0], "openat").unwrap();
    assert_eq!((operations, own.middle), (2, 20.0));
    assert_eq!((own.low, own.high), (10.0, 100.0));
    let (operations, among) = added(HOOKS[0], "stat").unwrap();
    assert_eq!((operations, among.middle), (2, 70.0));
    let (operations, any) = added(HOOKS[0], "mount").unwrap();
    assert_eq!((operations, any.middle), (4, 35.0));
    assert_eq!(added(HOOKS[1], "openat"), None);
}

#[test]
fn what_does_not_fit_is_reported() {
    let costs = costs(&[(vec![0], 0, [1, 2])]);
    let mut recording = recording(&[(0, 0, 10), (1, 0, 5)], 1);
    recording.release = "6.1".to_owned();
    recording.active_lsms = ["capability", "landlock"].map(str::to_owned).to_vec();
    recording.left_out = vec!["security_file_open".to_owned()];
    recording.loads[0].lost = 3;
    recording.loads[0].denied = 2;
    let document = predict(&recording, &costs);
    let kinds: Vec<WarningKind> = document
        .warnings
        .iter()
        .map(|warning| warning.kind)
        .collect();
    let expected = [
        WarningKind::OtherKernel,
        WarningKind::OtherModules,
        WarningKind::LostCalls,
        WarningKind::LostCalls,
        WarningKind::DeniedCalls,
        WarningKind::UncoveredCalls,
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn the_baseline_is_the_first_stack() {
    let document = [profile(&[(vec![0], 0, [1, 2])])];
    let stacks = |baseline: Option<&str>| {
        let wanted = Wanted {
            baseline: baseline.map(str::to_owned),
            ..Wanted::default()
        };
        Costs::new(&document, &wanted).unwrap().stacks
    };
    assert_eq!(stacks(None), STACKS);
    assert_eq!(stacks(Some(STACKS[1])), [STACKS[1], STACKS[0]]);
}
