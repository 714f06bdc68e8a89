// SPDX-License-Identifier: GPL-2.0-or-later
//! A whole publication next to our documents, as tables.

use std::cell::RefCell;

use model::Metric;
use published::{
    Alternatives, Answer, Cause, Comparison, Figure, OwnTest, Publication, Row, State, Summary,
    Verdict,
};
use stats::{Welch, welch};

use super::tables::{
    added_ns, configurations, difference, intervals, number, own, range, setups, subject,
};
use crate::column::Columns;
use crate::format;
use crate::group::distinct;
use crate::table::{Footnotes, Report, TEXT_LIMIT, Table, Value};
use crate::text::{printable, short};

const VERDICTS: &str = "agrees: inside their range, or within a tenth of theirs; calls: equal, or inside their bounds. \
     difference: ours less theirs, or less the nearest end of their range; of overheads and shares in points.";

pub fn publication_report(publication: &Publication<'_>) -> Report {
    let summaries = publication.summaries();
    let places = summaries.iter().filter_map(|summary| summary.place);
    let tables = places.map(|place| {
        let rows = publication.rows.iter();
        of_place(place, rows.filter(|row| row.figure.place == place))
    });
    Report {
        tables: std::iter::once(summary(publication, &summaries))
            .chain(alternatives(publication))
            .chain(single(publication))
            .chain(tables)
            .collect(),
        warnings: Vec::new(),
    }
}

fn summary(publication: &Publication<'_>, summaries: &[Summary]) -> Table {
    let agreements = summaries.iter().flat_map(|summary| &summary.agreement);
    let clocks = distinct(agreements.map(|of| of.metric));
    let mut columns = Columns::new()
        .left("published in", |of: &Summary| {
            Value::plain(of.place.unwrap_or("all of it"))
        })
        .right("figures", |of| of.figures().to_string());
    for (at, state) in State::ALL.into_iter().enumerate() {
        columns = columns.right(heading(state), move |of| match of.states[at] {
            0 => String::new(),
            n => n.to_string(),
        });
    }
    for metric in clocks {
        let of = move |summary: &Summary| {
            let mut all = summary.agreement.iter();
            all.find(|of| of.metric == metric).copied()
        };
        let clock = match metric {
            None => "counts",
            Some(Metric::Instructions) => "instructions",
            Some(_) => "time",
        };
        columns = columns
            .grouped(Some(clock), "n", move |summary| {
                of(summary).map_or(String::new(), |of| of.n.to_string())
            })
            .grouped(Some(clock), "rank", move |summary| {
                let rank = of(summary).and_then(|of| of.rank);
                rank.map_or(String::new(), |rank| format!("{rank:.2}"))
            })
            .grouped(Some(clock), "ratio", move |summary| {
                let ratio = of(summary).and_then(|of| of.ratio);
                ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"))
            });
    }
    columns
        .table(publication.source.title.clone(), summaries)
        .fixed(1)
        .legend([
            format!("{}. {}", publication.source.cite, publication.source.setting),
            "shown, possible, unexplained: ours differs, and a measurement of ours shows why; something could be why; \
             nothing that we know of is. beside: ours is another measure, and no verdict is possible. A figure that \
             several of our operations stand for agrees if all do; what was \
             measured as theirs decides before what stands in for it, and time before instructions."
                .to_owned(),
            "n: figures that are one value, with ours. rank: Spearman's rank correlation of ours and theirs; ratio: \
             median of ours by theirs."
                .to_owned(),
        ])
}

fn heading(state: State) -> &'static str {
    match state {
        State::Agrees => "agree",
        State::Shown => "shown",
        State::Possible => "possible",
        State::Unexplained => "unexplained",
        State::Beside => "beside",
        State::CannotBeHad => "cannot be had",
        State::NotMeasured => "not measured",
    }
}

