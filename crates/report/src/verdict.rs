// SPDX-License-Identifier: GPL-2.0-or-later
//! Findings of a result file, in sentences.

use std::collections::BTreeSet;

use compare::judge::Judgements;
use model::{
    Cell, Counted, Delay, Document, HookedPath, Kind, Monitoring, PlacementDocument, Slope, Status,
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
    /// Reasons not to trust the result file as a whole; warnings are elsewhere.
    pub doubts: Vec<String>,
    pub findings: Vec<String>,
}

impl Verdict {
    fn new(doubts: impl IntoIterator<Item = Option<String>>, finding: String) -> Verdict {
        Verdict {
            doubts: doubts.into_iter().flatten().collect(),
            findings: vec![finding],
        }
    }
}

pub fn verdict(content: &Content) -> Verdict {
    let mut verdict = match content {
        Content::Placement(placement) => placement_verdict(placement),
        Content::Measured(document) => match (document.kind, &document.monitor) {
            (Kind::Profile, _) => profiles_verdict(document),
            (Kind::Sensitivity, _) => sweep_verdict(document),
            (_, Some(monitor)) => recording_verdict(document, monitor),
            _ => run_verdict(document),
        },
    };
    let warnings = content.warnings().iter();
    let kinds = warnings.filter(|warning| is_doubt(warning));
    let kinds: BTreeSet<String> = kinds.map(|warning| warning.kind.to_string()).collect();
    let kinds = Vec::from_iter(kinds).join(", ");
    let doubt = (!kinds.is_empty()).then(|| format!("{kinds}: see the warnings."));
    verdict.doubts.splice(0..0, doubt);
    let more = verdict.findings.len().saturating_sub(SENTENCES_LIMIT);
    verdict.findings.truncate(SENTENCES_LIMIT);
    let more = (more > 0).then(|| format!("{more} more: see the tables."));
    verdict.findings.extend(more);
    verdict
}

fn run_verdict(run: &Document) -> Verdict {
    let mut verdict = Verdict::default();
    let lost = run.cells.iter().filter(|cell| cell.status() != Status::Ok);
    let why = "have no value: failed or unsupported.";
    verdict
        .doubts
        .extend(match (lost.count(), run.cells.len()) {
            (_, 0) => Some("Nothing was measured.".to_owned()),
            (0, _) => None,
            (n, all) => Some(format!("{n} of {all} measurements {why}")),
        });
    let judgements = Judgements::new(run);
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
        let tested = group.tested();
        let sentences = tested.filter_map(|configuration| glance.sentence(configuration));
        let sentences = sentences.chain(glance.unknown());
        let sentences = sentences.map(|sentence| format!("{sentence}; {place}."));
        verdict.findings.extend(sentences);
    }
    verdict
}

fn profiles_verdict(document: &Document) -> Verdict {
    let all = document.cells.len();
    let lost = all - document.hooked().count();
    let is_unexplained = |counted: &Counted| compare::judge::unexplained(counted).next().is_some();
    let hooked = document.hooked();
    let unexplained = hooked
        .filter(|(_, counted, _)| is_unexplained(counted))
        .count();
    let share = |path: &HookedPath| path.hooked as f64 / path.total as f64;
    let shares = document.hooked().filter(|(.., path)| path.total > 0);
    let shares = shares.map(|(cell, _, path)| (share(path), cell));
    let mut shares: Vec<(f64, &Cell)> = shares.collect();
    shares.sort_by(|one, other| one.0.total_cmp(&other.0));
    let under = |cell: &Cell| {
        let stack = short(&cell.key.stack.join(","));
        format!("{} under {stack}", short(&cell.title()))
    };
    let finding = match shares.as_slice() {
        [] => "No operation was profiled.".to_owned(),
        [(share, cell)] => format!(
            "{} of the {} of {} are inside LSM hooks (n = 1 profile).",
            format::fraction(*share),
            cell.key.metric.unit(),
            under(cell)
        ),
        [first, .., last] => format!(
            "{} ({}) to {} ({}) of an operation's {} are inside LSM hooks (n = {} profiles).",
            format::fraction(first.0),
            under(first.1),
            format::fraction(last.0),
            under(last.1),
            last.1.key.metric.unit(),
            shares.len()
        ),
    };
    let left = "comparisons leave unexplained instructions outside hooks.";
    let doubts = [
        (lost > 0).then(|| format!("{lost} of {all} profiles have no value.")),
        (unexplained > 0).then(|| format!("{unexplained} {left}")),
    ];
    Verdict::new(doubts, finding)
}

fn sweep_verdict(document: &Document) -> Verdict {
    let whole = |delay: Option<&Delay>| delay.is_some_and(Delay::is_whole);
    let cells = document.cells.iter();
    let all = cells.filter(|cell| whole(cell.key.delay.as_ref())).count();
    let ok = document.slopes().filter(|(_, delay, _)| delay.is_whole());
    let ok: Vec<(&Cell, &Slope)> = ok.map(|(cell, _, slope)| (cell, slope)).collect();
    let n = ok.len();
    let lost = all - n;
    let differ = ok.iter().filter(|(_, slope)| slope.differs()).count();
    let compared = ok.iter().filter_map(|(_, slope)| slope.difference());
    let largest = compared.map(f64::abs).max_by(f64::total_cmp);
    let slopes = ok.iter();
    let most = slopes.max_by(|(_, a), (_, b)| a.slope.total_cmp(&b.slope));
    let finding = match most {
        None => "No operation has a slope.".to_owned(),
        Some((cell, most)) => format!(
            "{} has the most permission checks: {} (n = {n} slopes{}).",
            short(&cell.title()),
            format::figure((most.slope * 1e4).round() / 1e4),
            largest.map_or(String::new(), |d| format!(
                "; largest difference from a count: {d:.4}"
            ))
        ),
    };
    let doubts = [
        (lost > 0).then(|| format!("{lost} of {all} slopes have no value.")),
        (differ > 0).then(|| format!("{differ} of {n} slopes differ from the counted calls.")),
    ];
    Verdict::new(doubts, finding)
}

fn recording_verdict(document: &Document, monitor: &Monitoring) -> Verdict {
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
        let (hook, n) = (short(&most.hook), format::count(most.calls.count));
        finding += &format!("; {hook} was called most, {n} times");
    }
    let timed = hooks
        .iter()
        .filter_map(|hook| Some((hook, hook.calls.sum_ns?)));
    if let Some((most, sum_ns)) = timed.max_by_key(|(_, sum_ns)| *sum_ns) {
        let (hook, us) = (short(&most.hook), format::figure(sum_ns as f64 / 1e3));
        finding += &format!("; {hook} took longest, {us} µs in all");
    }
    let lost = format::count(total.lost);
    let doubt = (total.lost > 0).then(|| format!("{lost} calls were lost."));
    Verdict::new([doubt], finding + ".")
}

fn placement_verdict(document: &PlacementDocument) -> Verdict {
    let unparsed = document.unparsed.len();
    let doubt = (unparsed > 0).then(|| {
        format!(
            "{unparsed} of {} functions between system calls and hooks did not parse in full.",
            document.coverage.reachable
        )
    });
    let finding = format!(
        "Linux {}: {} hooks, {} modules; {} system calls were analysed, from the sources alone.",
        short(&document.version),
        document.framework.hooks,
        document.modules.len(),
        document.syscalls.len()
    );
    Verdict::new([doubt], finding)
}
