// SPDX-License-Identifier: GPL-2.0-or-later
//! Differences from the baseline outside every hook, and the functions that account for them.

use model::{FunctionDifference, ProgramResidual, Residual};

use crate::format;
use crate::table::{Tone, Value};
use crate::text::{printable, short};

const FUNCTIONS_NAMED: usize = 12;

pub(crate) fn value(residual: &Residual) -> Value {
    let instructions = i128::from(residual.instructions);
    let held = instructions != 0 || !residual.functions.is_empty();
    let tone = if instructions == 0 {
        Tone::Plain
    } else {
        Tone::Worse
    };
    Value::difference(instructions)
        .tone(tone)
        .noted(held.then(|| holders(instructions, &residual.functions, 0)))
}

pub(crate) fn note_on_program(residual: &ProgramResidual) -> String {
    let ProgramResidual {
        functions, more, ..
    } = residual;
    holders(residual.instructions.into(), functions, *more)
}

struct Holders<'a> {
    functions: Vec<String>,
    why: Option<&'a str>,
}

/// `nameless`: number of further functions in the residual.
fn holders(residual: i128, differences: &[FunctionDifference], nameless: u64) -> String {
    let mut functions: Vec<&FunctionDifference> = differences.iter().collect();
    functions.sort_by_key(|held| std::cmp::Reverse(held.difference.unsigned_abs()));
    let mut groups: Vec<Holders<'_>> = Vec::new();
    let mut named = 0;
    for held in functions.iter().take(FUNCTIONS_NAMED) {
        let why = held.explanation.as_deref();
        let difference = format::difference(held.difference);
        let text = format!("{} {difference}", short(&held.function));
        named += i128::from(held.difference);
        let mut explained = groups.iter_mut().filter(|group| group.why.is_some());
        match explained.find(|group| group.why == why) {
            Some(group) => group.functions.push(text),
            None => groups.push(Holders {
                functions: vec![text],
                why,
            }),
        }
    }
    let part = |group: &Holders<'_>| {
        let why = group.why.map(|why| format!(" ({})", printable(why, 200)));
        group.functions.join(", ") + &why.unwrap_or_default()
    };
    let mut parts: Vec<String> = groups.iter().map(part).collect();
    let others = functions.len().saturating_sub(FUNCTIONS_NAMED) as u64 + nameless;
    if others > 0 {
        let rest = format::difference(residual - named);
        parts.push(format!("{others} more, together {rest}"));
    }
    let residual = match residual {
        0 => "residual 0 (the parts cancel out)".to_owned(),
        _ => format!("residual {}", format::difference(residual)),
    };
    let parts = match parts.is_empty() {
        true => "the result file does not list its functions".to_owned(),
        false => parts.join("; "),
    };
    format!("{residual}: {parts}")
}
