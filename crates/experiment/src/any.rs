// SPDX-License-Identifier: GPL-2.0-or-later
//! A document of any kind: what it is, its keys tell.

use std::io::Read;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::document::{
    DOCUMENT_LIMIT_BYTES, DocumentError, DocumentFault, DocumentKind, check_version, decode,
    read_bounded,
};
use crate::monitor::MonitorDocument;
use crate::placement::PlacementDocument;
use crate::profile::ProfileDocument;
use crate::run::{Run, Warning};
use crate::sensitivity::SensitivityDocument;

/// A document of measurements that lsmeter wrote, of whichever kind. A comparison is none.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyDocument {
    /// Of `lsmeter run`.
    Run(Box<Run>),
    /// Of `lsmeter profile`.
    Profile(Box<ProfileDocument>),
    /// Of `lsmeter sensitivity`.
    Sensitivity(Box<SensitivityDocument>),
    /// Of `lsmeter monitor --record`.
    Monitor(Box<MonitorDocument>),
    /// Of `lsmeter placement`.
    Placement(Box<PlacementDocument>),
}

/// The keys that each kind must have and no other kind has.
#[derive(Deserialize)]
struct Keys {
    cells: Option<IgnoredAny>,
    profiles: Option<IgnoredAny>,
    slopes: Option<IgnoredAny>,
    intervals: Option<IgnoredAny>,
    syscalls: Option<IgnoredAny>,
    compared: Option<IgnoredAny>,
    changes: Option<IgnoredAny>,
    versions: Option<IgnoredAny>,
    counted: Option<IgnoredAny>,
    instruments: Option<IgnoredAny>,
}

impl AnyDocument {
    /// Reads a document of this or an older schema version, of whichever kind.
    ///
    /// # Errors
    /// [`DocumentError`], which says where; its kind is [`DocumentKind::Unknown`] if that
    /// could not be told. Reads at most [`DOCUMENT_LIMIT_BYTES`].
    pub fn read(reader: impl Read) -> Result<AnyDocument, DocumentError> {
        let bytes = read_bounded(reader, DOCUMENT_LIMIT_BYTES).map_err(unknown)?;
        AnyDocument::parse(&bytes)
    }

    /// Reads a document that is in memory. Like [`AnyDocument::read`].
    ///
    /// # Errors
    /// [`DocumentError`].
    pub fn parse(bytes: &[u8]) -> Result<AnyDocument, DocumentError> {
        Ok(match kind(bytes).map_err(unknown)? {
            DocumentKind::Run => AnyDocument::Run(Run::parse(bytes)?.into()),
            DocumentKind::Profile => AnyDocument::Profile(ProfileDocument::parse(bytes)?.into()),
            DocumentKind::Sensitivity => {
                AnyDocument::Sensitivity(SensitivityDocument::parse(bytes)?.into())
            }
            DocumentKind::Monitor => AnyDocument::Monitor(MonitorDocument::parse(bytes)?.into()),
            DocumentKind::Placement => {
                AnyDocument::Placement(PlacementDocument::parse(bytes)?.into())
            }
            kind @ (DocumentKind::Comparison
            | DocumentKind::PlacementDifference
            | DocumentKind::PlacementHistory
            | DocumentKind::Check) => {
                return Err(unknown(DocumentFault::NoVersion {
                    message: format!("a {kind} is made from others, and cannot be used like one"),
                }));
            }
            DocumentKind::Counts => {
                return Err(unknown(DocumentFault::NoVersion {
                    message: "a monitor's counts are of use to `lsmeter check` only".to_owned(),
                }));
            }
            DocumentKind::Unknown => {
                return Err(unknown(DocumentFault::NoVersion {
                    message: "it has the keys of no document that lsmeter writes".to_owned(),
                }));
            }
        })
    }

    /// Which one it is.
    pub fn kind(&self) -> DocumentKind {
        match self {
            AnyDocument::Run(_) => DocumentKind::Run,
            AnyDocument::Profile(_) => DocumentKind::Profile,
            AnyDocument::Sensitivity(_) => DocumentKind::Sensitivity,
            AnyDocument::Monitor(_) => DocumentKind::Monitor,
            AnyDocument::Placement(_) => DocumentKind::Placement,
        }
    }

    /// Reasons to doubt it. A placement has lists of its own for that, and none here.
    pub fn warnings(&self) -> &[Warning] {
        match self {
            AnyDocument::Run(document) => &document.warnings,
            AnyDocument::Profile(document) => &document.warnings,
            AnyDocument::Sensitivity(document) => &document.warnings,
            AnyDocument::Monitor(document) => &document.warnings,
            AnyDocument::Placement(_) => &[],
        }
    }
}

impl DocumentKind {
    /// Which kind a document in memory is, by its keys.
    ///
    /// # Errors
    /// [`DocumentError`] if it is no document at all, or a newer one.
    pub fn of(bytes: &[u8]) -> Result<DocumentKind, DocumentError> {
        kind(bytes).map_err(unknown)
    }
}

fn unknown(fault: DocumentFault) -> DocumentError {
    DocumentError {
        document: DocumentKind::Unknown,
        fault,
    }
}

fn kind(bytes: &[u8]) -> Result<DocumentKind, DocumentFault> {
    check_version(bytes)?;
    let keys: Keys = decode(bytes)?;
    Ok(if keys.cells.is_some() {
        DocumentKind::Run
    } else if keys.profiles.is_some() {
        DocumentKind::Profile
    } else if keys.slopes.is_some() {
        DocumentKind::Sensitivity
    } else if keys.intervals.is_some() {
        DocumentKind::Monitor
    } else if keys.syscalls.is_some() {
        DocumentKind::Placement
    } else if keys.changes.is_some() {
        // It has a key `compared` too.
        DocumentKind::PlacementDifference
    } else if keys.compared.is_some() {
        DocumentKind::Comparison
    } else if keys.versions.is_some() {
        DocumentKind::PlacementHistory
    } else if keys.counted.is_some() {
        DocumentKind::Counts
    } else if keys.instruments.is_some() {
        DocumentKind::Check
    } else {
        DocumentKind::Unknown
    })
}