fn of_place<'a>(place: &str, rows: impl Iterator<Item = &'a Row<'a>> + Clone) -> Table {
    let intervals = intervals(rows.clone().filter_map(comparison));
    let notes = RefCell::new(Footnotes::default());
    let mark = |text: String| notes.borrow_mut().mark(text);
    let mut columns = Columns::new()
        .left("theirs", |row: &Row<'_>| {
            let note = row.figure.note.as_ref();
            let note = note.map(|note| format!(" {}", mark(format!("theirs: {note}"))));
            Value::plain(subject(row.figure) + &note.unwrap_or_default())
        })
        .left("configuration", |row| Value::plain(theirs(row.figure)))
        .right("published", |row| {
            let each = ["", " a component"][usize::from(row.figure.per_component)];
            let unit = match row.figure.quantity.unit() {
                "us" => " µs",
                "MB/s" => " MB/s",
                _ => "",
            };
            let value = range(row.figure);
            Value::plain(format!("{value}{unit}{each}"))
        })
        .right("ours", |row| match &row.answer {
            Answer::Compared { comparison, .. } => own(comparison),
            Answer::Counted { ours, .. } if ours.fract() == 0.0 => {
                Value::plain(format::figure(*ours))
            }
            Answer::Counted { ours, .. } => Value::plain(format!("{ours:.0}")),
            Answer::Beside { ours, .. } => Value::plain(short(ours)),
            Answer::CannotBeHad(_) | Answer::NotMeasured => Value::plain(""),
        });
    if intervals.is_some() {
        columns = columns.right("ours, ns", |row| {
            comparison(row).and_then(added_ns).unwrap_or_default()
        });
    }
    let mut table = columns
        .right("difference", |row| match &row.answer {
            Answer::Compared { comparison, .. } => {
                difference(row.figure.quantity, comparison.difference)
            }
            _ => String::new(),
        })
        .left("of", |row| match &row.answer {
            Answer::Compared { comparison, .. } => {
                let clock = match comparison.metric {
                    _ if !row.figure.quantity.is_overhead() => "",
                    Metric::Instructions => ", instructions",
                    _ => ", time",
                };
                let of = format!("{}, {}{clock}", comparison.benchmark, setups(comparison));
                let mut of = printable(&of, 3 * TEXT_LIMIT);
                for why in &comparison.stands_in {
                    of += &format!(" {}", mark(format!("stands in for theirs: {why}")));
                }
                Value::plain(of)
            }
            Answer::Counted { version, .. } => {
                Value::plain(format!("source of {}", short(version)))
            }
            Answer::Beside { of, .. } => Value::plain(printable(of, 2 * TEXT_LIMIT)),
            Answer::CannotBeHad(_) | Answer::NotMeasured => Value::plain(""),
        })
        .left("verdict", |row| {
            Value::plain(match (row.state(), &row.answer) {
                (State::Agrees, _) => "agrees".to_owned(),
                (
                    _,
                    Answer::Compared {
                        cause: Some(cause), ..
                    },
                ) => {
                    format!("differs: {}", because(cause, row.figure, &mark))
                }
                (
                    _,
                    Answer::Counted {
                        agrees_at: Some(version),
                        ..
                    },
                ) => {
                    let version = short(version);
                    let note = "The kernel has changed: in the source of";
                    let note = format!("{note} {version} the count is as theirs.");
                    format!("differs: shown {}", mark(note))
                }
                (_, Answer::CannotBeHad(why)) => {
                    format!("cannot be had {}", mark((*why).to_owned()))
                }
                (State::Beside, _) => "another measure".to_owned(),
                (State::NotMeasured, _) => "not measured".to_owned(),
                _ => "differs: unexplained".to_owned(),
            })
        })
        .table(place.to_owned(), rows)
        .fixed(2)
        .legend(std::iter::once(VERDICTS.to_owned()).chain(intervals));
    table.footnotes = notes.into_inner().texts;
    table
}

fn comparison<'a>(row: &'a Row<'_>) -> Option<&'a Comparison> {
    match &row.answer {
        Answer::Compared { comparison, .. } => Some(comparison),
        _ => None,
    }
}

fn theirs(figure: &Figure) -> String {
    match configurations(figure) {
        none if none.is_empty() => figure.modules.join(" and "),
        configurations => configurations,
    }
}

fn because(cause: &Cause, figure: &Figure, mark: &dyn Fn(String) -> String) -> String {
    match cause {
        Cause::Shown { explanation, by } => {
            let measured = format!(
                "{} Ours is then {}: {}, {}.",
                explanation.text,
                number(figure.quantity, by.ours),
                by.benchmark,
                setups(by)
            );
            format!("shown {}", mark(measured))
        }
        Cause::Possible(explanations) => {
            let marks: Vec<String> = explanations.iter().map(|e| mark(e.text.clone())).collect();
            format!("possible {}", marks.concat())
        }
        Cause::Unexplained => "unexplained".to_owned(),
    }
}

