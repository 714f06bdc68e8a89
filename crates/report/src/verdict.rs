// SPDX-License-Identifier: GPL-2.0-or-later
//! Findings of a document, in sentences.

use compare::judge::Judgements;
use model::{
    Cell, Delay, Document, HookedPath, Kind, Monitoring, PlacementDocument, Slope, Status,
    WatchedHook,
};

use crate::cells::groups;
use crate::format;
use crate::gather::Content;
use crate::glance::Glance;
use crate::group::sum;
use crate::monitor::framework;
use crate::table::is_doubt;
use crate::text::short;

const SENTENCES_LIMIT: usize = 40;
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Reasons not to trust the document as a whole; warnings are elsewhere.
    pub doubts: Vec<String>,
    pub findings: Vec<String>,
}

impl Verdict {
    fn of(doubts: impl IntoIterator<Item = Option<String>>, finding: String) -> Verdict {
        Verdict {
            doubts: doubts.into_iter().flatten().collect(),
            findings: vec![finding],
        }
    }
}

pub fn verdict(content: &Content) -> Verdict {
    let mut verdict = match content {
        Content::Placement(placement) => of_placement(placement),
        Content::Measured(document) => match (document.kind, &document.monitor) {
            (Kind::Profile, _) => of_profiles(document),
            (Kind::Sensitivity, _) => of_sweep(document),
            (_, Some(monitor)) => of_recording(document, monitor),
            _ => of_run(document),
        },
    };
    let doubts = content.warnings().iter();
    match doubts.filter(|warning| is_doubt(warning)).count() {
        0 => {}
        1 => verdict.doubts.insert(0, "There is 1 warning.".to_owned()),
        n => verdict.doubts.insert(0, format!("There are {n} warnings.")),
    }
    if verdict.findings.len() > SENTENCES_LIMIT {
        let more = verdict.findings.len() - SENTENCES_LIMIT;
        verdict.findings.truncate(SENTENCES_LIMIT);
        let more = format!("{more} more: see the tables.");
        verdict.findings.push(more);
    }
    verdict
}

fn of_run(run: &Document) -> Verdict {
    let mut verdict = Verdict::default();
    let lost = run.cells.iter().filter(|cell| cell.status() != Status::Ok);
    let lost = lost.count();
    if run.cells.is_empty() {
        verdict.doubts.push("Nothing was measured.".to_owned());
    } else if lost > 0 {
        let all = run.cells.len();
        let doubt = format!("{lost} of {all} cells have no figure: failed or unsupported.");
        verdict.doubts.push(doubt);
    }
    let judgements = Judgements::of(run);
    for group in groups(run) {
        let place = group.place(run);
        if group.baseline.is_none() {
            let doubt = format!("{place}: no overhead, since the baseline was not measured.");
            verdict.doubts.push(doubt);
            continue;
        }
        let glance = Glance {
            group: &group,
            judgements: &judgements,
        };
        let sentences = group.tested().filter_map(|of| glance.sentence(of));
        let told = sentences.map(|sentence| format!("{sentence}; {place}."));
        verdict.findings.extend(told);
    }
    verdict
}

fn of_profiles(document: &Document) -> Verdict {
    let all = document.cells.len();
    let lost = all - document.hooked().count();
    let unexplained = document
        .hooked()
        .filter(|(_, counted, _)| compare::judge::unexplained(counted).next().is_some());
    let unexplained = unexplained.count();
    let share = |path: &HookedPath| path.hooked as f64 / path.total as f64;
    let mut shares: Vec<(f64, &Cell)> = document
        .hooked()
        .filter(|(_, _, path)| path.total > 0)
        .map(|(cell, _, path)| (share(path), cell))
        .collect();
    shares.sort_by(|one, other| one.0.total_cmp(&other.0));
    let under = |cell: &Cell| {
        let stack = short(&cell.key.stack.join(","));
        format!("{} under {stack}", short(&cell.title()))
    };
    let finding = match shares.as_slice() {
        [] => "No operation was profiled.".to_owned(),
        [(share, cell)] => format!(
            "{} of the instructions of {} are inside LSM hooks (n = 1 profile).",
            format::fraction(*share),
            under(cell)
        ),
        [first, .., last] => format!(
            "{} ({}) to {} ({}) of an operation's instructions are inside LSM hooks (n = {} \
             profiles).",
            format::fraction(first.0),
            under(first.1),
            format::fraction(last.0),
            under(last.1),
            shares.len()
        ),
    };
    let doubts = [
        (lost > 0).then(|| format!("{lost} of {all} profiles have no figure.")),
        (unexplained > 0).then(|| {
            format!(
                "{unexplained} comparisons leave instructions outside hooks that nothing explains."
            )
        }),
    ];
    Verdict::of(doubts, finding)
}

