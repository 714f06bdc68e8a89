// SPDX-License-Identifier: GPL-2.0-or-later
//! An instrument that lsmeter does not have, written in this file and nowhere else: it counts
//! the letters of the system calls that an operation makes, and of the modules that it passes.
//! All that is done with documents is done with its own, and it resumes: no instrument is
//! known by name where tables, figures, pages, comparisons and histories are made.

use std::path::Path;

use lab::journal::JournalFile;
use lab::{catalogue, environment};
use model::journal::{JournalEntry, JournalHeader};
use model::{
    Cell, Configuration, Counted, Document, Event, Evidence, Experiment, Key, Kind, Metric,
    OtherMetric, PathCount, Paths, Spec, Subject, Word,
};

use crate::common::Place;

fn letters() -> Metric {
    Metric::Other(OtherMetric {
        name: Word::new("letters").unwrap(),
        unit: Word::new("letters").unwrap(),
        higher_is_better: false,
        exact: true,
    })
}

fn experiment() -> Experiment {
    let spec = "kernels = ['toy']\nfilesystem = 'tmpfs'\nstacks = ['capability', \
                'capability,landlock']\nbenchmarks = ['open', 'stat', 'rename:depth1']\n";
    Spec::parse("toy.toml", spec).unwrap().resolve().unwrap()
}

/// What the instrument counts.
fn count(syscalls: &[String], configuration: &Configuration, more: u64) -> Evidence {
    let modules = configuration.stack.names();
    let names = syscalls.iter().chain(&modules);
    let count = names.map(|name| name.len() as u64).sum::<u64>() + more;
    let path = PathCount {
        instructions: count,
        rep_iterations: 0,
        regions: 1,
    };
    Evidence::from(Counted {
        paths: Some(Paths {
            dominant: path,
            others: Vec::new(),
            regions: 1,
            dirty: 0,
            path_hash: None,
        }),
        ..Counted::default()
    })
}

/// Measures as every instrument does: cells go to the journal and to who follows, and to the
/// document at the end. It is killed after `killed_after` cells.
fn measure(
    experiment: &Experiment,
    (journal, resume): (&Path, bool),
    (more, killed_after): (u64, usize),
    follow: &mut dyn FnMut(Event<'_>),
) -> Option<Document> {
    let header = JournalHeader {
        treatment: "letters".to_owned(),
        ..environment::header(experiment, &[])
    };
    let (mut file, mut finished) = match resume {
        true => {
            let (file, journal) = JournalFile::resume::<()>(journal, &header).unwrap();
            (file, journal.finished)
        }
        false => (
            JournalFile::begin(journal, &header).unwrap(),
            Default::default(),
        ),
    };
    let chosen = experiment.selection.choose(catalogue::catalogue()).unwrap();
    let mut document = Document::new(Kind::Run, header.environment);
    let mut measured = 0;
    for configuration in &experiment.configurations {
        for benchmark in chosen.iter().map(|&at| &catalogue::catalogue()[at]) {
            let subject = Subject::benchmark(&benchmark.name, &benchmark.variant);
            let key = Key::new("toy", configuration, "tmpfs", subject, letters());
            if let Some(entry) = finished.remove(&key) {
                document.cells.push(entry.cell);
                continue;
            }
            follow(Event::Begin(&key));
            let entry = JournalEntry {
                cell: Cell {
                    syscalls: benchmark.syscalls.clone(),
                    outcome: count(&benchmark.syscalls, configuration, more).into(),
                    ..Cell::unmeasured(key)
                },
                warnings: Vec::new(),
                proof: None,
                trace: None::<()>,
            };
            file.add(&entry).unwrap();
            follow(Event::Cell(&entry.cell));
            document.cells.push(entry.cell);
            measured += 1;
            if measured == killed_after {
                return None;
            }
        }
    }
    document.started = Some(header.started);
    document.experiment = Some(experiment.clone());
    Some(document)
}

/// A document of it in a file, which takes so many letters more than another.
fn made(place: &Place, name: &str, more: u64) -> Document {
    let journal = place.join(&format!("{name}.journal"));
    let whole = (more, usize::MAX);
    let mut document = measure(&experiment(), (&journal, false), whole, &mut |_| {}).unwrap();
    document.started = Some(format!("2026-03-0{}T10:00:00Z", 1 + more));
    let mut bytes = Vec::new();
    document.write(&mut bytes).unwrap();
    place.write(name, bytes);
    document
}

#[test]
fn its_journal_resumes() {
    let place = Place::new();
    let journal = place.join("toy.journal");
    let mut begun = Vec::new();
    for (resume, killed_after) in [(false, 3), (true, 2), (true, usize::MAX)] {
        let at = (journal.as_path(), resume);
        let mut follow = |event: Event<'_>| {
            if let Event::Begin(key) = event {
                begun.push(key.clone());
            }
        };
        let document = measure(&experiment(), at, (0, killed_after), &mut follow);
        if let Some(document) = document {
            let undisturbed = made(&place, "toy.json", 0);
            assert_eq!(document.cells, undisturbed.cells);
        }
    }
    let all = begun.len();
    begun.sort();
    begun.dedup();
    assert_eq!(begun.len(), all, "something was measured twice");
}

#[test]
fn it_has_all_that_instruments_have() {
    let place = Place::new();
    made(&place, "toy.json", 0);
    made(&place, "patched.json", 1);
    let shown = |line: &str| place.line(line).code(0).stdout;

    // Tables, as every format has them.
    for (format, holds) in [("markdown", "| open:AA "), ("html", "open:AA</")] {
        let text = shown(&format!("report toy.json --format {format}"));
        assert!(
            text.contains(holds) && text.contains("letters per operation"),
            "{text}"
        );
    }
    let table = shown("compare toy.json toy.json");
    assert!(table.contains("letters per operation"), "{table}");
    let csv = shown("export toy.json");
    assert!(csv.contains("letters"), "{csv}");

    // A figure, and what its axis says.
    let figure = shown("report toy.json --figure overhead");
    assert!(
        figure.starts_with("<svg") && figure.contains("letters"),
        "{figure}"
    );

    // A comparison, whose gate knows an exact count.
    let gate = "compare toy.json patched.json --fail-above 1%";
    let ended = place.line(gate).code(1);
    assert!(ended.stdout.contains("worse"), "{ended:#?}");
}
