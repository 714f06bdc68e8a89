// SPDX-License-Identifier: GPL-2.0-or-later
//! A gate's word as KCIDB JSON (schema 5.3 of `kcidb-io`): what KernelCI's database takes.

use std::collections::BTreeMap;

use experiment::ComparisonDocument;
use experiment::comparison::{ComparedCell, GateVerdict, Verdict};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::ktap::path as name;
use crate::text::printable;

/// The schema's version, as far as this writer uses it.
const VERSION: [u32; 2] = [5, 3];
/// Longest comment, in characters.
const COMMENT_LIMIT: usize = 400;

/// Names that KCIDB asks for and a comparison does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KcidbNames {
    /// Who submits: letters, digits and `_`, all small.
    pub origin: String,
    /// The build that NEW's kernel comes from, as it was submitted: `ORIGIN:ID`.
    pub build_id: String,
}

#[derive(Serialize)]
struct Document {
    version: Version,
    tests: Vec<Test>,
}

#[derive(Serialize)]
struct Version {
    major: u32,
    minor: u32,
}

#[derive(Serialize)]
struct Test {
    build_id: String,
    id: String,
    origin: String,
    path: String,
    comment: String,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<Number>,
    misc: BTreeMap<&'static str, serde_json::Value>,
}

#[derive(Serialize)]
struct Number {
    value: f64,
    unit: String,
}

/// One test for each compared cell, with NEW's figure as its number. What cannot be told is
/// an `ERROR`, what has no figure because the kernel cannot do it a `SKIP`, what has no
/// limit `DONE`.
pub fn kcidb(document: &ComparisonDocument, names: &KcidbNames) -> serde_json::Value {
    let tests = document
        .compared
        .iter()
        .map(|cell| test(document, cell, names));
    let [major, minor] = VERSION;
    let out = Document {
        version: Version { major, minor },
        tests: tests.collect(),
    };
    // Of these types nothing fails: strings, numbers that are finite, and maps of both.
    serde_json::to_value(out).unwrap_or_default()
}

fn test(document: &ComparisonDocument, cell: &ComparedCell, names: &KcidbNames) -> Test {
    let status = match (&cell.gate, cell.verdict) {
        (Some(gate), _) => match gate.verdict {
            GateVerdict::Pass => "PASS",
            GateVerdict::Fail => "FAIL",
            GateVerdict::Inconclusive => "ERROR",
        },
        (None, Verdict::Missing) => "SKIP",
        (None, _) => "DONE",
    };
    let comment = match &cell.gate {
        Some(gate) => gate.message.clone(),
        None => cell.reason.clone().unwrap_or_default(),
    };
    let mut misc = BTreeMap::from([
        ("benchmark", cell.title().into()),
        ("configuration", cell.place.configuration.clone().into()),
        ("filesystem", cell.place.filesystem.clone().into()),
        ("kernel", cell.place.kernel.clone().into()),
        ("verdict", cell.verdict.to_string().into()),
    ]);
    for (key, value) in [
        ("base", cell.base.value),
        ("overhead", cell.overhead),
        ("p_adjusted", cell.p_adjusted),
    ] {
        if let Some(value) = value {
            misc.insert(key, value.into());
        }
    }
    Test {
        build_id: names.build_id.clone(),
        id: format!("{}:lsmeter-{}", names.origin, identity(document, cell)),
        origin: names.origin.clone(),
        path: path(cell),
        comment: printable(&comment, COMMENT_LIMIT),
        status,
        number: cell.new.value.map(|value| Number {
            value,
            unit: cell.unit.clone(),
        }),
        misc,
    }
}

/// The same comparison of the same documents has the same identity, another one another.
fn identity(document: &ComparisonDocument, cell: &ComparedCell) -> String {
    let mut hash = Sha256::new();
    for source in [&document.base, &document.new] {
        hash.update(&source.name);
        hash.update([0]);
        hash.update(source.started.as_deref().unwrap_or_default());
        hash.update([0]);
    }
    hash.update(name(cell));
    for value in [cell.base.value, cell.new.value] {
        hash.update(value.unwrap_or(f64::NAN).to_le_bytes());
    }
    let digest = hash.finalize();
    digest
        .iter()
        .take(12)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// `lsmeter.instructions.open.AA_BB`: parts of letters, digits, `_` and `-`.
fn path(cell: &ComparedCell) -> String {
    let part = |text: &str| -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let cleaned = text.chars().map(|c| if plain(c) { c } else { '_' });
        cleaned.take(200).collect()
    };
    let parts = [
        cell.metric.to_string(),
        cell.benchmark.clone(),
        cell.variant.clone(),
        cell.detail.clone(),
    ];
    let parts = parts.iter().filter(|text| !text.is_empty());
    std::iter::once("lsmeter".to_owned())
        .chain(parts.map(|text| part(text)))
        .collect::<Vec<_>>()
        .join(".")
}
