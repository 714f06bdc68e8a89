// SPDX-License-Identifier: GPL-2.0-or-later
//! Reads and scans files and parses the needed functions, in parallel and with a cache.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use model::Failure;

use crate::body::Body;
use crate::clean::clean;
use crate::config::Config;
use crate::lower::Lowerer;
use crate::scan::{FileIndex, scan};
use crate::store::checksum;
use crate::tree::{Entry, Tree};

/// Parsed functions of a file, by index.
pub(crate) type Bodies = BTreeMap<u32, Body>;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FileData {
    pub(crate) path: String,
    pub(crate) size: u64,
    pub(crate) stamp: u64,
    pub(crate) hash: [u8; 16],
    pub(crate) index: FileIndex,
}

#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) files: Vec<FileData>,
    pub(crate) bodies: Vec<Bodies>,
    pub(crate) scanned: usize,
    pub(crate) parsed: usize,
}

/// Reuses the unchanged files in `known`.
pub(crate) fn load(
    tree: &Tree,
    entries: Vec<Entry>,
    config: &Config,
    known: Vec<(FileData, Bodies)>,
) -> Result<Loaded, Failure> {
    let known = known.into_iter();
    let known = known.map(|(file, bodies)| (file.path.clone(), (file, bodies)));
    let mut known: FxHashMap<String, (FileData, Bodies)> = known.collect();
    let work = entries.into_iter();
    let work: Vec<_> = work
        .map(|entry| (known.remove(&entry.path), entry))
        .collect();
    let files: Vec<_> = work
        .into_par_iter()
        .map(|(old, entry)| file(tree, entry, old, config))
        .collect::<Result<_, _>>()?;
    let mut loaded = Loaded::default();
    for (file, bodies, scanned) in files {
        loaded.files.push(file);
        loaded.bodies.push(bodies);
        loaded.scanned += usize::from(scanned);
    }
    Ok(loaded)
}

fn file(
    tree: &Tree,
    entry: Entry,
    mut old: Option<(FileData, Bodies)>,
    config: &Config,
) -> Result<(FileData, Bodies, bool), Failure> {
    let unchanged = |file: &FileData| (file.size, file.stamp) == (entry.size, entry.stamp);
    if let Some((file, bodies)) = old.take_if(|(file, _)| unchanged(file)) {
        return Ok((file, bodies, false));
    }
    let bytes = tree.read(&entry.path)?;
    let hash = checksum(&bytes);
    if let Some((file, bodies)) = old.filter(|(file, _)| file.hash == hash) {
        let stamp = entry.stamp;
        return Ok((FileData { stamp, ..file }, bodies, false));
    }
    let file = FileData {
        index: scan(&clean(&bytes, config)),
        hash,
        path: entry.path,
        size: entry.size,
        stamp: entry.stamp,
    };
    Ok((file, Bodies::new(), true))
}

impl Loaded {
    /// `wanted`: (file, index). Functions that were parsed are skipped.
    pub(crate) fn parse(
        &mut self,
        tree: &Tree,
        config: &Config,
        files: &[FileData],
        wanted: impl IntoIterator<Item = (u32, u32)>,
    ) -> Result<(), Failure> {
        let mut by_file: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (file, function) in wanted {
            if !self.bodies[file as usize].contains_key(&function) {
                by_file.entry(file).or_default().push(function);
            }
        }
        let parsed: Vec<_> = by_file
            .into_par_iter()
            .map_init(Lowerer::new, |lowerer, (file, functions)| {
                let data = &files[file as usize];
                let text = clean(&tree.read(&data.path)?, config).text;
                let lower = |id| (id, lowerer.lower(&data.index.functions[id as usize], &text));
                let bodies: Vec<_> = functions.into_iter().map(lower).collect();
                Ok((file, bodies))
            })
            .collect::<Result<_, Failure>>()?;
        for (file, bodies) in parsed {
            self.parsed += bodies.len();
            self.bodies[file as usize].extend(bodies);
        }
        Ok(())
    }
}
