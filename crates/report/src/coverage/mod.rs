// SPDX-License-Identifier: GPL-2.0-or-later
//! Which hooks operations call: the share, what modules have, the hooks that none calls and why,
//! the hooks that are called and what that costs.

mod beside;
mod records;

use std::collections::BTreeMap;

use model::coverage::{
    CostOfCalls, CoverageFindings, CoveredHook, CoveredImplementation, EarlierOperation, Need,
};
use model::{Cell, Document, Status, Suite};

use crate::column::Columns;
use crate::format::{count, figure, listed};
use crate::group::grouped;
use crate::table::{Report, TEXT_LIMIT, Table, Tone, Value, warnings};
use crate::text::printable;

pub(crate) use beside::coverages_beside;
pub use records::coverage_records;

/// What stands above the tables of [`coverages_beside`].
pub(crate) const COVERAGES: &str = "Coverages beside each other";
/// Longest reason that is shown, in characters.
const REASON_LIMIT: usize = 400;
/// Names that are listed of many, unless all are asked for.
const NAMED: usize = 3;
/// From so many system calls on that can reach a hook their names say nothing.
const MANY: usize = 100;

/// Which tables show a coverage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CoverageOptions {
    /// Also every function of a module that did not run, and all names in full.
    pub all: bool,
    /// Also every hook with how many operations of each suite call it.
    pub suites: bool,
}

/// The share of hooks that are called, each module's part of it, the hooks that no operation
/// calls, and those that are called with their calls and costs. Empty of a document that is no
/// coverage.
pub fn coverage_report(document: &Document, options: &CoverageOptions) -> Report {
    let Some(findings) = &document.coverage else {
        return Report::default();
    };
    let view = View {
        findings,
        document,
        named: match options.all {
            true => usize::MAX,
            false => NAMED,
        },
    };
    let mut tables = vec![view.modules()];
    tables.extend(view.unreached());
    tables.extend(view.called());
    tables.extend(view.called_later());
    if options.suites {
        tables.extend(view.suites());
    }
    if options.all {
        tables.extend(view.idle());
    }
    Report {
        tables,
        warnings: warnings(&document.warnings),
    }
}

/// How many hooks are called, in a sentence.
pub fn coverage_share(findings: &CoverageFindings) -> String {
    let share = &findings.share;
    let whole = u64::from(share.hooks);
    let mut text = format!("{} of {} hooks are called", share.called, count(whole));
    if share.called_later > 0 {
        text += &format!(" ({} of them only after operations)", share.called_later);
    }
    if let Some(percent) = share.percent() {
        text += &format!(
            "; of the {} that user space can have called without hardware, {percent:.1} %",
            share.within_reach
        );
    }
    if share.unexplained > 0 {
        text += &format!(
            " ({} of the others have no known reason, and count as missed)",
            share.unexplained
        );
    }
    text + "."
}

struct View<'a> {
    findings: &'a CoverageFindings,
    document: &'a Document,
    named: usize,
}

#[derive(Default)]
pub(crate) struct ModuleRow {
    pub(crate) functions: u64,
    pub(crate) ran: u64,
    /// Functions that did not run, of hooks that are called.
    pub(crate) idle: u64,
}

/// All modules of the kernel, by name.
pub(crate) fn module_rows(findings: &CoverageFindings) -> Vec<(&str, ModuleRow)> {
    let mut modules: BTreeMap<&str, ModuleRow> = BTreeMap::new();
    for hook in &findings.hooks {
        for of in &hook.implementations {
            let row = modules.entry(&of.module).or_default();
            row.functions += 1;
            row.ran += u64::from(of.ran.is_some());
            // Of a hook that is called only later it is not known what runs.
            row.idle += u64::from(of.ran.is_none() && !hook.called_by.is_empty());
        }
    }
    modules.into_iter().collect()
}

