// SPDX-License-Identifier: GPL-2.0-or-later
//! Events are counted exactly, and counting them changes no other count.

use std::fs;

use model::{Document, Events, HookedPath};

use super::outputs::SOME;
use super::{SELINUX, assert_fits_schema, assert_sums, counted, residual};
use crate::common::Place;

fn paths(document: &Document) -> Vec<HookedPath> {
    let cells = document.cells.iter();
    let both = cells.flat_map(|cell| [counted(cell).1.clone(), residual(cell).path.clone()]);
    both.collect()
}

fn without_events(mut path: HookedPath) -> HookedPath {
    path.events = None;
    path.irqs_off = None;
    for hook in &mut path.hooks {
        hook.events = None;
        hook.implementations
            .iter_mut()
            .for_each(|own| own.events = None);
    }
    path
}

#[test]
fn events_are_exact_and_change_no_other_count() {
    let place = Place::with_kernel("debian:6.12");
    let profile = |more: &str| {
        let line = format!("profile {SELINUX},tomoyo --baseline capability {SOME} {more}");
        place.line(&line).code(0).stdout
    };
    let text = profile("--events --output a.json");
    assert_fits_schema(&place.join("a.json"));
    profile("--events --jobs 1 --output b.json");
    profile("--output plain.json");
    let [a, b, plain] = ["a.json", "b.json", "plain.json"].map(|name| place.document(name));
    assert_eq!(paths(&a), paths(&b), "another boot");
    let without: Vec<_> = paths(&a).into_iter().map(without_events).collect();
    assert_eq!(without, paths(&plain));

    for cell in &a.cells {
        let (_, path) = counted(cell);
        assert_sums(&cell.title(), path);
        let all = path.events.unwrap();
        for kind in Events::KINDS {
            let hooks = path.hooks.iter().filter_map(|hook| hook.events.as_ref());
            let most = hooks.map(|events| (kind.count)(events)).max().unwrap_or(0);
            assert!(most <= (kind.count)(&all), "{}: {kind:?}", cell.title());
        }
        assert!(
            all.returns > 0 && all.returns < all.taken_branches,
            "{all:?}"
        );
        assert!(all.taken_branches < path.total, "{all:?}");
        assert!(all.shared_lines <= all.shared_atomics && all.shared_atomics <= all.atomics);
        assert_eq!(all.rep_instructions == 0, all.rep_bytes == 0, "{all:?}");
    }
    let find = |title: &str| a.cells.iter().find(|cell| cell.title() == title).unwrap();
    // TOMOYO clears buffers with REP instructions; SELinux does not.
    let (_, stat) = counted(find("stat:AA"));
    let mut hooks = stat.hooks.iter();
    let getattr = hooks.find(|hook| hook.hook == "inode_getattr").unwrap();
    let rep_bytes = |module: &str| {
        let mut own = getattr.implementations.iter();
        let own = own.find(|own| own.module == module).unwrap();
        own.events.unwrap().rep_bytes
    };
    assert!(rep_bytes("tomoyo") > 100, "{getattr:?}");
    assert_eq!(rep_bytes("selinux"), 0, "{getattr:?}");
    // A read of 4 KiB copies 4 KiB.
    let (_, read) = counted(find("read:4KB"));
    let events = read.events.unwrap();
    assert!((4096..4400).contains(&events.rep_bytes), "{events:?}");
    assert!(events.lines_written >= 64 && events.lines_read >= 64);
    // An open takes references with atomic operations.
    assert!(counted(find("open:AA")).1.events.unwrap().shared_atomics > 0);

    assert!(text.contains("events of instructions, per operation, more than with capability"));
    // The calls of an operation add up to its events.
    let line = "profile --events --callgrind open.callgrind --output open.json --offline \
                --kernel debian:6.12 --fs tmpfs --stack capability --bench open:AA";
    place.line(line).code(0);
    let callgrind = fs::read_to_string(place.join("open.callgrind")).unwrap();
    let line = |begin: &str| {
        let found = callgrind.lines().find_map(|line| line.strip_prefix(begin));
        let words = found.unwrap().split(' ');
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let names: Vec<&str> = Events::KINDS.iter().map(|kind| kind.name).collect();
    assert_eq!(line("events: Instructions "), names);
    let document = place.document("open.json");
    let (_, path) = counted(&document.cells[0]);
    let events = path.events.unwrap();
    let mut expected = vec![path.total];
    expected.extend(Events::KINDS.iter().map(|kind| (kind.count)(&events)));
    let totals = line("totals: ");
    let totals: Vec<u64> = totals.iter().map(|total| total.parse().unwrap()).collect();
    assert_eq!(totals, expected);
}
