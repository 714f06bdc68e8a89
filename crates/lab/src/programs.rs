// SPDX-License-Identifier: GPL-2.0-or-later
//! Makes evidence from the plugin's records of a program, and directives from a workload.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use counts::counts::{Counts, Path};
use counts::hooks::{AskedCall, outermost_sum};
use counts::profile::{CellProfile, PathProfile};
use counts::program::{EntryCost, EntryKind, ProgramCost, TaskCost};
use model::{
    Denials, DifferingHook, EntryHook, EntryModule, HookCost, Program, ProgramEntry, ProgramRun,
    ProgramTask, Programs, Workload,
};

use crate::catalogue::Measures;
use crate::job::Job;
use crate::protocol::{NamedTask, Sample};

/// The number of instructions that are counted after a region's last clock read: those in the
/// marker's own block (`clock_then_marker` in the agent's `arch.h`).
const AFTER_CLOCK: i64 = 2;

const BENCHMARK: &str = "program";
/// This is not the workload's name, because the length of that name would change counts.
const VARIANT: &str = "it";

pub(crate) const ENVIRONMENT: [&str; 4] = [
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME=/tmp",
    "LC_ALL=C",
    "PYTHONHASHSEED=0",
];

#[derive(Debug, Clone)]
pub struct ProgramRuns {
    pub costs: Vec<ProgramCost>,
    pub ticks: Vec<u64>,
}

impl ProgramRuns {
    pub fn new(costs: Vec<ProgramCost>, samples: &[Sample]) -> Result<ProgramRuns, String> {
        if costs.is_empty() || costs.len() != samples.len() {
            return Err(format!(
                "the plugin recorded {} runs, but the agent {}",
                costs.len(),
                samples.len()
            ));
        }
        let runs = ProgramRuns {
            costs,
            ticks: samples.iter().map(|sample| sample.ns).collect(),
        };
        runs.check()?;
        Ok(runs)
    }

    /// Refuses incomplete runs: a program executes instructions in both modes, and they add up to
    /// the guest's clock.
    fn check(&self) -> Result<(), String> {
        for (number, (cost, &ticks)) in (1..).zip(self.costs.iter().zip(&self.ticks)) {
            let run = run(cost, ticks);
            if run.user == 0 || run.kernel == 0 {
                let mode = if run.user == 0 {
                    "user mode"
                } else {
                    "the kernel"
                };
                return Err(format!(
                    "run {number} has no instructions in {mode}: it was not counted"
                ));
            }
            let elapsed = i128::from(ticks) + i128::from(AFTER_CLOCK);
            let difference = i128::from(cost.all()) + i128::from(cost.idle) - elapsed;
            if difference != 0 {
                return Err(format!(
                    "run {number}: counted {} instructions {} than the {elapsed} on the guest's \
                     clock",
                    difference.unsigned_abs(),
                    if difference < 0 { "fewer" } else { "more" },
                ));
            }
        }
        Ok(())
    }

    fn middle(&self) -> &ProgramCost {
        let mut order: Vec<&ProgramCost> = self.costs.iter().collect();
        order.sort_by_key(|cost| cost.kernel());
        order[(order.len() - 1) / 2]
    }

    /// Number of runs with the same hook calls and instructions in hooks as the median run.
    fn alike(&self) -> usize {
        let hooks = &self.middle().hooks;
        self.costs
            .iter()
            .filter(|cost| cost.hooks == *hooks)
            .count()
    }

