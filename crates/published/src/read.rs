// SPDX-License-Identifier: GPL-2.0-or-later
//! The figures' files: parts that inherit from the parts they stand in.

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;

use crate::{Figure, Operation, Over, Quantity, Setup, Source};

const SOURCES: &str = include_str!("../data/sources.toml");
const FILES: [(&str, &str); 6] = [
    file("paper-history", include_str!("../data/paper-history.toml")),
    file("paper-modules", include_str!("../data/paper-modules.toml")),
    file("paper-calls", include_str!("../data/paper-calls.toml")),
    file("paper-hooks", include_str!("../data/paper-hooks.toml")),
    file("lsmpmon", include_str!("../data/lsmpmon.toml")),
    file("howells", include_str!("../data/howells.toml")),
];

const fn file(name: &'static str, text: &'static str) -> (&'static str, &'static str) {
    (name, text)
}

/// A file of figures is not what it should be.
#[derive(Debug, thiserror::Error)]
pub enum PublishedError {
    /// It is no TOML, or has a key that nothing knows.
    #[error("{file}: {fault}")]
    Toml {
        /// The file.
        file: String,
        /// What the parser says, with the line.
        fault: Box<toml::de::Error>,
    },
    /// A figure lacks something, or contradicts itself.
    #[error("{file}: figure `{id}`: {fault}")]
    Figure {
        /// The file.
        file: String,
        /// The figure, as far as it has an id.
        id: String,
        /// What is wrong.
        fault: String,
    },
}

/// All that is published.
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) sources: Vec<Source>,
    pub(crate) figures: Vec<Figure>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sources {
    source: Vec<Source>,
    #[serde(default)]
    sets: BTreeMap<String, Vec<String>>,
}

/// A value as files have it: a number, or a text where there is none.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Value {
    Number(f64),
    Nothing(String),
}

/// A file, a group, a column or a figure: what one says, those in it have.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    source: Option<String>,
    id: Option<String>,
    name: Option<String>,
    place: Option<String>,
    lines: Option<String>,
    kernel: Option<String>,
    theirs: Option<String>,
    tested: Option<Vec<Setup>>,
    baseline: Option<Vec<Setup>>,
    tested_kernel: Option<String>,
    baseline_kernel: Option<String>,
    ours: Option<Vec<String>>,
    except: Option<Vec<String>>,
    over: Option<Over>,
    hooks: Option<Vec<String>>,
    quantity: Option<Quantity>,
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    unsigned: Option<bool>,
    per_component: Option<bool>,
    note: Option<String>,
    values: Option<Vec<Value>>,
    #[serde(default)]
    group: Vec<Part>,
    #[serde(default)]
    columns: Vec<Part>,
    #[serde(default)]
    figures: Vec<Part>,
}

impl Part {
    /// This part with what it leaves open taken from `outer`; ids and notes of both.
    fn inside(&self, outer: &Part) -> Part {
        let join = |outer: &Option<String>, inner: &Option<String>, by: &str| match (outer, inner) {
            (Some(outer), Some(inner)) => Some(format!("{outer}{by}{inner}")),
            (outer, inner) => inner.clone().or_else(|| outer.clone()),
        };
        let own_value = self.value.is_some() || self.low.is_some() || self.high.is_some();
        let values = if own_value { self } else { outer };
        Part {
            source: self.source.clone().or_else(|| outer.source.clone()),
            id: join(&outer.id, &self.id, "."),
            name: None,
            place: self.place.clone().or_else(|| outer.place.clone()),
            lines: self.lines.clone().or_else(|| outer.lines.clone()),
            kernel: self.kernel.clone().or_else(|| outer.kernel.clone()),
            theirs: self.theirs.clone().or_else(|| outer.theirs.clone()),
            tested: self.tested.clone().or_else(|| outer.tested.clone()),
            baseline: self.baseline.clone().or_else(|| outer.baseline.clone()),
            tested_kernel: self
                .tested_kernel
                .clone()
                .or_else(|| outer.tested_kernel.clone()),
            baseline_kernel: self
                .baseline_kernel
                .clone()
                .or_else(|| outer.baseline_kernel.clone()),
            ours: self.ours.clone().or_else(|| outer.ours.clone()),
            except: self.except.clone().or_else(|| outer.except.clone()),
            over: self.over.or(outer.over),
            hooks: self.hooks.clone().or_else(|| outer.hooks.clone()),
            quantity: self.quantity.or(outer.quantity),
            value: values.value,
            low: values.low,
            high: values.high,
            unsigned: self.unsigned.or(outer.unsigned),
            per_component: self.per_component.or(outer.per_component),
            note: join(&outer.note, &self.note, "; "),
            values: None,
            group: Vec::new(),
            columns: Vec::new(),
            figures: Vec::new(),
        }
    }
}

