// SPDX-License-Identifier: GPL-2.0-or-later
//! Predicted and measured cost of checks.

use model::{Prediction, SweepFindings, cell_title};

use super::numbers;
use crate::column::Columns;
use crate::format::{count, listed};
use crate::group::grouped;
use crate::table::{Table, Value};
use crate::text::short;

const HOOKS_NAMED: usize = 12;

pub(super) fn tables(findings: &SweepFindings) -> Vec<Table> {
    let groups = grouped(&findings.predictions, |prediction| {
        (prediction.kernel.as_str(), prediction.lsm.as_deref())
    });
    let tables = groups
        .into_iter()
        .map(|((kernel, lsm), of)| table(kernel, lsm, &of));
    tables.collect()
}

fn table(kernel: &str, lsm: Option<&str>, predictions: &[&Prediction]) -> Table {
    let tested = lsm.is_some() || predictions.iter().any(|p| p.measured.is_some());
    let errors = predictions.iter().filter_map(|p| p.error);
    let sizes: Vec<f64> = errors.map(f64::abs).collect();
    let sum = (!sizes.is_empty()).then(|| {
        let label = format!("median of {} errors", count(sizes.len() as u64));
        let median = stats::median(sizes.iter().copied());
        let median = numbers::percent(median).replacen('+', "±", 1);
        let mut values = vec![Value::default(); 5];
        values[0] = Value::plain(label);
        values[4] = Value::plain(median);
        values
    });
    let what = match lsm {
        Some(lsm) => format!("what {} adds to operations", short(lsm)),
        None => "what decisions add to operations".to_owned(),
    };
    let mut legend = "a decision: what one takes, on the average of the operation's; predicted: \
                      each hook's slope times what a decision there takes"
        .to_owned();
    if tested {
        legend += " in operations of other benchmarks; error: of predicted, against measured";
    }
    let title = format!(
        "{}: {what}, as the slopes predict it: instructions",
        short(kernel)
    );
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    Columns::new()
        .left("operation", |prediction: &Prediction| {
            cell_title(&prediction.benchmark, &prediction.variant)
        })
        .right("a decision", |prediction| {
            numbers::cost(prediction.decision)
        })
        .right("predicted", |prediction| {
            Value::plain(numbers::cost(prediction.predicted)).noted(unknown(prediction))
        })
        .only_if(tested, |columns| {
            columns
                .right("measured", move |prediction| {
                    or_none(prediction.measured.map(numbers::cost))
                })
                .right("error", move |prediction| {
                    or_none(prediction.error.map(numbers::percent))
                })
        })
        .summed_up(title, predictions.iter().copied(), sum)
        .legend([legend + "."])
}

fn unknown(prediction: &Prediction) -> Option<String> {
    let hooks = listed(&prediction.unknown, HOOKS_NAMED);
    (!prediction.unknown.is_empty()).then(|| {
        format!(
            "without {hooks}: called in no other benchmark, so what a decision there takes is \
             not known"
        )
    })
}
