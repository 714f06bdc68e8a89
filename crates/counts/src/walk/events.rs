// SPDX-License-Identifier: GPL-2.0-or-later
//! Events of instructions in a walk, in addition to their number.

use std::collections::HashSet;

use model::Events;

use super::{Location, Walk};
use crate::trace::{Access, Block, BlockEnd};

/// In bytes, as in [`Events`].
const LINE_BYTES: u64 = 64;

#[derive(Default)]
pub(super) struct Touched {
    instructions: HashSet<u64>,
    data: Vec<Line>,
}

#[derive(Clone, Copy, Default)]
struct Line {
    read: bool,
    written: bool,
    /// Accessed by an atomic instruction, and not private to the task or processor.
    shared: bool,
}

impl Touched {
    /// Newly touched instruction lines.
    fn block(&mut self, block: &Block) -> u64 {
        let lines = block.first / LINE_BYTES..block.next.div_ceil(LINE_BYTES);
        // A hostile guest's block could have more lines than instructions.
        let lines = lines.take(block.instructions as usize);
        lines
            .map(|line| u64::from(self.instructions.insert(line)))
            .sum()
    }

    pub(super) fn access(&mut self, access: Access) -> Events {
        let line = access.line as usize;
        if line >= self.data.len() {
            self.data.resize(line + 1, Line::default());
        }
        let line = &mut self.data[line];
        let shared = access.atomic && !access.own;
        let first = |seen: &mut bool, now: bool| u64::from(now && !std::mem::replace(seen, true));
        Events {
            loads: u64::from(!access.store && !access.rep),
            stores: u64::from(access.store && !access.rep),
            atomics: u64::from(access.atomic),
            shared_atomics: u64::from(shared),
            lines_read: first(&mut line.read, !access.store),
            lines_written: first(&mut line.written, access.store),
            shared_lines: first(&mut line.shared, shared),
            ..Events::default()
        }
    }
}

impl Walk<'_, '_> {
    pub(super) fn did(&mut self, events: Events) {
        let node = self.node();
        if let Some(node) = self.tree.node_mut(node) {
            node.did(events);
        }
    }

    /// `next` shows how the previous block was left, if it was complete.
    pub(super) fn leave(&mut self, next: &Block, goes_on: bool) {
        let ends = matches!(
            self.left,
            BlockEnd::Jump | BlockEnd::Call | BlockEnd::Return
        );
        if ends && !goes_on && !next.exception && self.behind != 0 {
            self.did(Events {
                taken_branches: u64::from(next.first != self.behind),
                returns: u64::from(self.left == BlockEnd::Return),
                ..Events::default()
            });
        }
    }

    /// Begins a block without its first `before` instructions.
    pub(super) fn begin(&mut self, block: &Block, location: Location, before: u32) {
        let mut events = Events {
            instruction_lines: self.touched.block(block),
            ..Events::default()
        };
        let notes = block.notes.iter();
        for note in notes.filter(|note| u32::from(note.position) >= before) {
            events += note.events();
        }
        // The thunk replaces an indirect branch, and counts as one branch.
        if location.indirect {
            events.indirect_branches = u64::from(location.entry && before == 0);
        }
        self.did(events);
    }
}
