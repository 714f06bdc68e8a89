// SPDX-License-Identifier: GPL-2.0-or-later

use std::collections::BTreeMap;
use std::ops::AddAssign;

use model::{Events, HookCaller, HookCost, Implementation};

use super::modules::Modules;
use super::places::{Call, Place, places};
use super::{Framework, base_name};
use crate::calltree::CallTree;

/// Nested hooks count once.
#[must_use]
pub fn outermost_sum(costs: &[HookCost]) -> u64 {
    costs
        .iter()
        .fold(0, |sum, cost| sum.saturating_add(cost.outermost))
}

impl Framework {
    /// Costs of every hook in `tree`, by hook, then function; `active_lsms` is from
    /// `/sys/kernel/security/lsm`.
    ///
    /// A hook with several functions has a row for each. Instructions count once in each figure:
    /// for recursive calls, `inclusive` is the outer call's. The same holds for implementations and
    /// `dispatch`.
    ///
    /// An implementation is a module's function that the framework's function itself calls, or a
    /// part of it that the compiler split off. Its name begins with the module's name, or is
    /// `<module>_<hook>`. All other callees are dispatch, including other hooks. Names are without
    /// compiler suffixes.
    #[must_use]
    pub fn costs(&self, tree: &CallTree, active_lsms: &[String]) -> Vec<HookCost> {
        let modules = Modules::new(active_lsms);
        let inclusive = Inclusive {
            instructions: tree.inclusive(),
            events: tree.inclusive_events(),
        };
        let mut sums = Sums::new(tree, self, &modules);
        let children = children(tree);
        // A node to leave is below its callees on the stack: (node, whether to leave).
        let mut stack = vec![(0, false)];
        while let Some((node, leave)) = stack.pop() {
            if leave {
                sums.leave(node);
                continue;
            }
            sums.enter(node, tree, &inclusive);
            stack.push((node, true));
            stack.extend(children[node].iter().map(|&child| (child, false)));
        }
        sums.finish()
    }
}

fn children(tree: &CallTree) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); tree.nodes().len()];
    for (at, node) in tree.nodes().iter().enumerate().skip(1) {
        children[node.parent].push(at);
    }
    children
}

/// The values of each node, including its callees.
struct Inclusive {
    instructions: Vec<u64>,
    events: Option<Vec<Events>>,
}

impl Inclusive {
    fn cost(&self, node: usize) -> Cost {
        Cost {
            instructions: self.instructions[node],
            events: self.events.as_ref().map(|events| events[node]),
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Cost {
    instructions: u64,
    events: Option<Events>,
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        self.instructions += other.instructions;
        if let Some(events) = other.events {
            *self.events.get_or_insert_default() += events;
        }
    }
}

/// A module's function, and its number of active calls.
#[derive(Default)]
struct Behind {
    calls: u64,
    inclusive: Cost,
    running: usize,
}

/// A hook's function, and its number of active calls.
#[derive(Default)]
struct Row<'a> {
    calls: u64,
    inclusive: Cost,
    exclusive: u64,
    outermost: u64,
    /// Instructions of implementations; nested ones count once.
    modules: u64,
    running: usize,
    running_modules: usize,
    /// By module and function.
    behind: BTreeMap<(&'a str, &'a str), Behind>,
    callers: BTreeMap<&'a str, u64>,
}

#[derive(Clone, Copy)]
enum Begins<'a> {
    Nothing,
    /// A row's hook; the module if it has no framework function.
    Hook(usize, Option<(&'a str, &'a str)>),
    /// A split-off part of a row's function.
    Part(usize),
    /// A module's function called by a row's hook.
    Module(usize, (&'a str, &'a str)),
}

struct Sums<'a> {
    names: Vec<(&'a str, &'a str)>,
    rows: Vec<Row<'a>>,
    begins: Vec<Begins<'a>>,
    running: usize,
}

