// SPDX-License-Identifier: GPL-2.0-or-later
//! Compares golden documents of every kind, and checks which changes are found.

use crate::common::*;
use compare::judge::{Baselines, Judgements};
use compare::{Budget, Named, Options, across, with_baselines};
use model::comparison::{Axis, ComparedCell, GateVerdict, Method, Place, Side, Verdict};
use model::{
    Document, Estimate, Fault, Metric, Outcome, PathCount, Paths, Program, ProgramRun, Status,
    Timed, Warning, WarningKind,
};
use stats::{SplitMix64, Summary};

fn default() -> Options {
    Options::default()
}

#[test]
fn every_kind_of_document_is_the_same_as_itself() {
    for name in ["run", "profile", "sensitivity", "monitor"] {
        let document = golden(name);
        let found = try_both(&document, &document, &gated("1%")).unwrap();
        assert!(
            !found.compared.is_empty() && found.unmatched.is_empty(),
            "{name}"
        );
        let same = found.count(Verdict::Same) + found.count(Verdict::Missing);
        assert_eq!(same, found.compared.len(), "{name}");
        assert_ne!(found.gate.unwrap().verdict, GateVerdict::Fail, "{name}");
    }
}

#[test]
fn one_instruction_is_found() {
    let base = counted();
    let mut new = base.clone();
    paths(&mut new, 0).dominant.instructions += 1;
    let found = both(&base, &new, &gated("0 instructions"));
    let cell = &found.compared[0];
    let actual = (cell.method, cell.verdict, cell.difference);
    assert_eq!(actual, (Method::Exact, Verdict::Worse, Some(1.0)));
    assert_eq!(found.gate.unwrap().verdict, GateVerdict::Fail);
    let found = both(&base, &new, &gated("1 instructions"));
    assert_eq!(found.gate.unwrap().verdict, GateVerdict::Pass);
    let found = both(&new, &base, &gated("0 instructions"));
    assert_eq!(found.compared[0].verdict, Verdict::Better);
    assert_eq!(found.gate.unwrap().verdict, GateVerdict::Pass);
}

#[test]
fn a_hundred_comparisons_of_equal_counts_never_alarm() {
    let base = counted();
    let mut random = SplitMix64::new(3);
    for _ in 0..100 {
        // Dirty measured regions and rare paths differ between boots.
        let mut new = base.clone();
        for cell in 0..new.cells.len() {
            let paths = paths(&mut new, cell);
            paths.dirty = random.below(9) as u64;
            for path in &mut paths.others {
                path.instructions += random.below(50) as u64;
            }
        }
        let found = both(&base, &new, &gated("0%"));
        assert_eq!(found.gate.unwrap().verdict, GateVerdict::Pass);
    }
}

#[test]
fn rounds_that_differ_are_no_change() {
    // Samples of a round agree to 1 %, and rounds only to 2 %. A test of the samples' ranks alone
    // would find a difference in most of these.
    let mut random = SplitMix64::new(5);
    let (mut alarms, mut found) = (0, 0);
    let tries = 200;
    for _ in 0..tries {
        let base = timed(&mut random, 400.0, 5, 0.02);
        let same = timed(&mut random, 400.0, 5, 0.02);
        let slower = timed(&mut random, 440.0, 5, 0.02);
        let verdict = |new: &Document| {
            let compared = both(&base, new, &default()).compared;
            assert_eq!(compared[0].method, Method::Rounds);
            compared[0].verdict
        };
        alarms += usize::from(verdict(&same) != Verdict::Unclear);
        found += usize::from(verdict(&slower) == Verdict::Worse);
    }
    assert!(alarms <= tries * 8 / 100, "{alarms} of {tries}");
    assert!(found >= tries * 9 / 10, "{found} of {tries}");
}

