// SPDX-License-Identifier: GPL-2.0-or-later
//! The recording of a monitor: its intervals add up.

use std::collections::BTreeMap;

use crate::common;
use model::{Bucket, Interval, Percentiles};
use proptest::prelude::*;

#[test]
fn intervals_are_cells_of_what_was_active() {
    let document = common::document("monitor");
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
    let document = common::document("monitor");
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
    // Calls outside system calls are not part of any system call.
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

/// Buckets of powers of two, as in a recording.
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
    assert_eq!(Percentiles::from_histogram(&[]), None);
    let one = Percentiles::from_histogram(&histogram(&[64; 100])).unwrap();
    assert!((one.p50 - 64.0 * 2f64.sqrt()).abs() < 1e-9, "{one:?}");
    assert!(one.p50 < one.p90 && one.p99 < 128.0, "{one:?}");
    let mut times_ns = vec![0; 60];
    times_ns.extend([1000; 40]);
    let two = Percentiles::from_histogram(&histogram(&times_ns)).unwrap();
    assert_eq!(two.p50, 0.0);
    assert!((512.0..1024.0).contains(&two.p90), "{two:?}");
}

proptest! {
    #[test]
    fn percentiles_rise_and_are_off_by_less_than_two(
        mut times_ns in proptest::collection::vec(1u64..1 << 37, 1..200),
    ) {
        let found = Percentiles::from_histogram(&histogram(&times_ns)).unwrap();
        times_ns.sort_unstable();
        for (share, estimate) in [(0.5, found.p50), (0.9, found.p90), (0.99, found.p99)] {
            let rank = (share * times_ns.len() as f64).ceil().max(1.0) as usize - 1;
            let exact = times_ns[rank] as f64;
            prop_assert!(estimate <= 2.0 * exact && exact <= 2.0 * estimate, "{exact} {estimate}");
        }
        prop_assert!(found.p50 <= found.p90 && found.p90 <= found.p99);
    }
}
