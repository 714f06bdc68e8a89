// SPDX-License-Identifier: GPL-2.0-or-later
//! Differences from the baseline outside every hook, and the functions that account for them.

use model::{FunctionDifference, ProgramResidual, Residual};

use crate::format;
use crate::table::{Tone, Value};
use crate::text::{printable, short};

const FUNCTIONS_NAMED: usize = 12;

pub(crate) fn value(of: &Residual) -> Value {
    let residual = i128::from(of.instructions);
    let held = residual != 0 || !of.functions.is_empty();
    let tone = match residual {
        0 => Tone::Plain,
        _ => Tone::Worse,
    };
    Value::difference(residual)
        .tone(tone)
        .noted(held.then(|| holders(residual, &of.functions, 0)))
}

pub(crate) fn note_on_program(of: &ProgramResidual) -> String {
    holders(of.instructions.into(), &of.functions, of.more)
}

struct Holders<'a> {
    functions: Vec<String>,
    why: Option<&'a str>,
}

/// `nameless`: number of further functions in the residual.
fn holders(residual: i128, of: &[FunctionDifference], nameless: u64) -> String {
    let mut functions: Vec<&FunctionDifference> = of.iter().collect();
    functions.sort_by_key(|held| std::cmp::Reverse(held.difference.unsigned_abs()));
    let mut groups: Vec<Holders<'_>> = Vec::new();
    let mut named = 0;
    for held in functions.iter().take(FUNCTIONS_NAMED) {
        let why = held.explanation.as_deref();
        let text = format!(
            "{} {}",
            short(&held.function),
            format::difference(held.difference.into())
        );
        named += i128::from(held.difference);
        match groups.iter_mut().find(|of| why.is_some() && of.why == why) {
            Some(group) => group.functions.push(text),
            None => groups.push(Holders {
                functions: vec![text],
                why,
            }),
        }
    }
    let mut parts: Vec<String> = groups
        .iter()
        .map(|group| {
            let mut part = group.functions.join(", ");
            if let Some(why) = group.why {
                part += &format!(" ({})", printable(why, 200));
            }
            part
        })
        .collect();
    let others = functions.len().saturating_sub(FUNCTIONS_NAMED) as u64 + nameless;
    if others > 0 {
        let rest = format::difference(residual - named);
        parts.push(format!("{others} more, together {rest}"));
    }
    let residual = match residual {
        0 => "residual 0, of parts that cancel out".to_owned(),
        _ => format!("residual {}", format::difference(residual)),
    };
    if parts.is_empty() {
        format!("{residual}: the document does not say which functions hold it")
    } else {
        format!("{residual}: {}", parts.join("; "))
    }
}
