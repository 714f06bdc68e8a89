// SPDX-License-Identifier: GPL-2.0-or-later
//! Whole programs: cost that each stack adds in hooks, and kernel entries.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Cell, DifferingHook, Document, HookedPath, Program, ProgramEntry, ProgramResidual, ProgramRun,
};

use crate::cells::{Configuration, Group, Operation, added_modules, without_figure};
use crate::column::Columns;
use crate::group::sum;
use crate::table::{Table, Tone, Value};
use crate::text::short;
use crate::{format, residual};

const ENTRIES: usize = 8;

#[derive(Clone, Copy)]
struct Line<'a> {
    cell: &'a Cell,
    configuration: &'a Configuration,
    program: &'a Program,
    hooked: &'a HookedPath,
    base: Option<(&'a Program, &'a HookedPath)>,
}

pub(crate) fn programs(run: &Document, group: &Group<'_>, details: bool) -> Vec<Table> {
    let lines = lines(group);
    if lines.is_empty() {
        return Vec::new();
    }
    let place = group.place(run);
    let mut tables = vec![costs(&place, &lines).legend(group.own_policies())];
    let limit = if details { usize::MAX } else { ENTRIES };
    tables.extend(differing(&place, &lines, limit));
    tables.extend(failures(group));
    tables.extend(entries(&place, &lines, limit));
    tables.extend(hooks(&place, &lines, limit));
    tables.extend(processes(&place, &lines, limit));
    if details {
        tables.extend(differences(&place, &lines));
        tables.push(everything(&place, &lines));
    }
    tables
}

fn lines<'a>(group: &'a Group<'a>) -> Vec<Line<'a>> {
    fn parts(cell: &Cell) -> Option<(&Program, &HookedPath)> {
        let counted = cell.counted()?;
        Some((counted.program.as_ref()?, counted.hooked.as_ref()?))
    }
    let lines = group.measured().filter_map(|(row, configuration, cell)| {
        let (program, hooked) = parts(cell)?;
        let base = group.baseline_cell(row);
        let base = base.filter(|_| group.baseline.as_ref() != Some(configuration));
        Some(Line {
            cell,
            configuration,
            program,
            hooked,
            base: base.and_then(parts),
        })
    });
    lines.collect()
}

fn subject<'a>() -> Columns<'a, &'a Line<'a>> {
    Columns::new()
        .left("program", |line: &Line<'_>| line.cell.title())
        .left("stack", |line| line.configuration.title())
}

fn median(program: &Program, count: impl Fn(&ProgramRun) -> u64) -> Option<u64> {
    let mut figures: Vec<u64> = program.runs.iter().map(count).collect();
    figures.sort_unstable();
    figures.get(figures.len().checked_sub(1)? / 2).copied()
}

impl Line<'_> {
    fn added(&self) -> Option<i128> {
        let (_, base) = self.base?;
        Some(i128::from(self.hooked.hooked) - i128::from(base.hooked))
    }

    fn added_value(&self) -> Value {
        let Some(added) = self.added() else {
            return Value::default();
        };
        let base = self.base.and_then(|(base, _)| spread(base));
        let spread = spread(self.program).zip(base).map(|(own, base)| own + base);
        let text = match spread {
            Some(0) => format::difference(added),
            Some(spread) if spread < added.abs() => {
                let around = format::grouped(&spread.to_string());
                format!("{} ±{around}", format::difference(added))
            }
            _ => return Value::toned("~", Tone::Faint),
        };
        Value::difference(added).shown(text)
    }

    fn part(&self, count: impl Fn(&ProgramRun) -> u64) -> Option<String> {
        let (base, _) = self.base?;
        let whole = median(base, count).filter(|whole| *whole > 0)?;
        Some(format::percent(self.added()? as f64 / whole as f64))
    }

    fn outside(&self) -> Option<i128> {
        let (_, base) = self.base?;
        let outside = |path: &HookedPath| i128::from(path.total) - i128::from(path.hooked);
        Some(outside(self.hooked) - outside(base))
    }

    /// Instructions as a fraction of the baseline's instructions in the kernel.
    fn share_of_kernel(&self, instructions: f64) -> Option<f64> {
        let (_, base) = self.base?;
        (base.total > 0).then(|| instructions / base.total as f64)
    }

    fn residual(&self) -> Option<String> {
        Some(format::percent(
            self.share_of_kernel(self.outside()? as f64)?,
        ))
    }

    fn held(&self) -> Option<&ProgramResidual> {
        let held = self.program.residual.as_ref()?;
        (Some(i128::from(held.instructions)) == self.outside()).then_some(held)
    }

    fn unexplained(&self) -> Option<String> {
        let unexplained = self.held()?.unexplained;
        Some(format::fraction(self.share_of_kernel(unexplained as f64)?))
    }

    fn calls(&self) -> u64 {
        sum(self.hooked.hooks.iter().map(|hook| hook.calls))
    }
}

