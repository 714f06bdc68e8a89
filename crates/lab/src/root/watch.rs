// SPDX-License-Identifier: GPL-2.0-or-later
//! Reports progress while a root is made, and cancels the work.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::LabError;

#[derive(Debug, Clone, Copy, Default)]
pub struct Making {
    pub what: &'static str,
    pub files: u64,
    pub bytes: u64,
}

pub struct Watch<'a> {
    cancel: &'a AtomicBool,
    report: &'a mut dyn FnMut(Making),
    done: Making,
    next: u64,
}

/// Bytes between reports; each file counts as [`FILE`] bytes.
const STEP: u64 = 8 << 20;
const FILE: u64 = 32 << 10;

impl<'a> Watch<'a> {
    pub fn new(cancel: &'a AtomicBool, report: &'a mut dyn FnMut(Making)) -> Watch<'a> {
        Watch {
            cancel,
            report,
            done: Making::default(),
            next: 0,
        }
    }

    pub(super) fn begin(&mut self, what: &'static str) {
        self.next = 0;
        self.done = Making {
            what,
            ..Making::default()
        };
    }

    pub(super) fn went_on(&mut self, files: u64, bytes: u64) -> Result<(), LabError> {
        self.done.files += files;
        self.done.bytes += bytes;
        if self.is_cancelled() {
            return Err(LabError::Interrupted);
        }
        let done = self.done.bytes + FILE * self.done.files;
        if done >= self.next {
            self.next = done + STEP;
            (self.report)(self.done);
        }
        Ok(())
    }

    pub(super) fn is_at(&mut self, files: u64, bytes: u64) -> Result<(), LabError> {
        self.went_on(
            files.saturating_sub(self.done.files),
            bytes.saturating_sub(self.done.bytes),
        )
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    pub(super) fn reader<R: Read>(&self, reader: R, limit: u64) -> Watched<'a, R> {
        Watched {
            reader,
            left: limit,
            limit,
            cancel: self.cancel,
        }
    }
}

/// A reader that fails after cancellation or above its limit.
pub(super) struct Watched<'a, R> {
    reader: R,
    left: u64,
    limit: u64,
    cancel: &'a AtomicBool,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(io::Error::other("interrupted"));
        }
        let count = self.reader.read(buffer)?;
        match self.left.checked_sub(count as u64) {
            Some(left) => self.left = left,
            None => {
                let limit = self.limit >> 20;
                let what = format!("it unpacks to more than {limit} MiB");
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
            }
        }
        Ok(count)
    }
}