/// Reads what is embedded.
pub(crate) fn published() -> Result<Published, PublishedError> {
    read(SOURCES, &FILES)
}

fn read(sources: &str, files: &[(&str, &str)]) -> Result<Published, PublishedError> {
    let toml = |file: &str, fault| PublishedError::Toml {
        file: file.to_owned(),
        fault: Box::new(fault),
    };
    let Sources { source, sets } =
        toml::from_str(sources).map_err(|fault| toml("sources", fault))?;
    let mut published = Published {
        sources: source,
        figures: Vec::new(),
    };
    let mut ids = HashSet::new();
    for (name, text) in files {
        let file: Part = toml::from_str(text).map_err(|fault| toml(name, fault))?;
        for part in parts(&file, name)? {
            let id = part.id.clone().unwrap_or_default();
            let figure = figure(part, &published.sources, &sets).and_then(|figure| {
                if ids.insert(figure.id.clone()) {
                    Ok(figure)
                } else {
                    Err("there are two of this id".to_owned())
                }
            });
            published
                .figures
                .push(figure.map_err(|fault| PublishedError::Figure {
                    file: (*name).to_owned(),
                    id,
                    fault,
                })?);
        }
    }
    Ok(published)
}

/// A file's figures, each with all that it has from its column, group and file.
fn parts(file: &Part, name: &str) -> Result<Vec<Part>, PublishedError> {
    let mut parts = Vec::new();
    for group in &file.group {
        let outer = group.inside(file);
        for row in &group.figures {
            let row_part = row.inside(&outer);
            if group.columns.is_empty() {
                parts.push(row_part);
                continue;
            }
            let wrong = row
                .values
                .as_ref()
                .is_some_and(|v| v.len() != group.columns.len());
            if wrong {
                return Err(PublishedError::Figure {
                    file: name.to_owned(),
                    id: row_part.id.unwrap_or_default(),
                    fault: "not one value for each column".to_owned(),
                });
            }
            for (index, column) in group.columns.iter().enumerate() {
                let mut column = column.clone();
                column.id = column.name.take();
                if let Some(values) = &row.values {
                    match values.get(index) {
                        Some(Value::Number(number)) => column.value = Some(*number),
                        Some(Value::Nothing(text)) if text == "-" => continue,
                        _ => {
                            return Err(PublishedError::Figure {
                                file: name.to_owned(),
                                id: row_part.id.unwrap_or_default(),
                                fault: "a value that is neither a number nor \"-\"".to_owned(),
                            });
                        }
                    }
                }
                parts.push(column.inside(&row_part));
            }
        }
    }
    Ok(parts)
}