    /// Hooks that some runs called differently from the median run.
    fn differing(&self) -> Vec<DifferingHook> {
        let names = self.costs.iter().flat_map(|cost| &cost.hooks);
        let names: BTreeSet<&str> = names.map(|hook| &*hook.hook).collect();
        let of_run = |cost: &'_ ProgramCost, name: &str| -> Vec<HookCost> {
            let hooks = cost.hooks.iter().filter(|hook| hook.hook == name);
            hooks.cloned().collect()
        };
        let differing = names.into_iter().filter_map(|name| {
            let runs: Vec<Vec<HookCost>> =
                self.costs.iter().map(|cost| of_run(cost, name)).collect();
            let middle = of_run(self.middle(), name);
            runs.iter().any(|run| *run != middle).then_some(())?;
            let calls = |run: &Vec<HookCost>| run.iter().map(|hook| hook.calls).sum::<u64>();
            let (calls_min, calls_max) = span(runs.iter().map(calls))?;
            let (instructions_min, instructions_max) =
                span(runs.iter().map(|run| outermost_sum(run)))?;
            Some(DifferingHook {
                hook: name.to_owned(),
                calls_min,
                calls_max,
                instructions_min,
                instructions_max,
            })
        });
        differing.collect()
    }

    pub fn program(&self, named: &[NamedTask], denials: Option<Denials>) -> Program {
        let middle = self.middle();
        let names = names(&middle.tasks, named);
        let runs = self.costs.iter().zip(&self.ticks);
        Program {
            runs: runs.map(|(cost, ticks)| run(cost, *ticks)).collect(),
            tasks: middle
                .tasks
                .iter()
                .map(|task| ProgramTask {
                    number: task.number,
                    creator: task.creator,
                    name: names.get(&task.number).map(|name| (*name).to_owned()),
                    user: task.user,
                    kernel: task.kernel,
                    hooked: Some(task.hooked),
                })
                .collect(),
            entries: middle.entries.iter().map(entry).collect(),
            same_hooks: self.alike() == self.costs.len(),
            differing: self.differing(),
            denials,
            residual: None,
        }
    }

    pub fn counts(&self) -> Counts {
        Counts {
            dominant: self.path(),
            others: Vec::new(),
            samples: self.costs.iter().map(ProgramCost::kernel).collect(),
            regions: self.costs.len(),
            dirty: 0,
        }
    }

    fn path(&self) -> Path {
        let middle = self.middle();
        Path {
            instructions: middle.kernel(),
            rep_iterations: middle.repeats,
            lines: None,
            regions: self.alike(),
        }
    }

    fn asked(&self) -> BTreeMap<String, AskedCall> {
        let entries = self.middle().entries.iter();
        let calls = entries.filter(|entry| entry.kind == EntryKind::SystemCall);
        calls
            .map(|entry| (entry.name.clone(), entry.asked.clone()))
            .collect()
    }

    pub fn profile(&self, keep_tree: bool) -> CellProfile {
        let middle = self.middle();
        CellProfile {
            paths: vec![PathProfile {
                events: None,
                irqs_off: None,
                path: self.path(),
                hooks: middle.hooks.clone(),
                system_calls: BTreeMap::new(),
                outside: middle.outside.clone(),
                asked: self.asked(),
                tree: keep_tree.then(|| middle.tree.clone()),
            }],
            regions: self.costs.len(),
            composite: false,
        }
    }
}

/// Names of tasks, by number. A task is identified by its creator and its index among the creator's
/// children. If a creator has a different number of children in the two runs, they get no name.
fn names<'a>(tasks: &[TaskCost], named: &'a [NamedTask]) -> BTreeMap<u32, &'a str> {
    let mut order: Vec<&TaskCost> = tasks.iter().collect();
    order.sort_by_key(|task| task.serial);
    let mut created: BTreeMap<Option<u32>, Vec<u32>> = BTreeMap::new();
    for task in order {
        created.entry(task.creator).or_default().push(task.number);
    }
    let mut known: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (at, task) in named.iter().enumerate() {
        known.entry(task.creator).or_default().push(at);
    }
    let mut names = BTreeMap::new();
    let mut pairs = vec![(None, None)];
    while let Some((number, place)) = pairs.pop() {
        let (Some(numbers), Some(places)) = (created.get(&number), known.get(&place)) else {
            continue;
        };
        if numbers.len() == places.len() {
            for (&number, &at) in numbers.iter().zip(places) {
                names.insert(number, named[at].name.as_str());
                pairs.push((Some(number), Some(at)));
            }
        }
    }
    names
}

