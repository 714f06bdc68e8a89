// SPDX-License-Identifier: GPL-2.0-or-later
//! The index: what the documents hold that series are made of, in one file.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, Metadata};
use std::io::{Read, Write};
use std::path::Path;
use std::time::UNIX_EPOCH;

use experiment::{Document, Kind, Metric};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{HistoryError, LeftOut, hexadecimal, run, started, write_beside};

/// The index's file: the SHA-256 of the rest, [`VERSION`], and the files as postcard writes
/// them.
const FILE: &str = "index.bin";
/// Earlier versions' index.
const OLD_FILE: &str = "index.sqlite";
/// Of what follows. Another one's index is made anew.
const VERSION: u8 = 2;
/// Longest index that is read, in bytes.
const LIMIT: u64 = 1 << 30;
const DIGEST_LEN: usize = 32;

/// What tells that a file has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Stamp {
    bytes: u64,
    modified_ns: u128,
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Stamp {
        let modified = metadata.modified().ok();
        let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Stamp {
            bytes: metadata.len(),
            modified_ns: since.map_or(0, |since| since.as_nanos()),
        }
    }
}

/// A file of the directory.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    stamp: Stamp,
    /// SHA-256 of its content; empty if it could not be read.
    digest: String,
    /// Why it is in no series, if it is in none.
    left_out: Option<String>,
    started: String,
    /// What cells are called, each text once.
    texts: Vec<String>,
    cells: Vec<Cell>,
}

/// A cell that has a figure; texts by their positions in [`Entry::texts`].
#[derive(Debug, Serialize, Deserialize)]
struct Cell {
    kernel: usize,
    release: usize,
    configuration: usize,
    filesystem: usize,
    benchmark: usize,
    variant: usize,
    machine: usize,
    #[serde(with = "as_json")]
    metric: Metric,
    figure: f64,
    interval: Option<[f64; 2]>,
    exact: bool,
}

impl Cell {
    fn texts(&self) -> [usize; 7] {
        [
            self.kernel,
            self.release,
            self.configuration,
            self.filesystem,
            self.benchmark,
            self.variant,
            self.machine,
        ]
    }
}

/// A cell that has a figure, with its run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Indexed<'a> {
    pub(crate) file: &'a str,
    pub(crate) started: &'a str,
    pub(crate) kernel: &'a str,
    pub(crate) release: &'a str,
    pub(crate) configuration: &'a str,
    pub(crate) filesystem: &'a str,
    pub(crate) benchmark: &'a str,
    pub(crate) variant: &'a str,
    pub(crate) metric: Metric,
    pub(crate) machine: &'a str,
    pub(crate) figure: f64,
    pub(crate) interval: Option<[f64; 2]>,
    pub(crate) exact: bool,
}

/// An index in memory: each document by the name of its file.
#[derive(Debug, Default)]
pub(crate) struct Index {
    documents: BTreeMap<String, Entry>,
}

impl Index {
    /// Reads the index in a directory; an empty one where there is none that can be used.
    pub(crate) fn open(directory: &Path) -> Index {
        Index {
            documents: read(&directory.join(FILE)).unwrap_or_default(),
        }
    }

    /// The file whose content has this SHA-256.
    pub(crate) fn file_of(&self, digest: &str) -> Option<&str> {
        let mut documents = self.documents.iter();
        let found = documents.find(|(_, of)| of.digest == digest && of.left_out.is_none());
        found.map(|(file, _)| file.as_str())
    }

    /// Makes the index one of these files of a directory, and writes it there if it has
    /// changed and can be written; `load` reads one. What is in no series is told.
    pub(crate) fn follow(
        &mut self,
        directory: &Path,
        files: Vec<(String, Stamp)>,
        load: &dyn Fn(&str) -> Result<Vec<u8>, HistoryError>,
    ) -> Vec<LeftOut> {
        let mut before = std::mem::take(&mut self.documents);
        let mut changed = false;
        for (file, stamp) in files {
            let known = before.remove(&file).filter(|of| of.stamp == stamp);
            changed |= known.is_none();
            let document = known.unwrap_or_else(|| document(stamp, load(&file)));
            self.documents.insert(file, document);
        }
        if changed || !before.is_empty() {
            // Whoever may not write here reads the documents again the next time.
            let _ = self.write(directory);
        }
        let left_out = self.documents.iter().filter_map(|(file, document)| {
            let why = document.left_out.clone()?;
            let file = file.clone();
            Some(LeftOut { file, why })
        });
        left_out.collect()
    }

