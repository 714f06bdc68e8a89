// SPDX-License-Identifier: GPL-2.0-or-later
//! The index: what the documents hold that series are made of, in one file.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, Metadata};
use std::io::{Read, Write};
use std::path::Path;
use std::time::UNIX_EPOCH;

use diagnostics::Failure;
use experiment::{Document, Kind, Metric};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{LeftOut, hexadecimal, run, started};
use kernels::scratch::replace;

/// The index's file: the SHA-256 of the rest, [`VERSION`], and the files as postcard writes
/// them.
const FILE: &str = "index.bin";
/// Earlier versions' index.
const OLD_FILE: &str = "index.sqlite";
/// Of what follows. Another one's index is made anew.
const VERSION: u8 = 3;
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
    cells: Vec<Cell<usize>>,
}

/// A cell that has a figure, with texts, or their positions in [`Entry::texts`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Cell<T> {
    pub(crate) kernel: T,
    pub(crate) release: T,
    pub(crate) configuration: T,
    pub(crate) filesystem: T,
    pub(crate) benchmark: T,
    pub(crate) variant: T,
    pub(crate) machine: T,
    #[serde(with = "as_json")]
    pub(crate) metric: Metric,
    pub(crate) figure: f64,
    pub(crate) interval: Option<[f64; 2]>,
    pub(crate) exact: bool,
}

impl Cell<usize> {
    /// None if these texts are not those of its document.
    fn with<'a>(&self, texts: &'a [String]) -> Option<Cell<&'a str>> {
        let text = |at: usize| texts.get(at).map(String::as_str);
        Some(Cell {
            kernel: text(self.kernel)?,
            release: text(self.release)?,
            configuration: text(self.configuration)?,
            filesystem: text(self.filesystem)?,
            benchmark: text(self.benchmark)?,
            variant: text(self.variant)?,
            machine: text(self.machine)?,
            metric: self.metric,
            figure: self.figure,
            interval: self.interval,
            exact: self.exact,
        })
    }
}

/// A cell that has a figure, with its run.
#[derive(Debug)]
pub(crate) struct Indexed<'a> {
    pub(crate) file: &'a str,
    pub(crate) started: &'a str,
    pub(crate) cell: Cell<&'a str>,
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
        load: &dyn Fn(&str) -> Result<Vec<u8>, Failure>,
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
        replace(&directory.join(FILE), |file| {
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
            document.cells.iter().filter_map(move |cell| {
                Some(Indexed {
                    file,
                    started: &document.started,
                    cell: cell.with(&document.texts)?,
                })
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
        let mut cells = of.cells.iter();
        cells.all(|cell| cell.with(&of.texts).is_some())
    };
    documents.values().all(sound).then_some(documents)
}

/// What a file holds: its cells, or why it is left out.
fn document(stamp: Stamp, bytes: Result<Vec<u8>, Failure>) -> Entry {
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
fn cells(run: &Document) -> (Vec<Cell<usize>>, Vec<String>) {
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