fn spread(program: &Program) -> Option<i128> {
    let spread = program.differing.iter().map(hook_spread);
    let sum = spread.map(i128::from).sum();
    (program.same_hooks || !program.differing.is_empty()).then_some(sum)
}

fn has_functions(lines: &[Line<'_>]) -> bool {
    lines.iter().any(|line| line.held().is_some())
}

fn costs(place: &str, lines: &[Line<'_>]) -> Table {
    let has_functions = has_functions(lines);
    let unexplained = "not explained: part of the residual in functions whose difference no fact \
                       explains, in absolute values, as a share of the same total.";
    subject()
        .right("added by hooks", Line::added_value)
        .right("of kernel", |line| line.part(|run| run.kernel))
        .right("of all", |line| line.part(ProgramRun::own))
        .column("calls of hooks", |line| line.calls())
        .column("in hooks", |line| line.hooked.hooked)
        .column("in the kernel", |line| {
            median(line.program, |run| run.kernel)
        })
        .column("in user mode", |line| median(line.program, |run| run.user))
        .right("residual", |line| line.residual())
        .only_if(has_functions, |columns| {
            columns.right("not explained", |line| line.unexplained())
        })
        .table(
            format!("Cost of programs: {place}, guest instructions"),
            lines,
        )
        .fixed(2)
        .legend([
            "added by hooks: instructions in hooks minus the baseline's (±: variation between \
             runs, see below; ~: it may be chance); of kernel, of all: the same as a share of the \
             program's instructions under the baseline, in the kernel or including user mode; \
             residual: instructions added in the kernel outside hooks, as a share of the same \
             totals. Medians over runs.",
        ])
        .legend(has_functions.then_some(unexplained))
        .legend(added_modules(lines.iter().map(|line| line.cell)))
}

fn failures(group: &Group<'_>) -> Option<Table> {
    type Row<'a> = (Operation<'a>, &'a Configuration, &'a Cell);
    let failed = group
        .measured()
        .filter(|(.., cell)| cell.evidence().is_none());
    Columns::new()
        .left("program", |(.., cell): Row<'_>| cell.title())
        .left("stack", |(_, configuration, _)| configuration.title())
        .left("figures", |(.., cell)| without_figure(cell))
        .table("Not measured", failed)
        .if_any()
}

fn entries(place: &str, lines: &[Line<'_>], limit: usize) -> Option<Table> {
    let rows = lines.iter().flat_map(|line| {
        let entries = line.program.entries.iter().take(limit);
        entries.map(move |entry| (line, entry))
    });
    Columns::new()
        .all(subject(), |(line, _): (&Line<'_>, &ProgramEntry)| line)
        .left("system call", |(_, entry)| &entry.entry)
        .column("calls", |(_, entry)| entry.calls)
        .column("instructions", |(_, entry)| entry.instructions)
        .column("in hooks", |(_, entry)| entry.hooked)
        .right("in hooks, %", |(_, entry)| {
            format::share(entry.hooked, entry.instructions)
        })
        .left("most in", |(_, entry)| {
            let hook = entry.hooks.iter().max_by_key(|hook| hook.instructions);
            hook.map(|hook| short(&hook.hook))
        })
        .table(format!("Where programs enter the kernel: {place}"), rows)
        .fixed(3)
        .if_any()
}

#[derive(Default)]
struct ProgramHook<'a> {
    calls: u64,
    instructions: u64,
    modules: BTreeMap<&'a str, u64>,
}

fn by_hook(program: &Program) -> BTreeMap<&str, ProgramHook<'_>> {
    let mut hooks: BTreeMap<&str, ProgramHook<'_>> = BTreeMap::new();
    for hook in program.entries.iter().flat_map(|entry| &entry.hooks) {
        let sum = hooks.entry(&hook.hook).or_default();
        sum.calls = sum.calls.saturating_add(hook.calls);
        sum.instructions = sum.instructions.saturating_add(hook.instructions);
        for part in &hook.modules {
            let module = sum.modules.entry(&part.module).or_default();
            *module = module.saturating_add(part.instructions);
        }
    }
    hooks
}

struct Change<'a> {
    line: &'a Line<'a>,
    hook: &'a str,
    own: ProgramHook<'a>,
    base: ProgramHook<'a>,
}

impl Change<'_> {
    fn added(&self) -> i128 {
        i128::from(self.own.instructions) - i128::from(self.base.instructions)
    }

    fn module(&self) -> Option<&str> {
        let cost = |hook: &ProgramHook<'_>, module: &str| {
            i128::from(hook.modules.get(module).copied().unwrap_or(0))
        };
        let differs = |module: &str| cost(&self.own, module).abs_diff(cost(&self.base, module));
        let modules = self.own.modules.keys().chain(self.base.modules.keys());
        let most = modules.copied().max_by_key(|module| differs(module));
        most.filter(|module| differs(module) > 0)
    }
}

