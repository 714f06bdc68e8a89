// SPDX-License-Identifier: GPL-2.0-or-later
//! Comparisons of runs of the same kernel, between which nothing changed.

use compare::{Options, aa, keep_figures};
use model::comparison::{GateVerdict, Method, Verdict};
use model::{AaLayouts, Document, PathCount};
use stats::SplitMix64;

use crate::common::{both, counted, gated, paths, timed, trusting};

#[test]
fn runs_without_a_change_show_the_noise() {
    let mut random = SplitMix64::new(13);
    let runs: Vec<Document> = (0..4).map(|_| timed(&mut random, 400.0, 5, 0.02)).collect();
    let report = aa(&runs, &Options::default()).unwrap();
    let metric = &report.metrics[0];
    assert_eq!((report.runs, metric.pairs, metric.cells), (4, 6, 6));
    assert!(metric.largest > 0.0 && metric.detectable > 0.0 && metric.rate_at_most > metric.rate);
}

#[test]
fn a_difference_must_stand_out_from_what_runs_differ_by() {
    let mut random = SplitMix64::new(29);
    let mut levels = [392.0, 400.0, 404.0, 396.0, 410.0, 399.0]
        .map(|level| timed(&mut random, level, 5, 0.0))
        .to_vec();
    let new = levels.pop().unwrap();
    let mut base = levels[0].clone();
    let plain = both(&base, &new, &gated("1%"));
    assert_eq!(plain.compared[0].verdict, Verdict::Worse);
    // A gate does not trust times until more runs are known.
    assert!(plain.compared[0].doubts[0].contains("lsmeter run --aa"));
    let gate = plain.gate.as_ref().unwrap().verdict;
    assert_eq!(gate, GateVerdict::Inconclusive);
    let trusting = trusting("1%");
    let trusted = both(&base, &new, &trusting);
    assert_eq!(trusted.gate.unwrap().verdict, GateVerdict::Fail);
    keep_figures(&mut base, &levels);
    assert_eq!(base.cells[0].timed().unwrap().runs.len(), 5);
    let known = both(&base, &new, &gated("10%"));
    let cell = &known.compared[0];
    let actual = (cell.method, cell.verdict);
    assert_eq!(actual, (Method::Runs, Verdict::Unclear));
    assert!(cell.doubts.is_empty(), "{:?}", cell.doubts);
    assert!(cell.detectable.unwrap() > plain.compared[0].detectable.unwrap());
    let much = both(&base, &timed(&mut random, 480.0, 5, 0.0), &gated("10%"));
    assert_eq!(much.compared[0].verdict, Verdict::Worse);
    // The lower end of the interval decides. The interval includes the spread of the runs.
    let [low, high] = much.compared[0].ci95.unwrap();
    assert!(0.1 < low && low < 0.2 && high > 0.23, "{low} {high}");
    assert_eq!(much.gate.unwrap().verdict, GateVerdict::Fail);
    // Every pair is compared, and the other three runs are known.
    let report = aa(&levels, &Options::default()).unwrap();
    let metric = &report.metrics[0];
    assert_eq!((metric.pairs, metric.alarms), (10, 0));
    let pair = aa(&levels[..2], &Options::default()).unwrap();
    assert_eq!(pair.metrics[0].alarms, 1);
}

#[test]
fn counts_that_vary_between_machines_have_an_interval_over_them() {
    let figure = |add: u64| {
        let mut run = counted();
        paths(&mut run, 2).dominant.instructions += add;
        run
    };
    let machines = [0, 7, 2, 5].map(figure);
    let mut run = machines[0].clone();
    assert!(run.cells[2].is_exact());
    keep_figures(&mut run, &machines);
    let cell = &run.cells[2];
    let first = machines[0].cells[2].headline().unwrap();
    assert!(!cell.is_exact() && run.cells[1].is_exact());
    assert_eq!(cell.headline(), Some(first + 3.5));
    let [low, high] = cell.estimate().unwrap().ci95.unwrap();
    // Student's t of 3 degrees of freedom times the standard error of 0, 7, 2, 5.
    let reach = 3.182 * 3.109 / 2.0;
    assert!((high - first - 3.5 - reach).abs() < 0.01, "{low} {high}");
    // A difference as large as that between machines is not a change; a larger one is.
    for (add, verdict) in [(9, Verdict::Unclear), (900, Verdict::Worse)] {
        let found = both(&run, &figure(add), &Options::default());
        let cell = &found.compared[2];
        assert_eq!(
            (cell.method, cell.verdict),
            (Method::Runs, verdict),
            "{add}"
        );
    }
    let report = aa(&machines, &Options::default()).unwrap();
    assert_eq!((report.metrics[0].pairs, report.metrics[0].alarms), (6, 0));
}

