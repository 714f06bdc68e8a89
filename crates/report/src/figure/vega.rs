// SPDX-License-Identifier: GPL-2.0-or-later
//! Figures as Vega-Lite specifications (version 6), for whoever can draw them.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::bars::CATEGORIES_LIMIT;
use super::flame::NARROWEST;
use super::lines::SERIES_LIMIT;
use super::model::{Bars, Chart, Figure, Flame, Lines, Series};
use super::pen::{COLOURS, DASHED_FROM};

impl Figure {
    /// The figure as a Vega-Lite specification, with its data, as wide as what it is put
    /// into. Names are in the data only, never in an expression.
    pub fn vega_lite(&self) -> Value {
        match &self.chart {
            Chart::Bars(bars) => of_bars(bars),
            Chart::Lines(lines) => of_lines(lines),
            Chart::Flame(flame) => of_flame(flame),
        }
    }
}

fn colour(names: &[String], kind: &str, position: impl Fn(usize) -> usize) -> Value {
    let range: Vec<&str> = (0..names.len())
        .map(|at| COLOURS[position(at) % COLOURS.len()])
        .collect();
    json!({
        "field": "s", "type": "nominal", "sort": null,
        "scale": { "domain": names, "range": range },
        "legend": { "orient": "top", "columns": 2, "title": kind, "labelLimit": 300,
            "symbolLimit": names.len() },
    })
}

/// Names that differ: a chart knows its rows and lines by their names.
fn different(names: &[String]) -> Vec<String> {
    let mut seen: HashMap<&str, u32> = HashMap::new();
    let mut different = Vec::with_capacity(names.len());
    for name in names {
        let times = seen.entry(name).or_insert(0);
        *times += 1;
        different.push(match *times {
            1 => name.clone(),
            n => format!("{name} ({n})"),
        });
    }
    different
}

/// Whoever clicks on a name of the legend sees that one alone.
fn picked() -> Value {
    json!([{
        "name": "picked",
        "select": { "type": "point", "fields": ["s"] },
        "bind": "legend",
    }])
}

fn opacity() -> Value {
    json!({ "condition": { "param": "picked", "value": 1 }, "value": 0.12 })
}

fn of_bars(bars: &Bars) -> Value {
    let name = |names: &[String], at: usize| names.get(at).cloned().unwrap_or_default();
    let (categories, series) = (different(&bars.categories), different(&bars.series));
    let shown = bars
        .bars
        .iter()
        .filter(|bar| bar.category < CATEGORIES_LIMIT);
    let values: Vec<Value> = shown
        .map(|bar| {
            let mut value = json!({
                "c": name(&categories, bar.category),
                "s": name(&series, bar.series),
                "o": bar.series,
                "v": bar.value,
            });
            if let Some([low, high]) = bar.interval.filter(|_| !bars.stacked) {
                value["l"] = json!(low);
                value["h"] = json!(high);
            }
            value
        })
        .collect();
    let whiskers = values.iter().any(|value| value.get("l").is_some());
    let mut y = json!({ "field": "c", "type": "nominal", "sort": null, "title": null,
        "axis": { "labelLimit": 220 } });
    let mut encoding = json!({
        "x": { "field": "v", "type": "quantitative", "title": bars.axis },
        "color": colour(&series, &bars.kind, |at| bars.colour(at)),
        "opacity": opacity(),
        "tooltip": [
            { "field": "c", "title": bars.category },
            { "field": "s", "title": bars.kind },
            { "field": "v", "title": bars.axis, "type": "quantitative", "format": ",.4~f" },
        ],
    });
    let height = match bars.stacked {
        true => json!({ "step": 20 }),
        false => json!({ "step": 9 }),
    };
    if bars.stacked {
        encoding["x"]["stack"] = json!("zero");
        encoding["order"] = json!({ "field": "o", "type": "quantitative" });
    } else {
        y["scale"] = json!({ "paddingInner": 0.2 });
        encoding["yOffset"] = json!({ "field": "s", "type": "nominal", "sort": series });
    }
    encoding["y"] = y.clone();
    let mut layers = vec![json!({
        "mark": { "type": "bar" }, "params": picked(), "encoding": encoding,
    })];
    if whiskers {
        layers.push(json!({
            "mark": { "type": "rule" },
            "transform": [{ "filter": { "field": "l", "valid": true } }],
            "encoding": {
                "y": y,
                "yOffset": { "field": "s", "type": "nominal", "sort": series },
                "x": { "field": "l", "type": "quantitative", "title": bars.axis },
                "x2": { "field": "h" },
                "opacity": opacity(),
            },
        }));
    }
    json!({ "width": "container", "height": height, "data": { "values": values },
        "layer": layers })
}

