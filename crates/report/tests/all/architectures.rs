// SPDX-License-Identifier: GPL-2.0-or-later
//! Kernels of two architectures beside each other, in the document of
//! `docs/results/architectures.md`.

use std::path::Path;

use model::{Architecture, Document};
use report::{Options, markdown, report};

fn architectures() -> Document {
    let path = "../../docs/results/architectures.json.xz";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let mut document = Document::parse(&testing::unpack(&std::fs::read(path).unwrap())).unwrap();
    // One version is enough.
    (document.cells).retain(|cell| cell.key.kernel.starts_with("debian:6.12"));
    document
}

fn text(document: &Document) -> String {
    markdown(&report(document, &Options::default()))
}

#[test]
fn architectures_stand_beside_each_other() {
    let text = text(&architectures());
    let summary = "| debian:6.12 | +selinux | 96 | +15.0 % | +14.9 % | 0.971 | 1.2 |";
    assert!(text.contains(summary), "{text}");
    let operation = "| open:AA | 4,697 | 4,688 | +19.3 % | +20.1 % | +7.8 % | +9.6 % | +3.6 % | \
                     +7.1 % |";
    assert!(text.contains(operation), "{text}");
    assert!(text.contains("What calling a hook costs, by how many functions it goes to"));
}

#[test]
fn calls_that_differ_are_told_with_their_reason() {
    let mut document = architectures();
    let told = text(&document);
    assert!(told.contains("544 of 548 operations"), "{told}");
    assert!(told.contains(
        "| debian:6.12 | execve:agent | mmap\\_file | 4 x86\\_64, 2 aarch64 | 4 | The program"
    ));
    assert!(!told.contains("not explained"));
    // One that no fact speaks of.
    let open = document.cells.iter_mut().find(|cell| {
        let key = &cell.key;
        key.architecture == Architecture::Aarch64
            && (key.benchmark(), key.variant()) == ("open", "AA")
    });
    let counted = open.unwrap().counted_mut().unwrap();
    let hooks = &mut counted.hooked.as_mut().unwrap().hooks;
    let file_open = hooks.iter_mut().find(|hook| hook.hook == "file_open");
    file_open.unwrap().calls = 2;
    let told = text(&document);
    assert!(told.contains("543 of 548 operations"), "{told}");
    let row = "| debian:6.12 | open:AA | file\\_open | 1 x86\\_64, 2 aarch64 | 1 | not explained |";
    assert!(told.contains(row), "{told}");
}

#[test]
fn one_architecture_has_no_such_tables() {
    let mut document = architectures();
    document
        .cells
        .retain(|cell| cell.key.architecture == Architecture::X86_64);
    assert!(!text(&document).contains("on each architecture"));
}
