// SPDX-License-Identifier: GPL-2.0-or-later
//! Pages of results: those of `docs/results` say what the documents beside them hold, and what is
//! wrong with others is told. `lsmeter report --results docs/results` makes the former anew.

use std::path::Path;

use crate::common::Place;

const RUN: &str = include_str!("../../../experiment/tests/golden/v2.json");

#[test]
fn ours_say_what_their_documents_hold() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    let results = results.to_str().unwrap();
    let ended = Place::new().run(&["report", "--results", results, "--check"]);
    assert!(!ended.stdout.contains("not what"), "{}", ended.stdout);
    ended.code(0);
}

fn page(command: &str) -> String {
    format!("# A page\n\n<!-- {command} -->\n<!-- end -->\n\nThe end.\n")
}

#[test]
fn pages_are_made_anew() {
    let place = Place::new();
    place.write("pages/run.json", RUN);
    place.write("pages/other.txt", "<!-- table 1 of lsmeter run -->\n");
    place.write("pages/prose.md", "# Prose\n");
    let command = "table 1 of lsmeter report run.json --format markdown";
    let path = place.write("pages/a.md", page(command));
    let ended = place.run(&["report", "--results", "pages", "--check"]);
    assert!(ended.stdout.contains("not what"), "{}", ended.stdout);
    ended.code(1);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), page(command));
    let ended = place.run(&["report", "--results", "pages"]).code(0);
    assert_eq!(ended.stdout, "pages/a.md: 1 tables, made anew\n");
    let made = std::fs::read_to_string(&path).unwrap();
    assert!(made.contains("\n| benchmark |") && made.ends_with("\nThe end.\n"));
    let ended = place.run(&["report", "--results", "pages", "--check"]);
    let said = "pages/a.md: 1 tables, as its documents say\n";
    assert_eq!(ended.code(0).stdout, said);
}

#[test]
fn what_is_no_page_of_results_is_told() {
    let place = Place::new();
    place.write("pages/run.json", RUN);
    let asked = ["report", "--results", "pages"];
    let hint = Some("give a directory of pages");
    place
        .run(&asked)
        .refused(2, "no page in pages has a table to make", hint);
    let asked_of_none = ["report", "--results", "nowhere"];
    place
        .run(&asked_of_none)
        .refused(2, "cannot read nowhere", hint);
    let reading = "commands of pages are: compare";
    let run_it = "run it in the directory of the page";
    let mend = "mend that line of the page";
    for (command, told, hint) in [
        (
            "table 1 of lsmeter run suite",
            "it does more than read",
            reading,
        ),
        (
            "table 1 of lsmeter report a -o x",
            "it writes files",
            reading,
        ),
        (
            "table 1 of lsmeter report --output=x a",
            "it writes files",
            reading,
        ),
        (
            "table 1 of lsmeter compare a b --export-csv x",
            "it writes files",
            reading,
        ),
        (
            "table 1 of lsmeter report 'a",
            "its quotes do not match",
            reading,
        ),
        (
            "table 1 of lsmeter report none.json",
            "cannot read none.json",
            run_it,
        ),
        ("table 99 of lsmeter list stacks", "asks for table 99", mend),
        (
            "table of lsmeter report a",
            "is neither `<!-- table N",
            mend,
        ),
    ] {
        place.write("pages/a.md", page(command));
        place.run(&asked).refused(2, told, Some(hint));
    }
}