fn figure(
    part: Part,
    sources: &[Source],
    sets: &BTreeMap<String, Vec<String>>,
) -> Result<Figure, String> {
    let said = |what: &str, value: Option<String>| {
        value
            .filter(|text| !text.trim().is_empty())
            .ok_or_else(|| format!("has no `{what}`"))
    };
    let source = said("source", part.source)?;
    if !sources.iter().any(|known| known.id == source) {
        return Err(format!("its source `{source}` is not in sources.toml"));
    }
    let kernels = match (part.tested_kernel, part.baseline_kernel) {
        (None, None) => None,
        (Some(tested), baseline) => Some([tested, baseline.unwrap_or_default()]),
        (None, Some(_)) => return Err("has a baseline's kernel and no tested one".to_owned()),
    };
    let (low, high) = match (part.value, part.low, part.high) {
        (Some(value), None, None) => (Some(value), Some(value)),
        (None, None, None) => return Err("has no value".to_owned()),
        (None, low, high) => (low, high),
        _ => return Err("has a value and a bound".to_owned()),
    };
    if [low, high].iter().flatten().any(|value| !value.is_finite()) || low > high.or(low) {
        return Err("its bounds are no range".to_owned());
    }
    let except = part.except.unwrap_or_default();
    let mut ours = Vec::new();
    for name in part.ours.unwrap_or_default() {
        let names = match name.strip_prefix('@') {
            Some(set) => sets
                .get(set)
                .ok_or_else(|| format!("no set is called `{set}`"))?,
            None => std::slice::from_ref(&name),
        };
        for name in names {
            let (benchmark, variant) = name
                .split_once(':')
                .ok_or_else(|| format!("`{name}` is not benchmark:variant"))?;
            if !except.iter().any(|e| e == benchmark) {
                ours.push(Operation {
                    benchmark: benchmark.to_owned(),
                    variant: variant.to_owned(),
                });
            }
        }
    }
    Ok(Figure {
        id: format!("{source}:{}", said("id", part.id)?),
        source,
        place: said("place", part.place)?,
        lines: said("lines", part.lines)?,
        kernel: said("kernel", part.kernel)?,
        theirs: said("theirs", part.theirs)?,
        tested: part.tested.unwrap_or_default(),
        baseline: part.baseline.unwrap_or_default(),
        kernels,
        ours,
        over: part.over.unwrap_or_default(),
        hooks: part.hooks.unwrap_or_default(),
        quantity: part.quantity.ok_or("has no `quantity`")?,
        low,
        high,
        unsigned: part.unsigned.unwrap_or(false),
        per_component: part.per_component.unwrap_or(false),
        note: part.note,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "[[source]]\nid = 'x'\ntitle = 't'\ncite = 'c'\nsetting = 's'\nlines = 'l'\n\
                          [sets]\nsome = ['open:AA', 'stat:AA']\n";
    const HEAD: &str = "source = 'x'\nkernel = '1'\n[[group]]\nid = 'g'\nplace = 'p'\nlines = '1'\n\
                        quantity = 'overhead'\ntheirs = 'open'\n";

    fn read_one(text: &str) -> Result<Vec<Figure>, String> {
        read(SOURCE, &[("f", &format!("{HEAD}{text}"))])
            .map(|published| published.figures)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn parts_inherit() {
        let figures = read_one(
            "note = 'of all'\ncolumns = [{ name = 'a' }, { name = 'b', note = 'of b' }]\n\
             figures = [{ id = 'r', values = [1, '-'] }, { id = 's', values = [2.5, 3], ours = ['@some'], except = ['open'] }]",
        )
        .unwrap();
        let ids: Vec<&str> = figures.iter().map(|f| f.id.as_str()).collect();
        assert_eq!(ids, ["x:g.r.a", "x:g.s.a", "x:g.s.b"]);
        assert_eq!(figures[2].note.as_deref(), Some("of all; of b"));
        assert_eq!(figures[2].low, Some(3.0));
        assert_eq!(figures[1].ours.len(), 1);
        assert_eq!(figures[1].ours[0].to_string(), "stat:AA");
    }

    #[test]
    fn refused() {
        for (text, why) in [
            ("figures = [{ id = 'a' }]", "has no value"),
            (
                "figures = [{ id = 'a', value = 1, low = 0 }]",
                "a value and a bound",
            ),
            ("figures = [{ id = 'a', low = 2, high = 1 }]", "no range"),
            ("figures = [{ id = 'a', value = nan }]", "no range"),
            ("figures = [{ value = 1 }, { value = 1 }]", "two of this id"),
            (
                "figures = [{ id = 'a', value = 1, source = 'y' }]",
                "not in sources.toml",
            ),
            (
                "figures = [{ id = 'a', value = 1, ours = ['open'] }]",
                "not benchmark:variant",
            ),
            (
                "figures = [{ id = 'a', value = 1, ours = ['@no'] }]",
                "no set",
            ),
            (
                "figures = [{ id = 'a', value = 1, place = ' ' }]",
                "has no `place`",
            ),
            (
                "figures = [{ id = 'a', value = 1, colour = 1 }]",
                "unknown field",
            ),
            (
                "columns = [{ name = 'a' }]\nfigures = [{ id = 'a', values = [1, 2] }]",
                "not one value",
            ),
            (
                "columns = [{ name = 'a' }]\nfigures = [{ id = 'a', values = ['n/a'] }]",
                "neither",
            ),
        ] {
            let error = read_one(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
