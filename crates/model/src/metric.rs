// SPDX-License-Identifier: GPL-2.0-or-later
//! A figure's name, unit, and better direction.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use stats::Direction;

use crate::words::UnknownWord;

/// The first four can be requested by an experiment; the others come from methods of their own.
/// [`Metric::Other`] is for methods unknown to this crate and describes its figures itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Metric {
    /// Guest kernel instructions per operation, counted by a QEMU TCG plugin: exact.
    Instructions,
    HookInstructions,
    Time,
    /// Operations per second over a fixed time: statistical.
    Throughput,
    /// Bytes that the kernel holds, after a boot or for each object of a kind: exact.
    Memory,
    Calls,
    CallRate,
    CallTime,
    /// Permission checks per operation: the slope of a sweep.
    Slope,
    Other(OtherMetric),
}

/// A metric that says itself what it means.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct OtherMetric {
    /// What it is called: `cache_misses`.
    pub name: Word,
    /// The unit of its figures.
    pub unit: Word,
    /// Is more of it better?
    #[serde(default)]
    pub higher_is_better: bool,
    /// Are its figures counts that hold without an interval?
    #[serde(default)]
    pub exact: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Word {
    bytes: [u8; Word::BYTES_LIMIT],
    len: u8,
}

impl Metric {
    pub const MEASURABLE: &'static [Metric] = &[
        Metric::Instructions,
        Metric::Time,
        Metric::Throughput,
        Metric::Memory,
    ];

    pub const NAMED: &'static [Metric] = &[
        Metric::Instructions,
        Metric::HookInstructions,
        Metric::Time,
        Metric::Throughput,
        Metric::Memory,
        Metric::Calls,
        Metric::CallRate,
        Metric::CallTime,
        Metric::Slope,
    ];

    pub fn as_str(&self) -> &str {
        match self {
            Metric::Instructions => "instructions",
            Metric::HookInstructions => "hook_instructions",
            Metric::Time => "time",
            Metric::Throughput => "throughput",
            Metric::Memory => "memory",
            Metric::Calls => "calls",
            Metric::CallRate => "call_rate",
            Metric::CallTime => "call_time",
            Metric::Slope => "checks",
            Metric::Other(other) => other.name.as_str(),
        }
    }

    pub fn unit(&self) -> &str {
        match self {
            Metric::Instructions | Metric::HookInstructions => "instructions",
            Metric::Time => "ns",
            Metric::Throughput => "ops/s",
            Metric::Memory => "bytes",
            Metric::Calls => "calls",
            Metric::CallRate => "calls/s",
            Metric::CallTime => "ns/call",
            Metric::Slope => "decisions",
            Metric::Other(other) => other.unit.as_str(),
        }
    }

    pub fn direction(self) -> Direction {
        match self {
            Metric::Throughput => Direction::HigherIsBetter,
            Metric::Other(other) if other.higher_is_better => Direction::HigherIsBetter,
            _ => Direction::LowerIsBetter,
        }
    }

    /// Counts that are the same whenever the same is measured.
    pub fn is_counted(self) -> bool {
        match self {
            Metric::Instructions | Metric::HookInstructions => true,
            Metric::Calls | Metric::Memory => true,
            Metric::Other(other) => other.exact,
            _ => false,
        }
    }

    /// Counted per executed instruction, by QEMU's plugin.
    pub fn is_of_instructions(self) -> bool {
        matches!(self, Metric::Instructions | Metric::HookInstructions)
    }

    /// Depends on the measuring machine and its load.
    pub fn is_timed(self) -> bool {
        match self {
            Metric::Time | Metric::Throughput | Metric::CallRate | Metric::CallTime => true,
            Metric::Other(other) => !other.exact,
            _ => false,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Metric {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Metric, UnknownWord> {
        let mut measurable = Metric::MEASURABLE.iter().copied();
        measurable
            .find(|metric| metric.as_str() == word)
            .ok_or_else(|| UnknownWord {
                what: "metric",
                word: word.chars().take(80).collect(),
                known: vec!["instructions", "time", "throughput", "memory"],
            })
    }
}

/// How documents write a metric: its word, or all that it says of itself.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a metric: its name, or name, unit, higher_is_better and exact"
)]
enum Form<'a> {
    Named(Cow<'a, str>),
    Other(OtherMetric),
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Metric::Other(other) => Form::Other(*other),
            named => Form::Named(Cow::Borrowed(named.as_str())),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Metric {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Metric, D::Error> {
        match Form::deserialize(deserializer)? {
            Form::Other(other) => Ok(Metric::Other(other)),
            Form::Named(name) => {
                let mut named = Metric::NAMED.iter().copied();
                named
                    .find(|metric| metric.as_str() == name)
                    .ok_or_else(|| serde::de::Error::custom(format!("unknown metric `{name}`")))
            }
        }
    }
}

impl JsonSchema for Metric {
    fn schema_name() -> Cow<'static, str> {
        "Metric".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = Metric::NAMED.iter().map(Metric::as_str).collect();
        let other = generator.subschema_for::<OtherMetric>();
        json_schema!({
            "description": "What is measured: a name, or what the metric says of itself.",
            "anyOf": [{ "type": "string", "enum": names }, other],
        })
    }
}

