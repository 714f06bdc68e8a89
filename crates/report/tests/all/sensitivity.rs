// SPDX-License-Identifier: GPL-2.0-or-later
//! A small sweep as tables, CSV and figure, and contradictory sweeps.

use crate::swept::{BPF, document, empty, parted, slope, slope_mut};
use model::{ALL_HOOKS, Document, Outcome, Status, Subject, Unit};
use proptest::prelude::*;
use report::{
    Content, Layout, Source, figures, markdown, sensitivity_records, sensitivity_report, terminal,
};

fn shown(document: &Document, by_hook: Option<bool>) -> String {
    crate::shown(&sensitivity_report(document, by_hook))
}

fn csv_of(document: &Document) -> String {
    crate::written(sensitivity_records(document))
}

fn source(document: &Document) -> Source {
    Source {
        name: "sweep.json".to_owned(),
        content: Content::Measured(Box::new(document.clone())),
    }
}

/// Cost over delay, all figures one after the other.
fn drawn(document: &Document) -> String {
    let all = figures(&[source(document)]);
    let own = all
        .iter()
        .filter(|gathered| gathered.base == "latency-over-delay");
    let svg = own.map(|gathered| gathered.figure.svg());
    svg.inspect(|svg| well_formed(svg).unwrap()).collect()
}

#[test]
fn all_tables() {
    insta::assert_snapshot!(shown(&document(), None));
}

#[test]
fn the_only_hook_delayed_is_the_whole() {
    let mut document = empty();
    let one = slope(BPF, ("open", "AA"), &["inode_permission"], 2, 0.0);
    document.cells = vec![one.clone(), one];
    let text = shown(&document, Some(false));
    assert!(text.contains("at inode_permission"), "{text}");
    assert!(text.contains("open:AA    2.0000  ±0.0002"), "{text}");
    assert!(drawn(&document).contains("2.000"));
}

#[test]
fn hooks_are_shown_if_asked_for_or_few() {
    let hooks = |document: &Document, by_hook| {
        let text = shown(document, by_hook);
        text.contains("\n  file_open")
    };
    assert!(hooks(&document(), None));
    assert!(!hooks(&document(), Some(false)));
    let mut many = empty();
    for path in ["AA", "AA/BB", "AA/../HH", "CC", "DD"] {
        many.cells
            .extend(parted(BPF, ("open", path), &[("file_open", 1)]));
    }
    assert!(!hooks(&many, None));
    assert!(hooks(&many, Some(true)));
}

#[test]
fn csv_rows() {
    let mut document = document();
    document.cells[0].key.stack = vec!["=HYPERLINK(1)".to_owned()];
    insta::assert_snapshot!(csv_of(&document));
}

#[test]
fn nothing_swept_is_no_table() {
    assert_eq!(shown(&empty(), None), "");
    assert_eq!(csv_of(&empty()).lines().count(), 1);
    assert_eq!(drawn(&empty()), "");
}

#[test]
fn a_small_figure() {
    let text = drawn(&document());
    // One element per line, so that a difference is one line.
    insta::assert_snapshot!(text.replace("><", ">\n<"));
}

#[test]
fn a_figure_shows_as_many_operations_as_differ_at_a_glance() {
    let mut document = empty();
    for at in 0..40 {
        let variant = format!("depth{at}");
        let slope = slope(BPF, ("mkdir", &variant), &[ALL_HOOKS], at, 0.0);
        document.cells.push(slope);
    }
    let text = drawn(&document);
    assert!(text.contains("mkdir:depth23") && !text.contains("mkdir:depth24"));
    assert!(text.contains("16 more lines are in the data."));
}

/// Checks that the text is XML with shapes and text only.
fn well_formed(text: &str) -> Result<(), String> {
    let xml = roxmltree::Document::parse(text).map_err(|error| format!("{error}: {text}"))?;
    for node in xml.descendants().filter(|node| node.is_element()) {
        let name = node.tag_name().name();
        let known = ["svg", "title", "desc", "g", "rect", "path", "text"];
        if !known.contains(&name) {
            return Err(format!("element {name}"));
        }
        for attribute in node.attributes() {
            let value = attribute.value();
            if attribute.name().starts_with("on")
                || value.contains("url(")
                || value.contains("NaN")
                || value.contains("inf")
            {
                return Err(format!("{}={value}", attribute.name()));
            }
        }
    }
    Ok(())
}

