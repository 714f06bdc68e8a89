// SPDX-License-Identifier: GPL-2.0-or-later
//! For how long a walk lets no interrupt come.

use model::IrqsOff;

use super::Walk;
use crate::calltree::CallTree;
use crate::trace::{Block, BlockEnd};

/// Most functions that say where interrupts were switched off.
const FUNCTIONS: usize = 4;

/// Whether interrupts may come, instruction by instruction.
#[derive(Debug, Default)]
pub(super) struct Irqs {
    executed: u64,
    off: Option<Off>,
    longest: Option<(u64, usize)>,
}

/// Why interrupts may not come.
#[derive(Debug, Clone, Copy)]
enum Off {
    /// The processor let none come when it entered the kernel.
    Entry,
    /// An instruction said so, after so many, in this node.
    Since(u64, usize),
}

impl Irqs {
    fn switch_on(&mut self, at: u64) {
        if let Some(Off::Since(since, node)) = self.off.take() {
            let length = at.saturating_sub(since);
            if self.longest.is_none_or(|(longest, _)| length > longest) {
                self.longest = Some((length, node));
            }
        }
    }

    /// The longest stretch from an instruction that switches interrupts off to one that switches them
    /// on. The way into the kernel, and out of it, is none: it is the same for all.
    pub(super) fn longest(self, tree: &CallTree) -> Option<IrqsOff> {
        let (instructions, node) = self.longest?;
        let callers = tree.callers(node).into_iter().rev();
        let names = std::iter::once(node)
            .chain(callers)
            .map(|at| tree.nodes()[at].function.clone())
            .filter(|name| !name.is_empty());
        Some(IrqsOff {
            instructions,
            functions: names.take(FUNCTIONS).collect(),
        })
    }
}

impl Walk<'_, '_> {
    /// A block without its first `before` instructions. The processor lets no interrupt come where a
    /// system call or an exception enters the kernel (`arch/x86/entry/entry_64.S`).
    pub(super) fn interruptible(&mut self, block: &Block, before: u32, enters: bool) {
        let node = self.node();
        let irqs = &mut self.irqs;
        let begin = irqs.executed;
        if enters {
            irqs.off.get_or_insert(Off::Entry);
        }
        let notes = block.notes.iter();
        for note in notes.filter(|note| u32::from(note.position) >= before) {
            // Of a hostile guest's a note may lie behind the block.
            let behind = (u32::from(note.position) + 1).min(block.instructions) - before;
            let at = begin + u64::from(behind);
            match note.irqs() {
                Some(true) => irqs.switch_on(at),
                Some(false) => {
                    irqs.off.get_or_insert(Off::Since(at, node));
                }
                None => {}
            }
        }
        irqs.executed = begin + u64::from(block.instructions - before);
        if matches!(
            block.end,
            BlockEnd::SystemReturn | BlockEnd::InterruptReturn
        ) {
            irqs.off = None;
        }
    }
}
