// SPDX-License-Identifier: GPL-2.0-or-later
//! Who denies first: each file's cheapest and dearest order, and the paper's Figure 5.

use model::{Document, Evidence, Outcome};
use report::{Options, markdown, report};

fn denials() -> Document {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/results/denials.json.xz"
    );
    Document::parse(&testing::unpack(&std::fs::read(path).unwrap())).unwrap()
}

/// The cells of the first row that begins so, in the table of this title.
fn row(text: &str, title: &str, first: &str) -> Vec<String> {
    let table = text
        .split("\n**")
        .find(|table| table.starts_with(title))
        .unwrap_or_else(|| panic!("no table {title}: {text}"));
    let row = table.lines().find(|line| line.starts_with(first));
    let row = row.unwrap_or_else(|| panic!("no row {first}: {table}"));
    row.split('|').map(|cell| cell.trim().to_owned()).collect()
}

#[test]
fn checks_are_as_many_as_the_paper_counts() {
    let text = markdown(&report(&denials(), &Options::default()));
    let of = |order: &str| row(&text, "Figure 5", &format!("| capability,{order} "));
    // Columns: order, four files, their sum, two differences, in the hook, asked, checks.
    let abc = of("apparmor,tomoyo,landlock");
    assert_eq!(abc[10..12], ["apparmor 4, tomoyo 3, landlock 2", "9"]);
    let cab = of("landlock,apparmor,tomoyo");
    assert_eq!(cab[10..12], ["landlock 4, apparmor 1, tomoyo 1", "6"]);
    let sum = |row: &[String]| row[6].replace(',', "").parse::<u64>().unwrap();
    assert!(sum(&cab) < sum(&abc));
}

#[test]
fn only_order_within_a_hook_matters() {
    let text = markdown(&report(&denials(), &Options::default()));
    let of = |file: &str| row(&text, "Who denies first", &format!("| {file} "));
    // Columns: file, hook, an order, its cost, whom it asks, another, whom that asks, ….
    let by_path = of("by-apparmor-tomoyo");
    assert_eq!(by_path[2], "file\\_open");
    assert_eq!(by_path[3], "capability,apparmor,tomoyo");
    assert_eq!([&*by_path[5], &*by_path[7]], ["apparmor", "tomoyo"]);
    assert_eq!(by_path[10], format!("file\\_open {}", by_path[8]));
    let by_label = of("by-selinux");
    assert_eq!(by_label[2], "inode\\_permission");
    assert_eq!(by_label[5], "selinux");
}

#[test]
fn without_hooks_nobody_knows_who_was_asked() {
    let mut document = denials();
    for cell in &mut document.cells {
        if let Outcome::Ok {
            evidence: Evidence::Counted(counted),
        } = &mut cell.outcome
        {
            counted.hooked = None;
        }
    }
    let text = markdown(&report(&document, &Options::default()));
    let abc = row(&text, "Figure 5", "| capability,apparmor,tomoyo,landlock ");
    assert_eq!(abc[9..12], ["", "", ""]);
    assert!(!abc[6].is_empty());
}

#[test]
fn one_order_is_none() {
    let mut document = denials();
    // Modules alone.
    document.cells.retain(|cell| cell.key.stack.len() < 3);
    assert!(!document.cells.is_empty());
    let text = markdown(&report(&document, &Options::default()));
    assert!(!text.contains("Who denies first") && !text.contains("Figure 5"));
}
