// SPDX-License-Identifier: GPL-2.0-or-later
//! Details of each figure: measured regions and paths, or samples and their spread.

use model::{Cell, Document};

use crate::cells::{Configuration, Group};
use crate::column::Columns;
use crate::format::{count, difference, figure};
use crate::table::Table;

type Line<'a> = (&'a Cell, &'a Configuration, Option<&'a Cell>);

pub(crate) fn details(run: &Document, group: &Group<'_>) -> Table {
    let lines = group.rows.iter().flat_map(|&row| {
        let base = group.baseline_cell(row);
        let configurations = group.configurations.iter();
        let cells = configurations.filter_map(move |of| Some((group.cell(row, of)?, of, base)));
        cells.filter(|(cell, ..)| cell.headline().is_some())
    });
    let columns = Columns::new()
        .left("benchmark", |(cell, ..): Line<'_>| cell.title())
        .left("stack", |(_, configuration, _)| configuration.title());
    let title = format!("Details: {}, {}", group.place(run), group.metric);
    let (columns, legend) = if group.metric.is_counted() {
        (
            counted(columns),
            "REP: iterations of string instructions, counted apart; dominant: measured regions on the dominant \
             path, of all clean ones; dirty: dropped; paths: others, and the range of all.",
        )
    } else {
        (timed(columns), "n: samples; batch: operations per sample.")
    };
    columns.table(title, lines).fixed(2).legend([legend])
}

fn counted<'a>(columns: Columns<'a, Line<'a>>) -> Columns<'a, Line<'a>> {
    fn rep(cell: &Cell) -> Option<u64> {
        Some(cell.paths()?.dominant.rep_iterations)
    }
    columns
        .column("instructions", |(cell, ..)| cell.headline())
        .column("REP", |(cell, ..)| rep(cell))
        .right("vs base", |(cell, _, base)| {
            let (own, base) = (rep(cell)?, rep(base?)?);
            Some(difference(i128::from(own) - i128::from(base)))
        })
        .column("dominant", |(cell, ..)| {
            Some(cell.paths()?.dominant.regions)
        })
        .column("clean", |(cell, ..)| Some(cell.counted()?.regions()))
        .column("dirty", |(cell, ..)| Some(cell.paths()?.dirty))
        .column("paths", |(cell, ..)| Some(cell.paths()?.others.len()))
        .right("range", |(cell, ..)| {
            let found = cell.paths()?;
            let all = found.others.iter().chain([&found.dominant]);
            let all = all.map(|path| path.instructions);
            let (min, max) = (all.clone().min()?, all.max()?);
            (min < max).then(|| format!("{}-{}", count(min), count(max)))
        })
}

fn timed<'a>(columns: Columns<'a, Line<'a>>) -> Columns<'a, Line<'a>> {
    columns
        .column("median", |(cell, ..)| Some(cell.estimate()?.median))
        .right("95 % interval", |(cell, ..)| {
            let [low, high] = cell.ci95()?.map(figure);
            Some(format!("{low}-{high}"))
        })
        .column("mean", |(cell, ..)| cell.estimate()?.mean)
        .column("stddev", |(cell, ..)| cell.estimate()?.stddev)
        .column("min", |(cell, ..)| cell.estimate()?.min)
        .column("max", |(cell, ..)| cell.estimate()?.max)
        .column("n", |(cell, ..)| Some(cell.estimate()?.n))
        .column("batch", |(cell, ..)| cell.timed()?.batch)
}
