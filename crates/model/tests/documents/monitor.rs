// SPDX-License-Identifier: GPL-2.0-or-later
//! The recording of a monitor: what is written is read back, and damage is named.

use std::collections::BTreeMap;

use crate::common::{self, contradiction, written};
use model::{
    Bucket, Calls, Document, Evidence, Interval, Kind, LeftOutFunction, MonitorCost, MonitorMode,
    Monitoring, Outcome, Percentiles, Warning, WarningKind, WatchedHook, WatchedSystemCall,
    WholeSystemCall,
};
use proptest::prelude::*;

fn calls(count: u64, sum_ns: i64) -> Calls {
    Calls {
        count,
        errors: 1,
        sum_ns: Some(sum_ns),
        min_ns: Some(110),
        max_ns: Some(20_000),
        percentiles_ns: Some(Percentiles {
            p50: 181.02,
            p90: 362.04,
            p99: 16_384.0,
        }),
    }
}

/// A framework function and an implementation, a count alone, and hostile names.
fn document() -> Document {
    let hook = |module: Option<&str>, function: &str| WatchedHook {
        hook: "inode_permission".to_owned(),
        function: function.to_owned(),
        module: module.map(str::to_owned),
        calls: calls(5, 24_000),
        errnos: BTreeMap::from([("EACCES".to_owned(), 1)]),
        histogram: vec![
            Bucket {
                from_ns: 128,
                to_ns: Some(256),
                count: 4,
            },
            Bucket {
                from_ns: 1 << 38,
                to_ns: None,
                count: 1,
            },
        ],
        system_calls: vec![
            WatchedSystemCall {
                system_call: "openat".to_owned(),
                calls: calls(3, 20_000),
            },
            WatchedSystemCall {
                system_call: "none".to_owned(),
                calls: calls(2, 4_000),
            },
        ],
    };
    let counted = WatchedHook {
        hook: "task_alloc\u{1b}[31m|\u{202e}<b>".to_owned(),
        function: "security_task_alloc".to_owned(),
        module: None,
        calls: Calls {
            count: 2,
            ..Calls::default()
        },
        errnos: BTreeMap::new(),
        histogram: Vec::new(),
        system_calls: vec![WatchedSystemCall {
            system_call: "clone".to_owned(),
            calls: Calls {
                count: 2,
                ..Calls::default()
            },
        }],
    };
    let monitoring = Monitoring {
        release: "6.12.94-cloud-amd64".to_owned(),
        active_lsms: vec!["capability".to_owned(), "selinux".to_owned()],
        scope: "the command ls -l".to_owned(),
        mode: MonitorMode::Histogram,
        cost: MonitorCost {
            added_ns: 180,
            within_ns: 95,
            rounds: 501,
        },
        memory_bytes: 1 << 20,
    };
    let intervals = [
        Interval {
            begin_s: 0.0,
            seconds: 1.0,
            hooks: vec![
                hook(None, "security_inode_permission"),
                hook(Some("selinux"), "selinux_inode_permission"),
            ],
            system_calls: vec![WholeSystemCall {
                system_call: "openat".to_owned(),
                count: 2,
                sum_ns: 160_000,
            }],
            lost: 0,
        },
        Interval {
            begin_s: 1.0,
            seconds: 0.5,
            hooks: vec![counted],
            lost: 3,
            ..Interval::default()
        },
    ];
    let cells = intervals.into_iter().zip(0..);
    let cells = cells.map(|(interval, number)| monitoring.cell(number, interval));
    Document {
        started: Some("2026-11-22T10:00:00Z".to_owned()),
        cells: cells.collect(),
        left_out: vec![LeftOutFunction {
            name: "inode_free_security".to_owned(),
            reason: "the kernel has no function for this hook".to_owned(),
        }],
        warnings: vec![Warning {
            cells: vec![1],
            ..Warning::new(WarningKind::LostCalls, "3 calls are in no figure")
        }],
        monitor: Some(monitoring),
        ..common::document(Kind::Recording, common::environment())
    }
}

#[test]
fn writer_keeps_to_the_golden_document() {
    common::keeps_to_golden("monitor", &document());
}

#[test]
fn intervals_are_cells_of_what_was_active() {
    let document = document();
    let intervals: Vec<&Interval> = document.intervals().collect();
    let hook = &intervals[0].hooks[0];
    assert_eq!((hook.denials(), hook.calls.mean_ns()), (1, Some(4_800.0)));
    assert_eq!(intervals[1].hooks[0].calls.mean_ns(), None);
    let cell = &document.cells[1];
    assert_eq!(cell.title(), "interval 1");
    assert_eq!(cell.configuration_title(), "capability,selinux");
    assert_eq!(cell.key.kernel, "6.12.94-cloud-amd64");
    assert_eq!(cell.headline(), None);
}

