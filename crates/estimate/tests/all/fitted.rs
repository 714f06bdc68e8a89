// SPDX-License-Identifier: GPL-2.0-or-later
//! Fits find the weights from which the times were computed, and refuse estimates beyond the counts
//! that were fitted.

use estimate::{DEFAULT_TERMS, Terms, counts_of, estimate, fit, times_of};
use model::{
    Baseline, Cell, Configuration, Counted, Document, Environment, Estimate, EstimateDocument,
    Events, Evidence, HookCost, HookedPath, Key, Kind, Metric, Place, Spec, Stored, Subject, Timed,
    estimate::conflicting_lines,
};

const STACKS: [&str; 3] = ["capability", "capability,selinux", "capability,tomoyo"];
/// Nanoseconds for an instruction, a long REP instruction, one of its bytes, and a conflicting
/// line.
const TRUE: [f64; 4] = [0.07, 6.0, 0.02, 1.5];
/// The cost of getppid: the instructions of entry and exit, which times do not include, and the
/// rest in nanoseconds.
const ENTRY: (u64, f64) = (300, 5.0);

/// Instructions and events of an operation under a stack.
fn did(operation: u64, stack: usize) -> (u64, Events) {
    // Operation 0 is getppid, to which no stack adds any cost.
    let (mut instructions, mut rep, mut bytes, mut lines) = (ENTRY.0, 0, 0, 10);
    if operation > 0 {
        instructions += 100 * operation + 37 * (operation % 7);
        rep = operation % 5;
        bytes = 64 * rep + 512 * (operation % 3);
        instructions += [0, 40 + 11 * operation, 90 + operation][stack];
        rep += [0, 0, 3][stack];
        bytes += [0, 8, 328][stack];
        // Some operations have conflicting lines under every stack, others only with a stack's
        // additional lines.
        lines += 40 * (operation % 13) + [0, 20 + operation % 11, 7][stack];
    }
    let events = Events {
        rep_instructions: rep,
        rep_bytes: bytes,
        long_rep_instructions: rep,
        instruction_lines: lines,
        ..Events::default()
    };
    (instructions, events)
}

fn ns(operation: u64, stack: usize) -> f64 {
    let (instructions, events) = did(operation, stack);
    let beyond = (instructions - ENTRY.0) as f64;
    let parts = [
        beyond,
        events.rep_instructions as f64,
        events.rep_bytes as f64,
        conflicting_lines(events.instruction_lines),
    ];
    ENTRY.1 + parts.iter().zip(TRUE).map(|(x, ns)| x * ns).sum::<f64>()
}

fn key(kernel: &str, operation: u64, stack: usize, metric: Metric) -> Key {
    let configuration = Configuration::of_stack(STACKS[stack].parse().unwrap());
    let name = match operation {
        0 => "getppid".to_owned(),
        operation => format!("operation{operation}"),
    };
    let subject = Subject::benchmark(name, "");
    Key::new(kernel, &configuration, "tmpfs", subject, metric)
}

fn document(metric: Metric, evidence: impl Fn(u64, usize) -> Evidence) -> Document {
    let spec = Spec {
        kernels: Some(vec!["k".to_owned()]),
        stacks: Some(STACKS.map(str::to_owned).to_vec()),
        baseline: Some(Baseline::Index(0)),
        metrics: Some(vec![metric]),
        ..Spec::default()
    };
    let mut document = Document::new(Kind::Run, Environment::default());
    document.experiment = Some(spec.resolve().unwrap());
    for operation in 0..30 {
        for stack in 0..STACKS.len() {
            document.cells.push(Cell {
                release: "6.12.1".to_owned(),
                syscalls: vec!["one".to_owned()],
                outcome: evidence(operation, stack).into(),
                ..Cell::unmeasured(key("k", operation, stack, metric))
            });
        }
    }
    document
}

fn estimate_of(median: f64, ci95: Option<[f64; 2]>) -> Estimate {
    Estimate {
        n: 1,
        median,
        mean: None,
        stddev: None,
        min: None,
        max: None,
        ci95,
        samples: None,
    }
}

fn times() -> Document {
    document(Metric::Time, |operation, stack| {
        let ns = ns(operation, stack);
        Evidence::Timed(Timed {
            rounds: vec![ns + 30.0, ns],
            ..Timed::new(estimate_of(ns, Some([ns - 0.01, ns + 0.01])))
        })
    })
}

