// SPDX-License-Identifier: GPL-2.0-or-later
//! Costs of a whole program, by task, kernel entry and hook.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::HookCost;

use crate::calls::{Call, ProgramCalls, What};
use crate::calltree::CallTree;
use crate::functions::FunctionTable;
use crate::hooks::{AskedCall, Framework, outside};
use kernels::symbols::SymbolTable;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    #[error("too many different call chains, or tasks nested too deep")]
    Incomplete,
    #[error("the plugin reported function {0}, which the kernel does not have")]
    NoFunction(u32),
    /// The tree does not consist of tasks that call functions.
    #[error("the plugin reported calls without a task")]
    NoTask,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskCost {
    /// In order of first execution, from 1.
    pub number: u32,
    /// None for the first task.
    pub creator: Option<u32>,
    /// In order of creation; 0 for the first.
    pub serial: u64,
    pub user: u64,
    pub kernel: u64,
    /// Instructions in hooks; nested hooks count once.
    pub hooked: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    SystemCall,
    Exception,
    /// A new task, before its first instruction in user mode.
    Begin,
    Unknown,
}

/// The cost of a kernel entry, over all tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryCost {
    pub kind: EntryKind,
    /// `openat`, `page_fault`; empty if there is only one entry of its kind.
    pub name: String,
    pub calls: u64,
    pub instructions: u64,
    pub hooks: Vec<HookCost>,
    pub asked: AskedCall,
}

/// A program that ran once. A REP instruction counts once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramCost {
    pub tasks: Vec<TaskCost>,
    /// The most expensive first.
    pub entries: Vec<EntryCost>,
    /// Instructions of interrupts, of switching to other tasks, and of deferred work (RCU
    /// callbacks, timers), in whichever task it ran.
    pub interrupts: u64,
    /// Instructions of other tasks in user mode, and in the kernel.
    pub others: (u64, u64),
    /// Iterations of REP instructions after the first, of all tasks.
    pub repeats: u64,
    /// Instructions of the kernel's idle loop only.
    pub idle: u64,
    pub hooks: Vec<HookCost>,
    pub outside: BTreeMap<String, u64>,
    /// All calls in the kernel; entries appear as functions.
    pub tree: CallTree,
}

#[derive(Debug, Clone, Copy)]
pub struct ProgramReader<'a> {
    pub functions: &'a FunctionTable,
    pub symbols: &'a SymbolTable,
    pub framework: &'a Framework,
    pub active_lsms: &'a [String],
    /// Keep the call tree of the representative run.
    pub keep_trees: bool,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    Root,
    Others {
        top: bool,
    },
    Idle,
    Interrupts,
    Task(usize),
    Entry {
        task: usize,
        entry: usize,
        node: usize,
    },
}

/// Functions with which the kernel checks, in many places including hooks, whether an interrupt
/// requested rescheduling.
const LOOKS: &str = "__cond_resched";
/// Functions that switch to another task on request (`kernel/sched/core.c`).
const PREEMPTS: &str = "preempt_schedule";
/// The loop of an idle processor that does not halt (`kernel/sched/idle.c`); compilers append
/// suffixes to its name.
const IDLES: &str = "cpu_idle_poll";
const SCHEDULER: &str = "__schedule";
/// Softirq handlers (`kernel/softirq.c`; the second since 6.10), which also run in the system call
/// that enables softirqs.
const SOFTIRQS: [&str; 2] = ["__do_softirq", "handle_softirqs"];
/// Softirqs of deferred work: RCU's callbacks, timers, scheduler balancing, tasklets. Network
/// softirqs are not included, because on loopback they continue the program's sending.
const PUT_OFF: [&str; 7] = [
    "rcu_core_si",
    "run_timer_softirq",
    "hrtimer_run_softirq",
    "run_rebalance_domains",
    "sched_balance_softirq",
    "tasklet_action",
    "tasklet_hi_action",
];

/// Work that a task does because an interrupt requested it, by node: other tasks or deferred work.
#[derive(Debug, Default)]
struct Asked {
    calls: HashSet<usize>,
    /// Instructions of successful checks, minus those of a check that finds nothing.
    beyond: HashMap<usize, u64>,
}

#[derive(Default)]
struct Entry {
    calls: u64,
    tree: CallTree,
    children: HashMap<(usize, u32), usize>,
}

impl ProgramCost {
    #[must_use]
    pub fn user(&self) -> u64 {
        self.tasks.iter().map(|task| task.user).sum()
    }

