// SPDX-License-Identifier: GPL-2.0-or-later
//! Traces made by hand, as a kernel would produce them.

use proptest::prelude::*;

use super::*;
use crate::trace::Note;
use kernels::symbols::SymbolTable;
use model::Events;

const SYSCALL: u32 = 0xc000_0000;
const BEFORE: u32 = 0x8000_0000;

fn switch(from: u32, to: u32) -> u32 {
    0xe000_0000 | from << 12 | to
}

/// 0x100 bytes each, in this order.
const NAMES: [&str; 13] = [
    "entry",
    "sys_open",
    "security_file_open",
    "selinux_file_open",
    "selinux_file_open.cold",
    "__x86_indirect_thunk_rax",
    "__switch_to_asm",
    "schedule",
    "asm_exc_page_fault",
    "exc_page_fault",
    "ret_from_fork",
    "after",
    "end",
];

fn symbols() -> SymbolTable {
    let lines = NAMES.iter().enumerate();
    let map: String = lines
        .map(|(at, name)| format!("{:x} T {name}\n", address(at)))
        .collect();
    SymbolTable::from_map(kernels::arch::ALL[0], &map).unwrap()
}

fn address(function: usize) -> u64 {
    0xffff_ffff_8100_0000 + 0x100 * function as u64
}

fn at(name: &str, offset: u64) -> u64 {
    let function = NAMES.iter().position(|known| *known == name).unwrap();
    address(function) + offset
}

#[derive(Default)]
struct Execution {
    blocks: Vec<Block>,
    trace: Vec<u32>,
}

impl Execution {
    fn run(&mut self, name: &str, offset: u64, instructions: u32, end: BlockEnd) -> &mut Self {
        let first = at(name, offset);
        let block = Block {
            first,
            next: first + 4 * u64::from(instructions),
            instructions,
            end,
            exception: name.starts_with("asm_exc") && offset == 0,
            notes: Vec::new(),
        };
        self.trace.push(self.blocks.len() as u32);
        self.blocks.push(block);
        self
    }

    fn element(&mut self, element: u32) -> &mut Self {
        self.trace.push(element);
        self
    }

    fn parse(script: &str) -> Self {
        let mut execution = Self::default();
        for step in script.split(';') {
            let words: Vec<&str> = step.split_whitespace().collect();
            let number = |at: usize| words[at].parse::<u32>().unwrap();
            match words[0] {
                "syscall" => execution.element(SYSCALL),
                "before" => execution.element(BEFORE | number(1)),
                "switch" => execution.element(switch(number(1), number(2))),
                // `store`, `atomic` and `own` as in `plugin/trace.h`.
                "read" => execution.element(access(number(1), false, false, false)),
                "lock" => execution.element(access(number(1), true, true, false)),
                "push" => execution.element(access(number(1), true, false, true)),
                "rep" => execution.element(access(number(1), true, false, false) | 1 << 26),
                "transfer" => execution.element(0xd000_0000 | number(1)),
                "bytes" => execution.element(0xb000_0000 | number(1) << 1),
                name => {
                    let end = match words[3] {
                        "call" => Call,
                        "jump" => Jump,
                        "return" => Return,
                        "iret" => InterruptReturn,
                        _ => SystemReturn,
                    };
                    execution.run(name, number(1).into(), number(2), end)
                }
            };
        }
        execution
    }

    fn counted(&self, counted: Counted) -> CallTree {
        let symbols = symbols();
        let mut functions = Functions::new(&symbols);
        let tree = call_tree(
            &self.trace,
            &self.blocks,
            &mut functions,
            &|_, _| false,
            counted,
        );
        tree.unwrap()
    }

    /// `depth function calls instructions`, callers before callees.
    fn tree(&self) -> Vec<String> {
        let symbols = symbols();
        let tree = call_tree(
            &self.trace,
            &self.blocks,
            &mut Functions::new(&symbols),
            &|tree, node| tree.nodes()[node].function.starts_with("security_"),
            Counted::Instructions,
        )
        .unwrap();
        let (mut counted, mut before) = (0, 0);
        for &element in &self.trace {
            if let Some(block) = self.blocks.get(element as usize) {
                counted += block.instructions;
            } else if element >> 30 == 2 {
                before += element - BEFORE;
            }
        }
        assert_eq!(tree.total(), u64::from(counted - before));
        fn show(tree: &CallTree, node: usize, depth: usize, out: &mut Vec<String>) {
            for (at, child) in tree.nodes().iter().enumerate().skip(1) {
                if child.parent == node {
                    let indent = " ".repeat(depth);
                    out.push(format!(
                        "{indent}{} {} {}",
                        child.function, child.calls, child.instructions
                    ));
                    show(tree, at, depth + 1, out);
                }
            }
        }
        let mut out = Vec::new();
        show(&tree, 0, 0, &mut out);
        out
    }
}

