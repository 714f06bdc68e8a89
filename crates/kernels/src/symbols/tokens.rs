// SPDX-License-Identifier: GPL-2.0-or-later
//! The 256 tokens that compress kallsyms names.
//!
//! `write_src()` of `scripts/kallsyms.c` emits `kallsyms_token_table`, 256 NUL-terminated strings,
//! then `kallsyms_token_index`, their 16-bit offsets, each aligned to 8 bytes (4 in newer kernels).
//! Nothing else in a kernel looks like this pair of tables.

use crate::elf::u16_at;

const TOKENS: usize = 256;
pub(super) const INDEX_LEN: usize = TOKENS * 2;
/// In bytes; real ones have about 1,000.
const MAX_TABLE: usize = 16 << 10;
/// In bytes, between the two tables.
const MAX_PADDING: usize = 15;

#[derive(Debug)]
pub(super) struct Tokens<'a> {
    tokens: Vec<&'a [u8]>,
    pub start: usize,
    pub end: usize,
}

impl<'a> Tokens<'a> {
    pub fn get(&self, code: u8) -> &'a [u8] {
        self.tokens[usize::from(code)]
    }

    fn before_index(bytes: &'a [u8], index_at: usize) -> Option<Self> {
        let mut index = [0usize; TOKENS];
        for (i, slot) in index.iter_mut().enumerate() {
            *slot = usize::from(u16_at(bytes, index_at + 2 * i)?);
        }
        if index[TOKENS - 1] > MAX_TABLE {
            return None;
        }
        let lowest = index_at.saturating_sub(MAX_PADDING + TOKENS + 1);
        let last_text = lowest + bytes[lowest..index_at].iter().rposition(|&b| b != 0)?;

        // The last text is the last token, or, if the last ones are empty, the last one whose
        // distance to its successor leaves room for a text.
        let start_of_last = bytes[..last_text].iter().rev().take(MAX_TABLE);
        let text_len = 1 + start_of_last.take_while(|&&b| b != 0).count();
        let full = (last_text + 1 - text_len).checked_sub(index[TOKENS - 1]);
        let successor = (1..TOKENS).rev().find(|&i| index[i] - index[i - 1] > 1)?;
        let short = (last_text + 2).checked_sub(index[successor]);
        [full, short]
            .into_iter()
            .flatten()
            .find_map(|start| Self::check(bytes, start, &index, index_at))
    }

    fn check(bytes: &'a [u8], start: usize, index: &[usize; TOKENS], at: usize) -> Option<Self> {
        let table = bytes.get(start..at)?;
        if index[1..].iter().any(|&i| table.get(i - 1) != Some(&0)) {
            return None;
        }
        let mut tokens = Vec::with_capacity(TOKENS);
        for (i, &from) in index.iter().enumerate() {
            let text = match index.get(i + 1) {
                Some(&next) => table.get(from..next - 1)?,
                None => {
                    let rest = table.get(from..)?;
                    let len = rest.iter().position(|&b| b == 0)?;
                    let padding = &rest[len + 1..];
                    if padding.len() > MAX_PADDING || padding.iter().any(|&b| b != 0) {
                        return None;
                    }
                    &rest[..len]
                }
            };
            if !text.iter().all(u8::is_ascii_graphic) {
                return None;
            }
            tokens.push(text);
        }
        Some(Self {
            tokens,
            start,
            end: at + INDEX_LEN,
        })
    }
}

/// All token tables in `bytes`. Linear in the length: the only zero in an index is its first
/// number, so candidates do not overlap.
pub(super) fn find(bytes: &[u8]) -> impl Iterator<Item = Tokens<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at + INDEX_LEN <= bytes.len() {
            let rising = rising_from_zero(&bytes[at..at + INDEX_LEN]);
            let here = at;
            at += if rising < 2 { 4 } else { (2 * rising) & !3 };
            if rising == TOKENS
                && let Some(tokens) = Tokens::before_index(bytes, here)
            {
                return Some(tokens);
            }
        }
        None
    })
}

fn rising_from_zero(bytes: &[u8]) -> usize {
    if bytes[..2] != [0, 0] {
        return 0;
    }
    let mut numbers = bytes
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    let Some(mut last) = numbers.next() else {
        return 0;
    };
    1 + numbers
        .take_while(|&number| {
            let rises = number > last;
            last = number;
            rises
        })
        .count()
}
