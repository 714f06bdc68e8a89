// SPDX-License-Identifier: GPL-2.0-or-later
//! What pages of results show is what lsmeter makes of the documents beside them.
//!
//! In `docs/results/*.md`, between a line `<!-- table N of lsmeter ARGUMENTS -->` and a line
//! `<!-- end -->` stands that table in Markdown, with the documents beside the page unpacked.
//! With LSMETER_PAGES=write the pages are made to say so.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::Place;

const BEGIN: &str = "<!-- table ";
const END: &str = "<!-- end -->\n";

/// The page with what its commands print now, and how many there are.
fn made_anew(page: &str, place: &Place) -> (String, usize) {
    let mut made = String::new();
    let mut commands = 0;
    let mut rest = page;
    while let Some(at) = rest.find(BEGIN) {
        let (before, block) = rest.split_at(at);
        let (first, block) = block.split_once('\n').unwrap();
        let command = first.strip_prefix(BEGIN).unwrap();
        let command = command.strip_suffix(" -->").expect("an end of the command");
        let (number, arguments) = command.split_once(" of lsmeter ").expect("of lsmeter");
        let number: usize = number.parse().expect("which table");
        let (_, after) = block.split_once(END).expect("<!-- end -->");
        let mut command = Command::new(env!("CARGO_BIN_EXE_lsmeter"));
        command.args(shlex::split(arguments).unwrap());
        let output = place.environment(&mut command).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{arguments}: {output:?}");
        let printed = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<&str> = printed.lines().collect();
        let mut tables = lines
            .chunk_by(|one, next| one.starts_with('|') == next.starts_with('|'))
            .filter(|lines| lines[0].starts_with('|'));
        let table = tables.nth(number - 1).expect("a table of that number");
        let printed = table.join("\n");
        made.push_str(&format!("{before}{first}\n\n{}\n\n{END}", printed));
        rest = after;
        commands += 1;
    }
    made.push_str(rest);
    (made, commands)
}

#[test]
fn pages_say_what_their_documents_hold() {
    let place = Place::new();
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    for entry in fs::read_dir(&results).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "xz") {
            let name = path.file_stem().unwrap().to_str().unwrap();
            place.write(name, testing::unpack(&fs::read(&path).unwrap()));
        }
    }
    let mut commands = 0;
    let mut stale: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(&results).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let page = fs::read_to_string(&path).unwrap();
        let (made, of_page) = made_anew(&page, &place);
        commands += of_page;
        if made != page {
            if std::env::var_os("LSMETER_PAGES").is_some() {
                fs::write(&path, made).unwrap();
            } else {
                stale.push(path);
            }
        }
    }
    assert!(commands > 0);
    assert!(
        stale.is_empty(),
        "LSMETER_PAGES=write makes them anew: {stale:?}"
    );
}
