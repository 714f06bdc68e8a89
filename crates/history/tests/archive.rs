// SPDX-License-Identifier: GPL-2.0-or-later
//! A directory of run documents: added, put there, taken out, damaged.

use std::fs;
use std::path::{Path, PathBuf};

use experiment::{Document, Evidence, History, Metric, OtherMetric, Outcome, Series, Word};
use history::{Added, Archive, Selection};
use sha2::{Digest, Sha256};

const GOLDEN: &[u8] = include_bytes!("../../experiment/tests/golden/run.json");

/// A run that began on a day of March, in which `open` takes so many instructions more.
fn document(day: u32, more: u64) -> Vec<u8> {
    let mut run = Document::parse(GOLDEN).unwrap();
    run.started = Some(format!("2026-03-{day:02}T10:00:00Z"));
    for cell in &mut run.cells {
        let more = if cell.key.benchmark() == "open" {
            more
        } else {
            0
        };
        let estimate = match &mut cell.outcome {
            Outcome::Ok {
                evidence: Evidence::Counted(counted),
            } => {
                if let Some(paths) = &mut counted.paths {
                    paths.modal.instructions += more;
                }
                counted.estimate.as_mut()
            }
            Outcome::Ok {
                evidence: Evidence::Timed(timed),
            } => Some(&mut timed.estimate),
            _ => None,
        };
        if let Some(estimate) = estimate {
            estimate.median += more as f64;
            estimate.max = estimate.max.map(|max| max + more as f64);
        }
    }
    written(&run)
}

fn written(run: &Document) -> Vec<u8> {
    let mut bytes = Vec::new();
    run.write(&mut bytes).unwrap();
    bytes
}

