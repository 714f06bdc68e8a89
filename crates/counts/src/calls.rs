// SPDX-License-Identifier: GPL-2.0-or-later
//! What the plugin tells of whole programs (`plugin/tasks.h`): which tasks there were, and
//! the tree of all calls.

use kernels::bytes::{u32_at, u64_at};

/// Most nodes of one cell's trees.
pub(crate) const MAX_CALLS: usize = 16 << 20;
/// Most tasks of one cell's measured regions.
pub(crate) const MAX_TASKS: usize = 1 << 20;

const NUMBER_BITS: u32 = 28;

/// What a node of the tree is: above functions stand what took a task into the kernel,
/// and the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    /// A function, by number.
    Function(u32),
    /// A task that is measured, by number; its own instructions are those in user mode.
    Task(u32),
    /// A system call, by its function's number.
    SystemCall(u32),
    /// An exception in user mode, by its entry's number.
    Exception(u32),
    /// A new task's way to its first instruction in user mode.
    Begin,
    Unknown,
    /// All tasks that are not measured; its own instructions are those in user mode.
    Others,
    Interrupts,
}

impl What {
    fn of(word: u64) -> Option<What> {
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

/// A node of the tree of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    pub what: What,
    /// The node above: a smaller position. The root's is 0, itself.
    pub parent: u32,
    pub calls: u64,
    pub instructions: u64,
}

impl Call {
    /// The record of the node at position `at`; `None` if no plugin writes it.
    pub(crate) fn of(record: &[u8], at: usize) -> Option<Call> {
        let parent = u32_at(record, 4);
        (parent as usize <= at.saturating_sub(1)).then_some(Call {
            what: What::of(u64_at(record, 24))?,
            parent,
            calls: u64_at(record, 16),
            instructions: u64_at(record, 8),
        })
    }
}

/// A task that a measured one created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// In the order in which tasks first ran; the one that opened the window is 1.
    pub number: u32,
    pub creator: u32,
    /// Grows in the order in which tasks were created.
    pub serial: u64,
}

/// A program from its start to the last task's end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramCalls {
    /// The tree; the root comes first.
    pub calls: Vec<Call>,
    /// Its tasks but for the first.
    pub tasks: Vec<Task>,
    /// Iterations of REP instructions beyond each first, which count no instruction here but
    /// do for the guest's clock.
    pub repeats: u64,
    pub complete: bool,
}