fn of_sweep(document: &Document) -> Verdict {
    let whole = |delay: Option<&Delay>| delay.is_some_and(Delay::is_whole);
    let cells = document.cells.iter();
    let all = cells.filter(|cell| whole(cell.key.delay.as_ref())).count();
    let ok: Vec<(&Cell, &Slope)> = document
        .slopes()
        .filter(|(_, delay, _)| delay.is_whole())
        .map(|(cell, _, slope)| (cell, slope))
        .collect();
    let n = ok.len();
    let lost = all - n;
    let differ = ok.iter().filter(|(_, slope)| slope.differs()).count();
    let compared = ok.iter().filter_map(|(_, slope)| slope.difference());
    let largest = compared.map(f64::abs).max_by(f64::total_cmp);
    let most = ok
        .iter()
        .max_by(|(_, a), (_, b)| a.slope.total_cmp(&b.slope));
    let finding = match most {
        None => "No operation has a slope.".to_owned(),
        Some((cell, most)) => format!(
            "{} asks for the most decisions: {} (n = {n} slopes{}).",
            short(&cell.title()),
            format::figure((most.slope * 1e4).round() / 1e4),
            largest.map_or(String::new(), |d| format!(
                "; largest difference from a count: {d:.4}"
            ))
        ),
    };
    let doubts = [
        (lost > 0).then(|| format!("{lost} of {all} slopes have no figure.")),
        (differ > 0).then(|| format!("{differ} of {n} slopes are not what was counted.")),
    ];
    Verdict::of(doubts, finding)
}

fn of_recording(document: &Document, monitor: &Monitoring) -> Verdict {
    let total = document.all_intervals();
    let hooks: Vec<&WatchedHook> = framework(&total).collect();
    let mut finding = format!(
        "{} calls of {} hooks in {} s ({}, {})",
        format::count(sum(hooks.iter().map(|hook| hook.calls.count))),
        hooks.len(),
        format::figure((total.seconds * 10.0).round() / 10.0),
        short(&monitor.scope),
        short(&monitor.release),
    );
    if let Some(most) = hooks.iter().max_by_key(|hook| hook.calls.count) {
        let hook = short(&most.hook);
        finding += &format!(
            "; {hook} was called most, {} times",
            format::count(most.calls.count)
        );
    }
    let timed = hooks
        .iter()
        .filter_map(|hook| Some((hook, hook.calls.sum_ns?)));
    if let Some((most, sum_ns)) = timed.max_by_key(|(_, sum_ns)| *sum_ns) {
        let hook = short(&most.hook);
        finding += &format!(
            "; {hook} took longest, {} µs in all",
            format::figure(sum_ns as f64 / 1e3)
        );
    }
    let lost = format::count(total.lost);
    let doubt = (total.lost > 0).then(|| format!("{lost} calls are in no figure."));
    Verdict::of([doubt], finding + ".")
}

fn of_placement(document: &PlacementDocument) -> Verdict {
    let unparsed = document.unparsed.len();
    let doubt = (unparsed > 0).then(|| {
        format!(
            "{unparsed} of {} functions between system calls and hooks did not parse in full.",
            document.coverage.reachable
        )
    });
    let finding = format!(
        "Linux {}: {} hooks, {} modules; {} system calls were analysed, by the sources alone.",
        short(&document.version),
        document.framework.hooks,
        document.modules.len(),
        document.syscalls.len()
    );
    Verdict::of([doubt], finding)
}
