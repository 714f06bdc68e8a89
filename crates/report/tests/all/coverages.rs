// SPDX-License-Identifier: GPL-2.0-or-later
//! Coverages of one kernel beside each other.

use model::coverage::{CallingOperation, CoverageShare, CoveredHook};
use model::{Document, Kind};
use report::{Content, Source, markdown_page, page};

const TITLE: &str = "Coverages beside each other";

fn golden() -> Box<Document> {
    let path = "../model/tests/golden/coverage.json";
    let content = Content::parse(&std::fs::read(path).unwrap()).unwrap();
    match content {
        Content::Measured(document) if document.kind == Kind::Coverage => document,
        _ => panic!("{path} is no coverage"),
    }
}

/// What a program calls, in place of the benchmarks: `settime`, and no `sk_alloc_security`.
fn of_program() -> Box<Document> {
    let mut document = golden();
    let findings = document.coverage.as_mut().unwrap();
    for hook in &mut findings.hooks {
        match hook.hook.as_str() {
            "settime" => call(hook),
            "sk_alloc_security" => {
                hook.called_by.clear();
                hook.called_after.clear();
                for function in &mut hook.implementations {
                    function.ran = None;
                }
            }
            _ => {}
        }
    }
    findings.share = CoverageShare::of(&findings.hooks);
    document
}

fn call(hook: &mut CoveredHook) {
    hook.reason = None;
    hook.system_calls.clear();
    hook.called_by = vec![CallingOperation {
        benchmark: "clock-tests".to_owned(),
        variant: String::new(),
        suite: None,
        least: 3,
        most: 4,
    }];
}

fn source(name: &str, document: Box<Document>) -> Source {
    Source {
        name: name.to_owned(),
        content: Content::Measured(document),
        estimates: None,
    }
}

#[test]
fn what_each_has_alone() {
    let sources = [
        source("benchmarks.json", golden()),
        source("tests.json", of_program()),
    ];
    let text = markdown_page(&sources);
    let (_, beside) = text.split_once(&format!("## {TITLE}\n")).unwrap();
    insta::assert_snapshot!(beside);
    let page = page(&sources);
    assert!(page.contains("id=\"coverages\"") && page.contains("href=\"#coverages\""));
}

#[test]
fn one_coverage_or_several_kernels_have_none() {
    let one = [source("benchmarks.json", golden())];
    assert!(!markdown_page(&one).contains(TITLE));
    let mut other = golden();
    other.coverage.as_mut().unwrap().release = "6.1".to_owned();
    let two = [
        source("benchmarks.json", golden()),
        source("other.json", other),
    ];
    assert!(!markdown_page(&two).contains(TITLE));
    assert!(!page(&two).contains("coverages"));
}
