// SPDX-License-Identifier: GPL-2.0-or-later
//! A small recording as tables and CSV, and contradictory recordings.

use model::{Document, Evidence, Interval, MonitorMode, Monitoring, Outcome};
use proptest::prelude::*;
use report::{Layout, csv, markdown, monitor_records, monitor_report, terminal};

fn document() -> Document {
    let golden = include_bytes!("../../../model/tests/golden/monitor.json");
    Document::parse(golden).unwrap()
}

fn monitor(document: &mut Document) -> &mut Monitoring {
    document.monitor.as_mut().unwrap()
}

fn first_interval(document: &mut Document) -> &mut Interval {
    let Outcome::Ok {
        evidence: Evidence::Calls(interval),
    } = &mut document.cells[0].outcome
    else {
        panic!("no interval");
    };
    interval
}

fn shown(document: &Document, rows: Option<usize>) -> String {
    crate::shown(&monitor_report(document, rows))
}

#[test]
fn hooks_with_percentiles() {
    insta::assert_snapshot!(shown(&document(), None));
}

#[test]
fn hooks_with_times() {
    let mut timed = document();
    monitor(&mut timed).mode = MonitorMode::Time;
    insta::assert_snapshot!(shown(&timed, Some(1)));
}

#[test]
fn hooks_counted_in_markdown() {
    let mut counted = document();
    monitor(&mut counted).mode = MonitorMode::Count;
    let report = monitor_report(&counted, None);
    insta::assert_snapshot!(markdown(&report));
}

#[test]
fn rows_of_csv_are_functions_and_system_calls() {
    let text = crate::written(monitor_records(&document()));
    assert_eq!(
        text.lines().next().unwrap(),
        "begin_s,seconds,hook,function,module,system_call,count,errors,errnos,sum_ns,mean_ns,\
         min_ns,max_ns,p50_ns,p90_ns,p99_ns,whole_count,whole_ns"
    );
    insta::assert_snapshot!(text);
}

#[test]
fn nothing_was_called() {
    let mut nothing = document();
    nothing.cells.clear();
    nothing.warnings.clear();
    insta::assert_snapshot!(shown(&nothing, None));
}

proptest! {
    #[test]
    fn whatever_it_says_is_printable(name in ".*", count: u64, sum_ns: i64, seconds in 0.0f64..1e12) {
        let mut hostile = document();
        monitor(&mut hostile).scope.clone_from(&name);
        let interval = first_interval(&mut hostile);
        interval.seconds = seconds;
        let hook = &mut interval.hooks[0];
        hook.hook.clone_from(&name);
        hook.calls.count = count;
        hook.calls.sum_ns = Some(sum_ns);
        hook.system_calls[0].system_call = name;
        let layout = Layout { width: Some(100), colour: false };
        let text = terminal(&monitor_report(&hostile, Some(0)), &layout);
        prop_assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
        let mut bytes = Vec::new();
        csv(monitor_records(&hostile), &mut bytes).unwrap();
    }
}
