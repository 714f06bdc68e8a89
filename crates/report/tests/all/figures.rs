// SPDX-License-Identifier: GPL-2.0-or-later
//! The golden result files as figures.

use report::{Chart, Content, Gathered, Source, figures};

fn golden(name: &str) -> Source {
    let path = format!("../model/tests/golden/{name}.json");
    let bytes = std::fs::read(path).unwrap();
    Source {
        name: format!("{name}.json"),
        content: Content::parse(&bytes).unwrap(),
    }
}

fn all() -> Vec<Source> {
    ["run", "profile", "sensitivity", "monitor", "placement"]
        .map(golden)
        .into()
}

fn names(gathered: &[Gathered]) -> Vec<&str> {
    gathered.iter().map(|g| g.figure.name.as_str()).collect()
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
        let column = figure.svg_for_paper(85.0);
        assert!(column.contains("width=\"85mm\""), "{column}");
        assert!(!column.contains("font-weight=\"bold\""), "{column}");
        roxmltree::Document::parse(&column).unwrap();
        let mut rows = csv::Reader::from_reader(figure.csv().into_bytes().leak() as &[u8]);
        let rows: Vec<_> = rows.records().map(Result::unwrap).collect();
        assert!(!rows.is_empty());
    }
}

/// The contents that a program reads from a drawing, and from the data: the same.
#[test]
fn marks_say_what_they_stand_for() {
    for gathered in figures(&all()) {
        let figure = &gathered.figure;
        let svg = figure.svg();
        let xml = roxmltree::Document::parse(&svg).unwrap();
        let all = |name| {
            xml.descendants()
                .filter(move |node| node.has_attribute(name))
        };
        let series: Vec<_> = all("data-series")
            .map(|node| node.attribute("data-series").unwrap())
            .collect();
        for name in all("data-legend") {
            assert!(series.contains(&name.attribute("data-legend").unwrap()));
        }
        let marks = || all("data-value");
        let values: Vec<f64> = marks()
            .map(|mark| mark.attribute("data-value").unwrap().parse().unwrap())
            .collect();
        let json: serde_json::Value = serde_json::from_slice(&figure.json().unwrap()).unwrap();
        assert_eq!(json["name"], figure.name.as_str());
        let found = match &figure.chart {
            Chart::Bars(_) => json["chart"]["bars"]["bars"].as_array().unwrap().len(),
            Chart::Lines(lines) => lines.series.iter().map(|line| line.points.len()).sum(),
            Chart::Flame(flame) => flame.frames.len(),
        };
        assert!(
            !values.is_empty() && values.len() <= found,
            "{}",
            figure.name
        );
        for mark in marks() {
            assert!(mark.parent().unwrap().has_attribute("data-series"));
            assert!(mark.has_attribute("data-label"));
            assert_eq!(
                mark.has_attribute("data-lower"),
                mark.has_attribute("data-upper")
            );
            let title = mark.first_element_child().unwrap();
            assert!(title.has_tag_name(("http://www.w3.org/2000/svg", "title")));
        }
    }
}

#[test]
fn drawings() {
    for gathered in figures(&[golden("run")]) {
        let name = format!("drawn-{}", gathered.figure.name);
        // One element per line, so that a difference is one line.
        let svg = gathered.figure.svg().replace("><", ">\n<");
        insta::assert_snapshot!(name, svg);
    }
}

#[test]
fn each_benchmark_over_the_kernels_of_several_runs() {
    let mut sources = [golden("run"), golden("run"), golden("run")];
    let is_drawn = |gathered: &&Gathered| gathered.base == "benchmark";
    assert!(
        !figures(&sources[..1])
            .iter()
            .any(|gathered| is_drawn(&gathered))
    );
    for (source, kernel) in sources.iter_mut().zip(["5.10", "6.12", "7.2"]) {
        let Content::Measured(run) = &mut source.content else {
            panic!("a run")
        };
        for cell in &mut run.cells {
            cell.key.kernel = format!("debian:{kernel}");
        }
    }
    let drawn = figures(&sources);
    let open = drawn.iter().filter(is_drawn);
    let mut open = open.filter(|gathered| gathered.figure.title.starts_with("open by kernel"));
    let Chart::Lines(lines) = &open.next().unwrap().figure.chart else {
        panic!("lines")
    };
    assert_eq!(lines.x, "1 debian:5.10, 2 debian:6.12, 3 debian:7.2");
    assert!(!lines.series.is_empty());
    for line in &lines.series {
        let x: Vec<f64> = line.points.iter().map(|point| point.x).collect();
        assert_eq!(x, [1.0, 2.0, 3.0], "{}", line.label);
    }
}
