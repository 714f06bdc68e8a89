// SPDX-License-Identifier: GPL-2.0-or-later
//! The addresses of kallsyms, in every form that kernels have stored them.
//!
//! The table lies before the number of symbols (up to 6.4) or after the token
//! index (later). `kallsyms_sym_address()` in `kernel/kallsyms.c` reads it:
//!
//! - 64-bit addresses, without `CONFIG_KALLSYMS_BASE_RELATIVE` (before 4.6,
//!   optional up to 6.10);
//! - 32-bit offsets and a 64-bit base after them; with
//!   `CONFIG_KALLSYMS_ABSOLUTE_PERCPU` (SMP on some architectures up to 6.14) one below zero
//!   is `base - 1 - offset`, any other a per-CPU variable's absolute value;
//!   else `base + offset`;
//! - 32-bit distances from the place they are stored at (from 7.0).
//!
//! Which it is shows in the result: addresses never fall, and names whose
//! places are known from the ELF file are there.

use super::Image;
use super::kallsyms::Names;
use super::table::Builder;
use crate::elf::{Segment, u32_at, u64_at};

#[derive(Debug, Clone, Copy)]
enum Encoding {
    Address,
    PlaceRelative { place: u64 },
    BaseRelative { base: u64 },
    BaseRelativeOrPercpu { base: u64 },
}

impl Encoding {
    fn width(self) -> usize {
        match self {
            Self::Address => 8,
            _ => 4,
        }
    }

    fn decode(self, bytes: &[u8], start: usize, number: usize) -> Option<Vec<u64>> {
        let len = number.checked_mul(self.width())?;
        let table = bytes.get(start..start.checked_add(len)?)?;
        let mut addresses = Vec::with_capacity(number);
        let mut last = 0;
        for at in (0..len).step_by(self.width()) {
            let address = match self {
                Self::Address => u64_at(table, at)?,
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

/// The addresses of the symbols in `builder`, whose names are at `names`
/// before token tables that end at `tokens_end`.
pub(super) fn find(
    image: &Image<'_>,
    segment: &Segment<'_>,
    names: &Names,
    tokens_end: usize,
    builder: &Builder,
) -> Option<Vec<u64>> {
    let anchors = Anchors::of(builder)?;
    candidates(segment, names, tokens_end, builder.arch.code.text_base)
        .into_iter()
        .find_map(|(start, encoding)| {
            encoding
                .decode(segment.bytes, start, names.number)
                .filter(|addresses| anchors.hold(image, addresses))
        })
}

/// Where the addresses may be, and in which form.
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

    // After the token index: the base is aligned to 8, or to 4.
    let after = tokens_end + offsets_len;
    offsets(tokens_end, after.next_multiple_of(8));
    offsets(tokens_end, after);
    // Before the number of symbols, aligned to 8.
    if let Some(base_at) = names.number_at.checked_sub(8)
        && let Some(end) = base_at.checked_sub(offsets_len)
    {
        offsets(end & !7, base_at);
        offsets(end, base_at);
    }

    let place = segment.address.wrapping_add(tokens_end as u64);
    candidates.push((tokens_end, Encoding::PlaceRelative { place }));
    candidates.push((tokens_end, Encoding::Address));
    if let Some(start) = names.number_at.checked_sub(8 * names.number) {
        candidates.push((start, Encoding::Address));
    }
    candidates
}

/// Symbols of which the ELF file says where they are.
struct Anchors {
    /// None of them lies below this address.
    text_base: u64,
    /// Code: the entry of system calls and, if there, `_stext`.
    code: Vec<usize>,
    /// Where the kernel is started: code, but not always in a segment marked so.
    start: Vec<usize>,
    /// `_text`: the start of a segment (`vmlinux.lds.S`).
    text: Vec<usize>,
}

impl Anchors {
    fn of(builder: &Builder) -> Option<Self> {
        let names = &builder.arch.code;
        let mut code = builder.positions(names.syscall_entry);
        let stext = builder.positions("_stext");
        let start = builder.positions(names.start);
        let text = builder.positions("_text");
        if code.is_empty() || (stext.is_empty() && start.is_empty() && text.is_empty()) {
            return None;
        }
        code.extend(stext);
        Some(Self {
            text_base: names.text_base,
            code,
            start,
            text,
        })
    }

    fn hold(&self, image: &Image<'_>, addresses: &[u64]) -> bool {
        let all = |positions: &[usize], check: &dyn Fn(u64) -> bool| {
            positions
                .iter()
                .filter_map(|&at| addresses.get(at))
                .all(|&address| address >= self.text_base && check(address))
        };
        all(&self.code, &|address| image.is_code(address))
            && all(&self.start, &|address| image.is_loaded(address))
            && all(&self.text, &|address| image.starts_segment(address))
    }
}
