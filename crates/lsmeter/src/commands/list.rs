// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter list …`.

use std::collections::BTreeMap;

use anyhow::Result;
use lab::catalogue::{Benchmark, catalogue};
use model::{Exit, Pattern, Select, Selection, Suite};
use serde::Serialize;

use crate::output;

pub fn columns<R: AsRef<[String]>>(rows: &[R]) -> String {
    let rows = || rows.iter().map(AsRef::as_ref);
    let width = |column: usize| {
        rows()
            .map(|row: &[String]| row[column].chars().count())
            .max()
    };
    let number = rows().next().map_or(0, <[String]>::len);
    let widths: Vec<usize> = (0..number)
        .map(|column| width(column).unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in rows() {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:width$}  "));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn measures(benchmark: &Benchmark) -> String {
    let words = [
        ("latency", benchmark.measures.latency),
        ("throughput", benchmark.measures.throughput),
    ];
    let words = words.into_iter().filter(|(_, yes)| *yes);
    words.map(|(word, _)| word).collect::<Vec<_>>().join(",")
}

pub fn benchmarks(patterns: &[String], json: bool) -> Result<Exit> {
    let selection = Selection {
        benchmarks: patterns
            .iter()
            .map(|text| text.parse())
            .collect::<Result<Vec<Pattern>, _>>()?,
        suites: Suite::ALL.to_vec(),
        select: Select::All,
    };
    let chosen: Vec<&Benchmark> = selection
        .choose(catalogue().iter().map(Benchmark::choice))
        .map_err(lab::LabError::from)?
        .into_iter()
        .map(|index| &catalogue()[index])
        .collect();
    if json {
        output::print_listing("benchmarks", &chosen)?;
        return Ok(Exit::Fine);
    }
    let head = [
        "SUITE",
        "BENCHMARK",
        "CLASS",
        "MEASURES",
        "SYSTEM CALLS",
        "SOURCE",
    ];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(chosen.into_iter().map(|benchmark| {
        [
            benchmark.suite.to_string(),
            benchmark.id(),
            benchmark.class.clone(),
            measures(benchmark),
            benchmark.syscalls.join(" "),
            benchmark.source.clone(),
        ]
    }));
    output::print(&columns(&rows))?;
    Ok(Exit::Fine)
}

/// If the same presets have more stacks than this, the text leaves them out.
const STACKS_OF_SAME_PRESETS: usize = 12;

pub fn stacks(json: bool) -> Result<Exit> {
    #[derive(Serialize)]
    struct Entry {
        stack: String,
        presets: Vec<&'static str>,
    }
    let mut used: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
    for preset in model::presets() {
        let spec = preset.spec()?;
        if spec.stacks.is_none() && spec.configurations.is_none() {
            continue;
        }
        for configuration in spec.resolve()?.configurations {
            let presets = used.entry(configuration.stack.to_string()).or_default();
            if presets.last() != Some(&preset.name) {
                presets.push(preset.name);
            }
        }
    }
    if json {
        let entry = |(stack, presets)| Entry { stack, presets };
        let stacks: Vec<Entry> = used.into_iter().map(entry).collect();
        output::print_listing("stacks", &stacks)?;
        return Ok(Exit::Fine);
    }
    // A preset may have the same modules in dozens of orders.
    let mut alike: BTreeMap<Vec<&'static str>, usize> = BTreeMap::new();
    for presets in used.values() {
        *alike.entry(presets.clone()).or_default() += 1;
    }
    alike.retain(|_, stacks| *stacks > STACKS_OF_SAME_PRESETS);
    let mut rows = vec![["STACK", "PRESETS"].map(str::to_owned)];
    rows.extend(
        used.into_iter()
            .filter(|(_, presets)| !alike.contains_key(presets))
            .map(|(stack, presets)| [stack, presets.join(", ")]),
    );
    output::print(&columns(&rows))?;
    for (presets, stacks) in &alike {
        let has = if presets.len() == 1 { "has" } else { "have" };
        let presets = presets.join(" and ");
        note!("{presets} {has} {stacks} more stacks (listed by --json).");
    }
    note!("Any list in the syntax of lsm= works: --stack capability,landlock,yama");
    Ok(Exit::Fine)
}

pub fn presets(json: bool) -> Result<Exit> {
    #[derive(Serialize)]
    struct Entry {
        name: &'static str,
        experiment: model::Experiment,
    }
    let mut entries = Vec::new();
    for preset in model::presets() {
        entries.push(Entry {
            name: preset.name,
            experiment: preset.spec()?.resolve()?,
        });
    }
    if json {
        output::print_listing("presets", &entries)?;
        return Ok(Exit::Fine);
    }
    let mut rows = vec![["PRESET", "KERNELS", "CONFIGURATIONS", "PURPOSE"].map(str::to_owned)];
    rows.extend(entries.into_iter().map(|Entry { name, experiment }| {
        [
            name.to_owned(),
            experiment.kernels.join(" "),
            experiment.configurations.len().to_string(),
            experiment.description.unwrap_or_default(),
        ]
    }));
    output::print(&columns(&rows))?;
    Ok(Exit::Fine)
}
