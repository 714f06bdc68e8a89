// SPDX-License-Identifier: GPL-2.0-or-later
//! Published figures by which of our configurations matches them.

use published::{Alternatives, Comparison, Publication, Verdict};

use super::tables::{number, range, subject};
use crate::column::Columns;
use crate::group::distinct;
use crate::table::{Table, Value};
use crate::text::short;

/// Number of figures that each of several candidate configurations reproduces; None without
/// several.
pub(super) fn table(publication: &Publication<'_>) -> Option<Table> {
    let all = &publication.alternatives;
    let ours = all.iter().flat_map(|of| &of.ours);
    let titles = distinct(ours.map(|of| of.tested.as_str()));
    let mut columns = Columns::new()
        .left("theirs", |of: &Line<'_>| match of {
            Line::Figure(of) => Value::plain(subject(of.figure)),
            Line::Agreeing(..) => Value::plain("of these agree"),
        })
        .left("ours", |of| match of {
            Line::Figure(of) => Value::plain(short(&of.benchmark)),
            Line::Agreeing(..) => Value::plain(""),
        })
        .right("published", |of| match of {
            Line::Figure(of) => Value::plain(range(of.figure)),
            Line::Agreeing(all) => Value::plain(all.len().to_string()),
        });
    for title in titles.iter().copied() {
        columns = columns.right(short(title), move |of| match of {
            Line::Figure(of) => match by(of, title) {
                None => Value::plain(""),
                Some(own) => {
                    let agrees = if own.verdict == Verdict::Agrees {
                        " ="
                    } else {
                        ""
                    };
                    let value = match own.unclear {
                        true => "~".to_owned(),
                        false => number(own.figure.quantity, own.ours),
                    };
                    Value::plain(format!("{value}{agrees}"))
                }
            },
            Line::Agreeing(all) => {
                let agrees = |of: &&Alternatives| {
                    by(of, title).is_some_and(|own| own.verdict == Verdict::Agrees && !own.unclear)
                };
                Value::plain(all.iter().filter(agrees).count().to_string())
            }
        });
    }
    let lines: Vec<Line<'_>> = all
        .iter()
        .map(Line::Figure)
        .chain(std::iter::once(Line::Agreeing(all)))
        .collect();
    let table = columns
        .left("nearest", |of| match of {
            Line::Figure(of) => Value::plain(match of.nearest().as_slice() {
                [nearest] => short(&nearest.tested),
                [one, other] => short(&one.tested) + " and " + &short(&other.tested),
                several => format!("{} of them", several.len()),
            }),
            Line::Agreeing(_) => Value::plain(""),
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

enum Line<'a> {
    Figure(&'a Alternatives),
    Agreeing(&'a [Alternatives]),
}

fn by<'a>(of: &'a Alternatives, title: &str) -> Option<&'a Comparison> {
    of.ours.iter().find(|own| own.tested == title)
}
