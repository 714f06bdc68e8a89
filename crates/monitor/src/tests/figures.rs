// SPDX-License-Identifier: GPL-2.0-or-later
//! Histograms, differences, sizes and the calibration's arithmetic.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::MonitorCost;
use proptest::prelude::*;

use crate::calibrate::{around_ns, median};
use crate::hooks::Probe;
use crate::layout::{BUCKETS, Layout, bounds_ns, bucket_of};
use crate::{Figures, HookFigures, Snapshot};
use kernels::btf::{Function, Returns};

fn buckets(ns: u64, calls: u64) -> Vec<u64> {
    let mut buckets = vec![0; BUCKETS];
    buckets[bucket_of(ns)] = calls;
    buckets
}

#[test]
fn buckets_are_powers_of_two() {
    for (ns, bucket) in [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (255, 8), (256, 9)] {
        assert_eq!(bucket_of(ns), bucket, "{ns}");
    }
    assert_eq!(bucket_of((1 << 38) - 1), 38);
    assert_eq!(bucket_of(1 << 38), 39);
    assert_eq!(bucket_of(u64::MAX), 39);
    assert_eq!(bounds_ns(0), (0, Some(1)));
    assert_eq!(bounds_ns(39), (1 << 38, None));
}

proptest! {
    #[test]
    fn a_bucket_holds_its_times(ns: u64) {
        let (low, high) = bounds_ns(bucket_of(ns));
        prop_assert!(low <= ns && high.is_none_or(|high| ns < high));
    }
}

fn probe() -> Arc<Probe> {
    Arc::new(Probe {
        hook: "inode_permission".to_owned(),
        module: None,
        function: Function {
            id: 1,
            name: "security_inode_permission".to_owned(),
            argument_words: 2,
            returns: Returns::Int,
        },
    })
}

fn snapshot(taken: Instant, calls: &[(u16, u64, i64)], denials: u64) -> Snapshot {
    let system_calls = calls.iter().map(|&(call, count, sum_ns)| {
        let figures = Figures {
            count,
            errors: denials,
            sum_ns,
            min_ns: Some(3),
            max_ns: Some(9),
            buckets: buckets(5, count),
        };
        (call, figures)
    });
    Snapshot {
        taken,
        elapsed: Duration::ZERO,
        hooks: vec![HookFigures {
            probe: probe(),
            system_calls: system_calls.collect(),
            errnos: BTreeMap::from([(13, denials)]),
        }],
        wholes: calls
            .iter()
            .map(|&(call, count, sum_ns)| (call, whole(count, 10 * sum_ns)))
            .collect(),
        lost: [0, denials, 0, 0],
        pairs_refused: 0,
    }
}

fn whole(count: u64, sum_ns: i64) -> Figures {
    Figures {
        count,
        sum_ns,
        ..Figures::default()
    }
}

#[test]
fn a_difference_has_what_came_between() {
    let (stat, read) = (4, 0);
    let start = Instant::now();
    let first = snapshot(start, &[(stat, 10, 100)], 2);
    let later = start + Duration::from_secs(1);
    let second = snapshot(later, &[(stat, 15, 90), (read, 1, 5)], 7);
    let between = second.since(&first);
    assert_eq!(between.elapsed, Duration::from_secs(1));
    let hook = &between.hooks[0];
    assert_eq!(hook.system_calls[&stat].count, 5);
    assert_eq!(hook.system_calls[&stat].sum_ns, -10);
    assert_eq!(hook.system_calls[&stat].errors, 5);
    assert_eq!(hook.system_calls[&stat].min_ns, None);
    assert_eq!(hook.system_calls[&stat].buckets, buckets(5, 5));
    // All calls are new, so that the extremes are known.
    assert_eq!(hook.system_calls[&read].min_ns, Some(3));
    assert_eq!(hook.errnos, BTreeMap::from([(13, 5)]));
    assert_eq!(
        between.wholes,
        BTreeMap::from([(stat, whole(5, -100)), (read, whole(1, 50))])
    );
    assert_eq!(between.lost_calls(), 5);
    let total = hook.total();
    assert_eq!((total.count, total.sum_ns), (6, -5));
    assert!(second.since(&second).hooks[0].system_calls.is_empty());
}

#[test]
fn memory_is_bounded_by_what_is_configured() {
    let layout = Layout::new(273, 2, 4096, 5, false).unwrap();
    assert_eq!(layout.rows, 273 + 4096 + 1);
    assert_eq!(layout.stride, 176_128);
    assert_eq!(layout.last_row(), 176_128 / 8 + 4369 * 5);
    // Rows, their index, errors, stacks; and four pages.
    let parts = 2 * 176_128 + 561_322usize.next_multiple_of(4096) + 294_912 + (1 << 20) + 4 * 4096;
    assert_eq!(layout.memory_bytes(), parts);
    let with_targets = Layout::new(273, 2, 4096, 5, true).unwrap();
    assert_eq!(with_targets.memory_bytes() - parts, (512 << 10) - 4096);
    let whole_calls = (2 * 514 * 16usize).next_multiple_of(4096) + (32 << 20);
    let with_system_calls = Layout {
        system_calls: true,
        ..layout
    };
    assert_eq!(with_system_calls.last_whole(), 2 * 514 * 2 - 2);
    assert_eq!(
        with_system_calls.memory_bytes() - parts,
        whole_calls - 2 * 4096
    );
    assert_eq!(Layout::new(273, 1024, 1 << 20, 45, false), None);
    assert_eq!(Layout::new(usize::MAX, 1, 1, 1, false), None);
    assert_eq!(Layout::new(1, 0, 1, 1, false), None);
}

#[test]
fn medians_are_not_moved_by_outliers() {
    assert_eq!(median(&mut []), 0);
    assert_eq!(median(&mut [5]), 5);
    assert_eq!(median(&mut [9_999_999, 7, 6, 8, 7]), 7);
    let cost = MonitorCost {
        added_ns: 500,
        within_ns: 200,
        rounds: 1,
    };
    assert_eq!(around_ns(&cost), 300);
}
