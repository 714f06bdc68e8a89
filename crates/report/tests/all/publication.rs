// SPDX-License-Identifier: GPL-2.0-or-later
//! Whole publications beside the documents of `docs/results`.

use std::path::Path;

use model::{Document, PlacementDocument, Stored as _};
use published::{Answer, Cause, Content, State, publication, published, sources};
use report::markdown;
use report::published::publication_report;

fn unpacked(name: &str) -> Vec<u8> {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    testing::unpack(&std::fs::read(results.join(name)).unwrap())
}

fn document(name: &str) -> Document {
    Document::parse(&unpacked(name)).unwrap()
}

fn source(name: &str) -> &'static published::Source {
    sources().iter().find(|source| source.id == name).unwrap()
}

#[test]
fn every_figure_has_a_row_and_one_state() {
    for source in sources() {
        let of = publication(source, &[]);
        let figures: Vec<_> = published()
            .iter()
            .filter(|figure| figure.source == source.id)
            .collect();
        let summaries = of.summaries();
        assert_eq!(summaries[0].figures(), figures.len());
        let places: usize = summaries[1..].iter().map(published::Summary::figures).sum();
        assert_eq!(places, figures.len());
        for figure in figures {
            let rows = of
                .rows
                .iter()
                .filter(|row| std::ptr::eq(row.figure, figure));
            assert!(rows.count() > 0, "{}", figure.id);
        }
        let nothing = [State::CannotBeHad, State::NotMeasured];
        assert!(of.rows.iter().all(|row| nothing.contains(&row.state())));
        assert!(!markdown(&publication_report(&of)).is_empty());
    }
}

#[test]
fn the_paper_beside_what_was_measured() {
    let (run, slopes) = (document("paper.json.xz"), document("slopes.json.xz"));
    let placement = PlacementDocument::parse(&unpacked("placement-6.12.json.xz")).unwrap();
    let documents = [
        Content::Measured(&run),
        Content::Measured(&slopes),
        Content::Placement(&placement),
    ];
    let of = publication(source("paper"), &documents);
    let rows = |id: &str| -> Vec<&published::Row<'_>> {
        of.rows.iter().filter(|row| row.figure.id == id).collect()
    };
    // Counts of the same hooks, by instructions and by delays.
    let states: Vec<State> = rows("paper:table6.stat.AA")
        .iter()
        .map(|row| row.state())
        .collect();
    assert_eq!(states, [State::Agrees; 2]);
    // What was tried in place of what does not agree.
    let Answer::Compared { comparison, cause } = &rows("paper:figure4.openat")[0].answer else {
        panic!("{:?}", rows("paper:figure4.openat"));
    };
    assert_eq!(comparison.ours, 2.0);
    let Some(Cause::Shown { explanation, by }) = cause else {
        panic!("{cause:?}");
    };
    assert_eq!(
        (explanation.id.as_str(), by.benchmark.as_str()),
        ("openat-depth", "open:AA/BB")
    );
    // Hooks by category are counted in the source.
    let counted = rows("paper:table5.inode.capability");
    assert!(matches!(counted[0].answer, Answer::Counted { .. }));
    let own = rows("paper:table4.hooks.own");
    assert_eq!(own[0].state(), State::CannotBeHad);
}

#[test]
fn times_of_hooks_have_instructions_beside_them() {
    let run = document("lsmpmon.json.xz");
    let of = publication(source("lsmpmon"), &[Content::Measured(&run)]);
    let beside = |row: &&published::Row<'_>| row.state() == State::Beside;
    let hooks: Vec<&str> = of
        .rows
        .iter()
        .filter(beside)
        .map(|row| row.figure.id.as_str())
        .collect();
    assert!(
        hooks.contains(&"lsmpmon:table7.inode_permission.selinux"),
        "{hooks:?}"
    );
    assert!(
        of.rows
            .iter()
            .filter(|row| row.figure.id.ends_with(".lids"))
            .all(|row| row.state() == State::CannotBeHad)
    );
}

#[test]
fn what_could_stand_for_a_figure_is_tried_and_struck_off() {
    let run = document("audit.json.xz");
    let of = publication(source("paper"), &[Content::Measured(&run)]);
    let alternatives = |id: &str| {
        let mut all = of.alternatives.iter();
        all.find(|of| of.figure.id == id).unwrap()
    };
    let agreeing = |id: &str| {
        let ours = alternatives(id).ours.iter();
        let agree = ours.filter(|own| own.verdict == published::Verdict::Agrees);
        agree.map(|own| own.tested.clone()).collect::<Vec<_>>()
    };
    let with = |rules: &str| format!("capability,selinux +audit{rules}");
    // The figure's own first, then what explanations have.
    let open = "paper:table1.current-selinux.open";
    let ours = alternatives(open).ours.iter().map(|own| own.tested.clone());
    assert_eq!(
        ours.collect::<Vec<_>>(),
        [
            with(""),
            with(" (audit rules: never-task)"),
            "capability,selinux".to_owned(),
            with(" (audit rules: none)"),
            with(" (audit rules: one)"),
            with(" (audit rules: stig)"),
        ]
    );
    assert_eq!(agreeing(open), [with(""), with(" (audit rules: one)")]);
    // Under no rules is openat as theirs: that rules explain it is struck off.
    let openat = "paper:figure2.selinux.openat";
    assert_eq!(agreeing(openat), Vec::<String>::new());
    let rows = of.rows.iter().filter(|row| row.figure.id == openat);
    let states: Vec<State> = rows.map(published::Row::state).collect();
    assert_eq!(states, [State::Unexplained]);
    // What is as near is told together.
    let nearest = alternatives("paper:table1.current-selinux.read").nearest();
    let nearest: Vec<&str> = nearest.iter().map(|own| own.tested.as_str()).collect();
    let never = with(" (audit rules: never-task)");
    assert_eq!(nearest, [never.as_str(), "capability,selinux"]);
    let made = markdown(&publication_report(&of));
    assert!(made.contains("**By what of ours could stand for theirs**"));
    // With labels EVM has something to protect of a directory.
    let run = document("integrity.json.xz");
    let of = publication(source("paper"), &[Content::Measured(&run)]);
    let mut rows = of.rows.iter();
    let mkdir = rows.find(|row| row.figure.id == "paper:figure8.ima-evm.mkdir");
    let Answer::Compared {
        cause: Some(Cause::Shown { explanation, by }),
        ..
    } = &mkdir.unwrap().answer
    else {
        panic!("{mkdir:#?}");
    };
    assert_eq!(explanation.id, "labels-to-protect");
    assert_eq!(by.tested, "capability,selinux +audit,ima,evm (enforcing)");
    // Without several there is none.
    assert!(publication(source("paper"), &[]).alternatives.is_empty());
}
