// SPDX-License-Identifier: GPL-2.0-or-later
//! Figures that cannot be measured, and why.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::{Figure, Quantity};

const CANNOT: &str = include_str!("../data/cannot.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    cannot: Vec<Cannot>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cannot {
    figures: Vec<String>,
    #[serde(default)]
    quantities: Vec<Quantity>,
    why: String,
}

static CANNOT_BE_HAD: LazyLock<Vec<Cannot>> = LazyLock::new(|| {
    let file: File = toml::from_str(CANNOT).expect("the embedded reasons; a test reads them");
    file.cannot
});

pub(crate) fn why_not(figure: &Figure) -> Option<&'static str> {
    let of = |pattern: &String| model::glob(pattern, &figure.id);
    let fits = |cannot: &&Cannot| {
        cannot.figures.iter().any(of)
            && (cannot.quantities.is_empty() || cannot.quantities.contains(&figure.quantity))
    };
    let found = CANNOT_BE_HAD.iter().find(fits);
    found.map(|cannot| cannot.why.as_str())
}
