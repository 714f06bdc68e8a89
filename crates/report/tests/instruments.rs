// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables and pages of whether instruments agree.

use experiment::check::CheckSummary;
use experiment::{CheckDocument, CheckVerdict, Stored as _};
use report::{
    Content, InstrumentsOptions, Layout, Report, Source, Verdict, figures, instruments_report,
    latex, markdown, markdown_page, page, terminal, verdict,
};

fn document() -> CheckDocument {
    let golden = include_bytes!("../../experiment/tests/golden/check-v1.json");
    CheckDocument::parse(golden).unwrap()
}

/// The same without what nothing explains.
fn explained() -> CheckDocument {
    let mut document = document();
    for benchmark in &mut document.benchmarks {
        benchmark
            .hooks
            .retain(|hook| hook.verdict != CheckVerdict::Disagree);
        benchmark.missing.clear();
    }
    let residuals = &mut document.residuals;
    residuals.retain(|residual| residual.verdict != CheckVerdict::Disagree);
    counted(document)
}

fn counted(mut document: CheckDocument) -> CheckDocument {
    document.summary = CheckSummary::of(&document.benchmarks, &document.residuals);
    document.check().unwrap();
    document
}

fn source(document: CheckDocument) -> [Source; 1] {
    [Source {
        name: "check.json".to_owned(),
        content: Content::Check(document.into()),
        estimates: None,
    }]
}

fn told(document: CheckDocument) -> Verdict {
    verdict(&source(document)[0].content)
}

fn text(report: &Report) -> String {
    let layout = Layout {
        width: Some(140),
        colour: false,
    };
    terminal(report, &layout)
}

#[test]
fn what_differs_is_shown_and_why() {
    let report = instruments_report(&document(), &InstrumentsOptions::default());
    insta::assert_snapshot!("differences", text(&report));
    insta::assert_snapshot!("differences-markdown", markdown(&report));
}

#[test]
fn all_is_shown_if_asked_for() {
    let options = InstrumentsOptions {
        all: true,
        facts: true,
    };
    insta::assert_snapshot!("all", text(&instruments_report(&document(), &options)));
}

#[test]
fn hostile_text_stays_text() {
    let mut document = document();
    let hostile = "\u{1b}[31m\u{202e}|<b>\n";
    document.kernel = hostile.to_owned();
    document.benchmarks[0].hooks[1].hook = hostile.to_owned();
    document.benchmarks[0].hooks[0].explanation = Some(hostile.to_owned());
    document.residuals[1].functions[0].function = hostile.to_owned();
    document.unused_facts = vec![hostile.to_owned()];
    let options = InstrumentsOptions {
        all: true,
        facts: true,
    };
    let text = text(&instruments_report(&document, &options));
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
}

#[test]
fn a_picture_shows_where_they_agree() {
    let figures = figures(&source(document()));
    let [of] = &figures[..] else {
        panic!("{} figures", figures.len())
    };
    assert_eq!(of.figure.name, "agreement");
    insta::assert_snapshot!("agreement", of.figure.csv());
}

#[test]
fn a_page_leads_with_what_nothing_explains() {
    let text = page(&source(document()));
    let front = front(&text);
    for of in [
        "What nothing explains",
        "path_chown</td><td class=\"left\">profile 1, monitor 0",
        "outside hooks, +selinux</td><td class=\"left\">+12</td>",
    ] {
        assert!(front.contains(of), "{of}: {front}");
    }
    assert!(text.contains("check: check.json"));
    insta::assert_snapshot!("page-markdown", markdown_page(&source(document())));
}

#[test]
fn a_page_leads_with_reasons_where_all_is_explained() {
    let text = page(&source(explained()));
    let front = front(&text);
    let reason = "1</th><td class=\"left\">It is undone by the same system call.";
    assert!(front.contains(reason), "{front}");
    assert!(!front.contains("What nothing explains"));
}

/// The leading figure, and what stands beside it.
fn front(page: &str) -> &str {
    let (_, rest) = page.split_once("<div class=\"front\">").unwrap();
    rest.split_once("<section").unwrap().0
}

#[test]
fn the_first_sentence_is_the_answer() {
    let verdict = told(document());
    assert_eq!(
        verdict.findings[0],
        "1 of 4 counts of hooks and 1 of 2 residuals disagree on debian:6.12 \
         (6.12.94-cloud-amd64) under capability on tmpfs, and nothing explains it: in chown:same, \
         open:AA."
    );
    assert_eq!(
        verdict.doubts,
        [
            "1 of 2 operations failed under an instrument.",
            "Not used: sensitivity (the kernel has no bpf), placement."
        ]
    );
    let verdict = told(explained());
    assert_eq!(
        verdict.findings[0],
        "The instruments agree on debian:6.12 (6.12.94-cloud-amd64) under capability on tmpfs: 2 \
         of 3 counts of hooks and 1 of 1 residuals are the same; 1 differs for a known reason."
    );
}

#[test]
fn nothing_to_compare_is_no_agreement() {
    let mut document = explained();
    for benchmark in &mut document.benchmarks {
        benchmark
            .hooks
            .retain(|hook| hook.verdict == CheckVerdict::Alone);
    }
    document.residuals.clear();
    let document = counted(document);
    let first = &told(document.clone()).findings[0];
    assert!(first.starts_with("Nothing could be compared on debian:6.12"));
    let sources = source(document);
    assert!(figures(&sources).is_empty());
    assert!(!page(&sources).contains("<figure "));
}

#[test]
fn nothing_is_injected_into_a_page() {
    let evil = "</script></title></style><script>alert(1)</script><img src=x onerror=alert(2)>\
                \"' onload=alert(3) \u{202e}\\u003c/script>|[a](b)";
    let benign = page(&source(document()));
    let mut document = document();
    for text in [
        &mut document.kernel,
        &mut document.release,
        &mut document.filesystem,
        &mut document.tool.version,
    ] {
        *text = evil.to_owned();
    }
    document.stack.push(evil.to_owned());
    for instrument in &mut document.instruments {
        instrument.reason = Some(evil.to_owned());
        instrument.blind = vec![evil.to_owned()];
    }
    for benchmark in &mut document.benchmarks {
        benchmark.benchmark = evil.to_owned();
        benchmark.variant = evil.to_owned();
        for hook in &mut benchmark.hooks {
            hook.hook = evil.to_owned();
            hook.explanation = hook.explanation.as_ref().map(|_| evil.to_owned());
        }
    }
    for residual in &mut document.residuals {
        residual.benchmark = evil.to_owned();
        residual.stack.push(evil.to_owned());
        for function in &mut residual.functions {
            function.function = evil.to_owned();
        }
    }
    document.unused_facts = vec![evil.to_owned()];
    let sources = source(counted(document));
    let hostile = page(&sources);
    let scripts = |page: &str| page.matches("<script>").count();
    assert_eq!(scripts(&hostile), scripts(&benign));
    assert!(!hostile.contains("<img") && !hostile.contains('\u{202e}'));
    for of in figures(&sources) {
        let svg = of.figure.svg();
        let drawing = roxmltree::Document::parse(&svg).unwrap();
        let known = ["svg", "title", "desc", "g", "rect", "text", "path"];
        for node in drawing.descendants().filter(|node| node.is_element()) {
            assert!(known.contains(&node.tag_name().name()));
        }
    }
    assert!(!markdown_page(&sources).contains("<script"));
    assert!(!latex(&sources).contains("\\u003c"));
}
