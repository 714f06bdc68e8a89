// SPDX-License-Identifier: GPL-2.0-or-later
//! What the golden documents' cells hold for a judge.

use compare::judge::{Measured, figures, unexplained};
use model::{Document, Metric};

fn golden() -> Document {
    Document::parse(include_bytes!("../../../model/tests/golden/run.json")).unwrap()
}

fn measured(run: &Document, cell: usize) -> Measured {
    figures(&run.cells[cell], run).remove(0).1
}

#[test]
fn stable_counts_are_exact_and_others_are_windows() {
    let mut run = golden();
    let open = measured(&run, 0);
    assert_eq!((open.value, open.exact), (Some(4979.0), true));
    let of = |run: &mut Document, regions, others| {
        let paths = run.cells[1].counted_mut().unwrap().paths.as_mut().unwrap();
        (paths.regions, paths.others[0].regions) = (regions, others);
        assert_eq!(paths.dominant.regions, 59);
    };
    of(&mut run, 200, 5);
    let stat = measured(&run, 1);
    assert!(!stat.exact && stat.samples.is_empty(), "paths are missing");
    of(&mut run, u64::MAX, u64::MAX - 59);
    assert!(measured(&run, 1).samples.is_empty());
    of(&mut run, 120, 61);
    assert_eq!(measured(&run, 1).samples.len(), 120);
    for (regions, exact) in [(88, true), (89, false), (118, false), (119, false)] {
        of(&mut run, regions, regions - 59);
        assert_eq!(measured(&run, 1).exact, exact, "59 of {regions}");
    }
}

#[test]
fn rounds_are_shares_of_the_samples() {
    let mut run = golden();
    let mut cells = run.cells.iter();
    let time = cells.position(|cell| cell.key.metric == Metric::Time);
    let time = time.unwrap();
    let of = |run: &mut Document, samples| {
        let experiment = run.experiment.as_mut().unwrap();
        (experiment.rounds, experiment.samples.time) = (3, samples);
    };
    let timed = run.cells[time].timed_mut().unwrap();
    timed.estimate.samples = Some(vec![1.0, 2.0, 3.0, 10.0, 20.0, 7.0, 7.0]);
    of(&mut run, 7);
    assert_eq!(measured(&run, time).rounds, [2.0, 15.0, 7.0]);
    of(&mut run, 8);
    assert!(measured(&run, time).rounds.is_empty());
    run.experiment = None;
    assert!(measured(&run, time).rounds.is_empty());
}

#[test]
fn what_has_a_reason_is_explained() {
    let golden = include_bytes!("../../../model/tests/golden/profile.json");
    let document = Document::parse(golden).unwrap();
    let [(_, alone, _), (_, compared, _)] = document.hooked().collect::<Vec<_>>()[..] else {
        panic!("{document:#?}")
    };
    assert_eq!(unexplained(alone).count(), 0);
    // Of 64 measured regions each.
    for (own, of_base, expected) in [(43, 43, 1), (42, 60, 0), (60, 42, 0)] {
        let mut counted = compared.clone();
        counted.hooked.as_mut().unwrap().regions = own;
        counted.residual.as_mut().unwrap().path.regions = of_base;
        assert_eq!(
            unexplained(&counted).count(),
            expected,
            "{own} and {of_base}"
        );
        assert!(unexplained(&counted).all(|of| of.function == "kfree"));
    }
}