impl<'a> Sums<'a> {
    fn new(tree: &'a CallTree, framework: &'a Framework, modules: &'a Modules<'a>) -> Self {
        let places = places(tree, framework);
        let mut rows: BTreeMap<(&str, &str), usize> = places
            .iter()
            .filter_map(|place| place.call())
            .map(|call| ((call.hook, call.function), 0))
            .collect();
        for (at, row) in rows.values_mut().enumerate() {
            *row = at;
        }
        let row_of = |call: Call<'a>| rows[&(call.hook, call.function)];
        let begins = places
            .iter()
            .zip(tree.nodes())
            .map(|(&place, node)| match place {
                Place::Outside => Begins::Nothing,
                Place::Call(call) => {
                    let module = call.direct.map(|module| (module, call.function));
                    Begins::Hook(row_of(call), module)
                }
                Place::Part(call) => Begins::Part(row_of(call)),
                Place::Inside => {
                    let function = base_name(&node.function);
                    // Everything called by a module's own hook is that module's work.
                    let called_by = places[node.parent]
                        .call()
                        .filter(|call| call.direct.is_none());
                    called_by.map_or(Begins::Nothing, |call| {
                        match modules.find(function, call.hook) {
                            Some(module) => Begins::Module(row_of(call), (module, function)),
                            None => Begins::Nothing,
                        }
                    })
                }
            })
            .collect();
        Self {
            rows: rows.values().map(|_| Row::default()).collect(),
            names: rows.into_keys().collect(),
            begins,
            running: 0,
        }
    }

    fn enter(&mut self, node: usize, tree: &'a CallTree, inclusive: &Inclusive) {
        let inclusive = inclusive.cost(node);
        let node = (self.begins[node], &tree.nodes()[node]);
        match node {
            (Begins::Nothing, _) => {}
            (Begins::Part(row), node) => {
                self.rows[row].exclusive += node.instructions;
            }
            (Begins::Hook(row, module), node) => {
                let row = &mut self.rows[row];
                let caller = base_name(&tree.nodes()[node.parent].function);
                *row.callers.entry(caller).or_default() += node.calls;
                row.calls += node.calls;
                row.exclusive += node.instructions;
                if row.running == 0 {
                    row.inclusive += inclusive;
                }
                if self.running == 0 {
                    row.outermost += inclusive.instructions;
                }
                row.running += 1;
                self.running += 1;
                if let Some(module) = module {
                    row.begin(module, node.calls, inclusive);
                }
            }
            (Begins::Module(row, module), node) => {
                self.rows[row].begin(module, node.calls, inclusive);
            }
        }
    }

    fn leave(&mut self, node: usize) {
        match self.begins[node] {
            Begins::Nothing | Begins::Part(_) => {}
            Begins::Hook(row, module) => {
                self.rows[row].running -= 1;
                self.running -= 1;
                if let Some(module) = module {
                    self.rows[row].end(module);
                }
            }
            Begins::Module(row, module) => self.rows[row].end(module),
        }
    }

    fn finish(self) -> Vec<HookCost> {
        self.names
            .into_iter()
            .zip(self.rows)
            .map(|((hook, function), row)| HookCost {
                hook: hook.to_owned(),
                function: function.to_owned(),
                calls: row.calls,
                inclusive: row.inclusive.instructions,
                events: row.inclusive.events,
                exclusive: row.exclusive,
                dispatch: row.inclusive.instructions - row.modules,
                outermost: row.outermost,
                implementations: row
                    .behind
                    .into_iter()
                    .map(|((module, function), behind)| Implementation {
                        module: module.to_owned(),
                        function: function.to_owned(),
                        calls: behind.calls,
                        inclusive: behind.inclusive.instructions,
                        events: behind.inclusive.events,
                    })
                    .collect(),
                called_by: row
                    .callers
                    .into_iter()
                    .map(|(function, calls)| HookCaller {
                        function: function.to_owned(),
                        calls,
                    })
                    .collect(),
            })
            .collect()
    }
}

impl<'a> Row<'a> {
    fn begin(&mut self, module: (&'a str, &'a str), calls: u64, inclusive: Cost) {
        if self.running_modules == 0 {
            self.modules += inclusive.instructions;
        }
        self.running_modules += 1;
        let behind = self.behind.entry(module).or_default();
        behind.calls += calls;
        if behind.running == 0 {
            behind.inclusive += inclusive;
        }
        behind.running += 1;
    }

    fn end(&mut self, module: (&'a str, &'a str)) {
        self.running_modules -= 1;
        if let Some(behind) = self.behind.get_mut(&module) {
            behind.running -= 1;
        }
    }
}
