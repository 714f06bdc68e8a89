// SPDX-License-Identifier: GPL-2.0-or-later
//! For how long a walk lets no interrupt come.

use experiment::IrqsOff;

use super::Walk;
use crate::calltree::CallTree;
use crate::trace::{Block, BlockEnd};

/// Most functions that say where interrupts were switched off.
const FUNCTIONS: usize = 4;

/// Whether interrupts may come, instruction by instruction.
#[derive(Debug, Default)]
pub(super) struct Irqs {
    /// Instructions so far.
    executed: u64,
    /// Since when they may not, and the node that said so.
    off: Option<(u64, usize)>,
    longest: Option<(u64, usize)>,
}

impl Irqs {
    fn switch_off(&mut self, at: u64, node: usize) {
        self.off.get_or_insert((at, node));
    }

    fn switch_on(&mut self, at: u64) {
        if let Some((since, node)) = self.off.take() {
            let length = at.saturating_sub(since);
            if self.longest.is_none_or(|(longest, _)| length > longest) {
                self.longest = Some((length, node));
            }
        }
    }

    /// The longest stretch without interrupts, to the end of the window if they are off there.
    pub(super) fn longest(mut self, tree: &CallTree) -> Option<IrqsOff> {
        self.switch_on(self.executed);
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
        let begin = self.irqs.executed;
        if enters {
            self.irqs.switch_off(begin, node);
        }
        let notes = block.notes.iter();
        for note in notes.filter(|note| u32::from(note.position) >= before) {
            // Of a hostile guest's a note may lie behind the block.
            let behind = (u32::from(note.position) + 1).min(block.instructions) - before;
            match note.irqs() {
                Some(true) => self.irqs.switch_on(begin + u64::from(behind)),
                Some(false) => self.irqs.switch_off(begin + u64::from(behind), node),
                None => {}
            }
        }
        self.irqs.executed = begin + u64::from(block.instructions - before);
        if matches!(
            block.end,
            BlockEnd::SystemReturn | BlockEnd::InterruptReturn
        ) {
            self.irqs.switch_on(self.irqs.executed);
        }
    }
}
