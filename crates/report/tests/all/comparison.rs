// SPDX-License-Identifier: GPL-2.0-or-later
//! The golden comparison in every format, and the requirements of their readers.

use model::comparison::{Explanation, GateVerdict, HookChange, ImplementationChange, Verdict};
use model::{ComparisonDocument, Stored as _};
use proptest::prelude::*;
use report::{
    ComparisonOptions, Layout, change_line, comparison_page, comparison_records, comparison_report,
    comparison_summary, csv, junit, ktap, markdown, terminal,
};

fn golden() -> ComparisonDocument {
    let golden = include_bytes!("../../../model/tests/golden/comparison.json");
    ComparisonDocument::parse(golden).unwrap()
}

/// The golden comparison with texts that try to break out.
fn hostile() -> ComparisonDocument {
    let mut document = golden();
    let cell = &mut document.compared[0];
    cell.benchmark = "=a # SKIP\u{1b}[31m\nok 9 b|<b>]]>".to_owned();
    cell.place.kernel = "../\u{202e}\"'&".to_owned();
    cell.gate.as_mut().unwrap().message = "x # SKIP\nok 10 y]]>\u{0}".to_owned();
    document.gate.as_mut().unwrap().reasons = vec!["one\nok 11 two # TODO".to_owned()];
    document
}

#[test]
fn tables() {
    let document = golden();
    let report = comparison_report(&document, &ComparisonOptions::default());
    insta::assert_snapshot!(terminal(&report, &Layout::default()));
    insta::assert_snapshot!("tables_in_markdown", markdown(&report));
    let changed = comparison_report(&document, &ComparisonOptions { changed: true });
    let text = terminal(&changed, &Layout::default());
    let hidden = text.contains("1 unchanged cells are not shown.");
    assert!(hidden && !text.contains("stat:AA/BB"), "{text}");
    insta::assert_snapshot!(
        comparison_summary(&document),
        @"4 cells: 1 worse, 1 the same, 1 unclear, 1 without a figure, 1 more on one side only"
    );
}

/// The page's text, without its style, scripts and drawings.
fn read(page: &str) -> String {
    let mut text = String::new();
    let body = page.split_once("<main").unwrap().1;
    let body = body.split_once("<script>").unwrap().0;
    for part in body.split('<').skip(1) {
        let (tag, content) = part.split_once('>').unwrap();
        let breaks = ["p", "tr", "summary", "h2", "li"];
        if breaks.contains(&tag.split(' ').next().unwrap()) {
            text.push('\n');
        }
        text += content;
    }
    text
}

#[test]
fn a_page_says_first_what_changed() {
    let document = golden();
    let page = comparison_page(&document);
    assert_eq!(page, comparison_page(&document));
    let text = read(&page);
    let answer = text.lines().find(|line| line.starts_with("Worse: "));
    insta::assert_snapshot!(
        answer.unwrap_or(&text),
        @"Worse: 1 of 3 cells changed, for the worse (in instructions); most: open:AA/BB under capability,selinux, +8 instructions (+0.2 %), by inode_permission (selinux_inode_permission)."
    );
    // Equal measurements are listed after the changes.
    let [changed, same] = ["What changed", "Every cell"].map(|heading| text.find(heading).unwrap());
    assert!(changed < same);
    assert!(page.contains("<details><summary>Every cell"), "{text}");
}

#[test]
fn a_page_tells_hooks_apart_from_what_lies_outside() {
    let mut document = golden();
    let mut cells = document.compared.iter();
    let cell = cells
        .position(|cell| cell.verdict == Verdict::Worse)
        .unwrap();
    document.compared[cell].difference = Some(7.0);
    let hook = HookChange {
        hook: "inode_permission".to_owned(),
        function: "security_inode_permission".to_owned(),
        base_calls: 2,
        new_calls: 2,
        difference: 12,
        dispatch: 1,
        implementations: vec![ImplementationChange {
            module: "selinux".to_owned(),
            function: "selinux_inode_permission".to_owned(),
            base_calls: 2,
            new_calls: 2,
            difference: 11,
        }],
        callers: Vec::new(),
        events: Vec::new(),
    };
    let explained = Explanation {
        cell: cell as u32,
        difference: 7,
        hooked: 12,
        residual: -5,
        hooks: vec![hook],
        residual_functions: Vec::new(),
        events: Vec::new(),
        words: Vec::new(),
    };
    let page_text = |explained: &Explanation| {
        let document = ComparisonDocument {
            explanations: vec![explained.clone()],
            ..document.clone()
        };
        read(&comparison_page(&document))
    };
    let text = page_text(&explained);
    for expected in [
        "by inode_permission (selinux_inode_permission)",
        "inode_permission ×2selinux_inode_permission +11",
    ] {
        assert!(text.contains(expected), "{text}");
    }
    // The calling function, if it accounts for most.
    let mut dispatch = explained.clone();
    let hook = &mut dispatch.hooks[0];
    (hook.dispatch, hook.implementations[0].difference) = (11, 1);
    let text = page_text(&dispatch);
    let function = "by inode_permission (security_inode_permission)";
    assert!(text.contains(function), "{text}");
    // Changes in the other direction explain nothing.
    let mut outside = explained.clone();
    outside.hooks[0].difference = -12;
    (outside.hooked, outside.residual) = (-12, 19);
    let text = page_text(&outside);
    assert!(text.contains(", outside hooks"), "{text}");
}

#[test]
fn pages_of_documents_that_lie_hold_no_elements_of_theirs() {
    let page = comparison_page(&hostile());
    assert!(
        !page.contains("<b>") && !page.contains('\u{202e}'),
        "{page}"
    );
}