#[test]
fn intervals_add_up() {
    let document = document();
    let mut again = document.intervals().next().unwrap().clone();
    again.begin_s = 1.5;
    again.hooks[0].histogram[0].from_ns = 64;
    again.hooks[0].histogram[0].to_ns = Some(128);
    let total = Interval::sum(document.intervals().chain([&again]));
    assert_eq!((total.begin_s, total.seconds, total.lost), (0.0, 2.5, 3));
    assert_eq!(total.hooks.len(), 3);
    let hook = &total.hooks[0];
    assert_eq!(hook.function, "security_inode_permission");
    assert_eq!((hook.calls.count, hook.calls.sum_ns), (10, Some(48_000)));
    assert_eq!(hook.errnos["EACCES"], 2);
    assert_eq!(hook.system_calls[0].calls.count, 6);
    let whole = total.whole("openat").unwrap();
    assert_eq!((whole.count, whole.sum_ns), (4, 320_000));
    assert_eq!(total.whole("none"), None);
    // What is in no system call is no part of any.
    assert_eq!(total.share_of_system_calls(&hook.system_calls), Some(0.125));
    let counts: Vec<(u64, u64)> = hook
        .histogram
        .iter()
        .map(|b| (b.from_ns, b.count))
        .collect();
    assert_eq!(counts, [(64, 4), (128, 4), (1 << 38, 2)]);
    let percentiles = hook.calls.percentiles_ns.unwrap();
    assert!((128.0..256.0).contains(&percentiles.p50), "{percentiles:?}");
    assert_eq!(percentiles.p99, (1u64 << 38) as f64);
}

/// Buckets of powers of two, as a monitor has them.
fn histogram(times_ns: &[u64]) -> Vec<Bucket> {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for ns in times_ns {
        *counts.entry(u64::BITS - ns.leading_zeros()).or_default() += 1;
    }
    let buckets = counts.into_iter().map(|(bits, count)| Bucket {
        from_ns: if bits == 0 { 0 } else { 1 << (bits - 1) },
        to_ns: Some(1 << bits),
        count,
    });
    buckets.collect()
}

#[test]
fn percentiles_lie_between_the_bounds_on_a_logarithmic_scale() {
    assert_eq!(Percentiles::of(&[]), None);
    let one = Percentiles::of(&histogram(&[64; 100])).unwrap();
    assert!((one.p50 - 64.0 * 2f64.sqrt()).abs() < 1e-9, "{one:?}");
    assert!(one.p50 < one.p90 && one.p99 < 128.0, "{one:?}");
    let mut times_ns = vec![0; 60];
    times_ns.extend([1000; 40]);
    let two = Percentiles::of(&histogram(&times_ns)).unwrap();
    assert_eq!(two.p50, 0.0);
    assert!((512.0..1024.0).contains(&two.p90), "{two:?}");
}

fn of(document: &mut Document, cell: usize) -> &mut Interval {
    match &mut document.cells[cell].outcome {
        Outcome::Ok {
            evidence: Evidence::Calls(interval),
        } => interval,
        outcome => panic!("{outcome:?}"),
    }
}

#[test]
fn contradictions_are_refused() {
    let mut wrong = document();
    of(&mut wrong, 0).hooks[0].calls.count += 1;
    assert_eq!(
        contradiction(Document::parse(written(&wrong).as_bytes())),
        "recording: at measurements[0]: security_inode_permission was called 6 times, but 5 times by \
         system calls"
    );
    let golden = String::from_utf8(common::golden("monitor")).unwrap();
    let wrong = golden.replacen("\"count\":5", "\"count\":6", 1);
    let error = contradiction(Document::parse(wrong.as_bytes()));
    assert!(
        error.starts_with("recording: at measurements[0]: "),
        "{error}"
    );
    let mut wrong = document();
    of(&mut wrong, 1).seconds = -1.0;
    assert_eq!(
        contradiction(Document::parse(written(&wrong).as_bytes())),
        "recording: at measurements[1]: it does not last"
    );
    let mut wrong = document();
    wrong.monitor = None;
    assert_eq!(
        contradiction(Document::parse(written(&wrong).as_bytes())),
        "recording: at the top: it has no monitor"
    );
}

proptest! {
    #[test]
    fn percentiles_rise_and_are_off_by_less_than_two(
        mut times_ns in proptest::collection::vec(1u64..1 << 37, 1..200),
    ) {
        let found = Percentiles::of(&histogram(&times_ns)).unwrap();
        times_ns.sort_unstable();
        for (share, estimate) in [(0.5, found.p50), (0.9, found.p90), (0.99, found.p99)] {
            let rank = (share * times_ns.len() as f64).ceil().max(1.0) as usize - 1;
            let exact = times_ns[rank] as f64;
            prop_assert!(estimate <= 2.0 * exact && exact <= 2.0 * estimate, "{exact} {estimate}");
        }
        prop_assert!(found.p50 <= found.p90 && found.p90 <= found.p99);
    }
}
