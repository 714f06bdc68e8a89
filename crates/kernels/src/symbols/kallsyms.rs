// SPDX-License-Identifier: GPL-2.0-or-later
//! Finds and decodes the tables of `/proc/kallsyms` in a kernel image.
//!
//! `write_src()` of `scripts/kallsyms.c` puts them into `.rodata`, without symbols in a stripped
//! image, in an order that changed:
//!
//! - up to 6.4: addresses, number of symbols, names, markers, (from 6.2) the order by name, tokens,
//!   token index;
//! - later: number of symbols, names, markers, tokens, token index, addresses, the order by name.
//!
//! A name's entry is a length in one byte, from 6.1 on in two as ULEB128 if above 127, then that
//! many token codes, which spell the type letter and the name (`kallsyms_expand_symbol()` in
//! `kernel/kallsyms.c`). A marker is the offset of every 256th entry, 32 bits wide since 5.0.
//! So markers are always before the tokens, names right before the markers, and the number right
//! before the names. The tables are checked against each other; the version is not used.

use crate::arch::Arch;

use super::addresses;
use super::table::{Builder, is_kind};
use super::tokens::{self, Tokens};
use super::{MAX_NAME_LEN, MAX_SYMBOLS};
use crate::elf::{File, Segment, u32_at};

/// Symbols from one marker to the next.
const MARKER_EVERY: usize = 256;
const MARKER_LEN: usize = 4;
/// All kernels have at least 1,800 symbols.
const MIN_MARKERS: usize = 8;
/// The smallest and largest number of bytes of names between two markers. Each entry has a length
/// and at least one code, and at most as many codes as a name may have letters.
const MIN_STEP: u64 = 2 * MARKER_EVERY as u64;
const MAX_STEP: u64 = (MAX_NAME_LEN as u64 + 3) * MARKER_EVERY as u64;
/// In bytes. The order by name, with 3 or 4 bytes per symbol, can be between markers and tokens.
const MAX_ORDER_LEN: usize = 4 * MAX_SYMBOLS;
/// These limit the work on hostile images.
const MAX_TOKEN_TABLES: usize = 16;
const MAX_MARKER_RUNS: usize = 16;
const MIN_WORK: usize = 16 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Missing {
    Tokens,
    Names,
    Addresses,
}

impl Missing {
    pub fn reason(self) -> &'static str {
        match self {
            Self::Tokens => "no token table",
            Self::Names => "no names that match the token table",
            Self::Addresses => "no address table that matches the names",
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Markers {
    start: usize,
    count: usize,
    last: usize,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Names {
    pub number_at: usize,
    start: usize,
    pub number: usize,
}

pub(super) fn read(file: &File<'_>, segments: &[Segment<'_>]) -> Result<Builder, Missing> {
    let mut missing = Missing::Tokens;
    // Valid images need less work than their length.
    let mut work_left = MIN_WORK.saturating_add(file.len().saturating_mul(4));
    for segment in segments {
        let mut search = Search {
            arch: file.arch,
            segments,
            segment,
            work_left: &mut work_left,
        };
        for tokens in tokens::find(segment.bytes).take(MAX_TOKEN_TABLES) {
            match search.table(&tokens) {
                Ok(builder) => return Ok(builder),
                Err(reached) => missing = missing.max(reached),
            }
        }
    }
    Err(missing)
}

struct Search<'a> {
    arch: &'static Arch,
    segments: &'a [Segment<'a>],
    segment: &'a Segment<'a>,
    work_left: &'a mut usize,
}