#[test]
fn csv_has_a_row_for_each_cell() {
    let mut bytes = Vec::new();
    csv(comparison_records(&hostile()), &mut bytes).unwrap();
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| row.len() == 27));
    assert!(rows[0][6].starts_with("'=a"), "{:?}", &rows[0][6]);
    assert_eq!((&rows[1][15], &rows[1][24]), ("4", "unclear"));
}

/// One test's result, as in Documentation/dev-tools/ktap.rst.
#[derive(Debug, PartialEq)]
struct Test {
    ok: bool,
    number: usize,
    name: String,
    skipped: bool,
}

/// Parses KTAP strictly: version, plan, results in order, diagnostics, nothing else.
fn parse_ktap(text: &str) -> Result<Vec<Test>, String> {
    let mut lines = text.lines();
    if lines.next() != Some("KTAP version 1") {
        return Err("no version".to_owned());
    }
    let plan = lines.next().and_then(|line| line.strip_prefix("1.."));
    let plan: usize = plan.and_then(|n| n.parse().ok()).ok_or("no plan")?;
    let mut tests = Vec::new();
    for line in lines.filter(|line| !line.starts_with("# ")) {
        let (ok, rest) = match (line.strip_prefix("ok "), line.strip_prefix("not ok ")) {
            (Some(rest), None) => (true, rest),
            (None, Some(rest)) => (false, rest),
            _ => return Err(format!("neither result nor diagnostics: {line}")),
        };
        let (number, rest) = rest.split_once(' ').ok_or("no name")?;
        let (name, directive) = rest
            .split_once(" # ")
            .map_or((rest, None), |(n, d)| (n, Some(d)));
        let number = number.parse().map_err(|_| format!("no number: {line}"))?;
        if number != tests.len() + 1 {
            return Err(format!("out of order: {line}"));
        }
        if name.is_empty() || name.contains('#') {
            return Err(format!("no name: {line}"));
        }
        let skipped = match directive {
            None => false,
            Some(directive) if directive.starts_with("SKIP") => true,
            Some(_) => return Err(format!("unknown directive: {line}")),
        };
        tests.push(Test {
            ok,
            number,
            name: name.to_owned(),
            skipped,
        });
    }
    if tests.len() != plan {
        return Err(format!("{} of {plan} tests", tests.len()));
    }
    Ok(tests)
}

#[test]
fn ktap_keeps_to_the_kernels_rules() {
    insta::assert_snapshot!(ktap(&golden()));
    let tests = parse_ktap(&ktap(&golden())).unwrap();
    assert_eq!(tests.len(), 5);
    assert!(!tests[0].ok && !tests[0].skipped, "{tests:?}");
    assert!(tests[1].ok && tests[1].skipped, "{tests:?}");
    let tests = parse_ktap(&ktap(&hostile())).unwrap();
    assert!(!tests[0].ok && !tests[0].skipped, "{tests:?}");
    // The parser refuses violations of the rules.
    for wrong in [
        "TAP version 13\n1..0\n",
        "KTAP version 1\n1..2\nok 1 a\n",
        "KTAP version 1\n1..1\nok 2 a\n",
        "KTAP version 1\n1..1\nfine\n",
    ] {
        assert!(parse_ktap(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn junit_is_xml_whose_counts_are_those_of_its_cases() {
    insta::assert_snapshot!(junit(&golden()));
    for document in [golden(), hostile()] {
        let text = junit(&document);
        let xml = roxmltree::Document::parse(&text).unwrap();
        let root = xml.root_element();
        assert_eq!(root.tag_name().name(), "testsuites");
        let all = |name: &str| xml.descendants().filter(|n| n.has_tag_name(name)).count();
        let count = |key: &str| root.attribute(key).unwrap().parse::<usize>().unwrap();
        assert_eq!(count("tests"), all("testcase"));
        assert_eq!(count("failures"), all("failure"));
        assert_eq!(count("errors"), all("error"));
        assert_eq!((all("failure"), all("error"), all("skipped")), (1, 2, 2));
        let failure = xml.descendants().find(|n| n.has_tag_name("failure"));
        assert_eq!(failure.unwrap().attribute("type"), Some("worse"));
    }
}

#[test]
fn a_passed_gate_is_shown_as_passed() {
    let mut document = golden();
    document.compared.truncate(1);
    let gate = document.compared[0].gate.as_mut().unwrap();
    gate.verdict = GateVerdict::Pass;
    document.gate.as_mut().unwrap().reasons.clear();
    let tests = parse_ktap(&ktap(&document)).unwrap();
    assert!(tests[0].ok && !tests[0].skipped);
    assert!(!junit(&document).contains("<failure"));
}

proptest! {
    #[test]
    fn whatever_the_texts_are_the_formats_hold(text: String, other: String) {
        let mut document = golden();
        document.compared[0].benchmark.clone_from(&text);
        document.compared[0].place.configuration.clone_from(&other);
        document.compared[0].gate.as_mut().unwrap().message = text;
        document.gate.as_mut().unwrap().reasons = vec![other];
        prop_assert_eq!(parse_ktap(&ktap(&document)).map(|tests| tests.len()), Ok(5));
        let xml = junit(&document);
        prop_assert!(roxmltree::Document::parse(&xml).is_ok(), "{}", xml);
    }
}

#[test]
fn a_comparison_in_one_line() {
    let mut comparison = golden();
    insta::assert_snapshot!(change_line(&comparison), @"4 cells: 1 worse, 1 the same, 1 unclear, 1 without a figure, 1 more on one side only; most: open:AA/BB under capability,selinux: 4,979 to 4,987 (+8, +0.2 %)");
    comparison.compared.clear();
    comparison.unmatched.clear();
    assert_eq!(change_line(&comparison), "no change in 0 cells");
}