use BlockEnd::{Call, InterruptReturn, Jump, Return, SystemReturn};

/// Blocks with offset and instructions, or other elements; and their tree.
#[test]
fn trees_of_traces() {
    for (what, script, expected) in [
        (
            "calls and returns match",
            "syscall; entry 0 3 call; sys_open 0 5 call; security_file_open 0 2 return; \
             sys_open 20 4 call; security_file_open 0 2 return; sys_open 36 1 return; \
             entry 12 1 sysret",
            "entry 1 4; sys_open 1 10;  security_file_open 2 4",
        ),
        (
            "a tail call is below the function that jumped",
            "syscall; sys_open 0 3 call; security_file_open 0 2 jump; \
             selinux_file_open 0 7 return; sys_open 12 1 sysret",
            "sys_open 1 4; security_file_open 1 2;  selinux_file_open 1 7",
        ),
        (
            "cold parts belong to their function",
            "syscall; sys_open 0 3 call; selinux_file_open 0 2 jump; \
             selinux_file_open.cold 8 5 jump; selinux_file_open 8 1 return; sys_open 12 1 sysret",
            "sys_open 1 4; selinux_file_open 1 8",
        ),
        // `call thunk`; the thunk calls its own code, replaces the return address and returns to
        // the target. Then comes a tail call through it.
        (
            "retpolines are folded away",
            "syscall; security_file_open 0 3 call; __x86_indirect_thunk_rax 0 1 call; \
             __x86_indirect_thunk_rax 16 2 return; selinux_file_open 0 6 return; \
             security_file_open 12 1 jump; security_file_open 40 1 jump; \
             __x86_indirect_thunk_rax 0 1 call; __x86_indirect_thunk_rax 16 2 return; \
             after 0 9 sysret",
            "security_file_open 1 11; selinux_file_open 1 6; after 1 9",
        ),
        // Cut off after the second of four instructions, before the call.
        (
            "an exception belongs to what raised it and comes back",
            "syscall; entry 0 1 call; sys_open 0 4 call; asm_exc_page_fault 0 2 call; \
             exc_page_fault 0 8 return; asm_exc_page_fault 8 1 iret; before 2; \
             sys_open 8 2 call; security_file_open 0 5 return; sys_open 16 1 return; \
             entry 4 1 sysret",
            "entry 1 2; sys_open 1 5;  asm_exc_page_fault 1 3;   exc_page_fault 1 8;  \
             security_file_open 1 5",
        ),
        // QEMU before 9 lists page-straddling instructions twice. Each REP iteration is a block.
        (
            "what was counted before changes no function",
            "syscall; sys_open 0 4 jump; before 1; sys_open 12 1 jump; before 1; \
             sys_open 12 1 call; after 0 2 return; sys_open 16 1 sysret",
            "sys_open 1 5; after 1 2",
        ),
        (
            "every task has its own stack",
            "syscall; sys_open 0 3 call; schedule 0 2 call; __switch_to_asm 0 4 jump; switch 0 1; \
             __switch_to_asm 16 1 return; ret_from_fork 8 5 call; schedule 0 2 call; \
             __switch_to_asm 0 4 jump; switch 1 0; __switch_to_asm 16 1 return; \
             schedule 8 3 return; sys_open 12 1 sysret",
            "sys_open 1 4; schedule 1 5;  __switch_to_asm 1 5;__switch_to_asm 1 1;\
             ret_from_fork 1 5; schedule 1 2;  __switch_to_asm 1 4",
        ),
        (
            "a window of two system calls has two roots",
            "syscall; entry 0 3 call; sys_open 0 5 return; entry 12 1 sysret; syscall; \
             entry 0 3 sysret",
            "entry 2 7; sys_open 1 5",
        ),
    ] {
        let tree = Execution::parse(script).tree();
        assert_eq!(tree, expected.split(';').collect::<Vec<_>>(), "{what}");
    }
}

