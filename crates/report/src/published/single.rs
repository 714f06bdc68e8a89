// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables of published single values.

use published::{Figure, OwnTest, Publication};
use stats::{Summary, Welch, welch};

use super::tables::{configurations, number};
use crate::column::Columns;
use crate::format;
use crate::table::{Table, Value};

pub(super) fn tables(publication: &Publication<'_>) -> Vec<Table> {
    let mut figures: Vec<&Figure> = publication.rows.iter().map(|row| row.figure).collect();
    figures.dedup_by(|one, next| std::ptr::eq(*one, *next));
    let single = figures
        .iter()
        .copied()
        .filter(|figure| !figure.single.is_empty());
    let values = Columns::new()
        .left("figure", |figure: &Figure| Value::plain(figure.id.clone()))
        .left("configuration", |figure| Value::plain(kernels(figure)))
        .right("n", |figure| figure.single.len().to_string())
        .right("mean", |figure| with(figure, |of| Some(of.mean)))
        .right("standard deviation", |figure| with(figure, |of| of.stddev))
        .right("least", |figure| with(figure, |of| Some(of.min)))
        .right("most", |figure| with(figure, |of| Some(of.max)))
        .table("Single values that are published", single)
        .if_any();
    let theirs = figures
        .iter()
        .filter_map(|figure| Tested::of(figure, &figures));
    let tested: Vec<Tested<'_>> = theirs
        .chain(publication.tests.iter().map(Tested::of_ours))
        .collect();
    let tests = Columns::new()
        .left("figure", |of: &Tested<'_>| Value::plain(of.figure.id.clone()))
        .left("of means", |of| Value::plain(of.means.clone()))
        .right("overhead", |of| Value::plain(number(of.figure.quantity, of.welch.difference / of.baseline)))
        .right("95 % interval", |of| {
            let [low, high] = of.welch.ci95().map(|end| number(of.figure.quantity, end / of.baseline));
            Value::plain(format!("{low} to {high}"))
        })
        .right("t", |of| Value::plain(format!("{:.1}", of.welch.difference / of.welch.error)))
        .right("degrees of freedom", |of| Value::plain(format!("{:.1}", of.welch.freedom)))
        .left("can be chance", |of| Value::plain(if of.welch.p < 0.05 { "no" } else { "yes" }))
        .table("Can the differences between them be chance?", &tested)
        .legend(["Welch's t test of their single values, at 95 %. It tells whether runs after one boot differ from those \
             after another, not why: each configuration was booted once. Of ours a value is what one layout of the kernel takes in a \
             quiet boot."])
        .if_any();
    [values, tests].into_iter().flatten().collect()
}

struct Tested<'a> {
    figure: &'a Figure,
    means: String,
    baseline: f64,
    welch: Welch,
}

impl<'a> Tested<'a> {
    fn of(figure: &'a Figure, figures: &[&'a Figure]) -> Option<Tested<'a>> {
        let means = figure.of_means.as_ref()?;
        let values = |id: &String| {
            figures
                .iter()
                .find(|of| of.id == *id)
                .map(|of| of.single.as_slice())
        };
        let (tested, baseline) = (values(&means[0])?, values(&means[1])?);
        Some(Tested {
            figure,
            means: means.join(" vs "),
            baseline: baseline.iter().sum::<f64>() / baseline.len() as f64,
            welch: welch(baseline, tested)?,
        })
    }

    fn of_ours(test: &'a OwnTest) -> Tested<'a> {
        Tested {
            figure: test.figure,
            means: test.of.clone(),
            baseline: test.baseline_ns,
            welch: test.welch,
        }
    }
}

fn with(figure: &Figure, of: fn(&Summary) -> Option<f64>) -> String {
    let summary = Summary::of(&figure.single).ok();
    let value = summary.and_then(|summary| of(&summary));
    value.map_or(String::new(), |value| format::figure(value.round()))
}

/// `capability,selinux, with all security patches`.
fn kernels(figure: &Figure) -> String {
    let kernel = figure.tested_kernel.iter().map(|of| format!(", {of}"));
    configurations(figure) + &kernel.collect::<String>()
}