#[test]
fn times_without_samples_are_compared_by_what_was_kept() {
    let mut random = SplitMix64::new(7);
    let mut runs = [400.0, 500.0].map(|level| timed(&mut random, level, 5, 0.001));
    let change_timed = |run: &mut Document, change: fn(&mut Timed)| {
        change(run.cells[0].timed_mut().unwrap());
    };
    for run in &mut runs {
        change_timed(run, |timed| timed.estimate.samples = None);
    }
    let found = both(&runs[0], &runs[1], &default());
    assert_eq!(found.compared[0].method, Method::Rounds);
    assert_eq!(found.compared[0].verdict, Verdict::Worse);
    for run in &mut runs {
        change_timed(run, |timed| timed.rounds.clear());
    }
    let found = both(&runs[0], &runs[1], &default());
    assert_eq!(found.compared[0].method, Method::Intervals);
    assert_eq!(found.compared[0].verdict, Verdict::Worse);
    change_timed(&mut runs[1], |timed| timed.estimate.ci95 = None);
    let found = both(&runs[0], &runs[1], &gated("1%"));
    let cell = &found.compared[0];
    let actual = (cell.method, cell.verdict);
    assert_eq!(actual, (Method::None, Verdict::Unclear));
    assert!(cell.reason.as_ref().unwrap().starts_with("too few samples"));
    assert_eq!(found.gate.unwrap().verdict, GateVerdict::Inconclusive);
}

#[test]
fn less_throughput_is_worse() {
    let base = golden_run();
    let mut new = base.clone();
    for cell in new.cells.iter_mut() {
        if cell.key.metric != Metric::Throughput {
            continue;
        }
        let samples = cell.estimate().unwrap().samples.clone().unwrap();
        let slower: Vec<f64> = samples.iter().map(|x| x * 0.8).collect();
        let estimate = Estimate::from(&Summary::from_samples(&slower).unwrap());
        cell.timed_mut().unwrap().estimate = Estimate {
            samples: Some(slower),
            ..estimate
        };
    }
    let trusting = trusting("5%");
    let found = both(&base, &new, &trusting);
    let rates = found.compared.iter().filter(|cell| cell.unit == "ops/s");
    assert_eq!(rates.clone().count(), 3);
    for cell in rates {
        assert_eq!(cell.verdict, Verdict::Worse);
        assert!((cell.overhead.unwrap() - 0.2).abs() < 0.01, "{cell:?}");
        assert_eq!(cell.gate.as_ref().unwrap().verdict, GateVerdict::Fail);
    }
}

/// A run of one operation. Each path has its instructions, and the number of measured regions that
/// took it.
fn taking(taken: &[(u64, u64)]) -> Document {
    let mut run = counted();
    run.cells.truncate(1);
    let counted = run.cells[0].counted_mut().unwrap();
    let mut samples: Vec<f64> = Vec::new();
    let taken = taken.iter().map(|&(instructions, regions)| PathCount {
        instructions,
        rep_iterations: 0,
        lines: None,
        regions,
    });
    let mut taken: Vec<PathCount> = taken.collect();
    for path in &taken {
        samples.extend((0..path.regions).map(|_| path.instructions as f64));
    }
    taken.sort_by_key(|path| std::cmp::Reverse(path.regions));
    counted.estimate = Some(Estimate::from(&Summary::from_samples(&samples).unwrap()));
    counted.paths = Some(Paths {
        dominant: taken.remove(0),
        others: taken,
        regions: samples.len() as u64,
        dirty: 0,
        path_hash: None,
    });
    run
}