    #[must_use]
    pub fn kernel(&self) -> u64 {
        self.tasks.iter().map(|task| task.kernel).sum()
    }

    /// The number of instructions as the guest's clock counts them.
    #[must_use]
    pub fn all(&self) -> u64 {
        let (user, kernel) = self.others;
        self.user() + self.kernel() + user + kernel + self.interrupts + self.repeats
    }
}

impl ProgramReader<'_> {
    pub fn read(&self, program: &ProgramCalls) -> Result<ProgramCost, ProgramError> {
        if !program.complete {
            return Err(ProgramError::Incomplete);
        }
        let mut sums = Sums {
            tasks: Vec::new(),
            keys: HashMap::new(),
            entries: Vec::new(),
            interrupts: 0,
            others: (0, 0),
            idle: 0,
            spent: Vec::new(),
        };
        let asked = self.asked(program)?;
        let mut places: Vec<Place> = Vec::with_capacity(program.calls.len());
        for (at, call) in program.calls.iter().enumerate() {
            let above = places.get(call.parent as usize).filter(|_| at > 0).copied();
            let place = match above {
                None => Place::Root,
                Some(Place::Entry { .. }) if asked.calls.contains(&at) => Place::Interrupts,
                Some(above) => sums.place(call, above, program, self)?,
            };
            let beyond = asked.beyond.get(&at).copied().unwrap_or(0);
            sums.add(place, call.instructions - beyond);
            sums.interrupts += beyond;
            places.push(place);
        }
        Ok(self.finish(sums, program.repeats))
    }

    fn asked(&self, program: &ProgramCalls) -> Result<Asked, ProgramError> {
        let mut found = Asked::default();
        let mut softirqs = HashSet::new();
        let mut looks: HashMap<usize, &Call> = HashMap::new();
        let mut asked = HashSet::new();
        for (at, call) in program.calls.iter().enumerate() {
            let What::Function(function) = call.what else {
                continue;
            };
            let name = self.name(function)?;
            let caller = call.parent as usize;
            let looked = looks.contains_key(&caller);
            if name.starts_with(LOOKS) && call.calls > 0 {
                looks.insert(at, call);
            } else if name.starts_with(PREEMPTS) || (name == SCHEDULER && looked) {
                found.calls.insert(at);
                asked.extend(looked.then_some(caller));
            } else if SOFTIRQS.contains(&name) {
                softirqs.insert(at);
            } else if softirqs.contains(&caller) && PUT_OFF.contains(&name) {
                found.calls.insert(at);
            }
        }
        let least = looks.values().map(|call| call.instructions / call.calls);
        let least = least.min().unwrap_or(0);
        found.beyond.extend(asked.into_iter().map(|at| {
            let usual = least.saturating_mul(looks[&at].calls);
            (at, looks[&at].instructions.saturating_sub(usual))
        }));
        Ok(found)
    }

    fn name(&self, function: u32) -> Result<&str, ProgramError> {
        let name = self.functions.name(function);
        name.ok_or(ProgramError::NoFunction(function))
    }

    /// The kernel entry of a node, if it is one.
    fn entry_of(&self, what: What) -> Result<Option<(EntryKind, String)>, ProgramError> {
        let code = &self.symbols.arch().code;
        Ok(Some(match what {
            What::SystemCall(function) => {
                let name = self.name(function)?;
                let name = code.syscall_of(name).unwrap_or(name);
                (EntryKind::SystemCall, name.to_owned())
            }
            What::Exception(function) => {
                let name = self.name(function)?;
                let name = code.exception_of(name).unwrap_or(name);
                (EntryKind::Exception, name.to_owned())
            }
            What::Begin => (EntryKind::Begin, String::new()),
            What::Unknown => (EntryKind::Unknown, String::new()),
            _ => return Ok(None),
        }))
    }

    fn finish(&self, mut sums: Sums, repeats: u64) -> ProgramCost {
        let trees = sums.entries.iter().map(|entry| &entry.tree);
        let in_hooks: Vec<Vec<bool>> = trees.map(|tree| self.framework.in_hooks(tree)).collect();
        for spent in &sums.spent {
            if in_hooks[spent.entry][spent.node] {
                sums.tasks[spent.task].hooked += spent.instructions;
            }
        }
        let mut tree = CallTree::default();
        let mut entries = Vec::new();
        for ((kind, name), at) in sums.keys.into_iter().collect::<BTreeMap<_, _>>() {
            let entry = &sums.entries[at];
            let title = EntryKind::title(kind, &name);
            tree.graft(0, &title, entry.calls, &entry.tree);
            entries.push(EntryCost {
                kind,
                name,
                calls: entry.calls,
                instructions: entry.tree.total(),
                hooks: self.framework.costs(&entry.tree, self.active_lsms),
                asked: AskedCall::new(entry.calls, &entry.tree, self.framework),
            });
        }
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.instructions));
        ProgramCost {
            tasks: sums.tasks,
            entries,
            interrupts: sums.interrupts,
            others: sums.others,
            repeats,
            idle: sums.idle,
            hooks: self.framework.costs(&tree, self.active_lsms),
            outside: outside(&tree, self.framework),
            tree,
        }
    }
}

