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
    CheckDocument, CheckVerdict, CountsDocument, Profile, ProfileDocument, SensitivityDocument,
    Slope, Status,
};

macro_rules! golden {
    ($name:literal) => {
        testing::unpack(include_bytes!(concat!("golden/", $name, ".json.xz")))
    };
}

/// What the four instruments tell.
#[derive(Clone)]
struct Told {
    profile: ProfileDocument,
    counts: CountsDocument,
    sensitivity: SensitivityDocument,
    placement: Comparison,
}

impl Told {
    fn golden() -> Told {
        Told {
            profile: ProfileDocument::parse(&golden!("profile")).unwrap(),
            counts: CountsDocument::parse(&golden!("counts")).unwrap(),
            sensitivity: SensitivityDocument::parse(&golden!("sensitivity")).unwrap(),
            placement: serde_json::from_slice(&golden!("placement")).unwrap(),
        }
    }

    /// Only what is told of one operation.
    fn of(&self, benchmark: &str, variant: &str) -> Told {
        let mut told = self.clone();
        told.profile
            .profiles
            .retain(|p| p.benchmark == benchmark && p.variant == variant);
        told.profile.warnings.clear();
        told.counts
            .counted
            .retain(|c| c.benchmark == benchmark && c.variant == variant);
        told.sensitivity
            .slopes
            .retain(|s| s.benchmark == benchmark && s.variant == variant);
        told.sensitivity.warnings.clear();
        let operation = format!("{benchmark}:{variant}");
        told.placement
            .hooks
            .retain(|hook| hook.operation == operation);
        told
    }

    fn each(&self) -> Vec<Told> {
        let ok = |profile: &&Profile| profile.status == Status::Ok;
        let profiles = self.profile.profiles.iter().filter(ok);
        profiles
            .map(|p| self.of(&p.benchmark, &p.variant))
            .collect()
    }

    fn check(&self) -> CheckDocument {
        let (profile, counts) = (Some(&self.profile), Some(&self.counts));
        let sensitivity = Some(&self.sensitivity);
        let subject = Subject::find(&Wanted::default(), profile, counts, sensitivity).unwrap();
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
    let document = Told::golden().check();
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
    for told in Told::golden().each() {
        let before = told.check();
        for at in 0..told.profile.profiles[0].hooks.len() {
            let mut told = told.clone();
            let hook = told.profile.profiles[0].hooks.remove(at).hook;
            told.profile.profiles[0]
                .hooks
                .retain(|other| other.hook != hook);
            let row = hooks(&before).find(|h| h.hook == hook).unwrap();
            let title = before.benchmarks[0].title();
            if row.profile == Some(0) {
                continue;
            }
            if !is_counted_twice(row) {
                alone.push(format!("{title} {hook}"));
                continue;
            }
            let after = verdict(&told.check(), &hook);
            assert_eq!(after, Some(CheckVerdict::Disagree), "{title} {hook}");
            dropped += 1;
        }
    }
    assert!(dropped > 350, "{dropped}");
    // These two the other instruments are not made for.
    let known = |name: &&String| name.starts_with("treewalk:") || name.contains("-names ");
    let others: Vec<&String> = alone.iter().filter(|name| !known(name)).collect();
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn a_call_that_a_profile_miscounts_is_found() {
    let (mut found, mut covered) = (0, Vec::new());
    for told in Told::golden().each() {
        let before = told.check();
        for at in 0..told.profile.profiles[0].hooks.len() {
            for more in [true, false] {
                let mut told = told.clone();
                let cost = &mut told.profile.profiles[0].hooks[at];
                cost.calls = match more {
                    true => cost.calls + 1,
                    false => cost.calls.saturating_sub(1),
                };
                let hook = cost.hook.clone();
                let row = hooks(&before).find(|h| h.hook == hook).unwrap();
                if !is_counted_twice(row) || row.profile == Some(0) {
                    continue;
                }
                if verdict(&told.check(), &hook) == Some(CheckVerdict::Disagree) {
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
    for told in Told::golden().each() {
        let before = told.check();
        let calls = |hook: &str| {
            let row = hooks(&before).find(|h| h.hook == hook);
            row.and_then(|row| row.profile).unwrap_or(0)
        };
        for at in 0..told.counts.counted.first().map_or(0, |c| c.hooks.len()) {
            let mut told = told.clone();
            let hook = told.counts.counted[0].hooks.remove(at).hook;
            // What the operation does not call, a monitor need not see.
            if calls(&hook) > 0 {
                let after = verdict(&told.check(), &hook);
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
    for told in Told::golden().each() {
        for at in 0..told.sensitivity.slopes.len() {
            let mut told = told.clone();
            let slope: Slope = told.sensitivity.slopes.remove(at);
            let slopes = slope.slope.abs() > 1.0 - Slope::DIFFERENCE;
            if slope.part && slope.status == Status::Ok && slopes {
                let after = verdict(&told.check(), "all");
                let hook = &slope.hooks[0];
                assert_eq!(
                    after,
                    Some(CheckVerdict::Disagree),
                    "{} {hook}",
                    slope.title()
                );
                dropped += 1;
            }
        }
    }
    assert!(dropped > 200, "{dropped}");
}

#[test]
fn a_bound_that_is_too_low_is_found() {
    let mut lowered = 0;
    for told in Told::golden().each() {
        for at in 0..told.placement.hooks.len() {
            let mut told = told.clone();
            let bound = &mut told.placement.hooks[at];
            if bound.measured == 0 {
                continue;
            }
            bound.max = Some(bound.measured - 1);
            let hook = bound.hook.clone();
            let after = verdict(&told.check(), &hook);
            assert_eq!(after, Some(CheckVerdict::Disagree), "{hook}");
            lowered += 1;
        }
    }
    assert!(lowered > 300, "{lowered}");
}