impl<'a> View<'a> {
    fn place(&self) -> String {
        let kernel = printable(&self.findings.kernel, TEXT_LIMIT);
        format!(
            "{kernel} ({})",
            printable(&self.findings.release, TEXT_LIMIT)
        )
    }

    fn modules(&self) -> Table {
        let known = self.findings.implementations_known;
        let rows = module_rows(self.findings);
        Columns::new()
            .left("module", |(module, _): &(&str, ModuleRow)| *module)
            .only_if(known, |columns| {
                columns.column("functions", |(_, row)| row.functions)
            })
            .column("ran", |(_, row)| row.ran)
            .only_if(known, |columns| {
                columns
                    .column("did not run", |(_, row)| row.functions - row.ran)
                    .column("though their hook is called", |(_, row)| row.idle)
            })
            .table(format!("Coverage of hooks: {}", self.place()), &rows)
            .legend(self.legend())
    }

    fn legend(&self) -> Vec<String> {
        let findings = self.findings;
        let mut legend = vec![
            coverage_share(findings),
            format!("Measured under {}.", self.configurations().join("; ")),
        ];
        if !findings.lacking.is_empty() {
            legend.push(format!(
                "Not measured, since the kernel lacks them: {}.",
                listed(&findings.lacking, usize::MAX)
            ));
        }
        match findings.implementations_known {
            true => legend.push(
                "functions: what the kernel calls for the module's hooks, whether or not it runs."
                    .to_owned(),
            ),
            false => legend.push(
                "The kernel does not tell which functions its modules have for their hooks: only \
                 those that ran are known."
                    .to_owned(),
            ),
        }
        if !findings.beside.is_empty() {
            legend.push(format!(
                "Called beside the kernel's list of hooks: {}.",
                listed(&findings.beside, usize::MAX)
            ));
        }
        legend.extend(self.stale());
        legend
    }

    /// Reasons that do not fit.
    fn stale(&self) -> Vec<String> {
        let hooks = |called: bool| {
            let stale = self.findings.stale.iter().filter(|of| of.called == called);
            let hooks: Vec<&String> = stale.map(|of| &of.hook).collect();
            (!hooks.is_empty()).then(|| listed(&hooks, usize::MAX))
        };
        let called = hooks(true).map(|hooks| {
            format!(
                "Stale: lsmeter has a reason why these are called by none, but they are: {hooks}."
            )
        });
        let lacking = hooks(false).map(|hooks| {
            format!("lsmeter has a reason of hooks, too, that this kernel lacks: {hooks}.")
        });
        called.into_iter().chain(lacking).collect()
    }

    /// What its cells were measured under, with how many of them gave something.
    fn configurations(&self) -> Vec<String> {
        let name = &self.findings.kernel;
        let cells = self.document.cells.iter();
        let cells = cells.filter(|cell| cell.key.kernel == *name);
        let text = |(title, cells): (String, Vec<&Cell>)| {
            let ok = cells.iter().filter(|cell| cell.status() == Status::Ok);
            let (ok, all) = (ok.count(), cells.len());
            format!(
                "{} ({ok} of {all} operations)",
                printable(&title, TEXT_LIMIT)
            )
        };
        let groups = grouped(cells, Cell::configuration_title);
        groups.into_iter().map(text).collect()
    }

