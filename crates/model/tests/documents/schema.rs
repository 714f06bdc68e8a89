// SPDX-License-Identifier: GPL-2.0-or-later
//! The schema of all result files: up to date in docs, and satisfied.

use crate::common;
use serde_json::Value;
use testing::schema::misfits;

#[test]
fn it_is_kept_in_docs() {
    let schema = serde_json::to_string_pretty(&model::schema()).unwrap() + "\n";
    common::same_as_file("../../docs/document.schema.json", &schema, "UPDATE_SCHEMA");
}

#[test]
fn written_documents_keep_to_it() {
    let schema = model::schema();
    // An error about alternatives only reports that none fits, so each is checked by itself.
    let mut measured = schema.clone();
    measured.as_object_mut().unwrap().remove("anyOf");
    measured["$ref"] = "#/$defs/Document".into();
    for (name, schemas) in [
        ("run", &[&schema, &measured][..]),
        ("profile", &[&schema, &measured]),
        ("sensitivity", &[&schema, &measured]),
        ("monitor", &[&schema, &measured]),
        ("comparison", &[&schema]),
        ("prediction", &[&schema]),
        ("placement", &[&schema]),
        ("placement-diff", &[&schema]),
    ] {
        let document: Value = serde_json::from_slice(&common::golden(name)).unwrap();
        for schema in schemas {
            assert_eq!(misfits(schema, &document), [""; 0], "{name}");
        }
    }
}

#[test]
fn an_unknown_key_or_word_does_not_keep_to_it() {
    let good: Value = serde_json::from_slice(&common::golden("run")).unwrap();
    let misfits = |spoil: &dyn Fn(&mut Value)| {
        let mut bad = good.clone();
        spoil(&mut bad);
        misfits(&model::schema(), &bad).len()
    };
    assert_eq!(misfits(&|_| {}), 0);
    assert_ne!(
        misfits(&|run| run["measurements"][0]["mood"] = "fine".into()),
        0
    );
    assert_ne!(misfits(&|run| run["kind"] = "dream".into()), 0);
    assert_ne!(
        misfits(&|run| run["measurements"][0]["key"]["metric"] = "joules".into()),
        0
    );
}
