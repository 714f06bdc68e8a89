// SPDX-License-Identifier: GPL-2.0-or-later
//! A coverage for programs: a row for each hook and each module's function for it.

use model::Document;
use model::coverage::{CoverageFindings, CoveredHook, CoveredImplementation};

use crate::column::{Columns, Records};

type Line<'a> = (
    &'a CoverageFindings,
    &'a CoveredHook,
    Option<&'a CoveredImplementation>,
);

/// A row for each hook and each module's function for it; one for a hook without. A later version
/// may append columns; it keeps these.
///
/// - `kernel`, `release`, `hook`; `called`: does an operation call it?
/// - `operations`: how many do; `benchmarks`: which, blank-separated; `calls_least`, `calls_most`:
///   in one of them.
/// - `needs`, `why`, `code`: why none does, if that is known; `system_calls`: those that could, by
///   source, blank-separated.
/// - `module`, `function`; `ran`: did an operation call it? `instructions_least`,
///   `instructions_most`: of a call.
/// - `called_after`: operations after which it is called, if none calls it itself, blank-separated.
pub fn coverage_records(document: &Document) -> Records<'_> {
    let rows = document.coverage.iter().flat_map(|findings| {
        findings.hooks.iter().flat_map(move |hook| {
            let functions = hook.implementations.iter().map(Some);
            let none = hook.implementations.is_empty().then_some(None);
            let lines = functions.chain(none);
            lines.map(move |function| -> Line<'_> { (findings, hook, function) })
        })
    });
    let reason = |(_, hook, _): Line<'_>| hook.reason.clone();
    Columns::new()
        .column("kernel", |(findings, ..): Line<'_>| &findings.kernel)
        .column("release", |(findings, ..)| &findings.release)
        .column("hook", |(_, hook, _)| &hook.hook)
        .column("called", |(_, hook, _)| hook.is_called())
        .column("operations", |(_, hook, _)| hook.called_by.len() as u64)
        .column("benchmarks", |(_, hook, _)| {
            let titles: Vec<String> = hook.called_by.iter().map(|by| by.title()).collect();
            titles.join(" ")
        })
        .column("calls_least", |(_, hook, _)| Some(hook.calls()?.0))
        .column("calls_most", |(_, hook, _)| Some(hook.calls()?.1))
        .column("needs", move |line| Some(reason(line)?.needs.as_str()))
        .column("why", move |line| Some(reason(line)?.why))
        .column("code", move |line| Some(reason(line)?.code))
        .column("system_calls", |(_, hook, _)| hook.system_calls.join(" "))
        .column("module", |(.., of)| Some(&of?.module))
        .column("function", |(.., of)| Some(&of?.function))
        .column("ran", |(.., of)| Some(of?.ran.is_some()))
        .column("instructions_least", |(.., of)| Some(of?.ran?.least))
        .column("instructions_most", |(.., of)| Some(of?.ran?.most))
        .column("called_after", |(_, hook, _)| {
            let titles: Vec<String> = hook.called_after.iter().map(|of| of.title()).collect();
            titles.join(" ")
        })
        .records(rows)
}
