// SPDX-License-Identifier: GPL-2.0-or-later
//! Measures how long interrupts are off.

use model::IrqsOff;

use super::Walk;
use crate::calltree::CallTree;
use crate::trace::{Block, BlockEnd};

const FUNCTIONS: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Irqs {
    executed: u64,
    off: Option<Off>,
    longest: Option<(u64, usize)>,
}

#[derive(Debug, Clone, Copy)]
enum Off {
    /// Switched off by the processor at kernel entry.
    Entry,
    /// Switched off by an instruction: the number of instructions before it, and the node.
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

    /// The longest stretch between instructions that switch interrupts off and on. Kernel entry and
    /// exit do not count, because they are always the same.
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
    /// A block without its first `before` instructions. The processor disables interrupts at the
    /// entry of system calls and exceptions (`arch/x86/entry/entry_64.S`).
    pub(super) fn interruptible(&mut self, block: &Block, before: u32, enters: bool) {
        let node = self.node();
        let irqs = &mut self.irqs;
        let begin = irqs.executed;
        if enters {
            irqs.off.get_or_insert(Off::Entry);
        }
        let notes = block.notes.iter();
        for note in notes.filter(|note| u32::from(note.position) >= before) {
            // A hostile guest's note may be after the block.
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