impl EntryKind {
    /// `openat`, `page_fault exception`, `begin of a task`.
    #[must_use]
    pub fn title(self, name: &str) -> String {
        match self {
            EntryKind::SystemCall => name.to_owned(),
            EntryKind::Exception => format!("{name} exception"),
            EntryKind::Begin => "begin of a task".to_owned(),
            EntryKind::Unknown => "other entry".to_owned(),
        }
    }
}

struct Sums {
    tasks: Vec<TaskCost>,
    keys: HashMap<(EntryKind, String), usize>,
    entries: Vec<Entry>,
    interrupts: u64,
    others: (u64, u64),
    idle: u64,
    spent: Vec<Spent>,
}

/// Cost of a task in a node of an entry's tree.
struct Spent {
    task: usize,
    entry: usize,
    node: usize,
    instructions: u64,
}

impl Sums {
    fn place(
        &mut self,
        call: &Call,
        above: Place,
        program: &ProgramCalls,
        reader: &ProgramReader<'_>,
    ) -> Result<Place, ProgramError> {
        Ok(match (above, call.what) {
            (Place::Root, What::Others) => Place::Others { top: true },
            (Place::Root, What::Interrupts) => Place::Interrupts,
            (Place::Root, What::Task(number)) => {
                let created = program.tasks.iter().find(|task| task.number == number);
                self.tasks.push(TaskCost {
                    number,
                    creator: created.map(|task| task.creator),
                    serial: created.map_or(0, |task| task.serial),
                    ..TaskCost::default()
                });
                Place::Task(self.tasks.len() - 1)
            }
            (Place::Others { .. } | Place::Idle, What::Function(function))
                if reader.name(function)?.split('.').next() == Some(IDLES) =>
            {
                Place::Idle
            }
            (Place::Others { .. } | Place::Idle, _) => Place::Others { top: false },
            (Place::Interrupts, _) => Place::Interrupts,
            (Place::Task(task), what) => {
                let key = reader.entry_of(what)?.ok_or(ProgramError::NoTask)?;
                let next = self.entries.len();
                let entry = *self.keys.entry(key).or_insert(next);
                if entry == next {
                    self.entries.push(Entry::default());
                }
                self.entries[entry].calls += call.calls;
                Place::Entry {
                    task,
                    entry,
                    node: 0,
                }
            }
            (Place::Entry { task, entry, node }, What::Function(function)) => {
                let name = reader.name(function)?;
                let node = self.entries[entry].child(node, function, name, call.calls);
                Place::Entry { task, entry, node }
            }
            _ => return Err(ProgramError::NoTask),
        })
    }

    fn add(&mut self, place: Place, instructions: u64) {
        match place {
            Place::Root => {}
            Place::Others { top: true } => self.others.0 += instructions,
            Place::Others { top: false } => self.others.1 += instructions,
            Place::Interrupts => self.interrupts += instructions,
            Place::Idle => self.idle += instructions,
            Place::Task(task) => self.tasks[task].user += instructions,
            Place::Entry { task, entry, node } => {
                self.tasks[task].kernel += instructions;
                self.spent.push(Spent {
                    task,
                    entry,
                    node,
                    instructions,
                });
                if let Some(node) = self.entries[entry].tree.node_mut(node) {
                    node.instructions += instructions;
                }
            }
        }
    }
}

impl Entry {
    fn child(&mut self, parent: usize, function: u32, name: &str, calls: u64) -> usize {
        let tree = &mut self.tree;
        let node = *self
            .children
            .entry((parent, function))
            .or_insert_with(|| tree.add(parent, name));
        if let Some(node) = tree.node_mut(node) {
            node.calls += calls;
        }
        node
    }
}

#[cfg(test)]
mod tests;
