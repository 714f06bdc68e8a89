// SPDX-License-Identifier: GPL-2.0-or-later
//! What decisions should add to operations, beside what they add.

use experiment::{Prediction, SensitivityDocument, cell_title};

use super::{numbers, row};
use crate::format::count;
use crate::group::grouped;
use crate::table::{Align, Column, Footnotes, TEXT_LIMIT, Table, Value};
use crate::text::printable;

/// Most hooks that a footnote names.
const HOOKS_NAMED: usize = 12;

pub(super) fn tables(document: &SensitivityDocument) -> Vec<Table> {
    grouped(&document.predictions, |prediction| {
        (prediction.kernel.as_str(), prediction.lsm.as_deref())
    })
    .into_iter()
    .map(|((kernel, lsm), predictions)| table(kernel, lsm, &predictions))
    .collect()
}

fn table(kernel: &str, lsm: Option<&str>, predictions: &[&Prediction]) -> Table {
    let tested = lsm.is_some() || predictions.iter().any(|p| p.measured.is_some());
    let mut columns = vec![Column::new("operation", Align::Left)];
    let mut titles = vec!["a decision", "predicted"];
    if tested {
        titles.extend(["measured", "error"]);
    }
    columns.extend(titles.into_iter().map(|title| Column::figures(title, None)));
    let mut notes = Footnotes::default();
    let mut rows = Vec::new();
    for prediction in predictions {
        let title = cell_title(&prediction.benchmark, &prediction.variant);
        let mut predicted = numbers::cost(prediction.predicted);
        if let Some(unknown) = unknown(prediction) {
            predicted += &format!(" {}", notes.mark(unknown));
        }
        let mut values = vec![
            printable(&title, TEXT_LIMIT),
            numbers::cost(prediction.decision),
            predicted,
        ];
        if tested {
            let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
            values.push(or_none(prediction.measured.map(numbers::cost)));
            values.push(or_none(prediction.error.map(numbers::percent)));
        }
        let values = values.into_iter().map(Value::plain).collect();
        rows.push(row(values, columns.len(), false));
    }
    let errors = predictions.iter().filter_map(|p| p.error);
    let mut sizes: Vec<f64> = errors.map(f64::abs).collect();
    if let Some(median) = median(&mut sizes) {
        let median = numbers::percent(median);
        let values = vec![
            Value::plain(format!("median of {} errors", count(sizes.len() as u64))),
            Value::default(),
            Value::default(),
            Value::default(),
            Value::plain(median.replacen('+', "±", 1)),
        ];
        rows.push(row(values, columns.len(), true));
    }
    let what = match lsm {
        Some(lsm) => format!("what {} adds to operations", printable(lsm, TEXT_LIMIT)),
        None => "what decisions add to operations".to_owned(),
    };
    let mut legend = "a decision: what one takes, on the average of the operation's; predicted: \
                      each hook's slope times what a decision there takes"
        .to_owned();
    if tested {
        legend += " in operations of other benchmarks; error: of predicted, against measured";
    }
    Table {
        title: format!(
            "{}: {what}, as the slopes predict it: instructions",
            printable(kernel, TEXT_LIMIT)
        ),
        legend: vec![legend + "."],
        columns,
        fixed_columns: 1,
        rows,
        footnotes: notes.texts,
    }
}

fn median(sizes: &mut [f64]) -> Option<f64> {
    sizes.sort_by(f64::total_cmp);
    (!sizes.is_empty()).then(|| stats::median_of_sorted(sizes))
}

fn unknown(prediction: &Prediction) -> Option<String> {
    let hooks = &prediction.unknown;
    if hooks.is_empty() {
        return None;
    }
    let named: Vec<String> = hooks
        .iter()
        .take(HOOKS_NAMED)
        .map(|hook| printable(hook, TEXT_LIMIT))
        .collect();
    let mut text = format!("without {}", named.join(", "));
    if hooks.len() > named.len() {
        text += &format!(" and {} more", hooks.len() - named.len());
    }
    Some(text + ": called in no other benchmark, so what a decision there takes is not known")
}