fn of_lines(lines: &Lines) -> Value {
    let shown = &lines.series[..lines.series.len().min(SERIES_LIMIT)];
    let label = |line: &Series| match lines.figure {
        Some(what) => format!("{}: {what} {}", line.label, line.figure),
        None => line.label.clone(),
    };
    let names = different(&shown.iter().map(label).collect::<Vec<_>>());
    let mut points = Vec::new();
    let mut path = Vec::new();
    for (line, label) in shown.iter().zip(&names) {
        for point in &line.points {
            let mut value = json!({ "s": label, "x": point.x, "y": point.y });
            if let Some([low, high]) = point.interval {
                value["l"] = json!(low);
                value["h"] = json!(high);
            }
            points.push(value);
        }
        match line.fit {
            Some(ends) => path.extend(ends.map(|[x, y]| json!({ "s": label, "x": x, "y": y }))),
            None => path.extend(
                line.points
                    .iter()
                    .map(|point| json!({ "s": label, "x": point.x, "y": point.y })),
            ),
        }
    }
    let dashes: Vec<Value> = (0..names.len())
        .map(|at| {
            if at < DASHED_FROM {
                json!([1, 0])
            } else {
                json!([6, 4])
            }
        })
        .collect();
    let dashes = json!({ "field": "s", "type": "nominal", "legend": null,
        "scale": { "domain": names, "range": dashes } });
    let x = json!({ "field": "x", "type": "quantitative", "title": lines.x });
    let y = json!({ "field": "y", "type": "quantitative", "title": lines.y });
    let colour = colour(&names, &lines.kind, |at| at);
    let mut layers = vec![
        json!({
            "data": { "values": path },
            "mark": { "type": "line" },
            "encoding": { "x": x, "y": y, "color": colour, "opacity": opacity(),
                "strokeDash": dashes },
        }),
        json!({
            "mark": { "type": "point", "filled": true, "size": 42 },
            "params": picked(),
            "encoding": {
                "x": x, "y": y, "color": colour, "opacity": opacity(),
                "tooltip": [
                    { "field": "s", "title": lines.kind },
                    { "field": "x", "title": lines.x, "type": "quantitative", "format": ",.4~f" },
                    { "field": "y", "title": lines.y, "type": "quantitative", "format": ",.4~f" },
                ],
            },
        }),
    ];
    if points.iter().any(|point| point.get("l").is_some()) {
        layers.push(json!({
            "mark": { "type": "rule" },
            "transform": [{ "filter": { "field": "l", "valid": true } }],
            "encoding": {
                "x": x, "color": colour, "opacity": opacity(),
                "y": { "field": "l", "type": "quantitative", "title": lines.y },
                "y2": { "field": "h" },
            },
        }));
    }
    json!({ "width": "container", "height": 320, "data": { "values": points },
        "layer": layers })
}

fn of_flame(flame: &Flame) -> Value {
    let whole = flame.whole();
    let values: Vec<Value> = flame
        .frames
        .iter()
        .filter(|frame| frame.width >= whole * NARROWEST)
        .map(|frame| {
            json!({
                "n": frame.label, "d": frame.depth, "t": frame.depth + 1,
                "b": frame.start, "e": frame.start + frame.width, "w": frame.width,
                "m": frame.width / whole,
            })
        })
        .collect();
    let rows = flame.frames.iter().map(|frame| frame.depth + 1).max();
    let x = json!({ "field": "b", "type": "quantitative", "title": flame.unit,
        "scale": { "domain": [0.0, whole], "nice": false } });
    json!({
        "width": "container",
        "height": 26 * rows.unwrap_or(1),
        "data": { "values": values },
        "layer": [
            {
                "mark": { "type": "rect", "clip": true, "stroke": "#ffffff", "strokeWidth": 0.5 },
                // Without the key a page could not be scrolled over it.
                "params": [{ "name": "zoom", "bind": "scales",
                    "select": { "type": "interval", "encodings": ["x"],
                        "zoom": "wheel![event.shiftKey]" } }],
                "encoding": {
                    "x": x, "x2": { "field": "e" },
                    "y": { "field": "d", "type": "quantitative", "axis": null,
                        "scale": { "domain": [0, rows.unwrap_or(1)], "nice": false } },
                    "y2": { "field": "t" },
                    "color": { "field": "d", "type": "ordinal", "legend": null,
                        "scale": { "domain": [0, 1, 2, 3],
                            "range": ["#b8c4ce", "#f0c987", "#e8a07c", "#d98880"] } },
                    "tooltip": [
                        { "field": "n", "title": "frame" },
                        { "field": "w", "title": flame.unit, "type": "quantitative",
                            "format": ",.0f" },
                        { "field": "m", "title": "share", "type": "quantitative",
                            "format": ".1%" },
                    ],
                },
            },
            {
                "mark": { "type": "text", "align": "left", "dx": 3, "dy": -12, "fontSize": 10,
                    "color": "#111111", "clip": true, "limit": 90 },
                "transform": [{ "filter": { "field": "m", "gte": 0.1 } }],
                "encoding": {
                    "x": x,
                    "y": { "field": "d", "type": "quantitative", "axis": null },
                    "text": { "field": "n" },
                },
            },
        ],
    })
}