impl Search<'_> {
    fn table(&mut self, tokens: &Tokens<'_>) -> Result<Builder, Missing> {
        let mut missing = Missing::Names;
        for markers in marker_runs(self.segment.bytes, tokens.start) {
            for names in name_tables(self.segment.bytes, &markers) {
                if !self.fits(&names, &markers) {
                    continue;
                }
                let Some(mut builder) = self.decode(&names, tokens) else {
                    continue;
                };
                missing = Missing::Addresses;
                let (all, own) = (self.segments, self.segment);
                if let Some(found) = addresses::find(all, own, &names, tokens.end, &builder) {
                    builder.set_addresses(&found);
                    return Ok(builder);
                }
            }
        }
        Err(missing)
    }

    /// Whether the entries from `names` on match every marker and end at the markers.
    fn fits(&mut self, names: &Names, markers: &Markers) -> bool {
        let mut at = names.start;
        for i in 0..names.number {
            if i % MARKER_EVERY == 0 {
                let marker = u32_at(
                    self.segment.bytes,
                    markers.start + i / MARKER_EVERY * MARKER_LEN,
                );
                if marker.map(|marker| marker as usize) != Some(at - names.start) {
                    return false;
                }
            }
            let Some((codes_at, len)) = entry_at(self.segment.bytes, at) else {
                return false;
            };
            let end = codes_at + len;
            if end > markers.start || end - at > *self.work_left {
                return false;
            }
            *self.work_left -= end - at;
            at = end;
        }
        let padding = &self.segment.bytes[at..markers.start];
        padding.len() < 8 && padding.iter().all(|&byte| byte == 0)
    }

    fn decode(&mut self, names: &Names, tokens: &Tokens<'_>) -> Option<Builder> {
        let mut builder = Builder::new(self.arch);
        let mut at = names.start;
        let mut text = Vec::with_capacity(MAX_NAME_LEN + 1);
        for _ in 0..names.number {
            let (codes_at, len) = entry_at(self.segment.bytes, at)?;
            at = codes_at + len;
            text.clear();
            for &code in self.segment.bytes.get(codes_at..at)? {
                let token = tokens.get(code);
                if text.len() + token.len() > MAX_NAME_LEN + 1 {
                    return None;
                }
                text.extend_from_slice(token);
            }
            let (&kind, name) = text.split_first()?;
            if name.is_empty() || !is_kind(kind) {
                return None;
            }
            builder.push(0, kind, str::from_utf8(name).ok()?).ok()?;
            *self.work_left = self.work_left.checked_sub(len + text.len())?;
        }
        Some(builder)
    }
}

fn entry_at(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let low = usize::from(*bytes.get(at)?);
    let (codes_at, len) = if low < 0x80 {
        (at + 1, low)
    } else {
        let high = usize::from(*bytes.get(at + 1)?);
        (at + 2, (low & 0x7f) | (high << 7))
    };
    (len > 0 && len <= MAX_NAME_LEN + 1).then_some((codes_at, len))
}

/// Possible markers before `end`, nearest first: from zero on, rising by what 256 names take.
fn marker_runs(bytes: &[u8], end: usize) -> Vec<Markers> {
    let mut runs = Vec::new();
    let lowest = end.saturating_sub(MAX_ORDER_LEN);
    let (mut count, mut next, mut last) = (0usize, 0u64, 0u64);
    let mut at = end - end % MARKER_LEN;
    while at >= lowest + MARKER_LEN && runs.len() < MAX_MARKER_RUNS {
        at -= MARKER_LEN;
        let Some(value) = u32_at(bytes, at).map(u64::from) else {
            break;
        };
        let step = next.wrapping_sub(value);
        if count == 0 || !(MIN_STEP..=MAX_STEP).contains(&step) {
            (count, last) = (0, value);
        }
        count += 1;
        next = value;
        if value == 0 {
            if count >= MIN_MARKERS
                && let Ok(last) = usize::try_from(last)
            {
                runs.push(Markers {
                    start: at,
                    count,
                    last,
                });
            }
            count = 0;
        }
    }
    runs
}

/// Possible starts of the names for `markers`. They are as far before the markers as the last
/// marker plus up to 256 entries, and right after a number of symbols that needs that many markers.
fn name_tables(bytes: &[u8], markers: &Markers) -> impl Iterator<Item = Names> {
    let marker_count = markers.count;
    let latest = markers.start.saturating_sub(markers.last) & !3;
    let earliest = latest.saturating_sub(MAX_STEP as usize + 8).max(8);
    (earliest..=latest)
        .rev()
        .step_by(4)
        .filter_map(move |start| {
            let number_at = match u32_at(bytes, start - 4)? {
                0 => start - 8,
                _ => start - 4,
            };
            let number = u32_at(bytes, number_at)? as usize;
            (number <= MAX_SYMBOLS && number.div_ceil(MARKER_EVERY) == marker_count).then_some(
                Names {
                    number_at,
                    start,
                    number,
                },
            )
        })
}
