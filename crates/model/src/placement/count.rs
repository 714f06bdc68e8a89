// SPDX-License-Identifier: GPL-2.0-or-later
//! The number of calls as a function of the path that is given to a system call.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};

const MAX: u32 = 1 << 24;

/// A count `constant + depth·D + links·S`, or unbounded. D: components looked up on one path,
/// including targets of symbolic links. S: symbolic links followed on it. Written `2D+S+1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Count {
    pub constant: u32,
    /// Calls per component.
    pub depth: u32,
    /// Calls per symbolic link.
    pub links: u32,
    pub unbounded: bool,
}

impl Count {
    pub const ZERO: Self = Self::times(0);
    pub const ONE: Self = Self::times(1);
    pub const UNBOUNDED: Self = Self {
        unbounded: true,
        ..Self::ZERO
    };

    #[must_use]
    pub const fn times(constant: u32) -> Self {
        Self {
            constant,
            depth: 0,
            links: 0,
            unbounded: false,
        }
    }

    #[must_use]
    pub fn is_zero(self) -> bool {
        self == Self::ZERO
    }

    /// Whether this count is at most `other` for every path.
    #[must_use]
    pub fn is_within(self, other: Self) -> bool {
        other.unbounded
            || !self.unbounded
                && self.depth <= other.depth
                && self.links <= other.links
                // Every path has at least one component.
                && u64::from(self.constant) + u64::from(self.depth)
                    <= u64::from(other.constant) + u64::from(other.depth)
    }

    /// The value for a path of `depth` components and `links` symbolic links; `None` if unbounded.
    #[must_use]
    pub fn at(self, depth: u32, links: u32) -> Option<u64> {
        let [constant, per_depth, per_link] =
            [self.constant, self.depth, self.links].map(u64::from);
        (!self.unbounded)
            .then(|| constant + per_depth * u64::from(depth) + per_link * u64::from(links))
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.with(other, u32::saturating_add)
    }

    /// The maximum of each coefficient.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        self.with(other, u32::max)
    }

    fn with(self, other: Self, each: impl Fn(u32, u32) -> u32) -> Self {
        Self {
            constant: each(self.constant, other.constant),
            depth: each(self.depth, other.depth),
            links: each(self.links, other.links),
            unbounded: self.unbounded || other.unbounded,
        }
        .checked()
    }

    /// The count in a loop of `rounds` iterations. A loop over the components or links of a path (D
    /// or S in `rounds`) does not multiply terms that already count the whole path.
    #[must_use]
    pub fn repeated(self, rounds: Self) -> Self {
        if self.is_zero() || rounds.is_zero() {
            return Self::ZERO;
        }
        if self.unbounded || rounds.unbounded {
            return Self::UNBOUNDED;
        }
        let per_path = rounds.depth > 0 || rounds.links > 0;
        let inner = if per_path { 1 } else { rounds.constant };
        let per = |rounds: u32, own: u32| {
            let each_round = self.constant.saturating_mul(rounds);
            each_round.saturating_add(own.saturating_mul(inner))
        };
        Self {
            constant: self.constant.saturating_mul(rounds.constant),
            depth: per(rounds.depth, self.depth),
            links: per(rounds.links, self.links),
            unbounded: false,
        }
        .checked()
    }

    fn checked(self) -> Self {
        if self.unbounded || self.constant > MAX || self.depth > MAX || self.links > MAX {
            Self::UNBOUNDED
        } else {
            self
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.unbounded {
            return f.pad("unbounded");
        }
        let term = |factor: u32, name: &str| match factor {
            0 => None,
            1 if !name.is_empty() => Some(name.to_owned()),
            factor => Some(format!("{factor}{name}")),
        };
        let terms = [
            term(self.depth, "D"),
            term(self.links, "S"),
            term(self.constant, ""),
        ];
        let terms: Vec<_> = terms.into_iter().flatten().collect();
        if terms.is_empty() {
            return f.pad("0");
        }
        f.pad(&terms.join("+"))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid count `{0}`: expected a number, a sum such as 2D+S+1, or unbounded")]
pub struct CountError(String);

impl FromStr for Count {
    type Err = CountError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim() == "unbounded" {
            return Ok(Self::UNBOUNDED);
        }
        let error = || CountError(text.chars().take(40).collect());
        let mut count = Self::ZERO;
        for term in text.split('+') {
            let term = term.trim();
            let digits = term.trim_end_matches(['D', 'S']);
            let name = &term[digits.len()..];
            let factor = match (digits, name) {
                ("", "D" | "S") => Some(1),
                _ => digits.parse().ok().filter(|&factor| factor <= MAX),
            };
            let mut term = Self::ZERO;
            let coefficient = match name {
                "" => &mut term.constant,
                "D" => &mut term.depth,
                "S" => &mut term.links,
                _ => return Err(error()),
            };
            *coefficient = factor.ok_or_else(error)?;
            count = count.plus(term);
        }
        Ok(count)
    }
}

impl JsonSchema for Count {
    fn schema_name() -> Cow<'static, str> {
        "Count".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "A sum of a number, of D (components looked up on a path) and of S \
                (symbolic links followed on it), or `unbounded`: `2D+S+1`.",
            "type": "string",
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn count(text: &str) -> Count {
        text.parse().unwrap()
    }

    #[test]
    fn loops_over_a_path_count_it_once() {
        assert_eq!(count("2").repeated(count("D")), count("2D"));
        assert_eq!(count("2D+S").repeated(count("S+1")), count("2D+S"));
        assert_eq!(count("2D+1").repeated(count("3")), count("6D+3"));
        assert_eq!(count("1").repeated(Count::UNBOUNDED), Count::UNBOUNDED);
        assert_eq!(Count::ZERO.repeated(Count::UNBOUNDED), Count::ZERO);
        assert_eq!(count("2D+3").at(4, 0), Some(11));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "+", "x", "D2", "-1", "99999999999", "2DD", "1+"] {
            assert!(text.parse::<Count>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn text_and_back(constant in 0..1000u32, depth in 0..1000u32, links in 0..1000u32) {
            let written = Count { constant, depth, links, unbounded: false };
            prop_assert_eq!(written.to_string().parse::<Count>(), Ok(written));
        }

        #[test]
        fn any_text(text in ".*") {
            let _ = text.parse::<Count>();
        }
    }
}
