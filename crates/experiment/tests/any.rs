// SPDX-License-Identifier: GPL-2.0-or-later
//! Documents of whichever kind are told apart, and damage to them is named.

use diagnostics::Fault;
use experiment::{AnyDocument, DocumentKind};
use proptest::prelude::*;

const GOLDEN: [(DocumentKind, &[u8]); 8] = [
    (DocumentKind::Run, include_bytes!("golden/v1.json")),
    (DocumentKind::Run, include_bytes!("golden/v1-stacks.json")),
    (
        DocumentKind::Run,
        include_bytes!("golden/v1-newer-keys.json"),
    ),
    (
        DocumentKind::Profile,
        include_bytes!("golden/profile-v1.json"),
    ),
    (
        DocumentKind::Profile,
        include_bytes!("golden/profile-v1-newer-keys.json"),
    ),
    (
        DocumentKind::Sensitivity,
        include_bytes!("golden/sensitivity-v1.json"),
    ),
    (
        DocumentKind::Monitor,
        include_bytes!("golden/monitor-v1.json"),
    ),
    (
        DocumentKind::Placement,
        include_bytes!("golden/placement-v1.json"),
    ),
];

#[test]
fn documents_are_told_apart() {
    for (kind, bytes) in GOLDEN {
        let document = AnyDocument::read(bytes).unwrap();
        assert_eq!(document.kind(), kind);
        let warned = !matches!(kind, DocumentKind::Placement);
        assert!(document.warnings().is_empty() || warned);
    }
}

#[test]
fn what_is_none_is_refused() {
    let message = |text: &str| {
        let error = AnyDocument::read(text.as_bytes()).unwrap_err();
        (error.to_string(), error.hint().is_some())
    };
    let none = "no document of lsmeter's: it has the keys of no document that lsmeter writes";
    assert_eq!(
        message(r#"{"schema_version": 1, "tool": {}}"#),
        (none.to_owned(), true)
    );
    assert_eq!(
        message("[1, 2]"),
        (
            "no document of lsmeter's: it is JSON, but no object".to_owned(),
            true
        )
    );
    assert_eq!(
        message(" \n"),
        ("document of lsmeter's: empty".to_owned(), true)
    );
    let newer = include_str!("golden/v7.json");
    assert_eq!(
        message(newer),
        (
            "written by a newer lsmeter (schema 7; this one reads up to 1)".to_owned(),
            true
        )
    );
    // Its kind is known, its cells are not what they should be.
    let (text, _) = message(r#"{"schema_version": 1, "cells": [3]}"#);
    assert!(text.starts_with("run document: at "), "{text}");
}

proptest! {
    #[test]
    fn a_cut_document_is_an_error(index in 0..GOLDEN.len(), cut in 0.0..1.0f64) {
        let text = GOLDEN[index].1.trim_ascii_end();
        let cut = (text.len() as f64 * cut) as usize;
        let error = AnyDocument::parse(&text[..cut]).unwrap_err();
        prop_assert!(error.hint().is_some(), "{error}");
    }
}
