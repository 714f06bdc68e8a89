// SPDX-License-Identifier: GPL-2.0-or-later
//! Recorded calls of a live machine or of programs.

use std::collections::{BTreeMap, HashSet};

use model::{Cell, Document, Failure, Interval, Kind};

use crate::predict::costs::unknown;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recording {
    pub release: String,
    /// Active modules, in order; empty if unknown or ambiguous.
    pub active_lsms: Vec<String>,
    pub loads: Vec<Load>,
    pub left_out: Vec<String>,
    /// Hooks whose framework function was not watched, only the modules' functions.
    pub without_framework: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Load {
    pub name: String,
    /// Includes the policy state; empty for a live machine.
    pub stack: String,
    /// Duration in s; None for a program.
    pub seconds: Option<f64>,
    pub calls: Vec<Recorded>,
    /// Calls that were seen but not counted.
    pub lost: u64,
    pub denied: u64,
    /// Instructions in hooks, if they were counted.
    pub hooked: Option<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    pub hook: String,
    pub system_call: String,
    pub calls: u64,
    pub ns: Option<i64>,
}

impl Recording {
    /// Loads of a recording, or of a result file with programs.
    pub fn from_document(
        document: &Document,
        workload: Option<&str>,
    ) -> Result<Recording, Failure> {
        let mut recording = match document.kind {
            Kind::Recording => of_monitor(document),
            _ => of_programs(document)?,
        };
        if let Some(name) = workload {
            let mut known: Vec<String> = recording.loads.iter().map(|l| l.name.clone()).collect();
            known.dedup();
            recording.loads.retain(|load| load.name == name);
            if recording.loads.is_empty() {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let what = format!("the recording contains no workload `{name}`");
                return Err(unknown(what, name, &known));
            }
        }
        let mut calls = recording.loads.iter().flat_map(|load| &load.calls);
        match calls.any(|call| call.calls > 0) {
            true => Ok(recording),
            false => Err(Failure::usage(
                "the recording contains no hook calls",
                "record for longer, or watch more hooks or processes",
            )),
        }
    }
}

fn of_monitor(document: &Document) -> Recording {
    let monitor = document.monitor.as_ref();
    let total = document.all_intervals();
    let frameworks = total.hooks.iter().filter(|hook| hook.module.is_none());
    let watched: HashSet<&str> = frameworks.map(|hook| hook.hook.as_str()).collect();
    let mut without_framework: Vec<String> = total
        .hooks
        .iter()
        .filter(|hook| hook.module.is_some() && !watched.contains(hook.hook.as_str()))
        .map(|hook| hook.hook.clone())
        .collect();
    without_framework.dedup();
    Recording {
        release: monitor.map_or_else(String::new, |monitor| monitor.release.clone()),
        active_lsms: monitor.map_or_else(Vec::new, |monitor| monitor.active_lsms.clone()),
        loads: vec![load_of(
            monitor.map_or_else(String::new, |monitor| monitor.scope.clone()),
            &total,
        )],
        left_out: document
            .left_out
            .iter()
            .map(|hook| hook.name.clone())
            .collect(),
        without_framework,
    }
}

/// The framework's functions only, which include the modules' functions.
fn load_of(name: String, total: &Interval) -> Load {
    let hooks = || total.hooks.iter().filter(|hook| hook.module.is_none());
    let calls = hooks().flat_map(|hook| {
        hook.system_calls.iter().map(|call| Recorded {
            hook: hook.hook.clone(),
            system_call: call.system_call.clone(),
            calls: call.calls.count,
            ns: call.calls.sum_ns,
        })
    });
    Load {
        name,
        stack: String::new(),
        seconds: Some(total.seconds).filter(|seconds| *seconds > 0.0),
        calls: calls.collect(),
        lost: total.lost,
        denied: hooks().fold(0, |sum, hook| sum.saturating_add(hook.denials())),
        hooked: None,
    }
}

fn of_programs(document: &Document) -> Result<Recording, Failure> {
    let programs: Vec<(&Cell, Load)> = document.cells.iter().filter_map(program).collect();
    let Some((first, _)) = programs.first() else {
        let kind = Kind::title(Some(document.kind));
        return Err(Failure::usage(
            format!("a {kind} does not list hook calls by system call"),
            "give a recording from `lsmeter monitor --record`, or a result file for whole programs",
        ));
    };
    Ok(Recording {
        release: first.release.clone(),
        loads: programs.iter().map(|(_, load)| load.clone()).collect(),
        ..Recording::default()
    })
}

fn program(cell: &Cell) -> Option<(&Cell, Load)> {
    let counted = cell.counted()?;
    let program = counted.program.as_ref()?;
    let mut calls: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for entry in &program.entries {
        for hook in &entry.hooks {
            let sum = calls.entry((&hook.hook, &entry.entry)).or_default();
            *sum = sum.saturating_add(hook.calls);
        }
    }
    let calls = calls.into_iter();
    let load = Load {
        name: cell.title(),
        stack: cell.configuration_title(),
        calls: calls
            .map(|((hook, system_call), calls)| Recorded {
                hook: hook.to_owned(),
                system_call: system_call.to_owned(),
                calls,
                ns: None,
            })
            .collect(),
        hooked: counted.hooked.as_ref().map(|path| path.hooked),
        ..Load::default()
    };
    Some((cell, load))
}