fn numbers() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(1e308),
        Just(-1e308),
        Just(5e-324),
        any::<f64>().prop_filter("JSON has finite numbers only", |f| f.is_finite()),
        -1e6f64..1e6,
    ]
}

/// Every number and text is wrong.
fn hostile(document: &mut Document, text: &str, [a, b]: [f64; 2], n: u64) {
    for cell in &mut document.cells {
        let key = &mut cell.key;
        key.kernel = text.to_owned();
        key.filesystem = text.to_owned();
        key.stack.push(text.to_owned());
        key.subject = Subject::benchmark(key.benchmark(), key.variant().to_owned() + text);
        let hooks = &mut key.delay.as_mut().unwrap().hooks;
        hooks.push(text.to_owned());
        hooks.remove(0);
        cell.release = text.to_owned();
        if cell.slope().is_none() {
            cell.outcome = Outcome::without(Status::Failed, text);
            continue;
        }
        let slope = slope_mut(cell);
        slope.explanation = Some(text.to_owned());
        (slope.slope, slope.intercept, slope.residual) = (a, b, a);
        slope.ci95 = [b, a];
        (slope.r2, slope.bend, slope.counted) = (Some(a), Some(b), Some(b));
        (slope.n, slope.dirty) = (n, n);
        for point in &mut slope.points {
            (point.median, point.delay_ns) = (b, n as u32);
        }
    }
    let findings = document.sweep.as_mut().unwrap();
    for rule in &mut findings.rules {
        rule.hook = text.to_owned();
        (rule.a, rule.b, rule.residual) = (a, b, b);
        (rule.r2, rule.beta1) = (Some(b), Some(a));
        rule.depths = vec![n as u32; (n % 20) as usize];
    }
    for prediction in &mut findings.predictions {
        prediction.lsm = prediction.lsm.as_ref().map(|_| text.to_owned());
        (prediction.decision, prediction.predicted) = (a, b);
        (prediction.measured, prediction.error) = (Some(b), Some(a));
        prediction.unknown = vec![text.to_owned(); (n % 30) as usize];
    }
    for question in &mut findings.repeated {
        question.object = text.to_owned();
        question.times = n;
        question.chains = vec![vec![text.to_owned(); (n % 30) as usize]; (n % 10) as usize];
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_lying_document_cannot_draw(
        text in "\\PC{0,12}|[\\x00-\\x7f|`<&\"']{0,300}|</text><script>|\u{1b}\\[2J.*|\u{ffff}\u{fffe}",
        two in [numbers(), numbers()],
        n in prop_oneof![Just(0), Just(u64::MAX), any::<u64>()],
        unit in 0..3usize,
    ) {
        let mut document = document();
        hostile(&mut document, &text, two, n);
        let (honest, lies) = document.cells.split_at_mut(3);
        honest[0].key.kernel.push('x');
        slope_mut(&mut lies[0]).unit = [Unit::Instructions, Unit::Ns, Unit::OpsPerS][unit];
        for by_hook in [None, Some(true), Some(false)] {
            let made = sensitivity_report(&document, by_hook);
            for table in &made.tables {
                for row in &table.rows {
                    prop_assert_eq!(row.values.len(), table.columns.len());
                    for value in &row.values {
                        prop_assert!(value.text().chars().count() < 300, "{value:?}");
                    }
                }
            }
            let layout = Layout { width: Some(80), colour: false };
            for text in [terminal(&made, &layout), markdown(&made)] {
                prop_assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
            }
        }
        for gathered in figures(&[source(&document)]) {
            let svg = gathered.figure.svg();
            prop_assert!(svg.len() < 100_000);
            well_formed(&svg).map_err(TestCaseError::fail)?;
        }
        let csv = csv_of(&document);
        for record in csv::Reader::from_reader(csv.as_bytes()).records() {
            let record = record.unwrap();
            prop_assert_eq!(record.len(), 29);
            for field in &record {
                prop_assert!(!field.starts_with(['=', '@', '+']));
            }
        }
    }
}