#[test]
fn sets_of_paths_are_compared_and_not_which_of_them_leads() {
    // Instructions and measured regions of each path, the method, the verdict, and the gate's
    // verdict.
    let cases = "
        # unlink on a kernel with SLUB_TINY, before and after a change that has no part in it.
        10008 32 8552 31 | 10008 31 8552 32 | paths same pass
        10008 31 8552 32 | 10008 32 8552 32 | paths same pass
        10008 33 8552 31 | 10008 33 8552 32 | paths same pass
        # Two thirds of the measured regions, or nearly: the figure is the same, with and without
        # interval.
        100 42 90 21 | 100 43 90 22 | paths same pass
        100 43 90 21 | 100 64 | exact same pass
        100 64 | 101 64 | exact worse pass
        100 64 | 102 60 90 4 | exact worse fail
        # The same paths in other shares; paths that are between each other; one in common.
        100 40 90 24 | 100 24 90 40 | paths unclear pass
        100 32 110 32 | 105 32 115 32 | paths unclear inconclusive
        100 43 80 21 | 80 40 81 24 | paths unclear pass
        # The dominant path is another one of the same two.
        100 52 120 10 | 120 54 100 11 | paths unclear inconclusive
        # All of one side's take more, or all but a few.
        100 32 110 32 | 200 33 210 31 | paths worse fail
        200 33 210 31 90 1 | 100 32 110 32 | paths better pass
    ";
    let rows = cases.trim().lines().map(str::trim);
    for row in rows.filter(|row| !row.starts_with('#')) {
        let fields: Vec<&str> = row.split(" | ").collect();
        let [base, new] = [fields[0], fields[1]].map(|taken| {
            let figures = taken.split(' ').map(|figure| figure.parse().unwrap());
            let figures: Vec<u64> = figures.collect();
            let paths = figures.chunks(2).map(|path| (path[0], path[1]));
            taking(&paths.collect::<Vec<_>>())
        });
        let found = both(&base, &new, &gated("1%"));
        let cell = &found.compared[0];
        let gate = cell.gate.as_ref().unwrap().verdict;
        let actual = format!("{} {} {gate}", cell.method, cell.verdict);
        assert_eq!(actual, fields[2], "{row}: {cell:#?}");
        assert_eq!((cell.p, found.judgement.tested), (None, 0));
    }
}

#[test]
fn programs_get_a_verdict_from_three_runs() {
    use Verdict::{Better, Same, Unclear, Worse};
    let program = |kernel: [u64; 3]| {
        let mut run = taking(&[(1, 1)]);
        let counted = run.cells[0].counted_mut().unwrap();
        let samples = kernel.map(|kernel| kernel as f64);
        let runs = kernel.map(|kernel| ProgramRun {
            kernel,
            ..ProgramRun::default()
        });
        counted.paths = None;
        counted.estimate = Some(Estimate::from(&Summary::from_samples(&samples).unwrap()));
        counted.program = Some(Program {
            runs: runs.to_vec(),
            ..Program::default()
        });
        run
    };
    for (base, new, method, verdict) in [
        ([9_325_031; 3], [9_325_031; 3], Method::Exact, Same),
        ([9_325_031; 3], [9_325_030; 3], Method::Exact, Better),
        ([100, 102, 104], [104, 100, 102], Method::Paths, Same),
        ([100, 102, 104], [103, 104, 106], Method::Paths, Unclear),
        // The difference is within the spread of each side's own runs.
        ([100, 102, 104], [108, 108, 108], Method::Paths, Unclear),
        ([100, 102, 104], [109, 109, 109], Method::Paths, Worse),
    ] {
        let found = both(&program(base), &program(new), &default());
        let cell = &found.compared[0];
        let actual = (cell.method, cell.verdict);
        assert_eq!(actual, (method, verdict), "{base:?} {new:?}");
    }
}

#[test]
fn one_kernel_of_each_may_differ_and_what_is_alone_is_listed() {
    let base = counted();
    let mut new = base.clone();
    for cell in &mut new.cells {
        cell.key.kernel = "debian:6.12".to_owned();
    }
    let gone = new.cells.remove(0);
    let found = both(&base, &new, &gated("1%"));
    assert_eq!(found.compared.len(), base.cells.len() - 1);
    let expected =
        "kernel: debian:6.1 in BASE is compared with debian:6.12 in NEW, the only one in each";
    assert_eq!(found.matched_by[1], expected);
    let base_place = found.compared[0].base_place.as_ref().unwrap();
    assert_eq!(base_place.kernel, "debian:6.1");
    assert_eq!(found.unmatched.len(), 1);
    assert_eq!(found.unmatched[0].side, Side::Base);
    assert_eq!(found.unmatched[0].benchmark, gone.title());
    let gate = found.gate.unwrap();
    assert_eq!(gate.verdict, GateVerdict::Inconclusive);
    assert_eq!(
        gate.reasons,
        ["1 measurements from BASE are missing from NEW"]
    );
    // With two kernels on one side, it is not known which of them to compare.
    new.cells[0].key.kernel = "debian:7".to_owned();
    assert!(both(&base, &new, &default()).compared.is_empty());
}

