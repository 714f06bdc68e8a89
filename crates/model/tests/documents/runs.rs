// SPDX-License-Identifier: GPL-2.0-or-later
//! Result files with measurements: values come back exactly.

use crate::common::{self, written};
use model::{
    Architecture, ComparisonDocument, Delay, Document, Estimate, Evidence, Experiment, Metric,
    Outcome, PathCall, PathTree, Slope, Status, Stored, SweepFindings, Timed,
};
use proptest::prelude::*;

fn parse(document: &Document) -> Result<Document, model::DocumentError> {
    Document::parse(written(document).as_bytes())
}

#[test]
fn figures_speak_for_their_cells() {
    let run = common::run();
    let text = written(&run);
    let lines = text.lines().filter(|line| line.starts_with("{\"key\":"));
    assert_eq!(lines.count(), run.cells.len());
    let open = &run.cells[0];
    let shown = (open.title(), open.headline());
    assert_eq!(shown, ("open:AA/BB".to_owned(), Some(4979.0)));
    assert_eq!(open.key.architecture, Architecture::X86_64);
    // The dominant path is the value, whatever the median of all measured regions.
    assert_eq!(run.cells[1].headline(), Some(3317.0));
    assert_eq!(run.cells[6].headline(), None);
    let median = run.cells[8].estimate().map(|estimate| estimate.median);
    assert_eq!(run.cells[8].headline(), median);
    assert_eq!(run.cells[8].key.metric, Metric::Time);
    assert_eq!(run.cells[6].status(), Status::Unsupported);
    let reason = "user.* attributes: Operation not supported (95)";
    assert_eq!(run.cells[6].reason(), Some(reason));
}

#[test]
fn what_aa_runs_found_is_part_of_a_run() {
    let comparison = ComparisonDocument::parse(&common::golden("comparison")).unwrap();
    assert_eq!(comparison.compared[0].title(), "open:AA/BB");
    let mut run = common::run();
    run.aa = comparison.aa;
    assert_eq!(parse(&run).unwrap(), run);
    run.aa.as_mut().unwrap().metrics[0].alarms = 31;
    let error = parse(&run).unwrap_err().to_string();
    let expected = "run result file: at aa: time: more alarms than comparisons";
    assert_eq!(error, expected);
}

#[test]
fn profiles_tell_their_paths() {
    let document = common::document("profile");
    let [(open, alone, path), (_, compared, _)] = document.hooked().collect::<Vec<_>>()[..] else {
        panic!("{document:#?}")
    };
    assert_eq!((open.title().as_str(), path.hooked), ("open:AA", 1040));
    assert_eq!(open.headline(), Some(6567.0));
    assert!(alone.is_comparable());
    assert_eq!((compared.regions(), compared.dirty()), (64, 3));
    // Of 64 measured regions two thirds are 43, on both sides.
    for (own, base, expected) in [(43, 43, true), (42, 43, false), (43, 42, false)] {
        let mut counted = compared.clone();
        counted.hooked.as_mut().unwrap().regions = own;
        counted.residual.as_mut().unwrap().path.regions = base;
        assert_eq!(counted.is_comparable(), expected, "{own} and {base}");
    }
    assert_eq!(document.cells[2].title(), "fsetxattr");
}

#[test]
fn a_profile_may_say_what_was_asked_for_and_when() {
    let (run, profile) = (common::run(), common::document("profile"));
    let asked = Document {
        started: run.started,
        finished: run.finished,
        experiment: run.experiment,
        ..profile.clone()
    };
    let read = parse(&asked).unwrap();
    assert_eq!(read, asked);
    let base = read.baseline_of(&read.cells[0].key).unwrap();
    assert_eq!(base.stack, ["capability"]);
    assert_eq!(profile.baseline_of(&read.cells[0].key), None);
    let rounds = |experiment: Experiment| experiment.rounds;
    assert_eq!(read.experiment.map(rounds), Some(3));
}

/// The profile with all calls of a path of 6,567 instructions, as in the first measurement.
fn with_tree(change: fn(&mut PathTree)) -> Document {
    let mut tree = PathTree {
        functions: common::names(&["do_syscall_64", "security_inode_permission"]),
        nodes: vec![
            PathCall::from((0, 0, 0, 0)),
            PathCall::from((0, 0, 1, 5667)),
            PathCall::from((1, 1, 2, 900)),
        ],
        hooks: vec![2, 2],
    };
    change(&mut tree);
    let mut document = common::document("profile");
    document.cells[0].counted_mut().unwrap().tree = Some(tree);
    document
}

