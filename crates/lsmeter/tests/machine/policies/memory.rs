// SPDX-License-Identifier: GPL-2.0-or-later
//! Memory of stacks.

use model::Document;

use crate::common::Place;

fn run(place: &Place, cells: &str) -> Document {
    let line = format!(
        "run --metric memory --bench {cells} --stack capability --stack capability,selinux \
         --policy none --policy enforcing --offline --baseline capability --output out.json"
    );
    place.line(&line).code(0);
    place.document("out.json")
}

#[test]
fn memory_of_a_stack_is_exact() {
    let place = Place::with_kernels();
    let document = run(&place, "memory");
    let measured = document
        .cells
        .iter()
        .filter(|cell| cell.headline().is_some());
    assert_eq!(measured.count(), 3 * 9, "a figure for each cell");
    let bytes = |variant: &str, stack: &[&str], policy: &str| {
        let mut cells = document.cells.iter();
        let cell = cells.find(|cell| {
            let key = &cell.key;
            key.variant() == variant && key.stack == stack && key.policy.as_str() == policy
        });
        cell.unwrap().headline().unwrap()
    };
    let with = ["capability", "selinux"];
    for (variant, more) in [("inode", 40.0), ("file", 16.0), ("task", 32.0)] {
        let base = bytes(variant, &["capability"], "none");
        for policy in ["none", "enforcing"] {
            // Sizes of structures in 6.12: security/selinux/include/objsec.h.
            let held = bytes(variant, &with, policy);
            assert_eq!(held - base, more, "{variant}, {policy}");
        }
    }
    let policy = bytes("boot", &with, "enforcing") - bytes("boot", &with, "none");
    assert!(policy > 1e6, "SELinux's policy holds {policy} bytes");
    // A resumed run must give the same figures. The memory of a boot may differ by a slab or two, for
    // the list of measurements from the serial port.
    for cell in run(&place, "memory:boot-slab,memory:queue").cells {
        let whole = document.cells.iter().find(|whole| whole.key == cell.key);
        let bytes = |cell: &model::Cell| cell.headline().unwrap();
        let differs = (bytes(whole.unwrap()) - bytes(&cell)).abs();
        let slabs = f64::from(u8::from(cell.key.variant() != "queue") * 2);
        let title = cell.key.title();
        assert!(differs <= slabs * 32_768.0, "{title}: {differs}");
    }
    assert_eq!(place.left_over(), [""; 0]);
}
