// SPDX-License-Identifier: GPL-2.0-or-later
//! Traces: the blocks of instructions that a window executed, in order, as the plugin
//! writes them (`plugin/trace.h`).

use model::Events;

/// Most blocks that one boot may name.
pub const MAX_BLOCKS: usize = 4 << 20;
/// Most elements of one cell's traces: 256 MiB.
pub const MAX_ELEMENTS: usize = 64 << 20;

/// How a block ends (`enum insn_kind` in `plugin/decode.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockEnd {
    /// In the midst of a function, or with a jump.
    Jump,
    Call,
    Return,
    /// With the return from an interrupt or exception.
    InterruptReturn,
    SystemReturn,
}

impl BlockEnd {
    pub(crate) fn of(kind: u8) -> BlockEnd {
        match kind {
            3 => BlockEnd::Call,
            4 => BlockEnd::Return,
            5 => BlockEnd::InterruptReturn,
            7 => BlockEnd::SystemReturn,
            _ => BlockEnd::Jump,
        }
    }
}

/// A block of instructions without a branch in its midst.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Address of its first instruction.
    pub first: u64,
    /// Address after its last instruction: a call there returns to it.
    pub next: u64,
    pub instructions: u32,
    pub end: BlockEnd,
    /// A synchronous exception enters the kernel here.
    pub exception: bool,
    /// Which of its instructions do more than their number says, if that was noted.
    pub notes: Vec<Note>,
}

/// What an instruction of a block does besides (`struct note` in `plugin/block.h`).
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

    /// Whether interrupts are on or off behind it, if it says so.
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
    /// Which of the window's cache lines, from 0.
    pub line: u32,
    pub store: bool,
    /// By a REP instruction, which tells each line once.
    pub rep: bool,
    /// It is the task's stack or the processor's own data.
    pub own: bool,
    /// By an atomic instruction: of these the stores are told.
    pub atomic: bool,
}

/// The first clean window of a cell that took some path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// Position of the window in its cell.
    pub window: usize,
    /// What happened, in the plugin's encoding: see [`steps`].
    pub elements: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Block {
        block: u32,
        /// So many of its instructions had been counted with an earlier block.
        before: u32,
    },
    /// The block that follows is where a system call enters.
    SystemCall,
    Access(Access),
    /// The iterations of its REP instruction stored, or compared, so many bytes.
    RepBytes(u32),
    /// Another task runs from here on. Tasks are numbered by window.
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
            6 => Step::SystemCall,
            _ => Step::Switch {
                from: element >> 12 & 0xfff,
                to: element & 0xfff,
            },
        };
        Some(step)
    })
}