fn put(directory: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn all(archive: &Archive) -> History {
    archive.series(&Selection::default())
}

fn open_under_selinux(history: &History) -> &Series {
    let mut series = history.series.iter();
    series
        .find(|series| {
            series.title() == "open:AA/BB" && series.configuration == "capability,selinux"
        })
        .unwrap()
}

#[test]
fn an_added_instruction_is_a_change() {
    let (inbox, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut archive = Archive::create(&dir.path().join("deep/history")).unwrap();
    // Added in another order than they were measured in.
    for (day, more) in [(3, 1), (1, 0), (2, 0), (4, 1)] {
        let path = put(inbox.path(), "run.json", &document(day, more));
        let label = format!("v{day}");
        let added = archive.add(&path, Some(&label)).unwrap();
        assert!(matches!(added, Added::New(name) if name.contains(&label)));
    }
    let history = all(&archive);
    let labels: Vec<&str> = history
        .runs
        .iter()
        .filter_map(|run| run.label.as_deref())
        .collect();
    assert_eq!(labels, ["v1", "v2", "v3", "v4"]);
    let open = open_under_selinux(&history);
    assert!(open.exact);
    assert_eq!(open.points.len(), 4);
    assert_eq!(open.changes.len(), 1);
    let change = &open.changes[0];
    assert_eq!((change.point, change.after - change.before), (2, 1.0));
    assert!(change.overhead.unwrap() > 0.0);
    let others = history.series.iter().filter(|s| s.benchmark != "open");
    assert!(others.flat_map(|series| &series.changes).count() == 0);
    // Cells without a figure are in no series.
    assert!(history.series.iter().all(|s| s.benchmark != "fsetxattr"));
}

#[test]
fn what_is_there_is_not_added_twice() {
    let (inbox, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut archive = Archive::create(dir.path()).unwrap();
    let path = put(inbox.path(), "run.json", &document(1, 0));
    let Added::New(name) = archive.add(&path, None).unwrap() else {
        panic!("it is new");
    };
    let again = archive.add(&path, Some("again")).unwrap();
    assert_eq!(again, Added::Before(name.clone()));
    // Byte for byte what was measured.
    assert_eq!(fs::read(dir.path().join(name)).unwrap(), document(1, 0));
}

#[test]
fn packed_documents_are_in_series() {
    let (inbox, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let packed = |day| liblzma::encode_all(&document(day, 0)[..], 6).unwrap();
    put(dir.path(), "one.json", &document(1, 0));
    put(dir.path(), "two.json.xz", &packed(2));
    let damaged = &packed(3)[..200];
    put(dir.path(), "three.json.xz", damaged);
    let mut archive = Archive::open(dir.path()).unwrap();
    assert_eq!(open_under_selinux(&all(&archive)).points.len(), 2);
    let [left_out] = archive.left_out() else {
        panic!("{:?}", archive.left_out());
    };
    assert_eq!(left_out.file, "three.json.xz");
    // The same document, however it is packed.
    let path = put(inbox.path(), "again.json.xz", &packed(1));
    let added = archive.add(&path, None).unwrap();
    assert_eq!(added, Added::Before("one.json".to_owned()));
    let path = put(inbox.path(), "new.json.xz", &packed(4));
    let Added::New(name) = archive.add(&path, None).unwrap() else {
        panic!("it is new");
    };
    assert_eq!(fs::read(dir.path().join(name)).unwrap(), document(4, 0));
}

#[test]
fn the_index_follows_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "one.json", &document(1, 0));
    let two = put(dir.path(), "two.json", &document(2, 0));
    put(dir.path(), "notes.txt", b"no document");
    assert_eq!(all(&Archive::open(dir.path()).unwrap()).runs.len(), 2);
    // Another document in its place, then none.
    fs::write(&two, document(2, 10_000_000)).unwrap();
    let history = all(&Archive::open(dir.path()).unwrap());
    assert_eq!(open_under_selinux(&history).changes.len(), 1);
    fs::remove_file(&two).unwrap();
    let history = all(&Archive::open(dir.path()).unwrap());
    assert_eq!(open_under_selinux(&history).points.len(), 1);
}

#[test]
fn what_cannot_be_read_is_told_and_left_out() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "good.json", &document(1, 0));
    put(dir.path(), "cut.json", &document(2, 0)[..500]);
    put(dir.path(), "empty.json", b"");
    let profile = include_bytes!("../../experiment/tests/golden/profile.json");
    put(dir.path(), "profile.json", profile);
    for _ in 0..2 {
        let archive = Archive::open(dir.path()).unwrap();
        let left_out: Vec<(&str, &str)> = archive
            .left_out()
            .iter()
            .map(|file| (file.file.as_str(), file.why.as_str()))
            .collect();
        assert_eq!(left_out.len(), 3, "{left_out:?}");
        assert!(left_out[0].1.contains("ends in the middle"));
        assert_eq!(left_out[1], ("empty.json", "document of lsmeter's: empty"));
        assert_eq!(
            left_out[2],
            ("profile.json", "a profile document, no run document")
        );
        assert_eq!(all(&archive).runs.len(), 1);
    }
}

#[test]
fn a_damaged_or_foreign_index_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "one.json", &document(1, 0));
    let index = dir.path().join("index.bin");
    let before = all(&Archive::open(dir.path()).unwrap());
    let sound = fs::read(&index).unwrap();
    let mut damaged = sound.clone();
    let half = damaged.len() / 2;
    damaged[half] ^= 1;
    for bytes in [
        &b"no index at all, but long enough to look at"[..],
        &damaged,
        &sound[..half],
        &sound[..20],
        b"",
    ] {
        fs::write(&index, bytes).unwrap();
        assert_eq!(all(&Archive::open(dir.path()).unwrap()), before);
        assert_eq!(fs::read(&index).unwrap(), sound, "it is made anew");
    }
    // What an earlier version left goes with its last use.
    let old = put(dir.path(), "index.sqlite", b"SQLite format 3");
    fs::remove_file(&index).unwrap();
    assert_eq!(all(&Archive::open(dir.path()).unwrap()), before);
    assert!(!old.exists());
}

