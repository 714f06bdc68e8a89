// SPDX-License-Identifier: GPL-2.0-or-later
//! What a guest says of hooks that it counted, a line each.

use std::fmt;
use std::str::FromStr;

use crate::error::TranscriptError;

/// Longest name of a hook, in bytes.
const NAME_LIMIT: usize = 128;
/// Longest other text, in characters.
const TEXT_LIMIT: usize = 400;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// `uname -r`.
    Release(String),
    /// What `/sys/kernel/security/lsm` lists.
    Lsm(String),
    /// A hook that is not watched, and why.
    LeftOut(String, String),
    /// Why nothing can be counted; nothing else comes.
    Unavailable(String),
    /// A benchmark begins, by its position.
    Begin(u32),
    /// Calls of a hook in the shorter and in the longer run.
    Count(String, u64, u64),
    /// The benchmark failed, and why.
    Failed(String),
    /// The kernel or the file system cannot do it, and why.
    Unsupported(String),
    /// The benchmark ended well.
    Ended,
    /// Calls that were not counted, for want of room or time. Nothing comes after it.
    Lost(u64),
}

/// A text bounded and without control characters, so that it fits in a line.
fn one_line(text: &str) -> String {
    let text = text.chars().take(TEXT_LIMIT);
    text.map(|c| if c.is_control() { ' ' } else { c })
        .collect::<String>()
        .trim()
        .to_owned()
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Line::Release(release) => write!(f, "release {}", one_line(release)),
            Line::Lsm(stack) => write!(f, "lsm {}", one_line(stack)),
            Line::LeftOut(hook, why) => write!(f, "left-out {hook} {}", one_line(why)),
            Line::Unavailable(why) => write!(f, "unavailable {}", one_line(why)),
            Line::Begin(at) => write!(f, "begin {at}"),
            Line::Count(hook, short, long) => write!(f, "count {hook} {short} {long}"),
            Line::Failed(why) => write!(f, "failed {}", one_line(why)),
            Line::Unsupported(why) => write!(f, "unsupported {}", one_line(why)),
            Line::Ended => f.write_str("ended"),
            Line::Lost(calls) => write!(f, "lost {calls}"),
        }
    }
}

fn name(text: &str) -> Option<String> {
    let fits = !text.is_empty()
        && text.len() <= NAME_LIMIT
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'));
    fits.then(|| text.to_owned())
}

impl FromStr for Line {
    type Err = TranscriptError;

    fn from_str(text: &str) -> Result<Line, TranscriptError> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let line = match word {
            "release" => Some(Line::Release(one_line(rest))),
            "lsm" => Some(Line::Lsm(one_line(rest))),
            "left-out" => {
                let (hook, why) = rest.split_once(' ').unwrap_or((rest, ""));
                name(hook).map(|hook| Line::LeftOut(hook, one_line(why)))
            }
            "unavailable" => Some(Line::Unavailable(one_line(rest))),
            "begin" => rest.parse().ok().map(Line::Begin),
            "count" => count(rest),
            "failed" => Some(Line::Failed(one_line(rest))),
            "unsupported" => Some(Line::Unsupported(one_line(rest))),
            "ended" if rest.is_empty() => Some(Line::Ended),
            "lost" => rest.parse().ok().map(Line::Lost),
            _ => None,
        };
        line.ok_or_else(|| TranscriptError::Unknown {
            line: one_line(text),
        })
    }
}

fn count(text: &str) -> Option<Line> {
    let mut words = text.split(' ');
    let hook = name(words.next()?)?;
    let [short, long] = [words.next()?.parse().ok()?, words.next()?.parse().ok()?];
    words
        .next()
        .is_none()
        .then_some(Line::Count(hook, short, long))
}
