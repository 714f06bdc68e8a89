// SPDX-License-Identifier: GPL-2.0-or-later
//! A comparison's cells for programs, one row each.

use model::{ComparisonDocument, comparison::ComparedCell};

use crate::column::{Columns, Records};

/// Columns: `docs/export.md`.
pub fn comparison_records(document: &ComparisonDocument) -> Records<'_> {
    fn base(cell: &ComparedCell) -> &model::comparison::Place {
        cell.base_place.as_ref().unwrap_or(&cell.place)
    }
    Columns::new()
        .column("kernel", |cell: &ComparedCell| &cell.place.kernel)
        .column("configuration", |cell| &cell.place.configuration)
        .column("filesystem", |cell| &cell.place.filesystem)
        .column("base_kernel", |cell| &base(cell).kernel)
        .column("base_configuration", |cell| &base(cell).configuration)
        .column("base_filesystem", |cell| &base(cell).filesystem)
        .column("benchmark", |cell| &cell.benchmark)
        .column("variant", |cell| &cell.variant)
        .column("detail", |cell| &cell.detail)
        .column("quantity", |cell| cell.metric.to_string())
        .column("unit", |cell| &cell.unit)
        .column("base", |cell| cell.base.value)
        .column("new", |cell| cell.new.value)
        .column("base_n", |cell| cell.base.n)
        .column("new_n", |cell| cell.new.n)
        .column("difference", |cell| cell.difference)
        .column("change", |cell| cell.overhead)
        .column("ci95_low", |cell| cell.ci95.map(|[low, _]| low))
        .column("ci95_high", |cell| cell.ci95.map(|[_, high]| high))
        .column("effect", |cell| cell.effect)
        .column("p", |cell| cell.p)
        .column("p_adjusted", |cell| cell.p_adjusted)
        .column("detectable", |cell| cell.detectable)
        .column("method", |cell| cell.method.to_string())
        .column("verdict", |cell| cell.verdict.to_string())
        .column("gate", |cell| Some(cell.gate.as_ref()?.verdict.to_string()))
        .column("reason", |cell| {
            let reasons = cell.reason.iter().chain(&cell.doubts);
            reasons.map(String::as_str).collect::<Vec<_>>().join("; ")
        })
        .records(&document.compared)
}
