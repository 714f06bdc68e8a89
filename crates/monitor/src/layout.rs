// SPDX-License-Identifier: GPL-2.0-or-later
//! What programs and reader share: `bpf/layout.h` in Rust.

/// The key of calls in no system call; below are the numbers of system calls, above it is
/// that of all others.
pub const KEY_NONE: usize = 512;
pub const KEYS: usize = 514;
/// Entries of a hook's table of errors; 0 stands for all beyond.
pub const ERRNOS: usize = 134;
pub const BUCKETS: usize = 40;

/// Words of a row, without and with its buckets.
pub const ROW_COUNT: usize = 0;
pub const ROW_ERRORS: usize = 1;
pub const ROW_SUM: usize = 2;
pub const ROW_MIN: usize = 3;
pub const ROW_MAX: usize = 4;
/// The first bucket.
pub const ROW_BUCKETS: usize = 5;

/// Words of `struct whole`: calls, and the sum of their times.
pub const WHOLE_WORDS: usize = 2;

/// Words of `struct shared` before its table.
pub const SHARED_WORDS: usize = 7;

/// Which word of `struct shared` is what.
pub mod shared {
    /// The first row that is free.
    pub const NEXT_ROW: usize = 0;
    /// This process, as the kernel numbers it.
    pub const OWN_TGID: usize = 1;
    /// Pairs of a function and a system call that got no row.
    pub const ROWS_REFUSED: usize = 2;
    /// Calls lost because too many tasks were in hooks at once.
    pub const NO_STACK: usize = 3;
    /// Calls lost because too many of one task were nested.
    pub const TOO_DEEP: usize = 4;
    /// Calls whose end was not seen.
    pub const ABANDONED: usize = 5;
    /// Calls on a processor that was not there at the start.
    pub const NO_PROCESSOR: usize = 6;
}

/// Entries of that table, of a byte each.
pub const SHARED_TABLE: usize = 256;

#[must_use]
pub fn bucket_of(ns: u64) -> usize {
    ((u64::BITS - ns.leading_zeros()) as usize).min(BUCKETS - 1)
}

pub mod patch {
    /// Where the hook's keys begin, in bytes.
    pub const INDEX: i32 = 0x6c73_0100;
    /// Where its errors begin, in bytes.
    pub const ERRORS: i32 = 0x6c73_0200;
    /// The process that is never counted.
    pub const OWN_TGID: i32 = 0x6c73_0300;
    /// Words of rows of each processor.
    pub const STRIDE: i32 = 0x6c73_0400;
    /// A processor's last row, in words.
    pub const LAST: i32 = 0x6c73_0500;
    /// The last row of all, in words.
    pub const END: i32 = 0x6c73_0600;
    pub const ROW: i32 = 0x6c73_0700;
    /// The hook's row for the rest, in words.
    pub const REST: i32 = 0x6c73_0800;
    /// ns that programs add to a call's time.
    pub const WINDOW: i32 = 0x6c73_0900;
    /// ns that they add around it.
    pub const OUTSIDE: i32 = 0x6c73_0a00;
    /// Whether the call's time belongs to the hook around it.
    pub const PART: i32 = 0x6c73_0b00;
    /// The last whole system call, in words.
    pub const WHOLES: i32 = 0x6c73_0c00;
    pub const MARK: i32 = 0x6c73;
    /// The offset of the load of the return value.
    pub const RESULT: i16 = 0x7ff0;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Functions that are probed, with those of the calibration.
    pub probes: usize,
    /// Processors that there can be.
    pub cpus: usize,
    /// Rows that each has: an empty one, one for each probe, and those by system call.
    pub rows: usize,
    pub row_words: usize,
    /// Bytes of a processor's rows, whole pages.
    pub stride: usize,
    pub targets: bool,
    /// Whether system calls are timed as a whole.
    pub system_calls: bool,
}

const PAGE: usize = 4096;
const STACKS_BYTES: usize = 4096 * 256;
const TARGETS_BYTES: usize = (1 << 22) / 8;
/// A time for each task that there can be.
const BEGUN_BYTES: usize = (1 << 22) * 8;
/// Offsets into a map's value that the verifier takes (`BPF_MAX_VAR_OFF`).
const VALUE_MAX: usize = 1 << 29;

impl Layout {
    /// For so many functions and processors, with `pairs` rows for pairs of a function
    /// and a system call. None if that is more than a map can hold.
    #[must_use]
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

    /// The last processor's last row, in words.
    #[must_use]
    pub fn last_row(&self) -> usize {
        (self.cpus - 1) * (self.stride / 8) + (self.rows - 1) * self.row_words
    }

    /// Bytes of the map of rows.
    #[must_use]
    pub fn rows_bytes(&self) -> usize {
        self.stride * self.cpus
    }

    /// Bytes of the map that finds rows.
    #[must_use]
    pub fn row_at_bytes(&self) -> usize {
        self.probes * KEYS * 4
    }

    /// Bytes of the map of errors.
    #[must_use]
    pub fn errors_bytes(&self) -> usize {
        self.probes * ERRNOS * 8
    }

    /// Bytes of the map of processes, if there is one.
    #[must_use]
    pub fn targets_bytes(&self) -> usize {
        match self.targets {
            true => TARGETS_BYTES,
            false => PAGE,
        }
    }

    /// Bytes of the map of when tasks' system calls began, if there is one.
    #[must_use]
    pub fn begun_bytes(&self) -> usize {
        if self.system_calls { BEGUN_BYTES } else { PAGE }
    }

    /// Bytes of the map of system calls as a whole, if there is one.
    #[must_use]
    pub fn wholes_bytes(&self) -> usize {
        let words = self.cpus * KEYS * WHOLE_WORDS;
        if self.system_calls { words * 8 } else { PAGE }
    }

    /// The last whole system call, in words.
    #[must_use]
    pub fn last_whole(&self) -> usize {
        (self.cpus * KEYS - 1) * WHOLE_WORDS
    }

    /// Bytes of kernel memory that the maps take, whatever happens.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        [
            self.rows_bytes(),
            self.row_at_bytes(),
            self.errors_bytes(),
            self.targets_bytes(),
            self.begun_bytes(),
            self.wholes_bytes(),
            STACKS_BYTES,
            SHARED_WORDS * 8 + SHARED_TABLE,
        ]
        .into_iter()
        .map(|bytes| bytes.next_multiple_of(PAGE))
        .sum()
    }
}