#[test]
fn what_cannot_be_trusted_is_inconclusive() {
    let base = counted();
    let mut new = base.clone();
    let mut dirty = Warning::new(WarningKind::DirtyRegions, "60 of 64 were dirty");
    dirty.cells = vec![0];
    new.warnings.push(dirty);
    paths(&mut new, 0).dominant.instructions += 500;
    let found = both(&base, &new, &gated("1%"));
    assert_eq!(found.compared[0].doubts, ["NEW: dirty measured regions"]);
    assert!(found.compared[1].doubts.is_empty());
    assert_eq!(found.gate.unwrap().verdict, GateVerdict::Inconclusive);
    // The gate does not pass either if a cell failed on one side.
    let mut new = base.clone();
    new.cells[0].outcome = Outcome::without(Status::Failed, "panic");
    let found = both(&base, &new, &gated("1%"));
    assert_eq!(found.compared[0].verdict, Verdict::Missing);
    let reason = found.compared[0].reason.as_deref();
    assert_eq!(reason, Some("NEW failed: panic"));
    assert_eq!(found.gate.unwrap().verdict, GateVerdict::Inconclusive);
}

#[test]
fn other_machines_count_alike_and_time_differently() {
    let base = golden_run();
    let mut new = base.clone();
    new.environment.cpu = "another".to_owned();
    let found = both(&base, &new, &gated("1%"));
    assert_eq!(found.environment[0].key, "cpu");
    let doubted = |cell: &ComparedCell| {
        let mut doubts = cell.doubts.iter();
        doubts.any(|doubt| doubt.contains("measured differently: cpu differs"))
    };
    for cell in &found.compared {
        assert_eq!(doubted(cell), cell.metric.is_timed(), "{}", cell.title());
    }
    let trusting = trusting("1%");
    assert!(!both(&base, &new, &trusting).compared.iter().any(doubted));
}

#[test]
fn wrong_pairs_of_documents_are_refused() {
    let options = Options::default();
    let error = |a: &Document, b: &Document| {
        let error = try_both(a, b, &options).unwrap_err();
        assert!(error.hint().is_some());
        error.to_string()
    };
    let expected = "a.json is a run result file, but b.json is a profile result file";
    assert_eq!(error(&golden("run"), &golden("profile")), expected);
    let only = |metric| {
        let mut run = golden_run();
        run.warnings.clear();
        run.cells.retain(|cell| cell.key.metric == metric);
        run
    };
    let expected = "a.json contains instructions (instructions), but b.json contains time (ns): they \
                share no unit";
    let [counted, timed] = [Metric::Instructions, Metric::Time].map(only);
    assert_eq!(error(&counted, &timed), expected);
    let mut none = golden_run();
    none.warnings.clear();
    none.cells.clear();
    assert_eq!(error(&golden("run"), &none), "b.json has no measurements");
}