    fn unreached(&self) -> Option<Table> {
        let mut hooks: Vec<&CoveredHook> = self
            .findings
            .hooks
            .iter()
            .filter(|of| !of.is_called())
            .collect();
        let needs = |hook: &CoveredHook| hook.reason.as_ref().map(|reason| reason.needs);
        // Those first that somebody could do something about; the unexplained before all.
        hooks.sort_by_key(|hook| needs(hook));
        let known = self.findings.implementations_known;
        let sources = hooks.iter().any(|hook| !hook.system_calls.is_empty());
        let named = self.named;
        let mut legend: Vec<String> = Need::ALL
            .iter()
            .filter(|need| hooks.iter().any(|hook| needs(hook) == Some(**need)))
            .map(|need| format!("{need}: {}.", meaning(*need)))
            .collect();
        if hooks.iter().any(|hook| needs(hook).is_none()) {
            legend.push(
                "unexplained: lsmeter knows no reason; benchmarks that were not measured may call \
                 it."
                .to_owned(),
            );
        }
        Columns::new()
            .left("hook", |hook: &&CoveredHook| &hook.hook)
            .left("needs", move |hook: &&CoveredHook| match needs(hook) {
                Some(need) => Value::from(need.as_str()),
                None => Value::dash().shown("unexplained"),
            })
            .only_if(known, |columns| {
                columns.left("modules", |hook| Value::long(&modules(hook), REASON_LIMIT))
            })
            .only_if(sources, |columns| {
                columns.left("system calls", move |hook| {
                    Value::plain(match hook.system_calls.len() {
                        MANY.. => format!("nearly any ({})", hook.system_calls.len()),
                        _ => listed(&hook.system_calls, named),
                    })
                })
            })
            .left("why", |hook| {
                let reason = hook.reason.as_ref()?;
                let code = format!("Seen in {}.", printable(&reason.code, REASON_LIMIT));
                Some(Value::long(&reason.why, REASON_LIMIT).noted([code]))
            })
            .table(
                format!("Hooks that no operation calls: {}", hooks.len()),
                &hooks,
            )
            .fixed(2)
            .legend(legend)
            .if_any()
    }

    fn called(&self) -> Option<Table> {
        let hooks: Vec<&CoveredHook> = self
            .findings
            .hooks
            .iter()
            .filter(|of| !of.called_by.is_empty())
            .collect();
        let mut modules: Vec<&str> = hooks
            .iter()
            .flat_map(|hook| &hook.implementations)
            .filter(|of| of.ran.is_some())
            .map(|of| of.module.as_str())
            .collect();
        modules.sort_unstable();
        modules.dedup();
        let named = self.named;
        let mut columns = Columns::new()
            .left("hook", |hook: &&CoveredHook| &hook.hook)
            .column("operations", |hook| hook.called_by.len() as u64)
            .right("calls", |hook| {
                let (least, most) = hook.calls()?;
                Some(range(count(least), count(most)))
            });
        for module in modules {
            let name = printable(module, TEXT_LIMIT);
            columns = columns.grouped(Some("instructions of a call"), name, move |hook| {
                let all = hook.implementations.iter();
                cost(all.filter(|of| of.module == module))
            });
        }
        columns
            .left("called by", move |hook| {
                let titles = hook.called_by.iter();
                let titles: Vec<String> = titles.map(|by| by.title()).collect();
                Value::plain(listed(&titles, named))
            })
            .table(format!("Hooks that are called: {}", hooks.len()), &hooks)
            .legend([
                "operations: that call it; calls: of the hook in one operation, least and most \
                 (0: the kernel has no function of the hook's own, and a module's ran).",
                "instructions of a call: of the module's function, in the operations with the \
                 cheapest and the dearest calls; empty: the module has none, or it did not run.",
            ])
            .if_any()
    }

    /// Those that no operation calls itself.
    fn called_later(&self) -> Option<Table> {
        let hooks = self.findings.hooks.iter();
        let hooks: Vec<&CoveredHook> = hooks.filter(|of| !of.called_after.is_empty()).collect();
        let named = self.named;
        Columns::new()
            .left("hook", |hook: &&CoveredHook| &hook.hook)
            .column("operations", |hook| hook.called_after.len() as u64)
            .right("calls", |hook| {
                let each = hook.called_after.iter().map(EarlierOperation::calls_each);
                let least = each.clone().reduce(f64::min)?;
                let rounded = |calls: f64| figure((calls * 100.0).round() / 100.0);
                Some(range(rounded(least), rounded(each.reduce(f64::max)?)))
            })
            .left("called after", move |hook| {
                let titles = hook.called_after.iter();
                let titles: Vec<String> = titles.map(|of| of.title()).collect();
                Value::plain(listed(&titles, named))
            })
            .table(
                format!("Hooks that are called after operations: {}", hooks.len()),
                &hooks,
            )
            .legend([
                "After the end of a grace period, or by a work queue: not in the instructions of an \
                 operation. operations: after which it is called; calls: for each operation, least \
                 and most; what undoes an operation can be what leaves it.",
            ])
            .if_any()
    }

