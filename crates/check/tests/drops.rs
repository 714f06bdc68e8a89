// SPDX-License-Identifier: GPL-2.0-or-later
//! A check that can fail: on real documents of a stock kernel, which agree, a hook is taken
//! away from one instrument, or miscounted, and the check says so. Hook by hook.
//!
//! The documents are what `lsmeter check --keep` kept of debian:6.12, without the figures that
//! nothing here looks at; `tests/golden/README.md` says how they were made.

use check::{Facts, Inputs, Subject, Wanted, check};
use experiment::check::CheckedHook;
use experiment::placement::Comparison;
use experiment::{
    Cell, CheckDocument, CheckVerdict, Document, Evidence, HookCost, Key, Outcome, Slope,
};

macro_rules! golden {
    ($name:literal) => {
        testing::unpack(include_bytes!(concat!("golden/", $name, ".json.xz")))
    };
}

/// What the four instruments found.
#[derive(Clone)]
struct Instruments {
    profile: Document,
    counts: Document,
    sensitivity: Document,
    placement: Comparison,
}

impl Instruments {
    fn golden() -> Instruments {
        Instruments {
            profile: Document::parse(&golden!("profile")).unwrap(),
            counts: Document::parse(&golden!("counts")).unwrap(),
            sensitivity: Document::parse(&golden!("sensitivity")).unwrap(),
            placement: serde_json::from_slice(&golden!("placement")).unwrap(),
        }
    }

    /// Only what they found of one operation.
    fn of(&self, benchmark: &str, variant: &str) -> Instruments {
        let mut instruments = self.clone();
        for document in [
            &mut instruments.profile,
            &mut instruments.counts,
            &mut instruments.sensitivity,
        ] {
            let of = |key: &Key| key.benchmark() == benchmark && key.variant() == variant;
            document.cells.retain(|cell| of(&cell.key));
            document.warnings.clear();
        }
        let operation = format!("{benchmark}:{variant}");
        instruments
            .placement
            .hooks
            .retain(|hook| hook.operation == operation);
        instruments
    }

    fn each(&self) -> Vec<Instruments> {
        let ok = self.profile.hooked();
        ok.map(|(cell, _, _)| self.of(cell.key.benchmark(), cell.key.variant()))
            .collect()
    }

    /// The hooks in the profile of the first operation.
    fn costs(&mut self) -> &mut Vec<HookCost> {
        let counted = self.profile.cells[0].counted_mut().unwrap();
        &mut counted.hooked.as_mut().unwrap().hooks
    }

    fn check(&self) -> CheckDocument {
        let (profile, counts) = (Some(&self.profile), Some(&self.counts));
        let sensitivity = Some(&self.sensitivity);
        let documents = [&self.profile, &self.counts, &self.sensitivity];
        let subject = Subject::find(&Wanted::default(), documents).unwrap();
        let inputs = Inputs {
            subject,
            profile,
            counts,
            sensitivity,
            placement: Some(&self.placement),
            differences: None,
            silent: &[],
        };
        check(&inputs, &Facts::load().unwrap())
    }
}

fn hooks(document: &CheckDocument) -> impl Iterator<Item = &CheckedHook> {
    document.benchmarks.iter().flat_map(|b| &b.hooks)
}

fn verdict(document: &CheckDocument, hook: &str) -> Option<CheckVerdict> {
    hooks(document).find(|h| h.hook == hook).map(|h| h.verdict)
}

/// Hooks that another instrument than the profile counts, so that it can be held against
/// something.
fn is_counted_twice(hook: &CheckedHook) -> bool {
    hook.monitor.is_some() || hook.slope.is_some()
}

#[test]
fn real_documents_agree() {
    let document = Instruments::golden().check();
    let apart = hooks(&document).filter(|hook| hook.verdict == CheckVerdict::Disagree);
    assert_eq!(apart.collect::<Vec<_>>(), Vec::<&CheckedHook>::new());
    let summary = &document.summary;
    assert!(summary.hooks.agree > 350, "{summary:#?}");
    // All pairs of two counts, and each count beside its bound.
    assert_eq!(summary.pairs.len(), 6, "{summary:#?}");
}