/// Number of figures that each of several candidate configurations reproduces; None without
/// several.
fn alternatives(publication: &Publication<'_>) -> Option<Table> {
    let all = &publication.alternatives;
    let ours = all.iter().flat_map(|of| &of.ours);
    let titles = distinct(ours.map(|of| of.tested.as_str()));
    let mut columns = Columns::new()
        .left("theirs", |of: &AlternativeLine<'_>| match of {
            AlternativeLine::Figure(of) => Value::plain(subject(of.figure)),
            AlternativeLine::Agreeing(..) => Value::plain("of these agree"),
        })
        .left("ours", |of| match of {
            AlternativeLine::Figure(of) => Value::plain(short(&of.benchmark)),
            AlternativeLine::Agreeing(..) => Value::plain(""),
        })
        .right("published", |of| match of {
            AlternativeLine::Figure(of) => Value::plain(range(of.figure)),
            AlternativeLine::Agreeing(all) => Value::plain(all.len().to_string()),
        });
    for title in titles.iter().copied() {
        columns = columns.right(short(title), move |of| match of {
            AlternativeLine::Figure(of) => match by(of, title) {
                None => Value::plain(""),
                Some(own) => {
                    let agrees = ["", " ="][usize::from(own.verdict == Verdict::Agrees)];
                    let value = match own.unclear {
                        true => "~".to_owned(),
                        false => number(own.figure.quantity, own.ours),
                    };
                    Value::plain(format!("{value}{agrees}"))
                }
            },
            AlternativeLine::Agreeing(all) => {
                let agrees = |of: &&Alternatives| {
                    by(of, title).is_some_and(|own| own.verdict == Verdict::Agrees && !own.unclear)
                };
                Value::plain(all.iter().filter(agrees).count().to_string())
            }
        });
    }
    let agreeing = [AlternativeLine::Agreeing(all)];
    let lines = all.iter().map(AlternativeLine::Figure).chain(agreeing);
    let lines: Vec<AlternativeLine<'_>> = lines.collect();
    let table = columns
        .left("nearest", |of| match of {
            AlternativeLine::Figure(of) => Value::plain(match of.nearest().as_slice() {
                [nearest] => short(&nearest.tested),
                [one, other] => short(&one.tested) + " and " + &short(&other.tested),
                several => format!("{} of them", several.len()),
            }),
            AlternativeLine::Agreeing(_) => Value::plain(""),
        })
        .table("By what of ours could stand for theirs", &lines)
        .fixed(2)
        .legend([
            "=: agrees. ~: ours may be chance. nearest: of these configurations the one whose \
             overhead is nearest to theirs, or to the nearest end of their range. Last row: \
             figures that agree, without what may be chance.",
        ]);
    (!all.is_empty()).then_some(table)
}

enum AlternativeLine<'a> {
    Figure(&'a Alternatives),
    Agreeing(&'a [Alternatives]),
}

fn by<'a>(of: &'a Alternatives, title: &str) -> Option<&'a Comparison> {
    of.ours.iter().find(|own| own.tested == title)
}

fn single(publication: &Publication<'_>) -> Vec<Table> {
    let mut figures: Vec<&Figure> = publication.rows.iter().map(|row| row.figure).collect();
    figures.dedup_by(|one, next| std::ptr::eq(*one, *next));
    let all = figures.iter().copied();
    let single = all.filter(|figure| !figure.single.is_empty());
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
    let ours = publication.tests.iter().map(Tested::of_ours);
    let tested: Vec<Tested<'_>> = theirs.chain(ours).collect();
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
        let values = |id: &String| Some(&*figures.iter().find(|of| of.id == *id)?.single);
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

fn with(figure: &Figure, of: fn(&stats::Summary) -> Option<f64>) -> String {
    let summary = stats::Summary::of(&figure.single).ok();
    let value = summary.and_then(|summary| of(&summary));
    value.map_or(String::new(), |value| format::figure(value.round()))
}

fn kernels(figure: &Figure) -> String {
    let kernel = figure.tested_kernel.iter().map(|of| format!(", {of}"));
    configurations(figure) + &kernel.collect::<String>()
}
