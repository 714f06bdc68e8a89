// SPDX-License-Identifier: GPL-2.0-or-later
//! Merges result files of an experiment's parts.
//!
//! The merged file has every measurement, sample, warning and environment of the parts, whatever
//! their order. Parts whose figures cannot be compared are refused.

mod by_machine;

use std::collections::{BTreeMap, BTreeSet};

use model::{
    AaReport, Cell, Configuration, Document, Environment, Experiment, Failure, Kind, Metric,
    Origin, PolicyProof, Share, Warning, WarningKind,
};

pub use by_machine::by_machine;

#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    pub name: String,
    pub run: Document,
    experiment: Experiment,
}

impl Part {
    pub fn new(name: impl Into<String>, run: Document) -> Result<Part, Failure> {
        let name = name.into();
        match (run.kind, &run.experiment) {
            (Kind::Run, Some(experiment)) => Ok(Part {
                experiment: experiment.clone(),
                name,
                run,
            }),
            (kind, _) => {
                let kind = Kind::title(Some(kind));
                let what = format!("{name} is a {kind}: only run result files can be merged");
                Err(Failure::usage(what, NO_PARTS))
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    pub run: Document,
    /// Numbers of the missing shards, counted from 1.
    pub missing_shards: Vec<u32>,
    pub missing_cells: u32,
}

pub type Doubts<'a> = &'a dyn Fn(&[Cell], &[&Environment]) -> Vec<Warning>;

/// Warnings about a whole run, which are recomputed after merging.
const OF_ALL_CELLS: [WarningKind; 4] = [
    WarningKind::EmulatedTime,
    WarningKind::ExtraModules,
    WarningKind::MissingMeasurements,
    WarningKind::Interrupted,
];

const NO_PARTS: &str = "give the result files of the shards";
const ANOTHER_EXPERIMENT: &str = "merge shards of one experiment, all run with the same spec, \
    flags and number of shards; `lsmeter compare` shows what differs between two runs";
const TWO_ANSWERS: &str = "leave out one of the two; if neither file was edited, `lsmeter compare` \
    shows what differs";

struct Candidate<'a> {
    cell: &'a Cell,
    environment: &'a Environment,
    part: &'a Part,
}

pub fn merge(parts: &[Part], doubts: Doubts<'_>) -> Result<Merged, Failure> {
    let first = parts
        .first()
        .ok_or_else(|| Failure::usage("there is nothing to merge", NO_PARTS))?;
    for part in parts {
        check_same(first, part)?;
    }
    let whole = whole(parts)?;
    let cells = candidates(parts)?;
    check_environments(&first.experiment, &cells)?;

    let mut origins = origins(parts, &cells);
    let kept = cells.values().map(|candidate| candidate.cell.clone());
    let kept: Vec<Cell> = kept.collect();
    let environments = Origin::of_timed(&origins, &kept);
    let mut warnings = warnings(parts, &cells);
    warnings.extend(doubts(&kept, &environments));
    let missing_cells = whole.cells.saturating_sub(kept.len() as u32);
    let missing_shards = whole.missing();
    let is_whole = missing_shards.is_empty() && missing_cells == 0;
    if !is_whole {
        warnings.push(interrupted(&whole, &missing_shards, kept.len()));
    }
    let environment = origins[0].environment.clone();
    if origins.len() == 1 {
        origins.clear();
    }
    let started = parts.iter().filter_map(|part| part.run.started.clone());
    let finished = parts.iter().filter_map(|part| part.run.finished.clone());
    let run = Document {
        tool: first.run.tool.clone(),
        environments: origins,
        share: (!is_whole).then(|| Share {
            positions: cells.keys().copied().collect(),
            ..whole
        }),
        started: started.min(),
        finished: finished.max(),
        experiment: Some(experiment(parts)),
        kernel_digests: digests(parts)?,
        setups: setups(parts),
        aa: aa(parts)?,
        cells: kept,
        warnings,
        ..Document::new(Kind::Run, environment)
    };
    Ok(Merged {
        run,
        missing_shards,
        missing_cells,
    })
}

fn text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn check_same(a: &Part, b: &Part) -> Result<(), Failure> {
    if let Some(key) = a.experiment.first_difference(&b.experiment) {
        let (a, b) = (&a.name, &b.name);
        let what = format!("{a} and {b} are from different experiments: `{key}` differs");
        return Err(Failure::usage(what, ANOTHER_EXPERIMENT));
    }
    if a.run.tool != b.run.tool {
        let tool = |part: &Part| format!("{} {}", part.run.tool.name, part.run.tool.version);
        let (a_tool, b_tool, a, b) = (tool(a), tool(b), &a.name, &b.name);
        return Err(Failure::usage(
            format!("{a} was written by {a_tool}, but {b} by {b_tool}"),
            "run all shards with the same lsmeter version",
        ));
    }
    Ok(())
}

/// The union of the parts' shards. A file without a share contains the complete run.
fn whole(parts: &[Part]) -> Result<Share, Failure> {
    let shared = |part: &&Part| part.run.share.is_some();
    let size = |part: &Part| match &part.run.share {
        Some(share) => (share.count, share.cells),
        None => (1, part.run.cells.len() as u32),
    };
    let first = parts.iter().find(shared).unwrap_or(&parts[0]);
    let (count, cells) = size(first);
    let mut shards = BTreeSet::new();
    for part in parts {
        let (other_count, other_cells) = size(part);
        match &part.run.share {
            Some(share) => shards.extend(&share.shards),
            None => shards.extend(1..=count),
        }
        if other_cells != cells || part.run.share.is_some() && other_count != count {
            let (a, b) = (&first.name, &part.name);
            let what = format!(
                "{a} has {count} shards with {cells} cells, but {b} has {other_count} with \
                 {other_cells}"
            );
            return Err(Failure::usage(what, ANOTHER_EXPERIMENT));
        }
    }
    Ok(Share {
        count,
        shards: shards.into_iter().collect(),
        cells,
        positions: Vec::new(),
    })
}

/// All measurements, by their index in the complete run. Only the duration of copies may differ.
fn candidates(parts: &[Part]) -> Result<BTreeMap<u32, Candidate<'_>>, Failure> {
    let mut cells: BTreeMap<u32, Candidate<'_>> = BTreeMap::new();
    let mut positions = BTreeMap::new();
    for part in parts {
        for (index, cell) in part.run.cells.iter().enumerate() {
            let share = part.run.share.as_ref();
            let position = share.map_or(index as u32, |share| share.positions[index]);
            let candidate = Candidate {
                cell,
                environment: part.run.environment_of(index),
                part,
            };
            let known = *positions.entry(cell.key.clone()).or_insert(position);
            let Some(other) = cells.get(&known.min(position)) else {
                cells.insert(position, candidate);
                continue;
            };
            let (a, b) = (&other.part.name, &part.name);
            if known != position || other.cell.key != cell.key {
                return Err(Failure::usage(
                    format!("{a} and {b} list {} at different positions", title(cell)),
                    "one file was edited, or is from another lsmeter build: run that shard again",
                ));
            }
            if !is_same(other.cell, cell) {
                let cell = title(cell);
                let what = format!("{cell} is in both {a} and {b}, with different values");
                return Err(Failure::usage(what, TWO_ANSWERS));
            }
            let rank =
                |candidate: &Candidate<'_>| (text(candidate.cell), text(candidate.environment));
            if rank(&candidate) < rank(other) {
                cells.insert(position, candidate);
            }
        }
    }
    Ok(cells)
}

fn title(cell: &Cell) -> String {
    let (title, metric) = (cell.title(), cell.key.metric);
    let (under, on) = (cell.configuration_title(), &cell.key.kernel);
    format!("{title} ({metric}) under {under} on {on}")
}

fn is_same(a: &Cell, b: &Cell) -> bool {
    let timeless = |cell: &Cell| Cell {
        seconds: None,
        ..cell.clone()
    };
    a == b || timeless(a) == timeless(b)
}

/// Whether all figures are comparable: counts by emulated machine, times by hardware.
fn check_environments(
    experiment: &Experiment,
    cells: &BTreeMap<u32, Candidate<'_>>,
) -> Result<(), Failure> {
    // With a common baseline, all kernels are compared.
    let base = experiment.baseline_configuration();
    let across =
        experiment.baseline_kernel.is_some() || base.is_some_and(|base| base.kernel.is_some());
    let mut seen: BTreeMap<(&str, Metric), (String, &Part)> = BTreeMap::new();
    for candidate in cells.values() {
        let metric = candidate.cell.key.metric;
        let kernel = match metric {
            counted if counted.is_counted() => candidate.cell.key.architecture.as_str(),
            _ if across => "",
            _ => candidate.cell.key.kernel.as_str(),
        };
        let print = candidate.environment.fingerprint(metric);
        let (known, part) = seen
            .entry((kernel, metric))
            .or_insert_with(|| (print.clone(), candidate.part));
        if *known != print {
            let (a, b) = (&part.name, &candidate.part.name);
            return Err(Failure::usage(
                format!("{metric}: {a} was measured on {known}, but {b} on {print}"),
                match metric.is_counted() {
                    true => "count on machines with the same QEMU version",
                    false => {
                        "measure time on machines of the same kind; --by-machine writes a result \
                         file for each"
                    }
                },
            ));
        }
    }
    Ok(())
}

/// All environments of the parts: those with measurements first, each group sorted by text.
fn origins(parts: &[Part], cells: &BTreeMap<u32, Candidate<'_>>) -> Vec<Origin> {
    let mut found: BTreeMap<String, Origin> = BTreeMap::new();
    let mut add = |environment: &Environment, cell: Option<u32>| {
        let origin = found.entry(text(environment)).or_insert_with(|| Origin {
            environment: environment.clone(),
            cells: Vec::new(),
        });
        origin.cells.extend(cell);
    };
    for (index, candidate) in cells.values().enumerate() {
        add(candidate.environment, Some(index as u32));
    }
    for part in parts {
        add(&part.run.environment, None);
        for origin in &part.run.environments {
            add(&origin.environment, None);
        }
    }
    let mut origins: Vec<Origin> = found.into_values().collect();
    origins.sort_by_key(|origin| origin.cells.is_empty());
    origins
}

fn warnings(parts: &[Part], cells: &BTreeMap<u32, Candidate<'_>>) -> Vec<Warning> {
    let places: BTreeMap<u32, u32> = cells.keys().copied().zip(0..).collect();
    // Without indices, a warning concerns the complete run.
    let mut found: BTreeMap<(WarningKind, &str, &str), BTreeSet<u32>> = BTreeMap::new();
    for part in parts {
        let share = part.run.share.as_ref();
        let place = |index: &u32| {
            let position = share.map_or(*index, |share| share.positions[*index as usize]);
            places.get(&position).copied()
        };
        for warning in &part.run.warnings {
            if OF_ALL_CELLS.contains(&warning.kind) {
                continue;
            }
            let here: BTreeSet<u32> = warning.cells.iter().filter_map(place).collect();
            let key = (warning.kind, &*warning.message, &*warning.advice);
            found
                .entry(key)
                .and_modify(|known| {
                    if here.is_empty() || known.is_empty() {
                        known.clear();
                    } else {
                        known.extend(&here);
                    }
                })
                .or_insert(here);
        }
    }
    let warning = |((kind, message, advice), cells): (_, BTreeSet<u32>)| Warning {
        kind,
        message: str::to_owned(message),
        advice: str::to_owned(advice),
        cells: cells.into_iter().collect(),
    };
    found.into_iter().map(warning).collect()
}

fn interrupted(whole: &Share, shards: &[u32], here: usize) -> Warning {
    let numbers: Vec<String> = shards.iter().map(u32::to_string).collect();
    let (shards, cells) = (whole.count, whole.cells);
    let missing = match numbers.join(", ") {
        none if none.is_empty() => none,
        numbers => format!("; shards {numbers} of {shards} are missing"),
    };
    let message = format!("{here} of {cells} measurements are available{missing}");
    Warning::new(WarningKind::Interrupted, message)
}

/// Keys that do not affect measurements may differ.
fn experiment(parts: &[Part]) -> Experiment {
    let all = parts.iter().map(|part| &part.experiment);
    let least = all.min_by_key(text);
    least.unwrap_or(&parts[0].experiment).clone()
}

fn digests(parts: &[Part]) -> Result<BTreeMap<String, String>, Failure> {
    let mut all: BTreeMap<&String, (&String, &Part)> = BTreeMap::new();
    for part in parts {
        for (kernel, digest) in &part.run.kernel_digests {
            let (known, other) = *all.entry(kernel).or_insert((digest, part));
            if known != digest {
                let (a, b) = (&other.name, &part.name);
                return Err(Failure::usage(
                    format!("{a} and {b} ran different kernels named {kernel}"),
                    "name the full version, such as debian:6.12.0-56, or copy one kernel to all \
                     machines",
                ));
            }
        }
    }
    let owned = all.into_iter();
    let owned = owned.map(|(kernel, (digest, _))| (kernel.clone(), digest.clone()));
    Ok(owned.collect())
}

fn setups(parts: &[Part]) -> Vec<PolicyProof> {
    let Experiment {
        kernels,
        configurations,
        ..
    } = &parts[0].experiment;
    let place = |proof: &PolicyProof| {
        let kernel = kernels.iter().position(|kernel| *kernel == proof.kernel);
        let matches = |c: &Configuration| *c == proof.configuration;
        (kernel, configurations.iter().position(matches), text(proof))
    };
    let mut all: Vec<&PolicyProof> = parts.iter().flat_map(|part| &part.run.setups).collect();
    all.sort_by_cached_key(|proof| place(proof));
    all.dedup();
    all.into_iter().cloned().collect()
}

fn aa(parts: &[Part]) -> Result<Option<AaReport>, Failure> {
    let mut with = parts.iter().filter(|part| part.run.aa.is_some());
    let Some(first) = with.next() else {
        return Ok(None);
    };
    match with.find(|part| part.run.aa != first.run.aa) {
        Some(other) => {
            let (a, b) = (&first.name, &other.name);
            let what = format!("{a} and {b} have different A/A reports");
            Err(Failure::usage(what, TWO_ANSWERS))
        }
        None => Ok(first.run.aa.clone()),
    }
}