#[test]
fn a_hook_that_a_profile_misses_is_found() {
    let (mut dropped, mut alone) = (0, Vec::new());
    for mut instruments in Instruments::golden().each() {
        let before = instruments.check();
        for at in 0..instruments.costs().len() {
            let mut instruments = instruments.clone();
            let hook = instruments.costs().remove(at).hook;
            instruments.costs().retain(|other| other.hook != hook);
            let row = hooks(&before).find(|h| h.hook == hook).unwrap();
            let title = before.benchmarks[0].title();
            if row.profile == Some(0) {
                continue;
            }
            if !is_counted_twice(row) {
                alone.push(format!("{title} {hook}"));
                continue;
            }
            let after = verdict(&instruments.check(), &hook);
            assert_eq!(after, Some(CheckVerdict::Disagree), "{title} {hook}");
            dropped += 1;
        }
    }
    assert!(dropped > 350, "{dropped}");
    // These two the others are not made for.
    let known = |name: &&String| name.starts_with("treewalk:") || name.contains("-names ");
    let others: Vec<&String> = alone.iter().filter(|name| !known(name)).collect();
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn a_call_that_a_profile_miscounts_is_found() {
    let (mut found, mut covered) = (0, Vec::new());
    for mut instruments in Instruments::golden().each() {
        let before = instruments.check();
        for at in 0..instruments.costs().len() {
            for more in [true, false] {
                let mut instruments = instruments.clone();
                let cost = &mut instruments.costs()[at];
                cost.calls = match more {
                    true => cost.calls + 1,
                    false => cost.calls.saturating_sub(1),
                };
                let hook = cost.hook.clone();
                let row = hooks(&before).find(|h| h.hook == hook).unwrap();
                if !is_counted_twice(row) || row.profile == Some(0) {
                    continue;
                }
                if verdict(&instruments.check(), &hook) == Some(CheckVerdict::Disagree) {
                    found += 1;
                } else {
                    covered.push(format!("{} {hook}", before.benchmarks[0].title()));
                }
            }
        }
    }
    assert!(found > 700, "{found}");
    // What a fact expects of the monitor is what a profile would say that counts one more; of
    // a hook that cannot be delayed no third tells.
    let names = ["chown:same", "chown:other"].map(|title| format!("{title} inode_need_killpriv"));
    assert_eq!(covered, names);
}

#[test]
fn a_hook_that_a_monitor_misses_is_found() {
    let mut dropped = 0;
    for instruments in Instruments::golden().each() {
        let before = instruments.check();
        let calls = |hook: &str| {
            let row = hooks(&before).find(|h| h.hook == hook);
            row.and_then(|row| row.profile).unwrap_or(0)
        };
        let counted = instruments.counts.cells.first().and_then(Cell::hook_calls);
        for hook in counted.iter().flat_map(|counted| counted.hooks.keys()) {
            let mut instruments = instruments.clone();
            if let Outcome::Ok {
                evidence: Evidence::HookCalls(counted),
            } = &mut instruments.counts.cells[0].outcome
            {
                counted.hooks.remove(hook);
            }
            // What the operation does not call, a monitor need not see.
            if calls(hook) > 0 {
                let after = verdict(&instruments.check(), hook);
                let title = before.benchmarks[0].title();
                assert_eq!(after, Some(CheckVerdict::Disagree), "{title} {hook}");
                dropped += 1;
            }
        }
    }
    assert!(dropped > 350, "{dropped}");
}

#[test]
fn a_slope_that_a_sweep_misses_is_found() {
    let mut dropped = 0;
    for instruments in Instruments::golden().each() {
        for at in 0..instruments.sensitivity.cells.len() {
            let mut instruments = instruments.clone();
            let cell = instruments.sensitivity.cells.remove(at);
            let delay = cell.key.delay.as_ref().unwrap();
            let slopes = |slope: &Slope| slope.slope.abs() > 1.0 - Slope::DIFFERENCE;
            if delay.part && cell.slope().is_some_and(slopes) {
                let after = verdict(&instruments.check(), "all");
                let title = format!("{} {}", cell.title(), delay.hooks[0]);
                assert_eq!(after, Some(CheckVerdict::Disagree), "{title}");
                dropped += 1;
            }
        }
    }
    assert!(dropped > 200, "{dropped}");
}

#[test]
fn a_bound_that_is_too_low_is_found() {
    let mut lowered = 0;
    for instruments in Instruments::golden().each() {
        for at in 0..instruments.placement.hooks.len() {
            let mut instruments = instruments.clone();
            let bound = &mut instruments.placement.hooks[at];
            if bound.measured == 0 {
                continue;
            }
            bound.max = Some(bound.measured - 1);
            let hook = bound.hook.clone();
            let after = verdict(&instruments.check(), &hook);
            assert_eq!(after, Some(CheckVerdict::Disagree), "{hook}");
            lowered += 1;
        }
    }
    assert!(lowered > 300, "{lowered}");
}
