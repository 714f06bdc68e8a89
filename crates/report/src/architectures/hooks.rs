// SPDX-License-Identifier: GPL-2.0-or-later
//! Hooks that an operation calls a different number of times on another architecture.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use model::{Architecture, Cell, Pattern};
use serde::Deserialize;

use super::Kernel;
use crate::cells::{Operation, operation_title};
use crate::column::Columns;
use crate::table::{Table, Value};

struct Difference<'a> {
    kernel: String,
    row: Operation<'a>,
    hook: &'a str,
    first: Calls,
    other: Calls,
    configurations: usize,
}

pub(super) fn differences(kernels: &[Kernel<'_, '_>]) -> Option<Table> {
    let (mut found, mut same, mut all) = (Vec::new(), 0, 0);
    for kernel in kernels {
        let group = kernel.sides[0].group;
        let mut of_kernel: Vec<Difference<'_>> = Vec::new();
        for &row in &group.rows {
            for configuration in &group.configurations {
                let cells = kernel
                    .sides
                    .iter()
                    .map(|side| side.group.cell(row, configuration));
                let Some(calls) = cells.map(|cell| calls(cell?)).collect::<Option<Vec<_>>>() else {
                    continue;
                };
                all += 1;
                let differ = apart(kernel, row, &calls);
                same += usize::from(differ.is_empty());
                for difference in differ {
                    let alike = of_kernel.iter_mut().find(|of| of.is_like(&difference));
                    match alike {
                        Some(known) => known.configurations += 1,
                        None => of_kernel.push(difference),
                    }
                }
            }
        }
        found.extend(of_kernel);
    }
    if all == 0 {
        return None;
    }
    let table = Columns::new()
        .left("kernel", |of: &Difference<'_>| {
            &of.kernel
        })
        .left("benchmark", |of| operation_title(of.row))
        .left("hook", |of| of.hook)
        .left("calls", |of| {
            let calls = [of.first, of.other].map(|of| format!("{} {}", of.calls, of.architecture));
            calls.join(", ")
        })
        .column("stacks", |of| of.configurations)
        .left("because", |of| {
            let why = why(of.row, of.hook, of.first, of.other);
            Value::plain(why.unwrap_or_else(|| "not explained".to_owned()))
        })
        .table("Hooks called a different number of times", &found)
        .fixed(3)
        .legend([format!(
            "{same} of {all} operations, counted under each stack, call every hook as often on each \
             architecture."
        )]);
    Some(table)
}

impl Difference<'_> {
    fn is_like(&self, other: &Difference<'_>) -> bool {
        let calls = |of: &Difference<'_>| (of.first.calls, of.other.calls, of.other.architecture);
        (self.row, self.hook) == (other.row, other.hook) && calls(self) == calls(other)
    }
}

fn calls(cell: &Cell) -> Option<BTreeMap<&str, u64>> {
    let hooks = cell.hooks()?.iter();
    Some(hooks.map(|hook| (&*hook.hook, hook.calls)).collect())
}

fn apart<'a>(
    kernel: &Kernel<'_, '_>,
    row: Operation<'a>,
    calls: &[BTreeMap<&'a str, u64>],
) -> Vec<Difference<'a>> {
    let mut differ = Vec::new();
    let of = |side: usize, hook: &str| Calls {
        architecture: kernel.sides[side].architecture,
        calls: calls[side].get(hook).copied().unwrap_or(0),
    };
    for side in 1..calls.len() {
        let both = calls[0].keys().chain(calls[side].keys());
        let hooks: BTreeSet<&str> = both.copied().collect();
        for hook in hooks {
            let (first, other) = (of(0, hook), of(side, hook));
            if first.calls != other.calls {
                differ.push(Difference {
                    kernel: kernel.name.clone(),
                    row,
                    hook,
                    first,
                    other,
                    configurations: 1,
                });
            }
        }
    }
    differ
}

const FACTS: &str = include_str!("../../facts/architectures.toml");

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fact {
    architecture: Architecture,
    benchmarks: Vec<Pattern>,
    hooks: Vec<Pattern>,
    fewer: u64,
    code: String,
    why: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    fact: Vec<Fact>,
}

static ALL: LazyLock<Vec<Fact>> = LazyLock::new(|| {
    let facts: Result<Facts, _> = toml::from_str(FACTS);
    facts.map(|facts| facts.fact).unwrap_or_default()
});

#[derive(Debug, Clone, Copy)]
struct Calls {
    architecture: Architecture,
    calls: u64,
}

fn why((benchmark, variant): (&str, &str), hook: &str, one: Calls, other: Calls) -> Option<String> {
    let mut calls = [one, other];
    calls.sort_by_key(|of| of.calls);
    let [few, many] = calls;
    let matches = |patterns: &[Pattern], name: &str, variant: &str| {
        let mut patterns = patterns.iter();
        patterns.any(|pattern| !pattern.excludes() && pattern.matches(name, variant))
    };
    let fits = |fact: &&Fact| {
        fact.architecture == few.architecture
            && few.calls + fact.fewer == many.calls
            && matches(&fact.benchmarks, benchmark, variant)
            && matches(&fact.hooks, hook, "")
    };
    let fact = ALL.iter().find(fits)?;
    Some(format!("{} ({})", fact.why, fact.code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facts_are_whole() {
        let facts: Facts = toml::from_str(FACTS).unwrap();
        for fact in &facts.fact {
            let texts = !fact.why.is_empty() && !fact.code.is_empty();
            let names = !fact.benchmarks.is_empty() && !fact.hooks.is_empty();
            assert!(texts && names && fact.fewer > 0, "{fact:?}");
        }
    }

    #[test]
    fn a_fact_covers_its_difference_and_no_other() {
        let calls = |architecture, calls| Calls {
            architecture,
            calls,
        };
        for (benchmark, hook, on_x86, on_arm, is_told) in [
            ("execve", "mmap_file", 4, 2, true),
            ("execve", "mmap_file", 2, 4, false),
            ("execve", "mmap_file", 5, 2, false),
            ("execve", "file_open", 4, 2, false),
            ("open", "mmap_file", 4, 2, false),
        ] {
            let x86 = calls(Architecture::X86_64, on_x86);
            let arm = calls(Architecture::Aarch64, on_arm);
            for (one, other) in [(x86, arm), (arm, x86)] {
                let why = why((benchmark, "agent"), hook, one, other);
                assert_eq!(why.is_some(), is_told, "{benchmark} {hook}");
            }
        }
    }
}
