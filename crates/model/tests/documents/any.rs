// SPDX-License-Identifier: GPL-2.0-or-later
//! Result files of any kind and version are distinguished, and damage is reported.

use crate::common::{self, golden};
use model::{
    ComparisonDocument, Document, DocumentError, DocumentFault, EstimateDocument, Fault, Kind,
    PlacementDocument, PredictionDocument, Stored, placement::PlacementDifference,
};
use proptest::prelude::*;

const GOLDEN: [(Kind, &str); 9] = [
    (Kind::Run, "run"),
    (Kind::Profile, "profile"),
    (Kind::Sensitivity, "sensitivity"),
    (Kind::Recording, "monitor"),
    (Kind::Placement, "placement"),
    (Kind::Comparison, "comparison"),
    (Kind::Prediction, "prediction"),
    (Kind::Estimate, "estimate"),
    (Kind::PlacementDifference, "placement-diff"),
];

/// A result file as this version writes it, of any kind.
pub fn rewritten(bytes: &[u8]) -> Result<Vec<u8>, DocumentError> {
    fn parsed<T: Stored>(bytes: &[u8]) -> Result<Vec<u8>, DocumentError> {
        Ok(common::stored(&T::parse(bytes)?).into_bytes())
    }
    match Kind::detect(bytes)? {
        Kind::Placement => parsed::<PlacementDocument>(bytes),
        Kind::Comparison => parsed::<ComparisonDocument>(bytes),
        Kind::PlacementDifference => parsed::<PlacementDifference>(bytes),
        Kind::Prediction => parsed::<PredictionDocument>(bytes),
        Kind::Estimate => parsed::<EstimateDocument>(bytes),
        _ => Ok(common::written(&Document::parse(bytes)?).into_bytes()),
    }
}

#[test]
fn documents_are_told_apart() {
    for (kind, name) in GOLDEN {
        let bytes = golden(name);
        let title = |kind| Kind::title(Some(kind));
        assert_eq!(Kind::detect(&bytes).unwrap(), kind, "{name}");
        match Document::parse(&bytes) {
            Ok(document) => assert_eq!(document.kind, kind, "{name}"),
            Err(error) => {
                assert!(!Kind::MEASURED.contains(&kind), "{name}: {error}");
                let expected = format!("it is a {}, without measurements", title(kind));
                assert_eq!(error.to_string(), expected);
                assert!(error.hint().is_some());
            }
        }
        // Reading a given kind accepts that kind only.
        for asked in Kind::MEASURED {
            let read = Document::parse_as(*asked, &bytes);
            if kind == *asked {
                assert_eq!(read.unwrap().kind, kind);
                continue;
            }
            let expected = format!("not a valid {}: it is a {}", title(*asked), title(kind));
            assert_eq!(read.unwrap_err().to_string(), expected);
        }
    }
    let error = PredictionDocument::parse(&golden("comparison")).unwrap_err();
    let expected = "not a valid prediction result file: it is a comparison result file";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_document_that_is_read_and_written_stays_the_same() {
    for (kind, name) in GOLDEN {
        let bytes = golden(name);
        let text = String::from_utf8(rewritten(&bytes).unwrap()).unwrap();
        common::same_as_file(&format!("tests/golden/{name}.json"), &text, "UPDATE_GOLDEN");
        let head = format!("{{\n\"kind\": \"{kind}\",\n\"schema_version\": 3,\n");
        assert!(bytes.starts_with(head.as_bytes()), "{name}");
    }
}

#[test]
fn what_is_none_is_refused() {
    let other = "written by another lsmeter version (schema version 1; this one reads 3)";
    for (text, message) in [
        (r#"{"schema_version": 1, "tool": {}}"#, other),
        (
            "[1, 2]",
            "not a valid lsmeter result file: it is JSON, but not an object",
        ),
        (" \n", "lsmeter result file: empty"),
        (
            r#"{"schema_version": 3, "measurements": []}"#,
            "not a valid lsmeter result file: it has no kind",
        ),
        (
            r#"{"schema_version": 3, "kind": "\u001bdream"}"#,
            "not a valid lsmeter result file: its kind `?dream` is unknown",
        ),
    ] {
        let error = Document::read(text.as_bytes()).unwrap_err();
        assert!(error.hint().is_some(), "{error}");
        assert_eq!(error.to_string(), message);
    }
    let newer = Document::parse(&golden("newer")).unwrap_err();
    assert_eq!(newer.to_string(), other.replace('1', "7"));
}

#[test]
fn a_writer_that_fails_is_the_cause() {
    use std::error::Error;
    let mut full = [0u8; 100];
    let error = common::run().write(&mut full[..]).unwrap_err();
    assert!(matches!(error.fault, DocumentFault::Io(_)), "{error:?}");
    let cause = error.source().unwrap();
    assert!(cause.downcast_ref::<std::io::Error>().is_some());
    assert_eq!(error.hint(), None);
}

proptest! {
    #[test]
    fn a_cut_document_is_called_one(index in 0..GOLDEN.len(), cut in 0.0..1.0f64) {
        let bytes = golden(GOLDEN[index].1);
        let text = bytes.trim_ascii_end();
        let cut = (text.len() as f64 * cut) as usize;
        let error = rewritten(&text[..cut]).unwrap_err();
        let named = matches!(error.fault, DocumentFault::Truncated { .. } | DocumentFault::Empty);
        prop_assert!(named, "{cut}: {error:?}");
        prop_assert!(error.hint().is_some(), "{error}");
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = rewritten(&bytes);
    }

    #[test]
    fn any_changed_byte_is_read_or_refused(
        index in 0..GOLDEN.len(),
        at in any::<prop::sample::Index>(),
        byte: u8,
    ) {
        let mut bytes = golden(GOLDEN[index].1);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(written) = rewritten(&bytes) {
            // An accepted result file can be written and read again.
            prop_assert_eq!(rewritten(&written).unwrap(), written);
        }
    }
}
