// SPDX-License-Identifier: GPL-2.0-or-later
//! What stacks hold in memory.

use model::Document;

use super::read;
use crate::common::Place;

fn run(place: &Place, cells: &str, name: &str) -> Document {
    let stacks = ["--stack", "capability", "--stack", "capability,selinux"];
    let what = ["run", "--metric", "memory", "--bench", cells];
    let how = ["--policy", "none", "--policy", "enforcing"];
    let flags = ["--offline", "--baseline", "capability", "--output", name];
    place
        .run(&[&what[..], &stacks, &how, &flags].concat())
        .code(0);
    read(&place.join(name))
}

/// Bytes of a cell of memory under a stack, `enforcing` or not.
fn bytes(document: &Document, variant: &str, stack: &[&str], policy: &str) -> f64 {
    let is_it = |cell: &&model::Cell| {
        let key = &cell.key;
        key.variant() == variant && key.stack == stack && key.policy.as_str() == policy
    };
    let cell = document.cells.iter().find(is_it).unwrap();
    cell.headline().unwrap()
}

#[test]
fn what_a_stack_holds_is_exact() {
    let place = Place::with_kernels();
    let document = run(&place, "memory", "out.json");
    let measured = document.cells.iter().filter(|of| of.headline().is_some());
    assert_eq!(measured.count(), 3 * 9, "a figure for each cell");
    let (without, with) = (&["capability"][..], &["capability", "selinux"][..]);
    for (variant, more) in [("inode", 40.0), ("file", 16.0), ("task", 32.0)] {
        let base = bytes(&document, variant, without, "none");
        for policy in ["none", "enforcing"] {
            // The sizes of SELinux's structures in 6.12: security/selinux/include/objsec.h.
            let held = bytes(&document, variant, with, policy);
            assert_eq!(held - base, more, "{variant}, {policy}");
        }
    }
    let policy =
        bytes(&document, "boot", with, "enforcing") - bytes(&document, "boot", with, "none");
    assert!(policy > 1e6, "SELinux's policy holds {policy} bytes");
    // So that what is resumed is as what was not stopped. Of a boot, what the list of cells took that
    // came in by the serial port, and where it lies, may be a slab or two.
    for cell in run(&place, "memory:boot-slab,memory:queue", "alone.json").cells {
        let whole = document.cells.iter().find(|whole| whole.key == cell.key);
        let bytes = |of: &model::Cell| of.headline().unwrap();
        let differs = (bytes(whole.unwrap()) - bytes(&cell)).abs();
        let slabs = match cell.key.variant() {
            "queue" => 0.0,
            _ => 2.0,
        };
        assert!(
            differs <= slabs * 32_768.0,
            "{}: {differs}",
            cell.key.title()
        );
    }
    assert_eq!(place.left_over(), Vec::<String>::new());
}