#[test]
fn machines_that_do_not_vary_add_nothing() {
    let run = |lead: u64, other: u64| {
        let mut run = counted();
        let paths = paths(&mut run, 2);
        let rare = PathCount {
            instructions: other,
            regions: 16,
            ..paths.dominant
        };
        paths.dominant.instructions = lead;
        paths.dominant.regions = 44;
        (paths.others, paths.regions) = (vec![rare], 60);
        run.cells[2].counted_mut().unwrap().machines = vec![lead as f64; 2];
        run
    };
    let found = both(&run(1000, 1010), &run(1010, 1000), &Options::default());
    let cell = &found.compared[2];
    assert_eq!(
        (cell.method, cell.verdict),
        (Method::Paths, Verdict::Unclear)
    );
}

/// A run of one cell on eight layouts. Each layout has its own level. `longer` is the share by
/// which a round of a layout takes longer.
fn of_layouts(random: &mut SplitMix64, longer: impl Fn(u32, u32) -> f64) -> Document {
    let mut run = timed(random, 400.0, 4, 0.0);
    let cell = run.cells.pop().unwrap();
    run.cells = (1..=8)
        .map(|layout| {
            let mut cell = cell.clone();
            cell.key.kernel = format!("build:um.{layout}");
            let level = 400.0 + 20.0 * random.unit();
            let rounds = (0..4).map(|round| {
                let noise = 1.0 + 0.005 * random.unit();
                level * noise * (1.0 + longer(layout, round))
            });
            cell.timed_mut().unwrap().quiet = rounds.collect();
            cell
        })
        .collect();
    run
}

/// The report on layouts from an A/A comparison of two such runs.
fn report_of_layouts(random: &mut SplitMix64, longer: impl Fn(u32, u32) -> f64) -> AaLayouts {
    let runs = [0; 2].map(|_| of_layouts(random, &longer));
    layout_report(&runs)
}

fn layout_report(runs: &[Document]) -> AaLayouts {
    let report = aa(runs, &Options::default()).unwrap();
    let [report] = <[AaLayouts; 1]>::try_from(report.layouts).unwrap();
    report
}

#[test]
fn intervals_over_layouts_are_held_against_no_difference() {
    let mut random = SplitMix64::new(7);
    let report = report_of_layouts(&mut random, |_, _| 0.0);
    assert_eq!(
        (&*report.kernel, report.layouts, report.rounds),
        ("build:um", 8, 4)
    );
    assert_eq!((report.intervals, report.getppid_largest_ns), (1, None));
    assert!(
        (1e-9..0.01).contains(&report.half_width_median),
        "{report:?}"
    );
    // A round without a counterpart is ignored.
    let even = [0; 2].map(|_| of_layouts(&mut random, |_, _| 0.0));
    let mut odd = even.clone();
    for cell in &mut odd[1].cells {
        cell.timed_mut().unwrap().quiet.push(100.0);
    }
    assert_eq!(
        layout_report(&even).half_width_median,
        layout_report(&odd).half_width_median
    );
    // Every other round is slower. The slow rounds go to one name in one layout, and to the other
    // name in the next.
    let drifting = report_of_layouts(&mut random, |_, round| 0.1 * f64::from(round % 2));
    assert_eq!(drifting.false_intervals, 0);
    assert!(drifting.half_width_median > 0.01, "{drifting:?}");
    // If one name gets the slow rounds in every layout, there is a false difference.
    let unlike = report_of_layouts(&mut random, |layout, round| {
        0.1 * f64::from((layout + round) % 2)
    });
    assert_eq!(unlike.false_intervals, 1);
}
