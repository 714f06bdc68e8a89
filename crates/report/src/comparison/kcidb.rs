// SPDX-License-Identifier: GPL-2.0-or-later
//! A gate's word as KCIDB JSON (schema 5.3 of `kcidb-io`): what KernelCI's database takes.

use std::collections::BTreeMap;

use experiment::ComparisonDocument;
use experiment::comparison::{ComparedCell, GateVerdict, Verdict};
use serde_json::{Value, json};
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

/// One test for each compared cell, with NEW's figure as its number. What cannot be told is
/// an `ERROR`, what has no figure because the kernel cannot do it a `SKIP`, what has no
/// limit `DONE`.
pub fn kcidb(document: &ComparisonDocument, names: &KcidbNames) -> Value {
    let cells = document.compared.iter();
    let tests: Vec<Value> = cells.map(|cell| test(document, cell, names)).collect();
    let [major, minor] = VERSION;
    json!({ "version": { "major": major, "minor": minor }, "tests": tests })
}

fn test(document: &ComparisonDocument, cell: &ComparedCell, names: &KcidbNames) -> Value {
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
        ("benchmark", json!(cell.title())),
        ("configuration", json!(cell.place.configuration)),
        ("filesystem", json!(cell.place.filesystem)),
        ("kernel", json!(cell.place.kernel)),
        ("verdict", json!(cell.verdict.to_string())),
    ]);
    for (key, value) in [
        ("base", cell.base.value),
        ("overhead", cell.overhead),
        ("p_adjusted", cell.p_adjusted),
    ] {
        misc.extend(value.map(|value| (key, json!(value))));
    }
    let mut test = json!({
        "build_id": names.build_id,
        "id": format!("{}:lsmeter-{}", names.origin, identity(document, cell)),
        "origin": names.origin,
        "path": path(cell),
        "comment": printable(&comment, COMMENT_LIMIT),
        "status": status,
    });
    if let Some(value) = cell.new.value {
        test["number"] = json!({ "value": value, "unit": cell.unit });
    }
    test["misc"] = json!(misc);
    test
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
