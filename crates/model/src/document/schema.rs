// SPDX-License-Identifier: GPL-2.0-or-later
//! The schema of all result files.

use schemars::JsonSchema;
use serde::Serialize;

use super::Document;
use super::json::Headed;
use crate::comparison::ComparisonDocument;
use crate::estimate::EstimateDocument;
use crate::placement::{PlacementDifference, PlacementDocument};
use crate::prediction::PredictionDocument;

/// Any result file of lsmeter, by `kind`.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "lsmeter documents")]
#[expect(dead_code, reason = "only its schema is used")]
enum Any {
    /// From `run`, `profile`, `sensitivity` and `monitor`.
    Measured(Box<Document>),
    /// From `placement`.
    Placement(Box<Headed<PlacementDocument>>),
    /// From `placement diff`.
    PlacementDifference(Box<Headed<PlacementDifference>>),
    /// From `compare`.
    Comparison(Box<Headed<ComparisonDocument>>),
    /// From `predict`.
    Prediction(Box<Headed<PredictionDocument>>),
    /// From `estimate`.
    Estimate(Box<Headed<EstimateDocument>>),
}

/// JSON Schema of all result files, generated from the types; `docs/document.schema.json`.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Any).to_value()
}