fn span(figures: impl Iterator<Item = u64> + Clone) -> Option<(u64, u64)> {
    Some((figures.clone().min()?, figures.max()?))
}

fn run(cost: &ProgramCost, ticks: u64) -> ProgramRun {
    let (user, kernel) = cost.others;
    ProgramRun {
        user: cost.user(),
        kernel: cost.kernel(),
        interrupts: cost.interrupts,
        others: user + kernel,
        rep_iterations: cost.repeats,
        idle: (ticks as i64)
            .wrapping_add(AFTER_CLOCK)
            .wrapping_sub(cost.all() as i64),
    }
}

fn entry(cost: &EntryCost) -> ProgramEntry {
    ProgramEntry {
        entry: cost.kind.title(&cost.name),
        calls: cost.calls,
        instructions: cost.instructions,
        hooked: outermost_sum(&cost.hooks),
        hooks: hooks(&cost.hooks),
    }
}

fn hooks(costs: &[HookCost]) -> Vec<EntryHook> {
    #[derive(Default)]
    struct Sum<'a> {
        calls: u64,
        instructions: u64,
        modules: BTreeMap<&'a str, (u64, u64)>,
    }
    let mut hooks: BTreeMap<&str, Sum<'_>> = BTreeMap::new();
    for cost in costs {
        let sum = hooks.entry(&cost.hook).or_default();
        sum.calls += cost.calls;
        sum.instructions += cost.outermost;
        for implementation in &cost.implementations {
            let (calls, instructions) = sum.modules.entry(&implementation.module).or_default();
            *calls += implementation.calls;
            *instructions += implementation.inclusive;
        }
    }
    let module = |(module, (calls, instructions)): (&str, (u64, u64))| EntryModule {
        module: module.to_owned(),
        calls,
        instructions,
    };
    hooks
        .into_iter()
        .map(|(hook, sum)| EntryHook {
            hook: hook.to_owned(),
            calls: sum.calls,
            instructions: sum.instructions,
            modules: sum.modules.into_iter().map(module).collect(),
        })
        .collect()
}

pub(crate) fn jobs(programs: &Programs) -> Vec<Job> {
    let tree = programs.root.tree.is_some();
    let job = |workload: &Workload| Job {
        benchmark: workload.name.clone(),
        directive: format!("{BENCHMARK} {VARIANT}"),
        program: Some(directives(workload, tree)),
        cold: workload.cold,
        measures: Measures {
            latency: true,
            throughput: false,
        },
        class: "workload".to_owned(),
        repetitions: Some(workload.repetitions()),
        ..Job::default()
    };
    programs.workloads.iter().map(job).collect()
}

/// See docs/protocol.md.
fn directives(workload: &Workload, tree: bool) -> String {
    let mut text = format!("command {VARIANT}\n");
    let default: Vec<String> = ENVIRONMENT.map(str::to_owned).to_vec();
    let environment = workload.env.as_ref().unwrap_or(&default);
    let directory = workload.cwd.as_deref();
    let directory = directory.unwrap_or(if tree { "/tree" } else { "/" });
    let setup = workload.setup.len();
    let before = workload.setup.iter().chain(&workload.prepare);
    for (at, argv) in before.chain([&workload.argv]).enumerate() {
        if at > 0 {
            text.push_str("then\n");
        }
        if at < setup {
            text.push_str("once\n");
        }
        let words = argv.iter().map(|word| ("argument", word));
        let variables = environment.iter().map(|word| ("environment", word));
        for (directive, word) in words.chain(variables) {
            let _ = writeln!(text, "{directive} {}", escaped(word));
        }
        let _ = writeln!(text, "directory {}", escaped(directory));
    }
    // Only for measured commands, because preparations run as root.
    let account = workload
        .user
        .as_deref()
        .and_then(|user| user.split_once(':'));
    if let Some((user, group)) = account {
        let _ = writeln!(text, "user {user}\ngroup {group}");
    }
    for (directive, path) in [("input", &workload.stdin), ("output", &workload.stdout)] {
        if let Some(path) = path {
            let _ = writeln!(text, "{directive} {}", escaped(path));
        }
    }
    text
}