fn changes<'a>(line: &'a Line<'a>) -> Vec<Change<'a>> {
    let Some((base, _)) = line.base else {
        return Vec::new();
    };
    let (mut own, mut base) = (by_hook(line.program), by_hook(base));
    let names: BTreeSet<&str> = own.keys().chain(base.keys()).copied().collect();
    let all = names.into_iter().map(|hook| Change {
        line,
        hook,
        own: own.remove(hook).unwrap_or_default(),
        base: base.remove(hook).unwrap_or_default(),
    });
    let mut changes: Vec<Change<'_>> = all.filter(|change| change.added() != 0).collect();
    changes.sort_by_key(|change| std::cmp::Reverse(change.added().unsigned_abs()));
    changes
}

fn hooks(place: &str, lines: &[Line<'_>], limit: usize) -> Option<Table> {
    let changes = |line| changes(line).into_iter().take(limit);
    let changes = lines.iter().flat_map(changes);
    let changes: Vec<Change<'_>> = changes.collect();
    Columns::new()
        .all(subject(), |change: &Change<'_>| change.line)
        .left("hook", |change| change.hook)
        .right("adds", |change| Value::difference(change.added()))
        .right("of added", |change| {
            let all = change.line.added().filter(|added| *added != 0)?;
            Some(format::percent(change.added() as f64 / all as f64))
        })
        .left("most in", |change| change.module())
        .column("calls", |change| change.own.calls)
        .column("baseline's calls", |change| change.base.calls)
        .table(format!("Cost added to programs by hook: {place}"), &changes)
        .fixed(3)
        .legend([
            "adds: instructions added over the baseline (negative: saved); of added: share of \
             the total added by hooks; most in: the module whose functions differ most.",
        ])
        .if_any()
}

#[derive(Clone, Copy, Default)]
struct Process<'a> {
    name: Option<&'a str>,
    tasks: usize,
    user: u64,
    kernel: u64,
    hooked: Option<u64>,
}

fn by_name(program: &Program) -> Vec<Process<'_>> {
    let mut names: BTreeMap<Option<&str>, Process<'_>> = BTreeMap::new();
    for task in &program.tasks {
        let name = task.name.as_deref();
        let process = names.entry(name).or_insert_with(|| Process {
            name,
            hooked: Some(0),
            ..Process::default()
        });
        process.tasks += 1;
        process.user = process.user.saturating_add(task.user);
        process.kernel = process.kernel.saturating_add(task.kernel);
        let both = process.hooked.zip(task.hooked);
        process.hooked = both.map(|(sum, hooked)| sum.saturating_add(hooked));
    }
    let mut processes: Vec<_> = names.into_values().collect();
    processes.sort_by_key(|process| std::cmp::Reverse(process.kernel));
    processes
}

