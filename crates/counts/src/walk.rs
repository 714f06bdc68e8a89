// SPDX-License-Identifier: GPL-2.0-or-later
//! Turns a trace of blocks into a call tree, with a shadow stack.
//!
//! A block's last instruction shows how control leaves it, and the next block's address shows where
//! it went. A return belongs to the innermost matching call; frames above that call are dropped. A
//! jump to another function is a tail call: a call from the function that jumped, and both end with
//! the same return. Thunks belong to their callers.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use self::events::Touched;
use self::irqs::Irqs;
use crate::calltree::CallTree;
use crate::functions::{UNKNOWN, name_of};
use crate::trace::{Block, BlockEnd, Step, steps};
use crate::words::Word;
use kernels::btf::Types;
use kernels::symbols::SymbolTable;
use model::Events;

/// The kernel's own stack is 16 KiB.
const MAX_DEPTH: usize = 4096;
const MAX_NODES: usize = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WalkError {
    /// A block without a description.
    #[error("the trace names block {0}, which the plugin did not describe")]
    NoBlock(u32),
    #[error("the trace names word {0}, which the plugin did not describe")]
    NoWord(u32),
    /// More instructions of a block were counted before than it has.
    #[error("more instructions of block {0} were already counted than the block has")]
    CountedBefore(u32),
    #[error("calls nest deeper than {MAX_DEPTH}")]
    TooDeep,
    #[error("more than {MAX_NODES} different chains of calls")]
    TooWide,
}

/// `foo.cold` and `foo.cold.12` are parts of `foo`.
pub(crate) fn without_cold(name: &str) -> &str {
    match name.find(".cold") {
        Some(at) => &name[..at],
        None => name,
    }
}

mod events;
mod irqs;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Location {
    function: u32,
    thunk: bool,
    /// A thunk for an indirect branch.
    indirect: bool,
    /// Whether this is the function's start, or the target of direct calls after its landing pad.
    entry: bool,
}

#[derive(Debug)]
pub struct Functions<'a> {
    symbols: &'a SymbolTable,
    types: Option<Types<'a>>,
    names: Vec<String>,
    numbers: FxHashMap<String, u32>,
    /// Locations, by block number.
    locations: Vec<Option<Location>>,
    /// Numbers of words' names.
    words: Vec<u32>,
}

