// SPDX-License-Identifier: GPL-2.0-or-later
//! The static side: bounds of what was measured, by a kernel's sources.

use std::path::PathBuf;

use anyhow::Result;
use check::Subject;
use experiment::placement::Comparison;
use experiment::{Document, Instrument};
use kernels::Store;
use placement::Request;

use super::input::Documents;
use crate::commands::placement::{Input, add, series};
use crate::config::cache_dir;
use crate::failure::usage;
use crate::progress::Line;

/// Where what is found in sources is kept.
pub fn cache() -> PathBuf {
    cache_dir().join("placement")
}

/// Bounds of the operations that the profile measured, from sources or from a document.
///
/// # Errors
/// If the sources are of another kernel, or cannot be analysed.
pub fn place(
    source: Option<Input>,
    documents: &mut Documents,
    subject: &Subject,
    line: &Line,
) -> Result<Option<Comparison>> {
    let skipped = documents
        .silent
        .iter()
        .any(|s| s.instrument == Instrument::Placement);
    if skipped || (source.is_none() && documents.placement.is_none()) {
        return Ok(None);
    }
    let Some(profiles) = profiles(documents, subject) else {
        let why = "it bounds what a profile measured, and there is none".to_owned();
        documents.silence(Instrument::Placement, Some(why));
        return Ok(None);
    };
    if let Some(source) = source {
        line.say("analysing the sources");
        documents.placement = Some(source.placement(&request(&profiles, subject)?)?);
    }
    let Some(document) = &documents.placement else {
        return Ok(None);
    };
    if series(&document.version) != series(&subject.release) {
        return Err(usage(
            format!(
                "the sources are of Linux {}, the kernel is {}",
                report::printable(&document.version, 60),
                report::printable(&subject.release, 60)
            ),
            "give the sources that the kernel was built from",
        ));
    }
    if document.architecture != subject.architecture {
        return Err(usage(
            format!(
                "the placement is of kernels of {}, the kernel is of {}",
                document.architecture, subject.architecture
            ),
            format!(
                "give the sources, or what `lsmeter placement --arch {}` found in them",
                subject.architecture
            ),
        ));
    }
    Ok(Some(placement::compare(&profiles, document)?))
}

/// The subject's profiles.
fn profiles(documents: &Documents, subject: &Subject) -> Option<Document> {
    let mut profiles = documents.profile.clone()?;
    profiles
        .cells
        .retain(|cell| subject.has(cell) && cell.hooks().is_some());
    (!profiles.cells.is_empty()).then_some(profiles)
}

/// The system calls of the profiles, as the kernel was configured, if it is known here.
fn request(profiles: &Document, subject: &Subject) -> Result<Request> {
    let mut syscalls: Vec<String> = Vec::new();
    for syscall in profiles.cells.iter().flat_map(|cell| &cell.syscalls) {
        add(&mut syscalls, syscall);
    }
    let kernels = Store::open(&cache_dir()).and_then(|store| store.list());
    let kernels = kernels.unwrap_or_default();
    let kernel = kernels
        .iter()
        .find(|kernel| kernel.release == subject.release);
    let config = kernel.and_then(|kernel| kernel.config.as_deref());
    Ok(Request {
        architecture: subject.architecture,
        syscalls,
        fs: vec![subject.fs.clone()],
        config: config.and_then(|path| std::fs::read_to_string(path).ok()),
        cache: Some(cache()),
        explain: true,
        ..Request::default()
    })
}
