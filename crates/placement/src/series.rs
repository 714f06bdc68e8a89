// SPDX-License-Identifier: GPL-2.0-or-later
//! Kernel series in facts. Whether a fact applies depends only on its code; the series only decides
//! for which trees an unmatched fact is reported.

use serde::Deserialize;

/// `6.12`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Series(u32, u32);

impl TryFrom<String> for Series {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let exact = |text: &&str| text.bytes().filter(|&byte| byte == b'.').count() == 1;
        let series = Some(text.as_str()).filter(exact).and_then(Self::parse);
        series.ok_or_else(|| format!("invalid kernel series `{text}`: expected for example 6.12"))
    }
}

impl Series {
    pub(crate) fn parse(version: &str) -> Option<Self> {
        let mut numbers = version.split('.').map(str::parse::<u32>);
        Some(Self(numbers.next()?.ok()?, numbers.next()?.ok()?))
    }
}

/// Whether a fact should match in this series; true if the series is unknown.
pub(crate) fn applies_in(
    since: Option<Series>,
    until: Option<Series>,
    series: Option<Series>,
) -> bool {
    series.is_none_or(|series| {
        since.is_none_or(|since| since <= series) && until.is_none_or(|until| series <= until)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_compared_as_numbers() {
        let parse = |text: &str| Series::parse(text);
        assert!(
            parse("5.10.262") < parse("6.1")
                && parse("6.9-rc1").is_none()
                && parse("6.1") < parse("6.12.3")
        );
        assert_eq!(Series::try_from("6.12".to_owned()), Ok(Series(6, 12)));
        for text in ["", "6", "6.x", "6.12.1", "v6.12"] {
            assert!(Series::try_from(text.to_owned()).is_err(), "{text}");
        }
    }

    #[test]
    fn ends_belong_to_it() {
        let speaks = |since: &str, until: &str, version: &str| {
            applies_in(
                Series::parse(since),
                Series::parse(until),
                Series::parse(version),
            )
        };
        assert!(speaks("6.1", "6.12", "6.1.5") && speaks("6.1", "6.12", "6.12.117"));
        assert!(!speaks("6.1", "", "5.10.1") && !speaks("", "6.1", "6.2.0"));
        assert!(speaks("6.1", "6.12", "next") && speaks("", "", "6.2"));
    }
}