impl<'a> Functions<'a> {
    /// `symbols` at the guest's addresses. For the blocks of one measurement.
    pub fn new(symbols: &'a SymbolTable) -> Functions<'a> {
        Functions {
            symbols,
            types: None,
            names: Vec::new(),
            numbers: FxHashMap::default(),
            locations: Vec::new(),
            words: Vec::new(),
        }
    }

    /// Types that name the fields of transferred words.
    #[must_use]
    pub fn with_types(self, types: Option<Types<'a>>) -> Functions<'a> {
        Functions { types, ..self }
    }

    pub(crate) fn name_words(&mut self, words: &[Word]) {
        let frame = |word: &Word| word.frame(self.symbols, self.types.as_ref());
        let frames: Vec<String> = words.iter().map(frame).collect();
        self.words = frames.iter().map(|frame| self.number(frame)).collect();
    }

    fn number_of_word(&self, word: u32) -> Result<u32, WalkError> {
        let number = self.words.get(word as usize).copied();
        number.ok_or(WalkError::NoWord(word))
    }

    fn number(&mut self, name: &str) -> u32 {
        let next = self.names.len() as u32;
        let number = *self.numbers.entry(name.to_owned()).or_insert(next);
        if number == next {
            self.names.push(name.to_owned());
        }
        number
    }

    pub(crate) fn code(&self) -> &'static kernels::arch::Code {
        &self.symbols.arch().code
    }

    /// The location of the block with this number and first address.
    fn locate(&mut self, block: usize, address: u64) -> Location {
        if let Some(&Some(location)) = self.locations.get(block) {
            return location;
        }
        let code = self.code();
        let found = self.symbols.function_at(address);
        let name = found
            .as_ref()
            .map_or(UNKNOWN, |found| name_of(self.symbols, found));
        let entry = found.as_ref().is_some_and(|found| {
            found.name == without_cold(found.name)
                && address - found.range.start <= code.landing_pad
        });
        let location = Location {
            function: self.number(name),
            thunk: code.is_thunk(name),
            indirect: code
                .indirect_thunk_prefix
                .is_some_and(|prefix| name.starts_with(prefix)),
            entry,
        };
        if self.locations.len() <= block {
            self.locations.resize(block + 1, None);
        }
        self.locations[block] = Some(location);
        location
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entered {
    /// Entered from user space, or by a task that was already running.
    Top,
    /// Entered by a call that returns to this address.
    Call(u64),
    Tail,
    Exception,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    node: usize,
    entered: Entered,
    /// A call that has only reached a thunk so far, so that the node is still the caller's.
    unnamed: bool,
}

struct Walk<'w, 'a> {
    functions: &'w mut Functions<'a>,
    is_hook: &'w dyn Fn(&CallTree, usize) -> bool,
    tree: CallTree,
    children: FxHashMap<(usize, u32), usize>,
    function_of: Vec<Option<u32>>,
    /// By node.
    hooks: Vec<bool>,
    frames: Vec<Frame>,
    others: BTreeMap<u32, Vec<Frame>>,
    /// How control left the previous block; initially to user space.
    left: BlockEnd,
    /// The address after that block, to which a call returns.
    behind: u64,
    /// Whether that block was a thunk's, whose return can be a jump.
    thunk: bool,
    /// Memory accesses, if recorded.
    touched: Touched,
    irqs: Irqs,
}

/// What a call tree counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    Instructions,
    /// Also events: the trace has memory accesses.
    Events,
    /// Only transfers, in place of instructions.
    Transfers,
}

/// The call tree of a trace, with the plugin's count as total. `is_hook` selects nodes whose call
/// order is kept.
pub fn call_tree(
    trace: &[u32],
    blocks: &[Block],
    functions: &mut Functions<'_>,
    is_hook: &dyn Fn(&CallTree, usize) -> bool,
    counted: Counted,
) -> Result<CallTree, WalkError> {
    let events = counted == Counted::Events;
    let mut walk = Walk {
        functions,
        is_hook,
        tree: CallTree::default(),
        children: FxHashMap::default(),
        function_of: vec![None],
        hooks: vec![false],
        frames: Vec::new(),
        others: BTreeMap::new(),
        left: BlockEnd::SystemReturn,
        behind: 0,
        thunk: false,
        touched: Touched::default(),
        irqs: Irqs::default(),
    };
    for step in steps(trace) {
        match step {
            Step::SystemCall => walk.left = BlockEnd::SystemReturn,
            Step::Switch { from, to } => walk.switch(from, to),
            Step::Access(access) => {
                let events = walk.touched.access(access);
                walk.did(events);
            }
            Step::Transfer(word) => {
                if counted == Counted::Transfers {
                    walk.transfer(word)?;
                }
            }
            Step::RepBytes(bytes) => walk.did(Events {
                long_rep_instructions: (u64::from(bytes) >= Events::LONG_REP_BYTES).into(),
                rep_bytes: bytes.into(),
                ..Events::default()
            }),
            Step::Block { block, before } => {
                let number = block as usize;
                let known = blocks.get(number).ok_or(WalkError::NoBlock(block))?;
                let location = walk.functions.locate(number, known.first);
                let instructions = known
                    .instructions
                    .checked_sub(before)
                    .ok_or(WalkError::CountedBefore(block))?;
                let enters = known.exception || walk.left == BlockEnd::SystemReturn;
                if events {
                    walk.leave(known, before > 0);
                }
                walk.block(known, location, before > 0)?;
                if counted != Counted::Transfers {
                    walk.count(instructions);
                }
                if events {
                    walk.begin(known, location, before);
                    walk.interruptible(known, before, enters && before == 0);
                }
            }
        }
    }
    walk.tree.irqs_off = std::mem::take(&mut walk.irqs).longest(&walk.tree);
    Ok(walk.tree)
}

impl Walk<'_, '_> {
    fn node(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.node)
    }

    fn count(&mut self, instructions: u32) {
        let node = self.node();
        if let Some(node) = self.tree.node_mut(node) {
            node.instructions += u64::from(instructions);
        }
    }

    /// The word becomes a call of the function that caused the transfer.
    fn transfer(&mut self, word: u32) -> Result<(), WalkError> {
        let function = self.functions.number_of_word(word)?;
        let node = self.called(self.node(), function)?;
        if let Some(node) = self.tree.node_mut(node) {
            node.instructions += 1;
        }
        Ok(())
    }

    fn called(&mut self, parent: usize, function: u32) -> Result<usize, WalkError> {
        let node = match self.children.get(&(parent, function)) {
            Some(&node) => node,
            None => {
                if self.function_of.len() == MAX_NODES {
                    return Err(WalkError::TooWide);
                }
                let name = &self.functions.names[function as usize];
                let node = self.tree.add(parent, name);
                self.children.insert((parent, function), node);
                self.function_of.push(Some(function));
                self.hooks.push((self.is_hook)(&self.tree, node));
                node
            }
        };
        if let Some(counted) = self.tree.node_mut(node) {
            counted.calls += 1;
        }
        if self.hooks[node] {
            self.tree.sequence.push(node);
        }
        Ok(node)
    }

    fn push(&mut self, node: usize, entered: Entered, unnamed: bool) -> Result<(), WalkError> {
        if self.frames.len() == MAX_DEPTH {
            return Err(WalkError::TooDeep);
        }
        self.frames.push(Frame {
            node,
            entered,
            unnamed,
        });
        Ok(())
    }

    fn exception(&self) -> Option<usize> {
        self.frames
            .iter()
            .rposition(|frame| frame.entered == Entered::Exception)
    }

    fn block(&mut self, block: &Block, location: Location, goes_on: bool) -> Result<(), WalkError> {
        // A block cut off before its end did not leave: it continues here.
        let left = match self.left {
            BlockEnd::Call | BlockEnd::Return if goes_on => BlockEnd::Jump,
            left => left,
        };
        match left {
            BlockEnd::SystemReturn => self.frames.clear(),
            BlockEnd::InterruptReturn => self.frames.truncate(self.exception().unwrap_or(0)),
            _ => {}
        }
        if block.exception {
            let node = self.called(self.node(), location.function)?;
            self.push(node, Entered::Exception, false)?;
        } else {
            match left {
                BlockEnd::Call => self.call(location)?,
                BlockEnd::Return => self.return_to(block.first, location)?,
                _ => self.jump(location)?,
            }
        }
        (self.left, self.behind, self.thunk) = (block.end, block.next, location.thunk);
        Ok(())
    }

    fn call(&mut self, location: Location) -> Result<(), WalkError> {
        let caller = self.node();
        // Thunks, and code that fills the return stack buffer, call into their own code.
        let inside = self.function_of[caller] == Some(location.function) && !location.entry;
        let node = if location.thunk || inside {
            caller
        } else {
            self.called(caller, location.function)?
        };
        self.push(node, Entered::Call(self.behind), location.thunk)
    }

    fn return_to(&mut self, address: u64, location: Location) -> Result<(), WalkError> {
        let reachable = self.exception().map_or(0, |exception| exception + 1);
        let called = self.frames[reachable..]
            .iter()
            .rposition(|frame| frame.entered == Entered::Call(address));
        if let Some(called) = called {
            self.frames.truncate(reachable + called);
        } else if !self.thunk && !location.entry {
            // The return leads to a caller from before the region, or in another task.
            self.frames.truncate(reachable);
        }
        self.jump(location)
    }

    /// Control arrived without a matching call or return.
    fn jump(&mut self, location: Location) -> Result<(), WalkError> {
        if location.thunk {
            return Ok(());
        }
        let Some(top) = self.frames.last().copied() else {
            let node = self.called(0, location.function)?;
            return self.push(node, Entered::Top, false);
        };
        if top.unnamed {
            let node = self.called(top.node, location.function)?;
            if let Some(top) = self.frames.last_mut() {
                top.node = node;
                top.unnamed = false;
            }
            return Ok(());
        }
        let function = Some(location.function);
        if self.function_of[top.node] == function {
            return Ok(());
        }
        // Control returns to a function that jumped here, as assembly and compilers do.
        let chain = self
            .frames
            .iter()
            .rposition(|frame| frame.entered != Entered::Tail)
            .unwrap_or(0);
        let back = self.frames[chain..]
            .iter()
            .rposition(|frame| self.function_of[frame.node] == function);
        if let Some(back) = back {
            self.frames.truncate(chain + back + 1);
            return Ok(());
        }
        let node = self.called(top.node, location.function)?;
        self.push(node, Entered::Tail, false)
    }

    fn switch(&mut self, from: u32, to: u32) {
        let old = std::mem::take(&mut self.frames);
        self.others.insert(from, old);
        // Nothing is known about a task that did not run in this region before.
        self.frames = self.others.remove(&to).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests;