    /// Every hook, those that no operation calls too, by suite.
    fn suites(&self) -> Option<Table> {
        let hooks = &self.findings.hooks;
        let mut columns = Columns::new().left("hook", |hook: &CoveredHook| &hook.hook);
        for &suite in Suite::ALL {
            let of =
                move |hook: &CoveredHook| hook.suites().filter(|of| *of == suite).count() as u64;
            if hooks.iter().all(|hook| of(hook) == 0) {
                continue;
            }
            columns = columns.right(suite.as_str(), move |hook: &CoveredHook| {
                let n = of(hook);
                let value = Value::from(n).shown(count(n));
                value.tone(match n {
                    0 if hook.is_called() => Tone::Faint,
                    0 => Tone::Missing,
                    _ => Tone::Better,
                })
            });
        }
        columns
            .table("Hooks by suite", hooks)
            .legend([
                "How many operations of the suite call the hook, or are followed by its call.",
            ])
            .if_any()
    }

    /// Functions that did not run though their hook is called.
    fn idle(&self) -> Option<Table> {
        let hooks = self.findings.hooks.iter();
        let idle: Vec<(&CoveredHook, &CoveredImplementation)> = hooks
            .filter(|hook| !hook.called_by.is_empty())
            .flat_map(|hook| hook.implementations.iter().map(move |of| (hook, of)))
            .filter(|(_, of)| of.ran.is_none())
            .collect();
        Columns::new()
            .left(
                "module",
                |(_, of): &(&CoveredHook, &CoveredImplementation)| &of.module,
            )
            .left("function", |(_, of)| &of.function)
            .left("hook", |(hook, _)| &hook.hook)
            .table(
                "Functions that did not run, though their hook is called",
                &idle,
            )
            .legend(["Its module was in no stack that was measured, or the kernel passed it over."])
            .if_any()
    }
}

/// The modules that have something for a hook; BPF's functions are for programs, which have one
/// for each.
fn modules(hook: &CoveredHook) -> String {
    let mut names: Vec<&str> = hook
        .implementations
        .iter()
        .map(|of| of.module.as_str())
        .collect();
    names.dedup();
    names.join(", ")
}

fn range(least: String, most: String) -> String {
    match least == most {
        true => least,
        false => format!("{least} to {most}"),
    }
}

/// What functions of a module cost together: from the cheapest to the dearest.
fn cost<'a>(of: impl Iterator<Item = &'a CoveredImplementation>) -> Option<String> {
    let all = of.filter_map(|of| of.ran);
    let all = all.reduce(|a, b| CostOfCalls {
        least: a.least.min(b.least),
        most: a.most.max(b.most),
        operations: a.operations.saturating_add(b.operations),
    })?;
    let rounded = |figure: f64| (figure * 10.0).round() / 10.0;
    Some(range(figure(rounded(all.least)), figure(rounded(all.most))))
}

fn meaning(need: Need) -> &'static str {
    match need {
        Need::Variant => "another variant of a benchmark calls it (--variants all)",
        Need::Benchmark => {
            "no benchmark makes these system calls, which nothing stands in the way of"
        }
        Need::Policy => "only under a policy, or with a label, of another kind than the lab's",
        Need::Module => "code that the kernel has in a loadable module, or lacks",
        Need::Later => "it is called after the operation: what frees after a grace period, timers",
        Need::Hardware => "a device that the lab's machines do not have",
        Need::Kernel => "the kernel does it by itself, such as when it boots",
        Need::Configuration => "nothing in this kernel calls it",
    }
}
