// SPDX-License-Identifier: GPL-2.0-or-later
//! Method and environment of a result file.

use maud::{Markup, html};
use serde::Serialize;
use serde_json::Value;

use crate::gather::Content;
use crate::kinds::view;
use crate::text::printable;

const VALUE_LIMIT: usize = 400;

pub(super) fn about(content: &Content) -> Markup {
    let setups = match content {
        Content::Measured(document) => &document.setups[..],
        Content::Placement(_) => &[],
    };
    html! {
        details.about {
            summary { "Method and environment" }
            p { (view(content).method) }
            dl {
                @for (name, value) in facts(content) {
                    dt { (printable(&name, VALUE_LIMIT)) }
                    dd { (printable(&value, VALUE_LIMIT)) }
                }
            }
            @for setup in setups {
                p {
                    "Policies in force under "
                    (printable(&setup.configuration.title(), VALUE_LIMIT))
                    " on " (printable(&setup.kernel, VALUE_LIMIT)) ":"
                }
                ol { @for step in &setup.steps { li { (printable(step, VALUE_LIMIT)) } } }
            }
        }
    }
}

fn facts(content: &Content) -> Vec<(String, String)> {
    match content {
        Content::Measured(document) => {
            let times = [("began", &document.started), ("ended", &document.finished)].into_iter();
            let times = times.filter_map(|(name, time)| Some((name.to_owned(), time.clone()?)));
            let mut facts = keys(&document.tool);
            facts.extend(times);
            facts.extend(keys(&document.experiment));
            facts.extend(keys(&document.monitor));
            facts.extend(keys(&document.environment));
            facts
        }
        Content::Placement(placement) => {
            let tree = vec![("tree".to_owned(), placement.tree.clone())];
            [keys(&placement.tool), tree, keys(&placement.coverage)].concat()
        }
    }
}

/// Keys and their values in one line, except the baseline, which is a position.
fn keys(part: &impl Serialize) -> Vec<(String, String)> {
    let Ok(Value::Object(keys)) = serde_json::to_value(part) else {
        return Vec::new();
    };
    let keys = keys.into_iter().filter(|(key, _)| key != "baseline");
    keys.filter_map(|(key, value)| Some((key.replace('_', " "), short(&value)?)))
        .collect()
}

fn short(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Array(values) => {
            let texts: Option<Vec<String>> = values.iter().map(short).collect();
            Some(texts?.join(", ")).filter(|_| !values.is_empty())
        }
        Value::Object(keys) => {
            let text = |(key, value)| Some(format!("{key} {}", short(value)?));
            let texts: Option<Vec<String>> = keys.iter().map(text).collect();
            Some(texts?.join(", "))
        }
        value => Some(value.to_string()),
    }
}
