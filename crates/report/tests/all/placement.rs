// SPDX-License-Identifier: GPL-2.0-or-later
//! Placements as tables, CSV and drawings.

use model::placement::{Agreement, ComparedHook, Comparison};
use model::{PlacementDocument, Stored as _};
use report::{
    ChecksOptions, Layout, PlacementOptions, agreement_records, agreement_report, checks_records,
    checks_report, markdown, placement_records, placement_report, terminal,
};

/// Every kind of count, a case, teardown, hooks inside hooks, and hostile names.
fn document() -> PlacementDocument {
    let golden = include_bytes!("../../../model/tests/golden/placement.json");
    PlacementDocument::parse(golden).unwrap()
}

const ALL: PlacementOptions = PlacementOptions {
    details: false,
    reach: true,
    trace: true,
    explain: true,
};

#[test]
fn overviews() {
    let report = placement_report(&document(), &PlacementOptions::default());
    insta::assert_snapshot!(terminal(&report, &Layout::default()));
}

#[test]
fn all_details() {
    let details = PlacementOptions {
        details: true,
        ..ALL
    };
    let text = terminal(&placement_report(&document(), &details), &Layout::default());
    assert!(crate::is_harmless(&text), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn file_systems_stand_beside_each_other() {
    let mut document = document();
    let mut other = document.syscalls[0].clone();
    other.filesystem = "tmpfs".to_owned();
    document.syscalls.push(other);
    let report = placement_report(&document, &PlacementOptions::default());
    let overview = report.tables.last().unwrap();
    assert_eq!(overview.rows.len(), 2);
    assert!(overview.rows.iter().all(|row| row.values.len() == 11));
    let group = |column: usize| overview.columns[column].group.as_deref();
    let groups = [0, 5, 6].map(group);
    assert_eq!(groups, [None, Some("ext4"), Some("tmpfs")]);
    // stat was not requested there.
    assert_eq!(overview.rows[1].values[10].text(), "");
}

#[test]
fn a_placement_of_nothing() {
    let mut document = document();
    document.modules.clear();
    document.syscalls.clear();
    document.unparsed.clear();
    let report = placement_report(&document, &PlacementOptions::default());
    assert_eq!((report.tables.len(), report.warnings.len()), (1, 0));
}

#[test]
fn rows_of_csv() {
    let text = crate::written(placement_records(&document()));
    assert!(crate::is_harmless(&text), "{text}");
    assert!(text.starts_with(
        "version,level,module,category,hooks,unconditional,file_accessing,loc,loc_per_hook,syscall,\
         case,fs,hook,success_path,upper_bound,teardown_success_path,teardown_upper_bound\n"
    ));
    insta::assert_snapshot!(text);
}

#[test]
fn checks_made_twice_and_not_by_all() {
    let text = |unknown| {
        let report = checks_report(&document(), &ChecksOptions { unknown });
        terminal(&report, &Layout::default())
    };
    assert!(crate::is_harmless(&text(true)), "{}", text(true));
    insta::assert_snapshot!("checks", text(false));
    insta::assert_snapshot!("checks_with_unknown", text(true));
    let text = crate::written(checks_records(&document()));
    assert!(crate::is_harmless(&text), "{text}");
    insta::assert_snapshot!("checks_as_csv", text);
    let mut nothing = document();
    nothing.redundant.clear();
    nothing.missing.clear();
    let report = checks_report(&nothing, &ChecksOptions::default());
    let none_found = |table: &report::Table| table.legend.iter().any(|line| line == "None found.");
    assert!(report.tables.iter().all(none_found));
}

fn compared(
    hook: &str,
    measured: u64,
    success_path: u64,
    max: Option<u64>,
    agreement: Agreement,
) -> ComparedHook {
    ComparedHook {
        operation: "open:AA".to_owned(),
        filesystem: "ext4".to_owned(),
        hook: hook.to_owned(),
        measured,
        success_path,
        max,
        agreement,
    }
}

#[test]
fn agreements() {
    let sound = vec![
        compared("inode_permission", 2, 2, Some(15), Agreement::Exact),
        compared("file_open", 1, 1, Some(3), Agreement::Exact),
        compared("a\u{1b}[31m", 0, 1, None, Agreement::FalseAlarm),
        compared("capable", 1, 0, None, Agreement::Missed),
    ];
    let skipped = [(
        "treewalk on ext4".to_owned(),
        "its paths have many depths".to_owned(),
    )];
    let sound = Comparison::new(sound, skipped.into());
    let percent = (sound.exact_percent, sound.recall_percent);
    assert_eq!(percent, (50.0, 100.0 * 2.0 / 3.0));
    let report = agreement_report("Linux 6.12.117", &sound);
    let text = terminal(&report, &Layout::default());
    assert!(crate::is_harmless(&text), "{text}");
    insta::assert_snapshot!("agreement_sound", text);
    let mut hooks = sound.hooks.clone();
    hooks.push(compared("path_mkdir", 1, 0, Some(0), Agreement::Unknown));
    let unsound = Comparison::new(hooks, Default::default());
    let report = agreement_report("Linux 6.12.117", &unsound);
    assert!(report.tables[0].legend[0].starts_with("NOT SOUND"));
    assert_eq!(report.tables[1].rows[0].values[0].text(), "unknown");
    assert!(markdown(&report).contains("path\\_mkdir"));
    let text = crate::written(agreement_records(&unsound));
    let header = "operation,fs,hook,measured,success_path,upper_bound,agreement\n";
    assert!(text.starts_with(header), "{text}");
    assert!(
        text.contains("open:AA,ext4,path_mkdir,1,0,0,unknown\n"),
        "{text}"
    );
    let nothing = Comparison::new(Vec::new(), Default::default());
    assert_eq!(agreement_report("Linux", &nothing).tables.len(), 1);
}
