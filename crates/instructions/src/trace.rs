// SPDX-License-Identifier: GPL-2.0-or-later
//! Traces: the blocks of instructions that a window executed, in order, as the plugin
//! writes them (`plugin/trace.h`).

/// Most blocks that one boot may name.
pub const MAX_BLOCKS: usize = 4 << 20;
/// Most elements of one cell's traces: 128 MiB.
pub const MAX_ELEMENTS: usize = 32 << 20;

/// How a block ends (`enum insn_kind` in `plugin/decode.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockEnd {
    /// In the midst of a function, or with a jump.
    Jump,
    /// With a call.
    Call,
    /// With a return.
    Return,
    /// With the return from an interrupt or exception.
    InterruptReturn,
    /// With the return to user space.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Address of its first instruction.
    pub first: u64,
    /// Address after its last instruction: a call there returns to it.
    pub next: u64,
    /// Instructions in it.
    pub instructions: u32,
    /// How it ends.
    pub end: BlockEnd,
    /// A synchronous exception enters the kernel here.
    pub exception: bool,
}

/// The first clean window of a cell that took some path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// Position of the window in its cell.
    pub window: usize,
    /// What happened, in the plugin's encoding: see [`steps`].
    pub elements: Vec<u32>,
}

/// What happened next in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A block began.
    Block {
        /// Its number.
        block: u32,
        /// So many of its instructions had been counted with an earlier block.
        before: u32,
    },
    /// The block that follows is where a system call enters.
    SystemCall,
    /// Another task runs from here on. Tasks are numbered by window.
    Switch {
        /// The task that stopped.
        from: u32,
        /// The task that goes on.
        to: u32,
    },
}

/// The steps of a trace.
pub fn steps(elements: &[u32]) -> impl Iterator<Item = Step> + '_ {
    let mut before = 0;
    elements.iter().filter_map(move |&element| {
        let step = match element >> 29 {
            0..=3 => Step::Block {
                block: element,
                before: std::mem::take(&mut before),
            },
            4 | 5 => {
                before = element & 0x3fff_ffff;
                return None;
            }
            6 => Step::SystemCall,
            _ => Step::Switch {
                from: element >> 12 & 0xfff,
                to: element & 0xfff,
            },
        };
        Some(step)
    })
}
