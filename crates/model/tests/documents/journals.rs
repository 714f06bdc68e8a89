// SPDX-License-Identifier: GPL-2.0-or-later
//! The journal: no finished cell is lost, no foreign one is taken.

use crate::common;
use model::journal::{JOURNAL_VERSION, Journal, JournalEntry, JournalError, JournalHeader};
use model::{Cell, Configuration, Counted, Estimate, Evidence};
use proptest::prelude::*;

fn entries() -> Vec<JournalEntry> {
    let run = common::run();
    let cells = run.cells.into_iter();
    let entries = cells.map(|cell| JournalEntry {
        cell,
        warnings: run.warnings.clone(),
        proof: None,
        trace: None,
    });
    entries.collect()
}

fn journal() -> (JournalHeader, String) {
    let run = common::run();
    let header = JournalHeader {
        journal_version: JOURNAL_VERSION,
        tool: run.tool,
        environment: run.environment,
        others: Vec::new(),
        started: run.started.unwrap(),
        experiment: run.experiment,
        monitor: None,
        treatment: String::new(),
        shard: None,
    };
    let mut text = header.to_line().unwrap();
    for entry in entries() {
        text += &entry.to_line().unwrap();
    }
    (header, text)
}

fn refused(text: &str, now: &JournalHeader) -> JournalError {
    Journal::<()>::read(text.as_bytes(), now).unwrap_err()
}

#[test]
fn a_whole_journal_comes_back() {
    let (header, text) = journal();
    let read = Journal::<()>::read(text.as_bytes(), &header).unwrap();
    assert_eq!(read.valid_bytes, text.len() as u64);
    assert_eq!(read.header.as_ref(), Some(&header));
    assert_eq!(read.finished.len(), entries().len());
    for entry in entries() {
        assert_eq!(read.finished[&entry.cell.key], entry);
    }
}

#[test]
fn the_last_entry_of_a_cell_counts() {
    let (header, mut text) = journal();
    let mut again: Cell = entries()[0].cell.clone();
    let summary = stats::Summary::of(&[5000.0]).unwrap();
    let counted = Counted {
        estimate: Some(Estimate::from(&summary)),
        ..Counted::default()
    };
    again.outcome = Evidence::from(counted).into();
    let key = again.key.clone();
    text += &JournalEntry::<()> {
        cell: again,
        warnings: vec![],
        proof: None,
        trace: None,
    }
    .to_line()
    .unwrap();
    let read = Journal::<()>::read(text.as_bytes(), &header).unwrap();
    assert_eq!(read.finished[&key].cell.headline(), Some(5000.0));
}

#[test]
fn another_experiment_and_other_conditions_are_refused() {
    type Change = fn(&mut JournalHeader);
    let changes: [(Change, &str); 3] = [
        (
            |now| {
                let experiment = now.experiment.as_mut().unwrap();
                let tomoyo = Configuration::of_stack("capability,tomoyo".parse().unwrap());
                experiment.configurations.push(tomoyo);
            },
            "the journal is of a different experiment: `configurations` differs",
        ),
        (
            |now| now.environment.qemu.as_mut().unwrap().version = "10.0.2".to_owned(),
            "the journal was begun with another QEMU: 7.2.19 (q35, Haswell-noTSX), \
             now 10.0.2 (q35, Haswell-noTSX)",
        ),
        (
            |now| now.tool.version = "0.2.0".to_owned(),
            "the journal was begun with another lsmeter: 0.1.0, now 0.2.0",
        ),
    ];
    for (change, message) in changes {
        let (mut now, text) = journal();
        change(&mut now);
        let error = refused(&text, &now);
        assert_eq!(error.to_string(), message);
        assert!(error.hint().unwrap().contains("--resume"), "{message}");
    }
}

#[test]
fn a_file_that_is_something_else_is_refused_and_a_torn_first_line_is_not() {
    let (header, text) = journal();
    let note = "a note without a line's end";
    let error = refused(note, &header).to_string();
    assert!(error.starts_with("not a journal"), "{error}");
    for end in [0, 5, 30] {
        let read = Journal::<()>::read(&text.as_bytes()[..end], &header).unwrap();
        assert_eq!((read.header, read.valid_bytes), (None, 0));
    }
}

#[test]
fn patience_and_haste_may_change() {
    let (mut now, text) = journal();
    let experiment = now.experiment.as_mut().unwrap();
    experiment.jobs = Some(1);
    (experiment.boot_timeout_s, experiment.measurement_timeout_s) = (900, 900);
    experiment.description = Some("again".to_owned());
    now.started = "2027-01-01T00:00:00Z".to_owned();
    assert!(Journal::<()>::read(text.as_bytes(), &now).is_ok());
}

#[test]
fn damage_is_named() {
    let (now, text) = journal();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[3] = "{\"cell\":";
    let version = ("\"journal_version\":2", "\"journal_version\":1");
    for (text, message) in [
        (
            lines.join("\n") + "\n",
            "journal, line 4: ends in the middle, after 8 bytes (line 1)",
        ),
        (
            "hello\n".to_owned(),
            "not a journal of lsmeter: line 1: not JSON",
        ),
        (
            text.replacen(version.0, version.1, 1),
            "journal of version 1; this lsmeter reads version 2",
        ),
        (
            text.replacen("\"n\":64", "\"n\":0", 1),
            "journal, line 2: at cell: it was measured, but n is 0",
        ),
    ] {
        let error = refused(&text, &now).to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

proptest! {
    #[test]
    fn a_cut_loses_at_most_the_last_line(cut in 0.0f64..=1.0) {
        let (header, text) = journal();
        let length = (text.len() as f64 * cut) as usize;
        // A crash cuts anywhere, also inside a character.
        let left = &text.as_bytes()[..length];
        let read = Journal::<()>::read(left, &header).unwrap();
        let whole = left.iter().filter(|&&byte| byte == b'\n').count();
        prop_assert_eq!(read.header.is_some(), whole > 0);
        prop_assert_eq!(read.finished.len(), whole.saturating_sub(1));
        let end = left.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        prop_assert_eq!(read.valid_bytes, end as u64);
        for entry in entries().into_iter().take(whole.saturating_sub(1)) {
            prop_assert_eq!(read.finished.get(&entry.cell.key), Some(&entry));
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = Journal::<()>::read(&bytes[..], &journal().0);
    }
}
