// SPDX-License-Identifier: GPL-2.0-or-later
//! The evidence that the cells of golden documents give a comparison.

use compare::Options;
use compare::judge::{Measured, figures, unexplained};
use model::comparison::EventChange;
use model::{Document, Events, HookCaller, Metric};

use crate::common::{both, counted, golden, paths, try_both};

fn measured(run: &Document, cell: usize) -> Measured {
    figures(&run.cells[cell], run).remove(0).1
}

#[test]
fn stable_counts_are_exact_and_others_are_windows() {
    let mut run = golden("run");
    let open = measured(&run, 0);
    assert_eq!((open.value, open.exact), (Some(4979.0), true));
    let set_regions = |run: &mut Document, regions, others| {
        let paths = paths(run, 1);
        (paths.regions, paths.others[0].regions) = (regions, others);
        assert_eq!(paths.dominant.regions, 59);
    };
    set_regions(&mut run, 200, 5);
    let stat = measured(&run, 1);
    assert!(!stat.exact && stat.samples.is_empty(), "paths are missing");
    set_regions(&mut run, u64::MAX, u64::MAX - 59);
    assert!(measured(&run, 1).samples.is_empty());
    set_regions(&mut run, 120, 61);
    assert_eq!(measured(&run, 1).samples.len(), 120);
    for (regions, exact) in [(88, true), (89, false), (118, false), (119, false)] {
        set_regions(&mut run, regions, regions - 59);
        assert_eq!(measured(&run, 1).exact, exact, "59 of {regions}");
    }
}

#[test]
fn rounds_are_shares_of_the_samples() {
    let mut run = golden("run");
    let mut cells = run.cells.iter();
    let time = cells.position(|cell| cell.key.metric == Metric::Time);
    let time = time.unwrap();
    let set_samples = |run: &mut Document, samples| {
        let experiment = run.experiment.as_mut().unwrap();
        (experiment.rounds, experiment.samples.time) = (3, samples);
    };
    let timed = run.cells[time].timed_mut().unwrap();
    timed.estimate.samples = Some(vec![1.0, 2.0, 3.0, 10.0, 20.0, 7.0, 7.0]);
    set_samples(&mut run, 7);
    assert_eq!(measured(&run, time).rounds, [2.0, 15.0, 7.0]);
    set_samples(&mut run, 8);
    assert!(measured(&run, time).rounds.is_empty());
    run.experiment = None;
    assert!(measured(&run, time).rounds.is_empty());
}

#[test]
fn what_has_a_reason_is_explained() {
    let document = golden("profile");
    let [(_, alone, _), (_, compared, _)] = document.hooked().collect::<Vec<_>>()[..] else {
        panic!("{document:#?}")
    };
    assert_eq!(unexplained(alone).count(), 0);
    // Each cell has 64 measured regions.
    for (own, of_base, expected) in [(43, 43, 1), (42, 60, 0), (60, 42, 0)] {
        let mut counted = compared.clone();
        counted.hooked.as_mut().unwrap().regions = own;
        counted.residual.as_mut().unwrap().path.regions = of_base;
        let count = unexplained(&counted).count();
        assert_eq!(count, expected, "{own} and {of_base}");
        assert!(unexplained(&counted).all(|difference| difference.function == "kfree"));
    }
}

#[test]
fn hooks_are_ranked_and_sum_up() {
    let base = golden("profile");
    let mut new = base.clone();
    let cell = new.cells[0].counted_mut().unwrap();
    let path = cell.hooked.as_mut().unwrap();
    let hook = &mut path.hooks[0];
    hook.calls += 1;
    hook.called_by.push(HookCaller {
        function: "may_open".to_owned(),
        calls: 1,
    });
    hook.inclusive += 30;
    hook.outermost += 30;
    hook.dispatch += 2;
    hook.implementations[0].inclusive += 28;
    path.hooked += 30;
    path.total += 37;
    let options = Options {
        explain: true,
        ..Options::default()
    };
    let found = try_both(&base, &new, &options).unwrap();
    let explained = &found.explanations[0];
    let parts = (explained.difference, explained.hooked, explained.residual);
    assert_eq!(parts, (37, 30, 7));
    assert_eq!(explained.hooks[0].difference, 30);
    assert_eq!(explained.hooks[0].dispatch, 2);
    let caller = &explained.hooks[0].callers[0];
    let called = (&*caller.function, caller.base_calls, caller.new_calls);
    assert_eq!(called, ("may_open", 0, 1));
    assert_eq!(explained.hooks[0].implementations[0].difference, 28);
    // The same number of instructions may do different work.
    let mut does = base.clone();
    let mut does_more = base.clone();
    for (document, atomics) in [(&mut does, 13), (&mut does_more, 14)] {
        let cell = document.cells[0].counted_mut().unwrap();
        let path = cell.hooked.as_mut().unwrap();
        let events = Events {
            atomics,
            ..Events::default()
        };
        (path.events, path.hooks[0].events) = (Some(events), Some(events));
    }
    let found = try_both(&does, &does_more, &options).unwrap();
    let explained = &found.explanations[0];
    assert_eq!((found.explanations.len(), explained.difference), (1, 0));
    let change = EventChange {
        event: "atomics".to_owned(),
        base: 13,
        new: 14,
    };
    assert_eq!(explained.events, std::slice::from_ref(&change));
    assert_eq!(explained.hooks[0].events, [change]);
    // If one side has no events, they are not compared.
    let silent = try_both(&base, &does_more, &options).unwrap();
    assert!(silent.explanations.is_empty());
    // If a run has no hooks, a note names the option that counts them.
    let mut changed = counted();
    paths(&mut changed, 0).dominant.instructions += 1;
    let found = both(&counted(), &changed, &options);
    assert!(found.notes[0].contains("--with-hooks"), "{:?}", found.notes);
}
