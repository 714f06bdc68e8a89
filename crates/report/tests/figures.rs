// SPDX-License-Identifier: GPL-2.0-or-later
//! The golden documents as figures.

use experiment::AnyDocument;
use report::{Gathered, Source, figures};

fn golden(name: &str) -> Source {
    let path = format!("../experiment/tests/golden/{name}.json");
    let bytes = std::fs::read(path).unwrap();
    Source {
        name: format!("{name}.json"),
        document: AnyDocument::parse(&bytes).unwrap(),
    }
}

fn all() -> Vec<Source> {
    [
        "v1",
        "v1-stacks",
        "profile-v1",
        "sensitivity-v1",
        "monitor-v1",
        "placement-v1",
    ]
    .map(golden)
    .into()
}

fn names(of: &[Gathered]) -> Vec<&str> {
    of.iter().map(|g| g.figure.name.as_str()).collect()
}

#[test]
fn names_by_document() {
    let mut lines = String::new();
    for source in all() {
        let figures = figures(std::slice::from_ref(&source));
        lines += &format!("{}: {}\n", source.name, names(&figures).join(" "));
    }
    lines += &format!("all: {}\n", names(&figures(&all())).join(" "));
    insta::assert_snapshot!(lines);
}

#[test]
fn every_figure_is_xml_and_has_data() {
    for gathered in figures(&all()) {
        let figure = &gathered.figure;
        let svg = figure.svg();
        roxmltree::Document::parse(&svg).unwrap_or_else(|e| panic!("{}: {e}", figure.name));
        assert_eq!(svg, figure.svg());
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        let mut rows = csv::Reader::from_reader(figure.csv().into_bytes().leak() as &[u8]);
        let rows: Vec<_> = rows.records().map(Result::unwrap).collect();
        assert!(!rows.is_empty());
    }
}

#[test]
fn drawings() {
    for gathered in figures(&[golden("v1")]) {
        let name = format!("drawn-{}", gathered.figure.name);
        insta::assert_snapshot!(name, gathered.figure.svg());
    }
}
