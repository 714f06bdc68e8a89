// SPDX-License-Identifier: GPL-2.0-or-later
//! Cost over the depth of a path, in a terminal.

use model::Document;
use report::{Layout, Report, Table, depth_tables, terminal};
use testing::unpack;

fn shown(tables: Vec<Table>) -> String {
    let report = Report {
        tables,
        warnings: Vec::new(),
    };
    let layout = Layout {
        width: Some(80),
        colour: false,
    };
    terminal(&report, &layout)
}

#[test]
fn sparklines_rise_with_depth_on_one_scale_for_all_stacks() {
    let packed = include_bytes!("../../../../publications/lsm-overhead/paper.json.xz");
    let text = shown(depth_tables(&Document::parse(&unpack(packed)).unwrap()));
    assert!(text.starts_with("Depth: open, "), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let lines: Vec<&str> = text.lines().filter(|line| line.contains('▁')).collect();
    let spark = |line: &str| {
        let blocks = line.chars().filter(|c| ('▁'..='█').contains(c));
        blocks.collect::<Vec<char>>()
    };
    assert!(lines.len() > 2, "{text}");
    for line in &lines {
        let blocks = spark(line);
        assert_eq!(blocks.len(), 8, "{line}");
        assert!(blocks.is_sorted(), "{line}");
    }
    // The most expensive depth is the highest.
    assert!(text.contains('█'), "{text}");
}

#[test]
fn a_run_of_one_depth_has_none() {
    let golden = include_bytes!("../../../model/tests/golden/run.json");
    let mut run = Document::parse(golden).unwrap();
    run.cells.retain(|cell| cell.key.variant() != "AA/BB");
    assert_eq!(shown(depth_tables(&run)), "");
}