#[test]
fn traces_that_make_no_sense_are_refused() {
    let symbols = symbols();
    let walk = |trace: &[u32], blocks: &[Block]| {
        call_tree(
            trace,
            blocks,
            &mut Functions::new(&symbols),
            &|_, _| false,
            Counted::Instructions,
        )
    };
    assert_eq!(walk(&[0], &[]), Err(WalkError::NoBlock(0)));
    let mut e = Execution::default();
    e.element(BEFORE | 9).run("entry", 0, 3, Jump);
    assert_eq!(walk(&e.trace, &e.blocks), Err(WalkError::CountedBefore(0)));
    let mut e = Execution::default();
    for _ in 0..=MAX_DEPTH {
        e.run("entry", 0, 1, Call);
    }
    assert_eq!(walk(&e.trace, &e.blocks), Err(WalkError::TooDeep));
}

fn any_end() -> impl Strategy<Value = BlockEnd> {
    prop_oneof![
        Just(Jump),
        Just(Call),
        Just(Return),
        Just(InterruptReturn),
        Just(SystemReturn)
    ]
}

fn access(line: u32, store: bool, atomic: bool, own: bool) -> u32 {
    0xa000_0000 | u32::from(store) << 27 | u32::from(own) << 25 | u32::from(atomic) << 24 | line
}

#[test]
fn events_belong_to_the_function_that_did_them() {
    // Reads a line and takes a lock in another, twice; then an indirect call by a thunk. A push, and
    // a REP instruction of 64 bytes in a line that was read before.
    let mut e = Execution::parse(
        "syscall; entry 0 3 call; sys_open 0 5 call; read 0; read 1; lock 1; read 1; lock 1; \
         __x86_indirect_thunk_rax 0 1 jump; security_file_open 0 2 return; push 2; rep 0; \
         bytes 64; sys_open 20 4 jump; sys_open 36 1 return; entry 12 1 sysret",
    );
    // The thunk is a jump through a register and counts as the call; the hook has a REP.
    e.blocks[2].notes = vec![Note::new(0, 8)];
    e.blocks[3].notes = vec![Note::new(0, 16), Note::new(1, 1)];
    let tree = e.counted(Counted::Events);
    let events = |function: &str| {
        let mut nodes = tree.nodes().iter();
        nodes
            .find(|node| node.function == function)
            .unwrap()
            .events
            .as_deref()
            .copied()
            .unwrap()
    };
    let expected = Events {
        taken_branches: 3,
        returns: 1,
        indirect_branches: 1,
        loads: 3,
        stores: 2,
        atomics: 2,
        shared_atomics: 2,
        lines_read: 2,
        lines_written: 1,
        shared_lines: 1,
        instruction_lines: 2,
        ..Events::default()
    };
    assert_eq!(events("sys_open"), expected);
    let expected = Events {
        taken_branches: 1,
        returns: 1,
        stores: 1,
        lines_written: 2,
        rep_instructions: 1,
        rep_bytes: 64,
        serialising: 1,
        instruction_lines: 1,
        ..Events::default()
    };
    assert_eq!(events("security_file_open"), expected);
    let mut sum = events("entry");
    sum += events("sys_open");
    sum += events("security_file_open");
    assert_eq!(tree.total_events(), Some(sum));

    // They are counted once across blocks; without events there is no count.
    e.run("entry", 0, 3, Jump).element(BEFORE | 2);
    e.run("security_file_open", 0, 2, SystemReturn);
    let last = e.blocks.len() - 1;
    e.blocks[last].notes = vec![Note::new(0, 16), Note::new(1, 16)];
    let again = e.counted(Counted::Events);
    let more = again.total_events().unwrap();
    assert_eq!(more.rep_instructions, sum.rep_instructions);
    let none = e.counted(Counted::Instructions);
    assert_eq!(none.total(), again.total());
}

proptest! {
    #[test]
    fn any_trace_adds_up(
        blocks in proptest::collection::vec((0..NAMES.len(), 0u64..60, 0u32..9, any_end()), 1..30),
        trace in proptest::collection::vec((0u32..30, 0u32..4), 0..300),
    ) {
        let mut e = Execution::default();
        for (function, offset, instructions, end) in blocks {
            e.run(NAMES[function], 4 * offset, instructions, end);
        }
        e.trace = trace
            .into_iter()
            .map(|(block, what)| match what {
                0 => SYSCALL,
                1 => switch(block, block % 3),
                _ => block % e.blocks.len() as u32,
            })
            .collect();
        e.tree();
    }

    #[test]
    fn garbage_never_panics(trace in proptest::collection::vec(any::<u32>(), 0..200)) {
        let mut e = Execution::default();
        e.run("entry", 0, 3, Call).run("sys_open", 0, 3, Return);
        let symbols = symbols();
        let _ = call_tree(&trace, &e.blocks, &mut Functions::new(&symbols), &|_, _| true, Counted::Events);
    }
}