fn processes(place: &str, lines: &[Line<'_>], limit: usize) -> Option<Table> {
    let several = lines.iter().filter(|line| line.program.tasks.len() > 1);
    let rows = several.flat_map(|line| {
        let processes = by_name(line.program).into_iter();
        processes.take(limit).map(move |process| (line, process))
    });
    Columns::new()
        .all(subject(), |(line, _): (&Line<'_>, Process<'_>)| line)
        .left("task", |(_, process)| process.name)
        .column("tasks", |(_, process)| process.tasks)
        .column("in user mode", |(_, process)| process.user)
        .column("in the kernel", |(_, process)| process.kernel)
        .column("in hooks", |(_, process)| process.hooked)
        .right("in hooks, %", |(_, process)| {
            Some(format::share(process.hooked?, process.kernel))
        })
        .table(format!("Cost of programs by task: {place}"), rows)
        .fixed(3)
        .legend([
            "task: last name of the tasks, from a run that was not measured; without a name: \
                  tasks whose number differs between runs.",
        ])
        .if_any()
}

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

fn differences(place: &str, lines: &[Line<'_>]) -> Option<Table> {
    let rows = lines
        .iter()
        .filter_map(|line| Some((line, total_difference(line)?)));
    let has_functions = has_functions(lines);
    let explained = "explained, not explained: parts of the residual in functions whose difference a \
                     fact explains, as a sum, and in all others, in absolute values.";
    Columns::new()
        .all(subject(), |(line, _): (&Line<'_>, [i128; 3])| line)
        .right("more in the kernel", |(_, [_, middle, _])| {
            format::difference(middle)
        })
        .right("least", |(_, [least, ..])| format::difference(least))
        .right("most", |(_, [.., most])| format::difference(most))
        .right("in hooks", |(line, _)| line.added_value())
        .right("residual", |(line, _)| {
            let note = line.held().map(residual::note_on_program);
            Value::plain(line.residual().unwrap_or_default()).noted(note)
        })
        .only_if(has_functions, |columns| {
            columns
                .right("explained", |(line, _)| {
                    let held = line.held()?;
                    Some(format::difference(held.explained))
                })
                .right("not explained", |(line, _)| Some(line.held()?.unexplained))
        })
        .table(format!("Differences of totals: {place}"), rows)
        .fixed(2)
        .legend([
            "more in the kernel: difference between the medians over runs; least, most: smallest \
             and largest difference between any run and any run of the baseline.",
        ])
        .legend(has_functions.then_some(explained))
        .if_any()
}

fn everything(place: &str, lines: &[Line<'_>]) -> Table {
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
        .table(format!("All instructions of the guest: {place}"), runs)
        .fixed(2)
        .legend([
            "REP: iterations of string instructions after the first; idle: elapsed time of the guest's \
             clock minus all these instructions.",
        ])
}

fn differing(place: &str, lines: &[Line<'_>], limit: usize) -> Option<Table> {
    let rows = lines.iter().flat_map(|line| {
        let mut hooks: Vec<&DifferingHook> = line.program.differing.iter().collect();
        hooks.sort_by_key(|hook| std::cmp::Reverse(hook_spread(hook)));
        hooks.into_iter().take(limit).map(move |hook| (line, hook))
    });
    Columns::new()
        .all(subject(), |(line, _): (&Line<'_>, &DifferingHook)| line)
        .left("hook", |(_, hook)| &hook.hook)
        .column("calls, least", |(_, hook)| hook.calls_min)
        .column("most", |(_, hook)| hook.calls_max)
        .column("instructions, least", |(_, hook)| hook.instructions_min)
        .column("most", |(_, hook)| hook.instructions_max)
        .right("share of hooks", |(line, hook)| {
            format::share(hook_spread(hook), line.hooked.hooked)
        })
        .table(format!("Hooks that differ between runs: {place}"), rows)
        .fixed(3)
        .legend([
            "least, most: in one run; share of hooks: the difference as a share of all \
             instructions in hooks. If calls differ, the program behaved differently; if only \
             instructions differ, the kernel did.",
        ])
        .if_any()
}

fn hook_spread(hook: &DifferingHook) -> u64 {
    hook.instructions_max.saturating_sub(hook.instructions_min)
}
