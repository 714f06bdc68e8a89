// SPDX-License-Identifier: GPL-2.0-or-later
//! Kconfig's dependency expressions (Documentation/kbuild/kconfig-language.rst).

/// Deepest nesting of parentheses and negations that is followed.
const DEEPEST: usize = 64;

/// Whether `text` holds; `value` tells an option's value, `n` if it is not set. Built in and
/// module count as the same. `None` if it asks what only `conf` can know, such as what the
/// compiler can do.
pub(super) fn evaluate(text: &str, value: &dyn Fn(&str) -> String) -> Option<bool> {
    let tokens = tokens(text)?;
    let mut evaluator = Evaluator {
        tokens: &tokens,
        at: 0,
        value,
    };
    let truth = evaluator.either(0)?;
    (evaluator.at == tokens.len()).then_some(truth)
}

/// The options that an expression names.
pub(super) fn symbols(text: &str) -> Vec<String> {
    let is_option = |token: &&String| {
        token.starts_with(|c: char| c.is_ascii_uppercase())
            || token.starts_with(|c: char| c.is_ascii_digit())
                && token.contains(|c: char| c.is_ascii_uppercase())
    };
    let tokens = tokens(text).unwrap_or_default();
    tokens.iter().filter(is_option).cloned().collect()
}

/// `None` where a macro (`$(cc-option,…)`) or something unknown stands.
fn tokens(text: &str) -> Option<Vec<String>> {
    const OPERATORS: [&str; 11] = ["&&", "||", "!=", "<=", ">=", "<", ">", "=", "!", "(", ")"];
    let mut out = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let operator = OPERATORS.iter().find(|o| rest.starts_with(**o));
        let length = if let Some(operator) = operator {
            operator.len()
        } else if let Some(quoted) = rest.strip_prefix('"') {
            quoted.find('"')? + 2
        } else {
            rest.bytes()
                .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
                .count()
        };
        if length == 0 {
            return None;
        }
        let (token, after) = rest.split_at_checked(length)?;
        out.push(token.to_owned());
        rest = after.trim_start();
    }
    Some(out)
}

struct Evaluator<'a> {
    tokens: &'a [String],
    at: usize,
    value: &'a dyn Fn(&str) -> String,
}

impl Evaluator<'_> {
    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.at).map(String::as_str)
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.peek() == Some(token);
        self.at += usize::from(found);
        found
    }

    fn either(&mut self, depth: usize) -> Option<bool> {
        let mut truth = self.both(depth)?;
        while self.take("||") {
            truth |= self.both(depth)?;
        }
        Some(truth)
    }

    fn both(&mut self, depth: usize) -> Option<bool> {
        let mut truth = self.one(depth)?;
        while self.take("&&") {
            truth &= self.one(depth)?;
        }
        Some(truth)
    }

    fn one(&mut self, depth: usize) -> Option<bool> {
        if depth > DEEPEST {
            return None;
        }
        if self.take("!") {
            return Some(!self.one(depth + 1)?);
        }
        if self.take("(") {
            let truth = self.either(depth + 1)?;
            return self.take(")").then_some(truth);
        }
        let left = self.operand()?;
        for operator in ["=", "!=", "<=", ">=", "<", ">"] {
            if self.take(operator) {
                let right = self.operand()?;
                return Some(compare(&left, operator, &right));
            }
        }
        Some(left == "y" || left == "m")
    }

    fn operand(&mut self) -> Option<String> {
        let token = self.peek()?.to_owned();
        self.at += 1;
        if let Some(text) = token.strip_prefix('"') {
            return Some(text.trim_end_matches('"').to_owned());
        }
        let is_constant =
            matches!(token.as_str(), "y" | "m" | "n") || token.bytes().all(|b| b.is_ascii_digit());
        let is_word = token
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_');
        match (is_constant, is_word) {
            (true, _) => Some(token),
            (false, true) => Some((self.value)(&token).trim_matches('"').to_owned()),
            (false, false) => None,
        }
    }
}

fn compare(left: &str, operator: &str, right: &str) -> bool {
    let ordering = match (left.parse::<i64>(), right.parse::<i64>()) {
        (Ok(left), Ok(right)) => left.cmp(&right),
        _ => left.cmp(right),
    };
    match operator {
        "=" => ordering.is_eq(),
        "!=" => ordering.is_ne(),
        "<=" => ordering.is_le(),
        ">=" => ordering.is_ge(),
        "<" => ordering.is_lt(),
        _ => ordering.is_gt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn holds(text: &str) -> Option<bool> {
        evaluate(text, &|name| match name {
            "A" | "B" => "y".into(),
            "M" => "m".into(),
            "VERSION" => "124".into(),
            _ => "n".into(),
        })
    }

    #[test]
    fn expressions_of_the_kernel() {
        for (text, truth) in [
            ("A", Some(true)),
            ("A && B && !C", Some(true)),
            ("A && (C || !B)", Some(false)),
            ("C || M", Some(true)),
            ("M=y", Some(false)),
            ("M=m || A=y", Some(true)),
            ("VERSION >= 116", Some(true)),
            ("VERSION < 99", Some(false)),
            ("$(cc-option,-fx)", None),
            ("A &&", None),
            ("(A", None),
            ("A B", None),
            ("", None),
        ] {
            assert_eq!(holds(text), truth, "{text}");
        }
        assert_eq!(
            symbols("A && (C || !64BIT) && VERSION >= 116"),
            ["A", "C", "64BIT", "VERSION"]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_evaluated(text in "[AM!&|()=<> $\"]{0,200}") {
            holds(&text);
            symbols(&text);
        }
    }
}
