// SPDX-License-Identifier: GPL-2.0-or-later
//! Traces: the blocks executed in a measured region, in order (`plugin/trace.h`).

use model::Events;

pub const MAX_BLOCKS: usize = 4 << 20;
/// Limit for one measurement: 256 MiB.
pub const MAX_ELEMENTS: usize = 64 << 20;

/// How a block ends (`enum insn_kind` in `plugin/decode.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockEnd {
    /// The block ends without a branch, or with a jump.
    Jump,
    Call,
    Return,
    InterruptReturn,
    SystemReturn,
}

impl BlockEnd {
    pub(crate) fn from_kind(kind: u8) -> BlockEnd {
        match kind {
            3 => BlockEnd::Call,
            4 => BlockEnd::Return,
            5 => BlockEnd::InterruptReturn,
            7 => BlockEnd::SystemReturn,
            _ => BlockEnd::Jump,
        }
    }
}

/// A sequence of instructions of which only the last may be a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub first: u64,
    /// Address after its last instruction, to which a call at its end returns.
    pub next: u64,
    pub instructions: u32,
    pub end: BlockEnd,
    /// Entry of a synchronous exception.
    pub exception: bool,
    pub notes: Vec<Note>,
}

/// An extra effect of an instruction (`struct note` in `plugin/block.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Note {
    /// The instruction's position in its block, from 0.
    pub position: u16,
    what: u16,
}

impl Note {
    pub(crate) fn new(position: u16, what: u16) -> Note {
        Note { position, what }
    }

    /// Whether interrupts are on after the instruction, if it changes that.
    #[must_use]
    pub fn irqs(self) -> Option<bool> {
        match self.what >> 5 & 3 {
            1 => Some(false),
            2 => Some(true),
            _ => None,
        }
    }

    #[must_use]
    pub fn events(self) -> Events {
        let bit = |bit: u16| u64::from(self.what >> bit & 1);
        Events {
            serialising: bit(0),
            tlb_flushes: bit(1),
            clock_reads: bit(2),
            indirect_branches: bit(3),
            rep_instructions: bit(4),
            ..Events::default()
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Cache line of the region, from 0.
    pub line: u32,
    pub store: bool,
    /// Accessed by a REP instruction, which reports each line once.
    pub rep: bool,
    /// The line belongs to the task's stack or to the processor's own data.
    pub own: bool,
    /// Accessed by an atomic instruction, of which only the stores are reported.
    pub atomic: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    pub window: usize,
    pub elements: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Block {
        block: u32,
        /// Instructions that were counted with an earlier block.
        before: u32,
    },
    /// The next block is a system call's entry.
    SystemCall,
    Access(Access),
    /// The block transfers the word with this number.
    Transfer(u32),
    /// Bytes stored or compared by the iterations of its REP instruction.
    RepBytes(u32),
    /// From here on, another task runs. Tasks are numbered per region.
    Switch {
        from: u32,
        to: u32,
    },
}

pub fn steps(elements: &[u32]) -> impl Iterator<Item = Step> + '_ {
    let mut before = 0;
    elements.iter().filter_map(move |&element| {
        let step = match element >> 29 {
            0..=3 => Step::Block {
                block: element,
                before: std::mem::take(&mut before),
            },
            4 => {
                before = element & 0x1fff_ffff;
                return None;
            }
            5 if element & 1 << 28 != 0 => Step::RepBytes((element & 0x0fff_ffff) / 2),
            5 => Step::Access(Access {
                line: element & 0x00ff_ffff,
                store: element & 1 << 27 != 0,
                rep: element & 1 << 26 != 0,
                own: element & 1 << 25 != 0,
                atomic: element & 1 << 24 != 0,
            }),
            6 if element & 1 << 28 != 0 => Step::Transfer(element & 0x0fff_ffff),
            6 => Step::SystemCall,
            _ => Step::Switch {
                from: element >> 12 & 0xfff,
                to: element & 0xfff,
            },
        };
        Some(step)
    })
}
