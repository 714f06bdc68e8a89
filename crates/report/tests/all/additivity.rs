// SPDX-License-Identifier: GPL-2.0-or-later
//! Stacks beside the sum of their modules, in the document of `docs/results/stacking.md`.

use std::path::Path;

use model::Document;
use report::{Options, markdown, report};

fn stacking() -> Document {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/stacking.json.xz");
    Document::parse(&testing::unpack(&std::fs::read(path).unwrap())).unwrap()
}

fn has_table(document: &Document) -> bool {
    markdown(&report(document, &Options::default())).contains("the sum of its modules")
}

#[test]
fn what_modules_share_is_cheaper_than_the_sum() {
    let text = markdown(&report(&stacking(), &Options::default()));
    let row = "| open:AA | capability,selinux,landlock | +995 | +1,209 | -214 | \
               file\\_alloc\\_security -115, file\\_free\\_security -100, file\\_open +1 |";
    assert!(text.contains(row), "{text}");
    // Of several orders of the same modules one.
    assert!(!text.contains("| open:AA | capability,landlock,selinux |"));
}

#[test]
fn a_sum_needs_every_module_alone_and_the_base() {
    for missing in [&["capability"][..], &["capability", "landlock"]] {
        let mut document = stacking();
        document.cells.retain(|cell| {
            let stack: Vec<&str> = cell.key.stack.iter().map(String::as_str).collect();
            let wanted = [
                &["capability"][..],
                &["capability", "landlock"],
                &["capability", "selinux"],
                &["capability", "selinux", "landlock"],
            ];
            wanted.contains(&stack.as_slice()) && stack != missing
        });
        assert!(
            !document.cells.is_empty() && !has_table(&document),
            "{missing:?}"
        );
    }
    assert!(has_table(&stacking()));
}