fn counts() -> Document {
    document(Metric::Instructions, |operation, stack| {
        let (total, events) = did(operation, stack);
        let own = did(operation, 0);
        let hook = HookCost {
            hook: "inode_getattr".to_owned(),
            function: "security_inode_getattr".to_owned(),
            calls: 1,
            inclusive: total - own.0,
            outermost: total - own.0,
            events: Some(Events {
                rep_instructions: events.rep_instructions - own.1.rep_instructions,
                long_rep_instructions: events.long_rep_instructions - own.1.long_rep_instructions,
                instruction_lines: events.instruction_lines - own.1.instruction_lines,
                rep_bytes: events.rep_bytes - own.1.rep_bytes,
                ..Events::default()
            }),
            ..HookCost::default()
        };
        Evidence::from(Counted {
            estimate: Some(estimate_of(total as f64, None)),
            hooked: Some(HookedPath {
                system_calls: std::collections::BTreeMap::new(),
                total,
                rep_iterations: None,
                regions: 1,
                hooked: hook.outermost,
                hooks: vec![hook],
                events: Some(events),
                irqs_off: None,
            }),
            ..Counted::default()
        })
    })
}

fn default_terms() -> Terms {
    Terms::named(&DEFAULT_TERMS).unwrap()
}

#[test]
fn known_weights_are_found_again() {
    let (times, counts) = (times_of(&times()).unwrap(), counts_of(&counts()).unwrap());
    let weights = fit(&times, &counts, &default_terms()).unwrap();
    for (term, ns) in weights.terms.iter().zip(TRUE) {
        assert!((term.ns - ns).abs() < 0.01 * ns, "{term:?}");
        assert!(term.ci95[0] <= term.ns && term.ns <= term.ci95[1]);
    }
    let error = &weights.error;
    assert!(error.rank_correlation > 0.999, "{error:?}");
    assert!(error.median_ns < 0.1, "{error:?}");
    // Instructions alone leave out TOMOYO's REP instructions.
    let of_instructions = error.median_points_of_instructions.unwrap();
    assert!(of_instructions > 2.0 * error.median_points, "{error:?}");
    // TOMOYO's instructions take far longer on average.
    let [selinux, tomoyo] = [0, 1].map(|at| weights.left_out[at].ns_per_instruction);
    assert!(tomoyo > 2.0 * selinux, "{tomoyo} {selinux}");
    for stack in &weights.left_out {
        assert!((0.95..1.05).contains(&stack.ratio), "{stack:?}");
    }
    let together = weights.left_out_rank_correlation.unwrap();
    assert!(together > 0.999, "{together}");

    let document = estimate(&weights, &counts, Some(&times)).unwrap();
    for cell in &document.cells {
        let (estimate, measured) = (cell.estimate.unwrap(), cell.measured.unwrap().ns);
        assert!((estimate.ns - measured).abs() < 0.2, "{cell:?}");
        for hook in &cell.hooks {
            assert!((hook.estimate.ns - estimate.ns).abs() < 1e-9, "{cell:?}");
        }
    }
    let mut bytes = Vec::new();
    document.write(&mut bytes).unwrap();
    assert_eq!(EstimateDocument::parse(&bytes).unwrap(), document);
}

#[test]
fn differences_beyond_the_weights_are_refused() {
    let (times, known) = (times_of(&times()).unwrap(), counts());
    let weights = fit(&times, &counts_of(&known).unwrap(), &default_terms()).unwrap();
    let refused = |change: &dyn Fn(&mut HookedPath)| {
        let mut other = known.clone();
        let mut cells = other.cells.iter_mut();
        let cell = cells.find(|cell| cell.key.stack.len() > 1).unwrap();
        change(cell.counted_mut().unwrap().hooked.as_mut().unwrap());
        let document = estimate(&weights, &counts_of(&other).unwrap(), None).unwrap();
        let mut cells = document.cells.iter();
        assert!(cells.all(|cell| cell.estimate.is_some() != cell.refused.is_some()));
        document.cells.iter().find_map(|cell| cell.refused.clone())
    };
    assert_eq!(refused(&|_| ()), None);
    let more = refused(&|path| path.total += 1_000_000).unwrap();
    let expected = "instructions differ by +1000000";
    assert!(more.starts_with(expected), "{more}");
    let flush = refused(&|path| path.events.as_mut().unwrap().tlb_flushes = 2);
    let expected = "TLB flushes differ by +2, but have no weight";
    assert_eq!(flush.as_deref(), Some(expected));
}

