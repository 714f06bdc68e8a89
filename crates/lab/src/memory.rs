// SPDX-License-Identifier: GPL-2.0-or-later
//! The jobs of the metric `memory`: bytes of kernel memory per object. They are measured by
//! `guest/settings/memory.c` instead of a benchmark, because no operation is executed that could be
//! counted or timed.

use model::{Select, SelectError, Selectable, Selection, Suite};

use crate::job::Job;

const BENCHMARK: &str = "memory";

/// Variants and counted objects, in the agent's order. Whole-boot figures come first, before
/// objects are created.
const VARIANTS: [&str; 9] = [
    "boot",
    "boot-slab",
    "boot-percpu",
    "boot-vmalloc",
    "inode",
    "file",
    "socket",
    "queue",
    "task",
];

struct Held(&'static str);

impl Selectable for Held {
    fn benchmark(&self) -> &str {
        BENCHMARK
    }

    fn variant(&self) -> &str {
        self.0
    }

    fn suite(&self) -> Suite {
        Suite::Beyond
    }
}

/// Patterns such as `memory:inode` select jobs. Patterns that exclude benchmarks do not apply.
pub(crate) fn jobs(selection: &Selection) -> Result<Vec<Job>, SelectError> {
    let all = VARIANTS.map(Held);
    let mut selection = selection.clone();
    selection.select = Select::All;
    selection.benchmarks.retain(|pattern| {
        !pattern.excludes()
            || VARIANTS
                .iter()
                .any(|variant| pattern.matches(BENCHMARK, variant))
    });
    let chosen = selection.choose(&all).map_err(|error| match error {
        SelectError::NoMatch {
            pattern,
            suites,
            near,
        } => SelectError::NoMatch {
            pattern,
            suites,
            near: near.or_else(|| Some(BENCHMARK.to_owned())),
        },
        nothing @ SelectError::Nothing => nothing,
    })?;
    let chosen = chosen.into_iter();
    Ok(chosen.map(|index| job(all[index].0)).collect())
}

fn job(variant: &str) -> Job {
    Job {
        benchmark: BENCHMARK.to_owned(),
        variant: variant.to_owned(),
        directive: format!("{BENCHMARK} {variant}"),
        memory: true,
        class: BENCHMARK.to_owned(),
        repetitions: Some(1),
        ..Job::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use model::Spec;

    fn ids(toml: &str) -> Result<Vec<String>, SelectError> {
        let experiment = Spec::parse("test", toml).unwrap().resolve().unwrap();
        let plan = Plan::new(&experiment)?;
        Ok(plan.cells.iter().map(|cell| cell.job.id()).collect())
    }

    #[test]
    fn memory_is_selected_like_benchmarks() {
        let all = ids("metrics = ['memory']\nstacks = ['capability']").unwrap();
        assert_eq!(all.len(), VARIANTS.len());
        let some = ids("metrics = ['memory']\nstacks = ['capability']\n\
                        benchmarks = ['memory:inode', 'memory:task']");
        assert_eq!(some.unwrap(), ["memory:inode", "memory:task"]);
        let others = ids(
            "metrics = ['memory']\nstacks = ['capability']\nselect = 'first'\n\
                          benchmarks = ['!treewalk', '!memory:task']",
        );
        assert_eq!(others.unwrap().len(), VARIANTS.len() - 1);
        assert!(ids("metrics = ['memory']\nbenchmarks = ['stat:AA']").is_err());
        assert!(
            ids("benchmarks = ['memory:inode']").is_err(),
            "of instructions"
        );
    }
}
