// SPDX-License-Identifier: GPL-2.0-or-later
//! The schema of all documents.

use schemars::JsonSchema;
use serde::Serialize;

use super::Document;
use super::json::Headed;
use crate::comparison::ComparisonDocument;
use crate::estimate::EstimateDocument;
use crate::placement::{PlacementDifference, PlacementDocument};
use crate::prediction::PredictionDocument;

/// Every document that lsmeter writes; its `kind` says which.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "lsmeter documents")]
#[expect(dead_code, reason = "only its schema is used")]
enum Any {
    /// Of `run`, `profile`, `sensitivity` and `monitor`.
    Measured(Box<Document>),
    /// Of `placement`.
    Placement(Box<Headed<PlacementDocument>>),
    /// Of `placement diff`.
    PlacementDifference(Box<Headed<PlacementDifference>>),
    /// Of `compare`.
    Comparison(Box<Headed<ComparisonDocument>>),
    /// Of `predict`.
    Prediction(Box<Headed<PredictionDocument>>),
    /// Of `estimate`.
    Estimate(Box<Headed<EstimateDocument>>),
}

/// JSON Schema of all documents, generated from the types: the content of
/// `docs/document.schema.json`.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Any).to_value()
}
