// SPDX-License-Identifier: GPL-2.0-or-later
//! Data files of figures: parts inherit from the enclosing parts.

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;
use toml::{Table, Value};

use crate::{Figure, Operation, Source};

const SOURCES: &str = include_str!("../data/sources.toml");
const FILES: [(&str, &str); 8] = [
    ("paper-history", include_str!("../data/paper-history.toml")),
    ("paper-modules", include_str!("../data/paper-modules.toml")),
    ("paper-calls", include_str!("../data/paper-calls.toml")),
    ("paper-hooks", include_str!("../data/paper-hooks.toml")),
    ("lsmpmon", include_str!("../data/lsmpmon.toml")),
    ("howells", include_str!("../data/howells.toml")),
    ("freenix01", include_str!("../data/freenix01.toml")),
    ("static-calls", include_str!("../data/static-calls.toml")),
];

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

/// A file; its keys apply to all figures in it.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    group: Vec<Group>,
    #[serde(flatten)]
    part: Table,
}

#[derive(Deserialize)]
struct Group {
    #[serde(default)]
    columns: Vec<Table>,
    #[serde(default)]
    figures: Vec<Row>,
    #[serde(flatten)]
    part: Table,
}

#[derive(Deserialize)]
struct Row {
    values: Option<Vec<Value>>,
    #[serde(flatten)]
    part: Table,
}

/// Keys that are inherited together.
const VALUES: [&str; 3] = ["value", "low", "high"];

/// `part` with missing keys from `outer`; ids and notes are joined.
fn inside(part: &Table, outer: &Table) -> Table {
    let mut whole = outer.clone();
    if VALUES.iter().any(|key| part.contains_key(*key)) {
        whole.retain(|key, _| !VALUES.contains(&key));
    }
    whole.extend(part.clone());
    for (key, by) in [("id", "."), ("note", "; ")] {
        let of = |part: &Table| part.get(key).and_then(Value::as_str).map(str::to_owned);
        if let (Some(outer), Some(own)) = (of(outer), of(part)) {
            whole.insert(key.to_owned(), format!("{outer}{by}{own}").into());
        }
    }
    whole
}

pub(crate) fn published() -> Result<Published, String> {
    read(SOURCES, &FILES)
}

/// Errors name the file and the figure.
fn read(sources: &str, files: &[(&str, &str)]) -> Result<Published, String> {
    let Sources { source, sets } =
        toml::from_str(sources).map_err(|fault| format!("sources: {fault}"))?;
    let mut published = Published {
        sources: source,
        figures: Vec::new(),
    };
    let mut ids = HashSet::new();
    for (name, text) in files {
        let mut add = || -> Result<(), String> {
            let file: File = toml::from_str(text).map_err(|fault| fault.to_string())?;
            for part in parts(&file)? {
                let title = title(&part);
                let figure = figure(part, &published.sources, &sets);
                let figure = figure.map_err(|fault| format!("{title}: {fault}"))?;
                if !ids.insert(figure.id.clone()) {
                    return Err(format!("{title}: there are two of this id"));
                }
                published.figures.push(figure);
            }
            Ok(())
        };
        add().map_err(|fault| format!("{name}: {fault}"))?;
    }
    Ok(published)
}

fn title(part: &Table) -> String {
    let id = part.get("id").and_then(Value::as_str);
    format!("figure `{}`", id.unwrap_or_default())
}

fn parts(file: &File) -> Result<Vec<Table>, String> {
    let mut parts = Vec::new();
    for group in &file.group {
        let outer = inside(&group.part, &file.part);
        for Row { values, part } in &group.figures {
            let row = inside(part, &outer);
            if group.columns.is_empty() {
                parts.push(row);
                continue;
            }
            let values = values.as_deref();
            if values.is_some_and(|values| values.len() != group.columns.len()) {
                return Err(format!("{}: not one value for each column", title(&row)));
            }
            for (index, column) in group.columns.iter().enumerate() {
                let mut column = column.clone();
                if let Some(name) = column.remove("name") {
                    column.insert("id".to_owned(), name);
                }
                match values.map(|values| &values[index]) {
                    None => {}
                    Some(Value::String(text)) if text == "-" => continue,
                    Some(value @ (Value::Integer(_) | Value::Float(_))) => {
                        column.insert("value".to_owned(), value.clone());
                    }
                    Some(_) => {
                        let fault = "a value that is neither a number nor \"-\"";
                        return Err(format!("{}: {fault}", title(&row)));
                    }
                }
                parts.push(inside(&column, &row));
            }
        }
    }
    Ok(parts)
}

fn figure(
    mut part: Table,
    sources: &[Source],
    sets: &BTreeMap<String, Vec<String>>,
) -> Result<Figure, String> {
    if let Some(value) = part.remove("value")
        && (part.insert("low".to_owned(), value.clone()).is_some()
            || part.insert("high".to_owned(), value).is_some())
    {
        return Err("has a value and a bound".to_owned());
    }
    let mut names = |key: &str| -> Result<Vec<String>, String> {
        let names = part.remove(key).map(Value::try_into).transpose();
        Ok(names
            .map_err(|fault| fault.to_string())?
            .unwrap_or_default())
    };
    let (names, except) = (names("ours")?, names("except")?);
    let mut figure: Figure = part.try_into().map_err(|fault| fault.to_string())?;
    for name in names {
        let names = match name.strip_prefix('@') {
            Some(set) => sets
                .get(set)
                .ok_or_else(|| format!("no set is called `{set}`"))?,
            None => std::slice::from_ref(&name),
        };
        let operations = names.iter().map(|name| Operation::named(name));
        let operations = operations.filter(|one| !except.contains(&one.benchmark));
        figure.ours.extend(operations);
    }
    let (low, high) = (figure.low, figure.high);
    if low.or(high).is_none() {
        return Err("has no value".to_owned());
    }
    if [low, high].iter().flatten().any(|value| !value.is_finite()) || low > high.or(low) {
        return Err("its bounds are no range".to_owned());
    }
    if !sources.iter().any(|known| known.id == figure.source) {
        return Err(format!(
            "its source `{}` is not in sources.toml",
            figure.source
        ));
    }
    figure.id = format!("{}:{}", figure.source, figure.id);
    Ok(figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "[[source]]\nid = 'x'\ntitle = 't'\ncite = 'c'\nsetting = 's'\nlines = 'l'\n\
                          [sets]\nsome = ['open:AA', 'stat:AA']\n";
    const HEAD: &str = "source = 'x'\nkernel = '1'\n[[group]]\nid = 'g'\nplace = 'p'\nlines = '1'\n\
                        quantity = 'overhead'\ntheirs = 'open'\n";

    fn read_one(text: &str) -> Result<Vec<Figure>, String> {
        read(SOURCE, &[("f", &format!("{HEAD}{text}"))]).map(|published| published.figures)
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
                "figures = [{ id = 'a', value = 1, ours = ['@no'] }]",
                "no set",
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
