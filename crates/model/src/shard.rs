// SPDX-License-Identifier: GPL-2.0-or-later
//! Parts of an experiment that are measured separately and merged.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of several parts of an experiment, written `3/16`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Shard {
    /// From 1 to `count`.
    pub index: u32,
    /// Total number of parts: 1 to [`Shard::COUNT_LIMIT`].
    pub count: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ShardError(String);

impl Shard {
    pub const COUNT_LIMIT: u32 = 1000;

    pub fn new(index: u32, count: u32) -> Result<Shard, ShardError> {
        if let Some(message) = Shard::wrong_count(count) {
            return Err(ShardError(message));
        }
        if !(1..=count).contains(&index) {
            return Err(ShardError(format!(
                "invalid shard {index}/{count}: expected 1 to {count}"
            )));
        }
        Ok(Shard { index, count })
    }

    fn wrong_count(count: u32) -> Option<String> {
        let most = Shard::COUNT_LIMIT;
        let fits = (1..=most).contains(&count);
        (!fits).then(|| format!("invalid number of shards {count}: expected 1 to {most}"))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Shard, ShardError> {
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.parse().ok()).flatten()
        };
        let numbers = text.split_once('/');
        match numbers.map(|(index, count)| (number(index), number(count))) {
            Some((Some(index), Some(count))) => Shard::new(index, count),
            _ => {
                let text: String = text.chars().take(40).collect();
                let message = format!("invalid shard `{text}`: expected I/N, such as 3/16");
                Err(ShardError(message))
            }
        }
    }
}

/// Which part of an experiment's measurements a result file contains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    pub count: u32,
    /// Numbers of the parts, from 1, ascending.
    pub shards: Vec<u32>,
    #[serde(rename = "measurements")]
    pub cells: u32,
    /// Position of each measurement in the whole experiment, from 0, ascending.
    pub positions: Vec<u32>,
}

impl Share {
    pub fn missing(&self) -> Vec<u32> {
        let here = |shard: &u32| self.shards.binary_search(shard).is_ok();
        (1..=self.count).filter(|shard| !here(shard)).collect()
    }

    pub(crate) fn contradiction(&self, cells: usize) -> Option<String> {
        let rising = |numbers: &[u32]| numbers.is_sorted_by(|a, b| a < b);
        let Share {
            count,
            shards,
            cells: all,
            positions,
        } = self;
        if let Some(message) = Shard::wrong_count(*count) {
            return Some(message);
        }
        if shards.is_empty() || !rising(shards) || shards[0] == 0 || shards.last() > Some(count) {
            return Some(format!("shards are not numbers from 1 to {count} in order"));
        }
        if positions.len() != cells {
            return Some(format!(
                "{} positions for {cells} measurements",
                positions.len()
            ));
        }
        if !rising(positions) || positions.last().is_some_and(|last| last >= all) {
            return Some(format!("positions are not below {all} and in order"));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shards_are_written_as_they_are_read() {
        let shard: Shard = "3/16".parse().unwrap();
        assert_eq!((shard.index, shard.count), (3, 16));
        assert_eq!(shard.to_string(), "3/16");
        for (text, error) in [
            ("0/4", "invalid shard 0/4: expected 1 to 4"),
            ("5/4", "invalid shard 5/4: expected 1 to 4"),
            ("1/0", "invalid number of shards 0: expected 1 to 1000"),
            (
                "1/1001",
                "invalid number of shards 1001: expected 1 to 1000",
            ),
            ("3", "invalid shard `3`: expected I/N, such as 3/16"),
            ("+1/4", "invalid shard `+1/4`: expected I/N, such as 3/16"),
            ("1/4/8", "invalid shard `1/4/8`: expected I/N, such as 3/16"),
            ("/", "invalid shard `/`: expected I/N, such as 3/16"),
        ] {
            assert_eq!(text.parse::<Shard>().unwrap_err().to_string(), error);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_shard_or_an_error(text in ".{0,30}") {
            if let Ok(shard) = text.parse::<Shard>() {
                prop_assert!((1..=shard.count).contains(&shard.index));
            }
        }
    }
}