#[test]
fn an_index_of_another_version_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "one.json", &document(1, 0));
    let before = all(&Archive::open(dir.path()).unwrap());
    let index = dir.path().join("index.bin");
    let sound = fs::read(&index).unwrap();
    let mut other = sound[32..].to_vec();
    other[0] = 0xff;
    let mut bytes = Sha256::digest(&other).to_vec();
    bytes.extend(&other);
    fs::write(&index, bytes).unwrap();
    assert_eq!(all(&Archive::open(dir.path()).unwrap()), before);
    assert_eq!(fs::read(&index).unwrap(), sound);
}

#[test]
fn where_nothing_can_be_written_it_is_still_read() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "one.json", &document(1, 0));
    // Root may write anywhere: a directory in the index's place stops it too.
    fs::create_dir(dir.path().join("index.bin")).unwrap();
    assert_eq!(all(&Archive::open(dir.path()).unwrap()).runs.len(), 1);
}

#[test]
fn series_are_selected() {
    let dir = tempfile::tempdir().unwrap();
    for day in 1..=5 {
        put(dir.path(), &format!("{day}.json"), &document(day, 0));
    }
    let archive = Archive::open(dir.path()).unwrap();
    let chosen = archive.series(&Selection {
        benchmarks: vec!["op*".parse().unwrap(), "!open:AA".parse().unwrap()],
        configurations: vec!["capability".to_owned()],
        last: Some(2),
        ..Selection::default()
    });
    assert_eq!(chosen.runs.len(), 2);
    assert_eq!(chosen.series.len(), 1);
    assert_eq!(chosen.series[0].points.len(), 2);
}

#[test]
fn kernels_of_other_names_are_one_series_if_that_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let as_of = |kernel: &str, day| {
        let mut run = Document::parse(&document(day, 0)).unwrap();
        for cell in &mut run.cells {
            cell.key.kernel = kernel.to_owned();
        }
        written(&run)
    };
    put(dir.path(), "1.json", &as_of("build:a", 1));
    put(dir.path(), "2.json", &as_of("build:b", 2));
    let archive = Archive::open(dir.path()).unwrap();
    let apart = all(&archive).series.len();
    let together = archive.series(&Selection {
        across_kernels: true,
        ..Selection::default()
    });
    assert_eq!(together.series.len() * 2, apart);
    assert!(
        together
            .series
            .iter()
            .all(|series| series.points.len() == 2)
    );
}

#[test]
fn a_metric_that_lsmeter_has_no_name_for_is_a_series_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let metric = Metric::Other(OtherMetric {
        name: Word::new("cache_misses").unwrap(),
        unit: Word::new("misses").unwrap(),
        higher_is_better: false,
        exact: true,
    });
    let mut run = Document::parse(&document(1, 0)).unwrap();
    run.cells.truncate(1);
    run.cells[0].key.metric = metric;
    run.warnings.clear();
    put(dir.path(), "1.json", &written(&run));
    let history = all(&Archive::open(dir.path()).unwrap());
    let series = &history.series[0];
    assert_eq!((series.metric, &*series.unit), (metric, "misses"));
}

#[test]
fn what_cannot_be_added_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut archive = Archive::create(dir.path()).unwrap();
    let path = put(dir.path(), ".hidden", &document(1, 0));
    let label = archive.add(&path, Some("../../etc")).unwrap_err();
    assert_eq!(label.to_string(), "`../../etc` is no label");
    let none = archive.add(&dir.path().join("none.json"), None);
    let none = none.unwrap_err().to_string();
    assert!(none.contains("none.json: cannot be read: "), "{none}");
    let profile = include_bytes!("../../experiment/tests/golden/profile.json");
    fs::write(&path, profile).unwrap();
    let error = archive.add(&path, None).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("is a profile document: a history is of run documents")
    );
    assert!(diagnostics::Fault::hint(&error).is_some());
}
