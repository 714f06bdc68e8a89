// SPDX-License-Identifier: GPL-2.0-or-later
//! Shared by the programs and the reader: `bpf/layout.h` in Rust.

/// The key of calls outside system calls. Lower keys are system calls; the next is for all others.
pub const KEY_NONE: usize = 512;
pub const KEYS: usize = 514;
/// Entries of a hook's error table; entry 0 counts errors beyond it.
pub const ERRNOS: usize = 134;
pub const BUCKETS: usize = 40;

/// Indices of words in a row; its length with and without buckets.
pub const ROW_COUNT: usize = 0;
pub const ROW_ERRORS: usize = 1;
pub const ROW_SUM: usize = 2;
pub const ROW_MIN: usize = 3;
pub const ROW_MAX: usize = 4;
pub const ROW_BUCKETS: usize = 5;

/// Words of `struct whole`: calls, and the sum of their times.
pub const WHOLE_WORDS: usize = 2;

pub const SHARED_WORDS: usize = 7;

pub mod shared {
    pub const NEXT_ROW: usize = 0;
    pub const OWN_TGID: usize = 1;
    pub const ROWS_REFUSED: usize = 2;
}

/// Positions of the shared words that count lost calls, and the reasons.
pub const LOST: [(usize, &str); 4] = [
    (3, "by more concurrent tasks than there is room for"),
    (4, "nested too deeply"),
    (5, "that were not seen to return"),
    (6, "on a processor that did not exist at the start"),
];

pub const SHARED_TABLE: usize = 256;

pub fn bucket_of(ns: u64) -> usize {
    ((u64::BITS - ns.leading_zeros()) as usize).min(BUCKETS - 1)
}

/// A bucket's bounds in ns, the upper one exclusive: bucket 0 is for 0 ns, the last (from 2^38 ns,
/// 275 s, on) has no upper bound.
pub fn bounds_ns(bucket: usize) -> (u64, Option<u64>) {
    match bucket {
        0 => (0, Some(1)),
        _ if bucket < BUCKETS - 1 => (1 << (bucket - 1), Some(1 << bucket)),
        _ => (1 << (BUCKETS - 2), None),
    }
}

pub mod patch {
    /// Offset of the hook's keys, in bytes.
    pub const INDEX: i32 = 0x6c73_0100;
    pub const ERRORS: i32 = 0x6c73_0200;
    /// The process that is never counted.
    pub const OWN_TGID: i32 = 0x6c73_0300;
    /// Length of one processor's rows, in words.
    pub const STRIDE: i32 = 0x6c73_0400;
    /// Position of a processor's last row, in words.
    pub const LAST: i32 = 0x6c73_0500;
    /// Position of the last row of all, in words.
    pub const END: i32 = 0x6c73_0600;
    pub const ROW: i32 = 0x6c73_0700;
    /// The hook's row for other system calls, in words.
    pub const REST: i32 = 0x6c73_0800;
    /// ns that programs add to a call's time.
    pub const WINDOW: i32 = 0x6c73_0900;
    /// ns that programs add outside a call's time.
    pub const OUTSIDE: i32 = 0x6c73_0a00;
    /// Whether the call's time belongs to the hook around it.
    pub const PART: i32 = 0x6c73_0b00;
    /// In words.
    pub const WHOLES: i32 = 0x6c73_0c00;
    pub const MARK: i32 = 0x6c73;
    pub const RESULT: i16 = 0x7ff0;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Number of probes, including those for the calibration.
    pub probes: usize,
    pub cpus: usize,
    pub rows: usize,
    pub row_words: usize,
    /// Bytes of a processor's rows, a multiple of the page size.
    pub stride: usize,
    pub targets: bool,
    pub system_calls: bool,
}

const PAGE: usize = 4096;
const STACKS_BYTES: usize = 4096 * 256;
const TARGETS_BYTES: usize = (1 << 22) / 8;
/// One time per possible task.
const BEGUN_BYTES: usize = (1 << 22) * 8;
/// Limit of offsets into a map's value (`BPF_MAX_VAR_OFF`).
const VALUE_MAX: usize = 1 << 29;

impl Layout {
    /// `pairs`: rows for pairs of a function and a system call. None if a map would be too large.
    pub fn new(
        probes: usize,
        cpus: usize,
        pairs: usize,
        row_words: usize,
        targets: bool,
    ) -> Option<Layout> {
        let rows = probes.checked_add(pairs)?.checked_add(1)?;
        let stride = rows
            .checked_mul(row_words)?
            .checked_mul(8)?
            .checked_next_multiple_of(PAGE)?;
        let layout = Layout {
            probes,
            cpus,
            rows,
            row_words,
            stride,
            targets,
            system_calls: false,
        };
        let fits = stride.checked_mul(cpus)? < VALUE_MAX
            && probes < VALUE_MAX / (KEYS * 4)
            && probes > 0
            && cpus > 0;
        fits.then_some(layout)
    }

    pub fn last_row(&self) -> usize {
        (self.cpus - 1) * (self.stride / 8) + (self.rows - 1) * self.row_words
    }

    pub fn last_whole(&self) -> usize {
        (self.cpus * KEYS - 1) * WHOLE_WORDS
    }

    /// Maps whose size depends on the layout, and their bytes; a page for one that is not used.
    pub fn maps(&self) -> [(&'static str, usize); 6] {
        let used = |is_used: bool, bytes: usize| if is_used { bytes } else { PAGE };
        let wholes = self.cpus * KEYS * WHOLE_WORDS * 8;
        [
            (".bss.rows", self.stride * self.cpus),
            (".bss.row_at", self.probes * KEYS * 4),
            (".bss.errors", self.probes * ERRNOS * 8),
            (".bss.targets", used(self.targets, TARGETS_BYTES)),
            (".bss.begun", used(self.system_calls, BEGUN_BYTES)),
            (".bss.wholes", used(self.system_calls, wholes)),
        ]
    }

    pub fn memory_bytes(&self) -> usize {
        let maps = self.maps().into_iter().map(|(_, bytes)| bytes);
        let all = maps.chain([STACKS_BYTES, SHARED_WORDS * 8 + SHARED_TABLE]);
        all.map(|bytes| bytes.next_multiple_of(PAGE)).sum()
    }
}
