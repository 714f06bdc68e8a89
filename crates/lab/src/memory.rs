// SPDX-License-Identifier: GPL-2.0-or-later
//! The jobs of the metric `memory`: bytes of kernel memory per object. They are measured by
//! `guest/settings/memory.c` instead of a benchmark, because no operation is executed that could be
//! counted or timed.

use model::{Select, SelectError, Selection, Suite};

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

/// Patterns such as `memory:inode` select jobs. Patterns that exclude benchmarks do not apply.
pub(crate) fn jobs(selection: &Selection) -> Result<Vec<Job>, SelectError> {
    let all = VARIANTS.map(|variant| (BENCHMARK, variant, Suite::Beyond));
    let mut selection = selection.clone();
    selection.select = Select::All;
    selection.benchmarks.retain(|pattern| {
        !pattern.excludes()
            || VARIANTS
                .iter()
                .any(|variant| pattern.matches(BENCHMARK, variant))
    });
    let chosen = selection.choose(all).map_err(|mut error| {
        if let SelectError::NoMatch { near, .. } = &mut error {
            near.get_or_insert_with(|| BENCHMARK.to_owned());
        }
        error
    })?;
    let chosen = chosen.into_iter();
    Ok(chosen.map(|index| job(VARIANTS[index])).collect())
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