#[test]
fn cells_of_one_run_are_compared_along_an_axis() {
    let run = counted();
    let (name, document) = ("run.json", &run);
    let named = Named { name, document };
    let found = across(named, Axis::Stack, None, &default()).unwrap();
    assert_eq!(found.compared.len(), 4);
    assert_eq!(found.compared[0].difference, Some(1588.0));
    assert_eq!(found.base.name, "run.json: stack capability");
    let from = Some("capability,apparmor");
    let found = across(named, Axis::Stack, from, &default()).unwrap();
    assert_eq!(found.compared[0].difference, Some(4979.0 - 5386.0));
    let error = across(named, Axis::Kernel, None, &default()).unwrap_err();
    let expected = "all measurements in run.json have the same kernel: debian:6.1";
    assert_eq!(error.to_string(), expected);
    let error = across(named, Axis::Stack, Some("smack"), &default()).unwrap_err();
    let expected = "no measurement in run.json has the stack `smack`";
    assert!(error.to_string().contains(expected), "{error}");
    let (name, document) = ("p.json", &golden("profile"));
    let named = Named { name, document };
    assert!(across(named, Axis::Stack, None, &default()).is_err());
}

/// Tables get the verdicts from `with_baselines`, and a check gets them from `across`.
#[test]
fn a_run_gets_the_same_verdicts_however_it_is_asked() {
    let run = golden_run();
    let (name, document) = ("run.json", &run);
    let document = Named { name, document };
    let options = Options::default();
    let found = with_baselines(document, &options);
    assert_eq!(found.compared.len(), 8);
    let across = across(document, Axis::Stack, None, &options).unwrap();
    let measured = (across.compared.into_iter()).filter(|cell| cell.verdict != Verdict::Missing);
    type Row = (Place, Metric, String, Verdict, Option<f64>);
    let row = |cell: ComparedCell| -> Row {
        let title = cell.title();
        (
            cell.place,
            cell.metric,
            title,
            cell.verdict,
            cell.p_adjusted,
        )
    };
    let key = |row: &Row| (row.0.clone(), row.1, row.2.clone());
    let mut along: Vec<_> = measured.map(row).collect();
    let mut alike: Vec<_> = found.compared.clone().into_iter().map(row).collect();
    along.sort_by_key(key);
    alike.sort_by_key(key);
    assert_eq!(alike, along);

    let (baselines, judgements) = (Baselines::new(&run), Judgements::new(&run));
    let judged = run.cells.iter().filter_map(|cell| {
        let judged = judgements.verdict(baselines.baseline(cell)?, cell)?;
        (judged.verdict != Verdict::Missing).then_some((judged.verdict, judged.p_adjusted))
    });
    let compared = found.compared.iter();
    let compared = compared.map(|cell| (cell.verdict, cell.p_adjusted));
    assert_eq!(judged.collect::<Vec<_>>(), compared.collect::<Vec<_>>());
}

#[test]
fn many_cells_are_corrected_for() {
    let base = golden_run();
    let found = both(&base, &base, &Options::default());
    assert_eq!(found.judgement.tested, 6);
    assert!(found.compared.iter().all(|cell| cell.p_adjusted >= cell.p));
}

#[test]
fn budgets_speak_of_benchmarks() {
    let base = counted();
    let mut new = base.clone();
    for cell in 0..new.cells.len() {
        paths(&mut new, cell).dominant.instructions += 40;
    }
    let budget =
        "default = \"5%\"\n[limits]\n\"open\" = \"39 instructions\"\n\"st*:AA/*\" = \"0.5%\"\n";
    let options = Options {
        budget: Some(Budget::parse(budget).unwrap()),
        ..Options::default()
    };
    let found = both(&base, &new, &options);
    for cell in &found.compared {
        let verdict = cell.gate.as_ref().unwrap().verdict;
        assert_eq!(verdict, GateVerdict::Fail, "{}", cell.title());
    }
    for (toml, why) in [
        ("", "the budget has no limit"),
        ("default = \"1\"", "limit `1`: it has no unit"),
        ("default = \"-1%\"", "must begin with a number"),
        ("default = \"1 s\"", "unknown unit"),
        ("[limits]\n\"!open\" = \"1%\"", "its pattern excludes"),
        ("[limits]\n\"open:\" = \"1%\"", "no variant after the colon"),
        ("limit = 3", "unknown field"),
    ] {
        let error = Budget::parse(toml).unwrap_err();
        assert!(error.to_string().contains(why), "{toml}: {error}");
        assert!(error.hint().is_some());
    }
}
