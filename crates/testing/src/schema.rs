// SPDX-License-Identifier: GPL-2.0-or-later
//! Checks files against a JSON Schema. Supports only the keywords of generated schemas; any other
//! keyword is an error.

use serde_json::Value;

/// Descriptions of violations with their places.
///
/// # Panics
/// If the schema has an unknown keyword.
pub fn misfits(schema: &Value, document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, schema, document, "$", &mut found);
    found
}

/// Checks a result file against the schema in docs.
#[track_caller]
pub fn assert_fits(document: &Value) {
    let kept = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/document.schema.json"
    );
    let kept = std::fs::read_to_string(kept).unwrap();
    let misfits = misfits(&serde_json::from_str(&kept).unwrap(), document);
    assert!(misfits.is_empty(), "{misfits:#?}");
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let Some(keywords) = schema.as_object() else {
        assert_eq!(schema, true, "{at}: a schema");
        return;
    };
    for (keyword, wanted) in keywords {
        let fits = match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "default" | "format" => true,
            "$ref" => {
                let pointer = wanted.as_str().unwrap().strip_prefix('#').unwrap();
                check(root, root.pointer(pointer).unwrap(), value, at, found);
                true
            }
            "type" => match wanted {
                Value::Array(kinds) => kinds.iter().any(|kind| is(value, kind)),
                kind => is(value, kind),
            },
            "const" => value == wanted,
            "minLength" | "maxLength" => value.as_str().is_none_or(|text| {
                let length = (text.chars().count() as u64).cmp(&wanted.as_u64().unwrap());
                match keyword.as_str() {
                    "minLength" => length.is_ge(),
                    _ => length.is_le(),
                }
            }),
            "enum" => wanted.as_array().unwrap().contains(value),
            "anyOf" => fitting(root, wanted, value) > 0,
            "oneOf" => fitting(root, wanted, value) == 1,
            "minimum" => value
                .as_f64()
                .is_none_or(|value| value >= wanted.as_f64().unwrap()),
            "minItems" => value
                .as_array()
                .is_none_or(|list| list.len() as u64 >= wanted.as_u64().unwrap()),
            "maxItems" => value
                .as_array()
                .is_none_or(|list| list.len() as u64 <= wanted.as_u64().unwrap()),
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, wanted, item, &format!("{at}[{index}]"), found);
                }
                true
            }
            "required" => wanted
                .as_array()
                .unwrap()
                .iter()
                .all(|key| value.get(key.as_str().unwrap()).is_some()),
            "properties" => {
                for (key, schema) in wanted.as_object().unwrap() {
                    if let Some(value) = value.get(key) {
                        check(root, schema, value, &format!("{at}.{key}"), found);
                    }
                }
                // A key without a description in the schema is undocumented.
                let mut keys = value.as_object().into_iter().flatten().map(|(key, _)| key);
                keys.all(|key| wanted.get(key).is_some())
            }
            // Already reported by `properties`.
            "additionalProperties" if *wanted == false => true,
            // Values of a map with arbitrary keys.
            "additionalProperties" => {
                for (key, value) in value.as_object().into_iter().flatten() {
                    check(root, wanted, value, &format!("{at}.{key}"), found);
                }
                true
            }
            other => panic!("{at}: the keyword {other} is not known here"),
        };
        if !fits {
            found.push(format!("{at}: {keyword} {wanted}: {value}"));
        }
    }
}

fn fitting(root: &Value, schemas: &Value, value: &Value) -> usize {
    let schemas = schemas.as_array().unwrap().iter();
    let fits = |schema: &&Value| {
        let mut found = Vec::new();
        check(root, schema, value, "$", &mut found);
        found.is_empty()
    };
    schemas.filter(fits).count()
}

fn is(value: &Value, kind: &Value) -> bool {
    match kind.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the type {other} is not known here"),
    }
}