    fn write(&self, directory: &Path) -> std::io::Result<()> {
        let bytes = postcard::to_extend(&self.documents, vec![VERSION]);
        let bytes = bytes.map_err(std::io::Error::other)?;
        write_beside(&directory.join(FILE), |file| {
            file.write_all(&Sha256::digest(&bytes))?;
            file.write_all(&bytes)
        })?;
        let _ = fs::remove_file(directory.join(OLD_FILE));
        Ok(())
    }

    /// All cells with a figure, runs in the order of their beginning, cells in that of
    /// their document.
    pub(crate) fn cells(&self) -> Vec<Indexed<'_>> {
        let mut documents: Vec<(&String, &Entry)> = self.documents.iter().collect();
        documents.sort_by_key(|(file, document)| (&document.started, *file));
        let cells = documents.into_iter().flat_map(|(file, document)| {
            let text = |at: usize| document.texts[at].as_str();
            document.cells.iter().map(move |cell| Indexed {
                file,
                started: &document.started,
                kernel: text(cell.kernel),
                release: text(cell.release),
                configuration: text(cell.configuration),
                filesystem: text(cell.filesystem),
                benchmark: text(cell.benchmark),
                variant: text(cell.variant),
                metric: cell.metric,
                machine: text(cell.machine),
                figure: cell.figure,
                interval: cell.interval,
                exact: cell.exact,
            })
        });
        cells.collect()
    }
}

/// The documents of an index file, if it is whole and of this version.
fn read(path: &Path) -> Option<BTreeMap<String, Entry>> {
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    file.take(LIMIT + 1).read_to_end(&mut bytes).ok()?;
    let (digest, rest) = bytes.split_at_checked(DIGEST_LEN)?;
    let (&version, documents) = rest.split_first()?;
    if bytes.len() as u64 > LIMIT || version != VERSION || digest != &Sha256::digest(rest)[..] {
        return None;
    }
    let documents: BTreeMap<String, Entry> = postcard::from_bytes(documents).ok()?;
    let sound = |of: &Entry| {
        let mut texts = of.cells.iter().flat_map(Cell::texts);
        texts.all(|at| at < of.texts.len())
    };
    documents.values().all(sound).then_some(documents)
}

/// What a file holds: its cells, or why it is left out.
fn document(stamp: Stamp, bytes: Result<Vec<u8>, HistoryError>) -> Entry {
    let mut document = Entry {
        stamp,
        digest: String::new(),
        left_out: None,
        started: String::new(),
        texts: Vec::new(),
        cells: Vec::new(),
    };
    let run = bytes.map_err(|error| error.to_string()).and_then(|bytes| {
        document.digest = hexadecimal(&Sha256::digest(&bytes));
        match run(&bytes) {
            Ok(Ok(run)) => Ok(run),
            Ok(Err(other)) => Err(format!("a {}, no run document", Kind::title(Some(other)))),
            Err(error) => Err(error.to_string()),
        }
    });
    match run {
        Ok(run) => {
            (document.cells, document.texts) = cells(&run);
            started(&run).clone_into(&mut document.started);
        }
        Err(why) => document.left_out = Some(why),
    }
    document
}

/// The cells of a run that have a figure, and their texts.
fn cells(run: &Document) -> (Vec<Cell>, Vec<String>) {
    let (mut cells, mut texts) = (Vec::new(), Vec::new());
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut text = |text: &str| match known.get(text) {
        Some(&at) => at,
        None => {
            known.insert(text.to_owned(), texts.len());
            texts.push(text.to_owned());
            texts.len() - 1
        }
    };
    for cell in &run.cells {
        let Some(figure) = cell.headline().filter(|figure| figure.is_finite()) else {
            continue;
        };
        let exact = cell.is_exact();
        let estimate = cell.estimate().filter(|_| !exact);
        let key = &cell.key;
        cells.push(Cell {
            kernel: text(&key.kernel),
            release: text(&cell.release),
            configuration: text(&key.configuration_title()),
            filesystem: text(&key.filesystem),
            benchmark: text(key.benchmark()),
            variant: text(key.variant()),
            machine: text(&run.environment.machine(key.metric)),
            metric: key.metric,
            figure,
            interval: estimate.and_then(|estimate| estimate.ci95),
            exact,
        });
    }
    (cells, texts)
}

/// A metric as documents write it: their form of it does not say itself what it is, which
/// postcard would need.
mod as_json {
    use experiment::Metric;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

    pub(super) fn serialize<S: Serializer>(
        metric: &Metric,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let json = serde_json::to_string(metric).map_err(ser::Error::custom)?;
        json.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Metric, D::Error> {
        let json = String::deserialize(deserializer)?;
        serde_json::from_str(&json).map_err(de::Error::custom)
    }
}