/// Weights are fitted only to kernels of the timed version. Estimates are made for all kernels.
#[test]
fn other_kernels_move_no_weight() {
    let (times, own) = (times_of(&times()).unwrap(), counts());
    let mut older = own.clone();
    for cell in &mut older.cells {
        cell.key.kernel = "older".to_owned();
        cell.release = "6.1.9".to_owned();
        let path = cell.counted_mut().unwrap().hooked.as_mut().unwrap();
        path.total *= 2;
    }
    let mut experiment = older.experiment.take().unwrap();
    experiment.kernels = vec!["older".to_owned()];
    older.experiment = Some(experiment);
    let read = |document: &Document| counts_of(document).unwrap();
    let alone = fit(&times, &read(&own), &default_terms()).unwrap();
    let both = read(&older).with(read(&own)).with(read(&own));
    assert_eq!(fit(&times, &both, &default_terms()).unwrap(), alone);
    let document = estimate(&alone, &both, None).unwrap();
    let pairs = (STACKS.len() - 1) * 30;
    assert_eq!(document.cells.len(), 2 * pairs);
}

fn few_pairs(pairs: usize) -> String {
    format!("only {pairs} operations were timed and counted with a baseline; 20 are needed")
}

#[test]
fn what_is_missing_is_named() {
    let (times, counts) = (times(), counts());
    let fitted = |keep: &dyn Fn(&Key) -> bool| {
        let mut counts = counts.clone();
        counts.cells.retain(|cell| keep(&cell.key));
        let times = times_of(&times).unwrap();
        fit(&times, &counts_of(&counts).unwrap(), &default_terms()).map(drop)
    };
    let mut mixed = times.clone();
    let mixing = mixed.cells.iter_mut();
    for cell in mixing.filter(|cell| cell.key.benchmark().ends_with('7')) {
        cell.key.kernel = "another".to_owned();
    }
    for (result, message) in [
        (
            fitted(&|key| key.benchmark().ends_with('0')),
            &*few_pairs(4),
        ),
        (
            fitted(&|key| key.benchmark() != "getppid"),
            "getppid was not both timed and counted",
        ),
        (
            times_of(&mixed).map(drop),
            "the times are from more than one kernel: another and k",
        ),
    ] {
        assert_eq!(result.unwrap_err().to_string(), message);
    }
}

/// Earlier result files do not count long REP instructions separately.
#[test]
fn what_was_counted_before_is_to_be_counted_again() {
    let (times, new) = (times_of(&times()).unwrap(), counts());
    let weights = fit(&times, &counts_of(&new).unwrap(), &default_terms()).unwrap();
    let mut old = new;
    for cell in &mut old.cells {
        let path = cell.counted_mut().unwrap().hooked.as_mut().unwrap();
        path.events.as_mut().unwrap().long_rep_instructions = 0;
    }
    let old = counts_of(&old).unwrap();
    let document = estimate(&weights, &old, None).unwrap();
    for cell in &document.cells {
        let refused = cell.refused.as_ref().unwrap();
        assert!(refused.contains("count it again"), "{cell:?}");
    }
    let few = fit(&times, &old, &default_terms()).unwrap_err();
    assert_eq!(few.to_string(), few_pairs(0));
    let plain = Terms::named(&["instructions", "rep_bytes"]).unwrap();
    let plain = fit(&times, &old, &plain).unwrap();
    let document = estimate(&plain, &old, None).unwrap();
    assert!(document.cells.iter().all(|cell| cell.refused.is_none()));
}

/// A run on the host has only one stack, and so no added cost. Times of the operations are enough.
#[test]
fn a_running_kernel_gives_weights_too() {
    let spec = Spec {
        place: Some(Place::Host),
        dir: Some("/var/tmp".to_owned()),
        metrics: Some(vec![Metric::Time]),
        ..Spec::default()
    };
    let mut host = times();
    host.experiment = Some(spec.resolve().unwrap());
    host.cells.retain(|cell| cell.key.stack == ["capability"]);
    for cell in &mut host.cells {
        cell.key.kernel = "host".to_owned();
        cell.key.stack = vec!["default".to_owned()];
        cell.key.filesystem = "host".to_owned();
    }
    let (times, counts) = (times_of(&host).unwrap(), counts_of(&counts()).unwrap());
    let weights = fit(&times, &counts, &default_terms()).unwrap();
    for (term, ns) in weights.terms.iter().zip(TRUE) {
        assert!((term.ns - ns).abs() < 0.02 * ns, "{term:?}");
    }
    assert_eq!((weights.differences, weights.operations), (0, 29));
    assert!(weights.left_out.is_empty());
    assert!(weights.error.rank_correlation > 0.999);
    let document = estimate(&weights, &counts, Some(&times)).unwrap();
    for cell in &document.cells {
        assert!(cell.estimate.is_some() && cell.measured.is_none());
    }
    // Ten operations are too few.
    host.cells.truncate(10);
    let few = fit(&times_of(&host).unwrap(), &counts, &default_terms());
    assert_eq!(few.unwrap_err().to_string(), few_pairs(9));
}
