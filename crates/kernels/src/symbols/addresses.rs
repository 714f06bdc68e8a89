// SPDX-License-Identifier: GPL-2.0-or-later
//! The addresses of kallsyms, in all formats since 4.6.
//!
//! The table is before the number of symbols (up to 6.4) or after the token index (later).
//! `kallsyms_sym_address()` in `kernel/kallsyms.c` reads it:
//!
//! - 32-bit offsets and then a 64-bit base; with `CONFIG_KALLSYMS_ABSOLUTE_PERCPU` (SMP on some
//!   architectures up to 6.14) a negative one is `base - 1 - offset`, any other a per-CPU
//!   variable's absolute value; else `base + offset`;
//! - 32-bit distances from their own places (from 7.0).
//!
//! In the right format, addresses never fall and match symbols whose places are in the ELF file.

use super::kallsyms::Names;
use super::table::Builder;
use crate::elf::{Segment, u32_at, u64_at};

#[derive(Debug, Clone, Copy)]
enum Encoding {
    PlaceRelative { place: u64 },
    BaseRelative { base: u64 },
    BaseRelativeOrPercpu { base: u64 },
}

impl Encoding {
    fn decode(self, bytes: &[u8], start: usize, number: usize) -> Option<Vec<u64>> {
        let len = number.checked_mul(4)?;
        let table = bytes.get(start..start.checked_add(len)?)?;
        let mut addresses = Vec::with_capacity(number);
        let mut last = 0;
        for at in (0..len).step_by(4) {
            let address = match self {
                Self::PlaceRelative { place } => place
                    .wrapping_add(at as u64)
                    .wrapping_add_signed(i64::from(signed_at(table, at)?)),
                Self::BaseRelative { base } => base.wrapping_add(u64::from(u32_at(table, at)?)),
                Self::BaseRelativeOrPercpu { base } => match i64::from(signed_at(table, at)?) {
                    percpu @ 0.. => percpu.unsigned_abs(),
                    offset => base.wrapping_add_signed(-1 - offset),
                },
            };
            if address < last {
                return None;
            }
            last = address;
            addresses.push(address);
        }
        Some(addresses)
    }
}

fn signed_at(bytes: &[u8], at: usize) -> Option<i32> {
    u32_at(bytes, at).map(u32::cast_signed)
}

/// Addresses of the symbols in `builder`, whose names are at `names` in `segment`; the token tables
/// end at `tokens_end`.
pub(super) fn find(
    segments: &[Segment<'_>],
    segment: &Segment<'_>,
    names: &Names,
    tokens_end: usize,
    builder: &Builder,
) -> Option<Vec<u64>> {
    let anchors = anchors(builder)?;
    let text_base = builder.arch.code.text_base;
    let hold = |addresses: &Vec<u64>| {
        anchors.iter().all(|&(at, fits)| {
            addresses.get(at).is_none_or(|&address| {
                address >= text_base && segments.iter().any(|segment| fits(segment, address))
            })
        })
    };
    candidates(segment, names, tokens_end, text_base)
        .into_iter()
        .find_map(|(start, encoding)| {
            let addresses = encoding.decode(segment.bytes, start, names.number);
            addresses.filter(hold)
        })
}

fn candidates(
    segment: &Segment<'_>,
    names: &Names,
    tokens_end: usize,
    text_base: u64,
) -> Vec<(usize, Encoding)> {
    let bytes = segment.bytes;
    let offsets_len = 4 * names.number;
    let mut candidates = Vec::new();
    let mut offsets = |start: usize, base_at: usize| {
        if let Some(base) = u64_at(bytes, base_at).filter(|&base| base >= text_base) {
            candidates.push((start, Encoding::BaseRelativeOrPercpu { base }));
            candidates.push((start, Encoding::BaseRelative { base }));
        }
    };

    // After the token index, the base is aligned to 8 or 4.
    let after = tokens_end + offsets_len;
    offsets(tokens_end, after.next_multiple_of(8));
    offsets(tokens_end, after);
    // Before the number of symbols, it is aligned to 8.
    if let Some(base_at) = names.number_at.checked_sub(8)
        && let Some(end) = base_at.checked_sub(offsets_len)
    {
        offsets(end & !7, base_at);
        offsets(end, base_at);
    }

    let place = segment.address.wrapping_add(tokens_end as u64);
    candidates.push((tokens_end, Encoding::PlaceRelative { place }));
    candidates
}

type Fits = fn(&Segment<'_>, u64) -> bool;

fn anchors(builder: &Builder) -> Option<Vec<(usize, Fits)>> {
    let is_code: Fits = |segment, at| segment.executable && segment.contains(at);
    let names = &builder.arch.code;
    let places: [(&str, Fits); 4] = [
        (names.syscall_entry, is_code),
        ("_stext", is_code),
        // Startup code, which is not always in a segment marked as executable.
        (names.start, |segment, at| segment.contains(at)),
        // The start of a segment (`vmlinux.lds.S`).
        ("_text", |segment, at| segment.address == at),
    ];
    let found = places.map(|(name, fits)| {
        let positions = builder.positions(name).into_iter();
        positions.map(|at| (at, fits)).collect::<Vec<_>>()
    });
    // The system call entry and one of the others.
    let is_enough =
        !found[0].is_empty() && found[1..].iter().any(|positions| !positions.is_empty());
    is_enough.then(|| found.concat())
}
