// SPDX-License-Identifier: GPL-2.0-or-later
//! What differs from the baseline outside of every hook, and who holds it.

use experiment::{FunctionDifference, Residual};

use crate::format;
use crate::table::{TEXT_LIMIT, Tone, Value};
use crate::text::printable;

/// Most functions that a footnote names.
const FUNCTIONS_NAMED: usize = 12;

/// The residual, with a footnote on the functions that hold it.
pub(super) fn value(of: &Residual) -> Value {
    let residual = i128::from(of.instructions);
    let held = residual != 0 || !of.functions.is_empty();
    let tone = match residual {
        0 => Tone::Plain,
        _ => Tone::Worse,
    };
    Value::difference(residual)
        .tone(tone)
        .noted(held.then(|| holders(residual, of)))
}

fn holders(residual: i128, of: &Residual) -> String {
    let mut functions: Vec<&FunctionDifference> = of.functions.iter().collect();
    functions.sort_by_key(|held| std::cmp::Reverse(held.difference.unsigned_abs()));
    let mut parts: Vec<String> = functions
        .iter()
        .take(FUNCTIONS_NAMED)
        .map(|held| {
            let mut part = format!(
                "{} {}",
                printable(&held.function, TEXT_LIMIT),
                format::difference(held.difference.into())
            );
            if let Some(why) = &held.explanation {
                part += &format!(" ({})", printable(why, 200));
            }
            part
        })
        .collect();
    let others = functions.iter().skip(FUNCTIONS_NAMED);
    if others.len() > 0 {
        let n = others.len();
        let rest: i128 = others.map(|held| i128::from(held.difference)).sum();
        parts.push(format!("{n} more, together {}", format::difference(rest)));
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
