// SPDX-License-Identifier: GPL-2.0-or-later
//! What a guest says: understood if it makes sense, refused if not.

use check::{CountedCell, Line, Subject, Transcript, TranscriptError};
use experiment::{Cell, Status};
use proptest::prelude::*;

fn transcript(benchmarks: &[&str]) -> Transcript {
    let cell = |name: &&str| CountedCell {
        benchmark: (*name).to_owned(),
        variant: "AA".to_owned(),
        syscalls: vec![(*name).to_owned()],
    };
    let subject = Subject {
        kernel: "debian:6.12".to_owned(),
        architecture: experiment::Architecture::X86_64,
        release: "6.12.0".to_owned(),
        stack: vec!["capability".to_owned()],
        fs: "tmpfs".to_owned(),
    };
    let cells: Vec<CountedCell> = benchmarks.iter().map(cell).collect();
    Transcript::new(&subject, &cells)
}

fn said(transcript: &mut Transcript, lines: &[&str]) -> Result<(), TranscriptError> {
    lines.iter().try_for_each(|line| transcript.line(line))
}

#[test]
fn counts_are_what_two_runs_differ_in() {
    let mut guest = transcript(&["open", "stat", "link"]);
    let lines = [
        "release 6.12.7",
        "lsm lockdown,capability",
        "left-out file_permission the verifier refuses it: \u{1b}[31m",
        "begin 0",
        "count inode_permission 24 56",
        "count cred_free 3 3",
        "count task_free 9 8",
        "ended",
        "begin 1",
        "count inode_permission 24 56",
        "failed panic",
        "begin 2",
        "unsupported EPERM",
    ];
    said(&mut guest, &lines).unwrap();
    assert!(!guest.is_finished());
    said(&mut guest, &["lost 0"]).unwrap();
    assert!(guest.is_finished());
    let document = guest.finish().unwrap().unwrap();
    for cell in &document.cells {
        assert_eq!(cell.release, "6.12.7");
        assert_eq!(cell.active_lsms, ["lockdown", "capability"]);
    }
    assert_eq!(
        document.left_out[0].reason,
        "the verifier refuses it:  [31m"
    );
    let hooks = &document.cells[0].hook_calls().unwrap().hooks;
    let hooks: Vec<(&str, f64)> = hooks
        .iter()
        .map(|(hook, calls)| (&**hook, *calls))
        .collect();
    assert_eq!(hooks, [("inode_permission", 2.0), ("task_free", -0.0625)]);
    let status = |at: usize| document.cells[at].status();
    assert_eq!(
        (status(1), status(2)),
        (Status::Failed, Status::Unsupported)
    );
    assert_eq!(document.cells[2].reason(), Some("EPERM"));
}

#[test]
fn a_guest_that_cannot_says_why() {
    let mut guest = transcript(&["open"]);
    said(
        &mut guest,
        &["release 5.4", "unavailable the kernel has no BTF"],
    )
    .unwrap();
    assert!(guest.is_finished());
    assert_eq!(
        guest.finish().unwrap().unwrap_err(),
        "the kernel has no BTF"
    );
}

#[test]
fn counts_fail_if_calls_were_lost() {
    let mut guest = transcript(&["open"]);
    let lines = ["begin 0", "count inode_permission 8 24", "ended", "lost 3"];
    said(&mut guest, &lines).unwrap();
    let counted = guest.finish().unwrap().unwrap().cells.remove(0);
    assert_eq!(
        (counted.status(), counted.hook_calls()),
        (Status::Failed, None)
    );
    let why = "3 calls of the run were lost, for want of room or time";
    assert_eq!(counted.reason(), Some(why));
}

#[test]
fn a_guest_that_ends_early_keeps_what_it_said() {
    let mut guest = transcript(&["open", "stat"]);
    let lines = [
        "begin 0",
        "count inode_permission 8 24",
        "ended",
        "begin 1",
        "count x 1 2",
    ];
    said(&mut guest, &lines).unwrap();
    let document = guest.broken("Kernel panic");
    assert_eq!(document.cells[0].status(), Status::Ok);
    assert_eq!(document.cells[1].reason(), Some("Kernel panic"));
    assert_eq!(document.cells[1].status(), Status::Failed);
    // One that does not even boot is a failure of every benchmark, never one that cannot.
    let document = transcript(&["open", "stat"]).broken("no boot");
    let failed = |cell: &Cell| cell.status() == Status::Failed && cell.reason() == Some("no boot");
    assert!(document.cells.iter().all(failed));
    let mut guest = transcript(&["open", "stat"]);
    said(&mut guest, &["begin 0", "ended"]).unwrap();
    assert_eq!(guest.finish(), Err(TranscriptError::Unfinished));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |lines: &[&str]| {
        said(&mut transcript(&["open"]), lines)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refused(&["hello \u{7}world"]),
        "a line of no known form: hello  world"
    );
    assert_eq!(refused(&["begin 1"]), "`begin 1` is not the next benchmark");
    assert_eq!(refused(&["ended"]), "`ended` does not belong there");
    assert_eq!(
        refused(&["begin 0", "count a 1 2", "count a 1 2"]),
        "`count a 1 2` comes twice"
    );
    assert_eq!(
        refused(&["begin 0", "lost 0"]),
        "`lost 0` does not belong there"
    );
    assert_eq!(
        refused(&["lost 0", "lost 0"]),
        "`lost 0` comes after the end"
    );
    for line in [
        "count a 1",
        "count a 1 2 3",
        "count a -1 2",
        "count a/b 1 2",
        "begin",
        "lost x",
    ] {
        assert!(
            refused(&["begin 0", line]).contains("no known form"),
            "{line}"
        );
    }
    let many: Vec<String> = (0..2000)
        .map(|at| format!("left-out hook{at} why"))
        .collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(refused(&many), "more than 1024 left out hooks");
}

proptest! {
    #[test]
    fn lines_come_back(hook in "[a-z_]{1,40}", short in any::<u64>(), long in any::<u64>()) {
        let line = Line::Count(hook, short, long);
        prop_assert_eq!(line.to_string().parse::<Line>(), Ok(line));
    }

    #[test]
    fn whatever_is_said_is_no_panic(lines in proptest::collection::vec(
        "(begin|count|ended|failed|lost|lsm|left-out|\\PC*) ?\\PC{0,20} ?[0-9]{0,20} ?[0-9]{0,3}", 0..20,
    )) {
        let mut guest = transcript(&["open", "stat"]);
        for line in &lines {
            if guest.line(line).is_err() {
                break;
            }
        }
        let _ = guest.broken("it ended");
    }
}