/// Writes bytes that directives cannot contain, and a leading escape, as %XX.
fn escaped(word: &str) -> String {
    let mut text = String::new();
    for byte in word.bytes() {
        let is_blank = byte == b' ' && !text.is_empty();
        if is_blank || (byte.is_ascii_graphic() && byte != b'%') {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02x}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_named_by_their_place_among_those_of_their_creator() {
        let task = |number, creator, serial| TaskCost {
            number,
            creator,
            serial,
            ..TaskCost::default()
        };
        let named = |creator, name: &str| NamedTask {
            creator,
            name: name.to_owned(),
        };
        // The second child of the first task ran before the first one.
        let tasks = [
            task(1, None, 0),
            task(2, Some(1), 9),
            task(3, Some(1), 4),
            task(4, Some(3), 12),
        ];
        let mut other = vec![
            named(None, "sh"),
            named(Some(0), "cat"),
            named(Some(0), "sort"),
            named(Some(1), "tee"),
        ];
        let found = |other: &[NamedTask]| -> Vec<(u32, String)> {
            let names = names(&tasks, other).into_iter();
            names
                .map(|(number, name)| (number, name.to_owned()))
                .collect()
        };
        let expected = [(1, "sh"), (2, "sort"), (3, "cat"), (4, "tee")];
        assert_eq!(
            found(&other),
            expected.map(|(n, name)| (n, name.to_owned()))
        );
        // It created another task there, so the two cannot be distinguished.
        other.push(named(Some(1), "wc"));
        assert_eq!(
            found(&other),
            expected[..3]
                .iter()
                .map(|&(n, name)| (n, name.to_owned()))
                .collect::<Vec<_>>()
        );
        assert_eq!(found(&[]), []);
    }

    #[test]
    fn a_run_that_lacks_instructions_is_refused() {
        let cost = |user, kernel, idle| ProgramCost {
            tasks: vec![TaskCost {
                number: 1,
                user,
                kernel,
                ..TaskCost::default()
            }],
            idle,
            ..ProgramCost::default()
        };
        let runs =
            |cost: ProgramCost, ns| ProgramRuns::new(vec![cost], &[Sample { operations: 1, ns }]);
        assert!(runs(cost(900, 100, 0), 998).is_ok());
        assert!(runs(cost(900, 100, 8_999_000), 8_999_998).is_ok());
        for (cost, ticks, why) in [
            (cost(0, 0, 0), 998, "no instructions in user mode"),
            (cost(900, 0, 0), 898, "no instructions in the kernel"),
            (
                cost(900, 100, 9_000),
                34_000_000,
                "counted 33990002 instructions fewer",
            ),
            (cost(900, 104, 0), 998, "counted 4 instructions more"),
        ] {
            let refused = runs(cost, ticks).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
    }

    #[test]
    fn a_workload_is_told_in_lines() {
        let workload = Workload {
            name: "shell".to_owned(),
            argv: ["sh", "-c", " echo 100%\nexit"].map(str::to_owned).to_vec(),
            env: Some(vec!["A=ä".to_owned()]),
            setup: vec![vec!["mkdir".to_owned()]],
            prepare: vec![vec!["true".to_owned()]],
            stdout: Some("/tmp/out".to_owned()),
            user: Some("65534:100".to_owned()),
            ..Workload::default()
        };
        assert_eq!(
            directives(&workload, false),
            "command it\nonce\nargument mkdir\nenvironment A=%c3%a4\ndirectory /\nthen\n\
             argument true\nenvironment A=%c3%a4\ndirectory /\nthen\n\
             argument sh\nargument -c\nargument %20echo 100%25%0aexit\nenvironment A=%c3%a4\n\
             directory /\nuser 65534\ngroup 100\noutput /tmp/out\n"
        );
    }
}
