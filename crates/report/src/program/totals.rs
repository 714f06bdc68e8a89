// SPDX-License-Identifier: GPL-2.0-or-later
//! Total instructions of whole programs, their differences, and the hooks that differ between a
//! program's runs.

use model::{DifferingHook, Program, ProgramRun};

use super::{ENTRIES, Line, median, subject, tells_functions};
use crate::column::Columns;
use crate::table::{Table, Value};
use crate::{format, residual};

/// Least, median and most of the runs' kernel instructions, less the baseline's.
fn total_difference(line: &Line<'_>) -> Option<[i128; 3]> {
    let (base, _) = line.base?;
    let range = |program: &Program| {
        let kernel = program.runs.iter().map(|run| i128::from(run.kernel));
        Some((kernel.clone().min()?, kernel.max()?))
    };
    let kernel = |program| median(program, |run| run.kernel).map(i128::from);
    let (own, other) = (range(line.program)?, range(base)?);
    let middle = kernel(line.program)? - kernel(base)?;
    Some([own.0 - other.1, middle, own.1 - other.0])
}

pub(super) fn differences(place: &str, lines: &[Line<'_>]) -> Option<Table> {
    let rows = lines
        .iter()
        .filter_map(|line| Some((line, total_difference(line)?)));
    let told = tells_functions(lines);
    let explained = "explained, not explained: of the residual the functions whose difference a \
                     fact explains, summed up, and all others, up or down.";
    Columns::new()
        .all(subject(), |(line, _): (&Line<'_>, [i128; 3])| line)
        .right("more in the kernel", |(_, [_, middle, _])| {
            format::difference(middle)
        })
        .right("least", |(_, [least, ..])| format::difference(least))
        .right("most", |(_, [.., most])| format::difference(most))
        .right("of it in hooks", |(line, _)| line.added_value())
        .right("residual", |(line, _)| {
            let note = line.held().map(residual::note_on_program);
            Value::plain(line.residual().unwrap_or_default()).noted(note)
        })
        .only_if(told, |columns| {
            columns
                .right("explained", |(line, _)| {
                    let held = line.held()?;
                    Some(format::difference(held.explained.into()))
                })
                .right("not explained", |(line, _)| {
                    line.held().map(|held| held.unexplained)
                })
        })
        .table(format!("What totals differ by: {place}"), rows)
        .fixed(2)
        .legend([
            "more in the kernel: of the medians over runs; least, most: of any run and any of the \
             baseline's.",
        ])
        .legend(told.then_some(explained))
        .if_any()
}

pub(super) fn everything(place: &str, lines: &[Line<'_>]) -> Table {
    let runs = lines.iter().flat_map(|line| {
        let runs = line.program.runs.iter().enumerate();
        runs.map(move |(number, run)| (line, number + 1, run))
    });
    Columns::new()
        .all(subject(), |(line, ..): (&Line<'_>, usize, &ProgramRun)| {
            line
        })
        .column("run", |(_, number, _)| number)
        .column("user", |(.., run)| run.user)
        .column("kernel", |(.., run)| run.kernel)
        .column("interrupts", |(.., run)| run.interrupts)
        .column("other tasks", |(.., run)| run.others)
        .column("REP", |(.., run)| run.rep_iterations)
        .column("idle", |(.., run)| run.idle)
        .column("tasks", |(line, ..)| line.program.tasks.len())
        .table(format!("All that the guest executed: {place}"), runs)
        .fixed(2)
        .legend([
            "REP: iterations of string instructions beyond each first; idle: what the guest's \
             clock says more than all these together, while nothing ran.",
        ])
}

pub(super) fn differing(place: &str, lines: &[Line<'_>], all: bool) -> Option<Table> {
    let limit = if all { usize::MAX } else { ENTRIES };
    let rows = lines.iter().flat_map(|line| {
        let mut hooks: Vec<&DifferingHook> = line.program.differing.iter().collect();
        hooks.sort_by_key(|hook| std::cmp::Reverse(spread(hook)));
        hooks.into_iter().take(limit).map(move |hook| (line, hook))
    });
    Columns::new()
        .all(subject(), |(line, _): (&Line<'_>, &DifferingHook)| line)
        .left("hook", |(_, hook)| &hook.hook)
        .column("calls, least", |(_, hook)| hook.calls_min)
        .column("most", |(_, hook)| hook.calls_max)
        .column("instructions, least", |(_, hook)| hook.instructions_min)
        .column("most", |(_, hook)| hook.instructions_max)
        .right("of those in hooks", |(line, hook)| {
            format::share(spread(hook), line.hooked.hooked)
        })
        .table(format!("Hooks that runs differ in: {place}"), rows)
        .fixed(3)
        .legend([
            "least, most: in one run; of those in hooks: the difference as part of all \
             instructions in hooks. Where calls differ, the program did otherwise; where only \
             instructions do, the kernel.",
        ])
        .if_any()
}

pub(super) fn spread(hook: &DifferingHook) -> u64 {
    hook.instructions_max.saturating_sub(hook.instructions_min)
}
