// SPDX-License-Identifier: GPL-2.0-or-later
//! Records about whole programs (`plugin/tasks.h`): tasks and the tree of all calls.

use kernels::bytes::{u32_at, u64_at};

/// Per measurement.
pub(crate) const MAX_CALLS: usize = 16 << 20;
/// Per measurement.
pub(crate) const MAX_TASKS: usize = 1 << 20;

const NUMBER_BITS: u32 = 28;

/// A node is a function, or above functions: the kernel entry, and above that the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    /// A function, by its number.
    Function(u32),
    /// A measured task, by number; its own instructions are those in user mode.
    Task(u32),
    /// A system call, by its function's number.
    SystemCall(u32),
    /// User-mode exception, by its entry's number.
    Exception(u32),
    /// A new task before its first instruction in user mode.
    Begin,
    Unknown,
    /// All tasks that are not measured; its own instructions are those in user mode.
    Others,
    Interrupts,
}

impl What {
    fn from_word(word: u64) -> Option<What> {
        let word = u32::try_from(word).ok()?;
        let number = word & ((1 << NUMBER_BITS) - 1);
        Some(match word >> NUMBER_BITS {
            0 => What::Function(number),
            1 => What::Task(number),
            2 => What::SystemCall(number),
            3 => What::Exception(number),
            4 => What::Begin,
            5 => What::Unknown,
            6 => What::Others,
            7 => What::Interrupts,
            _ => return None,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    pub what: What,
    /// Index of the caller, which is smaller than the call's own. The root is its own parent.
    pub parent: u32,
    pub calls: u64,
    pub instructions: u64,
}

impl Call {
    /// `at` is the node's index; `None` for an invalid record.
    pub(crate) fn from_record(record: &[u8], at: usize) -> Option<Call> {
        let parent = u32_at(record, 4);
        (parent as usize <= at.saturating_sub(1)).then_some(Call {
            what: What::from_word(u64_at(record, 24))?,
            parent,
            calls: u64_at(record, 16),
            instructions: u64_at(record, 8),
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// In order of first execution; the one that opened the region is 1.
    pub number: u32,
    pub creator: u32,
    /// Grows in the order in which tasks were created.
    pub serial: u64,
}

/// From its start to the last task's end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramCalls {
    /// The root comes first.
    pub calls: Vec<Call>,
    /// Except the first.
    pub tasks: Vec<Task>,
    /// Iterations of REP instructions after each first one: not counted as instructions here, but
    /// by the guest's clock.
    pub repeats: u64,
    pub complete: bool,
}