impl Word {
    /// In bytes.
    pub const BYTES_LIMIT: usize = 23;

    pub fn new(text: &str) -> Result<Word, BadWord> {
        let fits = (1..=Word::BYTES_LIMIT).contains(&text.len());
        if !fits || text.chars().any(char::is_control) {
            return Err(BadWord {
                text: text.chars().take(40).flat_map(char::escape_debug).collect(),
            });
        }
        let mut bytes = [0; Word::BYTES_LIMIT];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Word {
            bytes,
            len: text.len() as u8,
        })
    }

    pub fn as_str(&self) -> &str {
        // Always made from valid UTF-8.
        std::str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or_default()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` must be 1 to {} bytes without control characters",
    Word::BYTES_LIMIT
)]
pub struct BadWord {
    text: String,
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_str().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Word, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        Word::new(&text).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Word {
    fn schema_name() -> Cow<'static, str> {
        "Word".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1, "maxLength": Word::BYTES_LIMIT })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_words_or_say_what_they_are() {
        for metric in Metric::NAMED {
            let json = serde_json::to_string(metric).unwrap();
            assert_eq!(json, format!("\"{metric}\""));
            assert_eq!(serde_json::from_str::<Metric>(&json).unwrap(), *metric);
        }
        let misses = Metric::Other(OtherMetric {
            name: Word::new("cache_misses").unwrap(),
            unit: Word::new("misses").unwrap(),
            higher_is_better: false,
            exact: true,
        });
        let json = serde_json::to_string(&misses).unwrap();
        assert_eq!(serde_json::from_str::<Metric>(&json).unwrap(), misses);
        assert_eq!((misses.as_str(), misses.unit()), ("cache_misses", "misses"));
        assert!(serde_json::from_str::<Metric>("\"instuctions\"").is_err());
    }

    #[test]
    fn only_what_can_be_measured_is_parsed() {
        for metric in Metric::MEASURABLE {
            assert_eq!(metric.as_str().parse(), Ok(*metric));
        }
        let error = "instuctions".parse::<Metric>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown metric `instuctions`; one of instructions, time, throughput, memory"
        );
        assert_eq!(error.hint().unwrap(), "did you mean `instructions`?");
        assert_eq!("zzzzzzz".parse::<Metric>().unwrap_err().hint(), None);
        assert!("slope".parse::<Metric>().is_err());
    }

    #[test]
    fn words_are_short_and_printable() {
        assert_eq!(Word::new("ns").unwrap().as_str(), "ns");
        assert!(Word::new("").is_err());
        assert!(Word::new(&"x".repeat(24)).is_err());
        assert_eq!(
            Word::new("a\u{1b}b").unwrap_err().to_string(),
            "`a\\u{1b}b` must be 1 to 23 bytes without control characters"
        );
    }
}