#[test]
fn the_longest_stretch_without_interrupts_is_found() {
    const OFF: u16 = 32;
    const ON: u16 = 64;
    let longest = |notes: [&[(u16, u16)]; 3]| {
        let script = "syscall; entry 0 10 call; sys_open 0 20 return; entry 40 10 sysret";
        let mut execution = Execution::parse(script);
        for (block, notes) in execution.blocks.iter_mut().zip(notes) {
            let notes = notes.iter().map(|(at, what)| Note::new(*at, *what));
            block.notes = notes.collect();
        }
        let found = execution.counted(Counted::Events).irqs_off?;
        Some((found.instructions, found.functions.join(" ")))
    };
    // Kernel entry and exit do not count.
    assert_eq!(longest([&[(4, ON)], &[], &[(2, OFF)]]), None);
    let inside = longest([&[(4, ON)], &[(2, OFF), (5, OFF), (9, ON)], &[(2, OFF)]]);
    assert_eq!(inside, Some((7, "sys_open entry".to_owned())));
    let over = longest([&[(4, ON), (8, OFF)], &[], &[(1, ON), (3, OFF)]]);
    assert_eq!(over, Some((23, "entry".to_owned())));
    let hostile = longest([&[(4, ON)], &[(2, OFF), (900, ON)], &[]]);
    assert_eq!(hostile, Some((17, "sys_open entry".to_owned())));
}

/// As in the plugin's file.
fn word(kind: u8, offset: u16, address: u64, cache: &str) -> Word {
    let mut record = vec![12, kind];
    record.extend(offset.to_le_bytes());
    record.extend([0; 4]);
    record.extend(address.to_le_bytes());
    record.resize(32, 0);
    record[8..8 + cache.len()].copy_from_slice(cache.as_bytes());
    Word::from_record(&record)
}

#[test]
fn transferred_words_are_called_by_the_function_of_their_block() {
    let e = Execution::parse(
        "syscall; entry 0 3 call; sys_open 0 3 call; transfer 1; security_file_open 0 3 return; \
         transfer 0; transfer 1; transfer 1",
    );
    let symbols = symbols();
    let mut functions = Functions::new(&symbols);
    functions.name_words(&[word(1, 0, 0, ""), word(6, 0x80, 0, "dentry")]);
    let mut count = |counted| {
        let tree = call_tree(&e.trace, &e.blocks, &mut functions, &|_, _| false, counted);
        let tree = tree.unwrap();
        let nodes = tree.nodes()[1..].iter();
        let counts = nodes.map(|node| format!("{} {}", node.function, node.instructions));
        counts.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(
        count(Counted::Instructions),
        "entry 3, sys_open 3, security_file_open 3"
    );
    assert_eq!(
        count(Counted::Transfers),
        "entry 0, sys_open 0, [dentry+0x80] 1, security_file_open 0, [user memory] 1, \
         [dentry+0x80] 2"
    );
    let unknown = Execution::parse("syscall; entry 0 3 call; transfer 2");
    let tree = |e: &Execution| {
        call_tree(
            &e.trace,
            &e.blocks,
            &mut functions,
            &|_, _| false,
            Counted::Transfers,
        )
    };
    assert_eq!({ tree }(&unknown), Err(WalkError::NoWord(2)));
}

#[test]
fn words_have_the_names_of_their_owners() {
    let symbols = symbols();
    let exit = at("end", 0);
    for (word, name) in [
        (word(0, 0, 0, ""), "[unnamed]"),
        (word(2, 0, at("after", 0), ""), "[after]"),
        (word(2, 0, at("after", 8), ""), "[after+0x8]"),
        (word(2, 0, 0x1000, ""), "[0x1000]"),
        (word(3, 0, 0, ""), "[per-CPU]"),
        (word(3, 0, exit, ""), "[per-CPU end]"),
        (word(4, 0, 0, ""), "[page]"),
        (word(5, 0, 0, ""), "[vmalloc]"),
        (
            word(6, 24, 0, "kmalloc-rnd-05-123456789"),
            "[kmalloc-rnd-05-123456789+0x18]",
        ),
        (word(6 | 0x80, 0, 0, "a;b"), "[a+0x0]"),
        (word(99, 0, 0, ""), "[unnamed]"),
    ] {
        assert_eq!(word.frame(&symbols, None), name);
    }
}
