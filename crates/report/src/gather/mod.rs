// SPDX-License-Identifier: GPL-2.0-or-later
//! The figures of result files of any kind, with stable names.

mod hooks;
mod others;
mod run;
mod sensitivity;

use std::collections::{HashMap, HashSet};

use model::{Document, DocumentError, Kind, PlacementDocument, Stored as _, Warning};

use crate::figure::{Chart, Figure};
use crate::text::printable;

#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    pub name: String,
    pub content: Content,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    Measured(Box<Document>),
    Placement(Box<PlacementDocument>),
}

impl Content {
    pub fn parse(bytes: &[u8]) -> Result<Content, DocumentError> {
        Ok(match Kind::detect(bytes)? {
            Kind::Placement => Content::Placement(PlacementDocument::parse(bytes)?.into()),
            _ => Content::Measured(Document::parse(bytes)?.into()),
        })
    }

    pub fn kind(&self) -> Kind {
        match self {
            Content::Measured(document) => document.kind,
            Content::Placement(_) => Kind::Placement,
        }
    }

    pub fn warnings(&self) -> &[Warning] {
        match self {
            Content::Measured(document) => &document.warnings,
            Content::Placement(_) => &[],
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Gathered {
    pub source: Option<usize>,
    pub base: &'static str,
    pub figure: Figure,
}

pub(crate) struct Draft {
    base: &'static str,
    /// What distinguishes it from other figures of that kind: kernel, file system, metric …
    subjects: Vec<String>,
    figure: Figure,
}

impl Draft {
    fn new(base: &'static str, title: String, description: &str, chart: Chart) -> Draft {
        Draft {
            base,
            subjects: Vec::new(),
            figure: Figure {
                name: String::new(),
                title: printable(&title, 400),
                description: description.to_owned(),
                chart,
                notes: Vec::new(),
            },
        }
    }

    fn about(mut self, subjects: &[&str]) -> Draft {
        let subjects = subjects.iter().map(|subject| (*subject).to_owned());
        self.subjects.extend(subjects);
        self
    }

    fn noted(mut self, notes: impl IntoIterator<Item = String>) -> Draft {
        self.figure.notes.extend(notes);
        self
    }
}

pub(crate) fn position<S: PartialEq>(names: &mut Vec<S>, name: S) -> usize {
    let found = names.iter().position(|known| *known == name);
    found.unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    })
}

/// All non-empty figures of each result file in order, then those that compare result files. A name
/// is the figure's (`overhead`), followed by its subjects if there are several such figures
/// (`overhead-tmpfs-time`). Units are never mixed in a figure.
pub fn figures(sources: &[Source]) -> Vec<Gathered> {
    let mut drafts: Vec<(Option<usize>, Draft)> = Vec::new();
    for (at, source) in sources.iter().enumerate() {
        let own = match &source.content {
            Content::Placement(document) => others::of_placement(document),
            Content::Measured(document) => match (document.kind, &document.monitor) {
                (Kind::Profile, _) => hooks::of_profiles(document),
                (Kind::Sensitivity, _) => sensitivity::drafts(document),
                (_, Some(monitor)) => others::of_recording(document, monitor),
                _ => run::drafts(document),
            },
        };
        drafts.extend(own.into_iter().map(|draft| (Some(at), draft)));
    }
    let compared = [run::kernels(sources), run::benchmarks(sources)];
    drafts.extend(compared.into_iter().flatten().map(|draft| (None, draft)));
    drafts.retain(|(_, draft)| !draft.figure.chart.is_empty());
    named(sources, drafts)
}

fn named(sources: &[Source], mut drafts: Vec<(Option<usize>, Draft)>) -> Vec<Gathered> {
    for (source, draft) in &mut drafts {
        // Result files of the same kernel are distinguished by their file names.
        let stem = source.map_or("", |at| stem(&sources[at].name));
        draft.subjects.push(stem.to_owned());
    }
    let mut of_base: HashMap<(&str, usize), HashSet<Option<String>>> = HashMap::new();
    let longest = drafts.iter().map(|(_, draft)| draft.subjects.len()).max();
    for (_, draft) in &drafts {
        for at in 0..longest.unwrap_or(0) {
            let all = of_base.entry((draft.base, at)).or_default();
            all.insert(draft.subjects.get(at).cloned());
        }
    }
    let mut taken = HashSet::new();
    let name = |(source, draft): (Option<usize>, Draft)| {
        let mut name = draft.base.to_owned();
        for (at, subject) in draft.subjects.iter().enumerate() {
            let slug = slug(subject);
            if of_base[&(draft.base, at)].len() > 1 && !slug.is_empty() {
                name += &format!("-{slug}");
            }
        }
        let mut unique = name.clone();
        let mut number = 2;
        while !taken.insert(unique.clone()) {
            unique = format!("{name}-{number}");
            number += 1;
        }
        Gathered {
            source,
            base: draft.base,
            figure: Figure {
                name: unique,
                ..draft.figure
            },
        }
    };
    drafts.into_iter().map(name).collect()
}

fn stem(name: &str) -> &str {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.strip_suffix(".json").unwrap_or(file)
}

/// Lower-case letters, digits and hyphens, which are safe in a shell, a URL and an `id`.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if slug.len() >= 60 {
            break;
        }
        if c.is_ascii_alphanumeric() || c == '.' {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_harmless() {
        assert_eq!(
            slug("capability,selinux +audit"),
            "capability-selinux-audit"
        );
        assert_eq!(slug("\"><script>"), "script");
        assert_eq!(slug("//"), "");
        assert_eq!(stem("a/b.json"), "b");
    }

    proptest! {
        #[test]
        fn slugs_need_no_escape(text: String) {
            let ok = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
            prop_assert!(slug(&text).chars().all(ok));
        }
    }
}