#[test]
fn a_path_may_keep_its_calls() {
    let document = with_tree(|_| {});
    let compact: String = written(&document).split_whitespace().collect();
    assert!(compact.contains(r#""nodes":[[0,0,0,0],[0,0,1,5667],[1,1,2,900]]"#));
    let read = parse(&document).unwrap();
    assert_eq!(read, document);
    let kept = read.cells[0].counted().unwrap().tree.as_ref().unwrap();
    assert_eq!(kept.function(&kept.nodes[2]), "security_inode_permission");
    assert_eq!(kept.function(&PathCall::from((0, 9, 1, 1))), "");
}

#[test]
fn calls_that_no_path_has_are_refused() {
    type Change = fn(&mut PathTree);
    let wrong: [(Change, &str); 7] = [
        (|tree| tree.nodes.clear(), "its call tree has no root"),
        (|tree| tree.nodes[0].caller = 1, "its call tree has no root"),
        (
            |tree| tree.nodes[1].caller = 1,
            "call 1 (do_syscall_64) of its tree has no caller",
        ),
        (
            |tree| tree.nodes[2].function = 7,
            "call 2 () of its tree has no caller",
        ),
        (|tree| tree.hooks[1] = 3, "hook 3 is not in its call tree"),
        (
            |tree| tree.nodes[2].instructions = u64::MAX,
            "a path has 6567 instructions, but its calls have 18446744073709557282",
        ),
        (
            |tree| tree.hooks = vec![0; PathTree::HOOKS_LIMIT + 1],
            "its call tree is too large",
        ),
    ];
    for (change, expected) in wrong {
        let error = parse(&with_tree(change)).unwrap_err().to_string();
        let place = "profile result file: at measurements[0]: ";
        assert_eq!(error, format!("{place}{expected}"));
    }
    let mut document = with_tree(|_| {});
    document.cells[0].counted_mut().unwrap().hooked = None;
    let error = parse(&document).unwrap_err().to_string();
    assert!(error.ends_with("a tree of calls without hooks"), "{error}");
}

#[test]
fn slopes_tell_what_they_are_over() {
    let document = common::document("sensitivity");
    let [(whole, of_whole, _), (_, of_part, part), (_, of_cold, cold)] =
        document.slopes().collect::<Vec<_>>()[..]
    else {
        panic!("{document:#?}")
    };
    assert_eq!(whole.title(), "open:AA/BB");
    assert_eq!(whole.headline(), Some(3.000_4));
    let wholes = [of_whole, of_part, of_cold].map(Delay::is_whole);
    assert_eq!(wholes, [true, false, true]);
    assert_eq!(cold.difference(), Some(3.000_4 - 4.0));
    assert!(cold.differs());
    assert_eq!(part.difference(), None, "nothing was counted");
    assert_eq!(document.cells[3].title(), "fsetxattr");
    assert_eq!(document.cells[3].headline(), None);
    // The key `sweep` may be missing.
    let mut alone = document;
    alone.sweep = None;
    alone.warnings.clear();
    let read = parse(&alone).unwrap();
    assert_eq!(*read.findings(), SweepFindings::default());
    assert_eq!(read, alone);
}

fn figures() -> impl Strategy<Value = f64> {
    prop_oneof![Just(f64::MAX), Just(-0.0), -1e6f64..1e6, any::<f64>()]
        .prop_filter("JSON has finite numbers only", |figure| figure.is_finite())
}

proptest! {
    #[test]
    fn figures_come_back_exactly(median in 0.0f64..1e15, spread in 0.0f64..1e3) {
        let mut run = common::run();
        let samples = [median, median + spread, median + spread / 3.0];
        let estimate = Estimate::from(&stats::Summary::from_samples(&samples).unwrap());
        run.cells[8].outcome = Evidence::Timed(Timed::new(estimate)).into();
        prop_assert_eq!(parse(&run).unwrap(), run);
    }

    #[test]
    fn slopes_and_texts_come_back_exactly(
        words in ("\\PC{0,6}", "\\PC{0,6}"),
        [a, b, c, d] in [figures(), figures(), figures(), figures()],
    ) {
        let mut document = common::document("sensitivity");
        let Outcome::Ok { evidence: Evidence::Slope(slope) } = &mut document.cells[0].outcome else {
            unreachable!()
        };
        *slope = Slope {
            slope: a,
            ci95: [b, c],
            intercept: d,
            counted: Some(a),
            explanation: Some(words.0),
            ..slope.clone()
        };
        slope.points[0].median = b;
        document.cells[0].release = words.1;
        prop_assert_eq!(parse(&document).unwrap(), document);
    }
}
