// SPDX-License-Identifier: GPL-2.0-or-later
//! A sweep: operations alternate between different delays at LSM hooks.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use model::{DelayModule, Key};

/// The agent's limit on a delay. Longer ones could look like a hang of the machine.
pub const DELAY_MAX_NS: u32 = 900_000;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Delayed {
    All,
    Hook(String),
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    pub delayed: Delayed,
    pub delay_ns: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweptHook {
    pub name: String,
    /// Type id of `bpf_lsm_<name>` in the kernel's BTF; 0 if no BPF program is attached.
    pub btf_id: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sweep {
    pub module: DelayModule,
    /// [`Delayed::All`] means every hook of the module, not only those in `hooks`.
    pub everything: bool,
    pub hooks: Vec<SweptHook>,
    /// Points of each measurement, through which its operations rotate; without points, no delays.
    pub points: BTreeMap<Key, Vec<Point>>,
    pub repetitions: u32,
    /// Delays are in instructions instead of ns, for a deterministic clock.
    pub counted: bool,
}

impl Sweep {
    pub fn points_of(&self, key: &Key) -> &[Point] {
        self.points.get(key).map_or(&[], Vec::as_slice)
    }

    /// For each point of a measurement, the index of the first equal point.
    pub(crate) fn kinds_of(&self, key: &Key) -> Vec<usize> {
        let points = self.points_of(key);
        let mut first: BTreeMap<&Point, usize> = BTreeMap::new();
        let kinds = points.iter().enumerate();
        kinds
            .map(|(at, point)| *first.entry(point).or_insert(at))
            .collect()
    }

    pub(crate) fn directives(&self) -> String {
        let which = if self.everything { "all" } else { "listed" };
        let clock = match self.counted {
            true => "instructions",
            false => "time",
        };
        let mut text = format!("delays {} {which} {clock}\n", self.module);
        for SweptHook { name, btf_id } in &self.hooks {
            let _ = writeln!(text, "hook {name} {btf_id}");
        }
        text
    }

    pub(crate) fn directives_of(&self, key: &Key) -> String {
        let mut text = String::new();
        let points = self.points_of(key);
        for chunk in points.chunk_by(|a, b| a.delayed == b.delayed) {
            let hook = match &chunk[0].delayed {
                Delayed::All => "all",
                Delayed::Hook(hook) => hook,
            };
            let ns: Vec<String> = chunk.iter().map(|p| p.delay_ns.to_string()).collect();
            let _ = writeln!(text, "point {hook} {}", ns.join(","));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Configuration, Metric, Subject};

    #[test]
    fn points_of_one_hook_are_one_line() {
        let key = Key::new(
            "debian:6.12",
            &Configuration::of_stack("capability,bpf".parse().unwrap()),
            "tmpfs",
            Subject::benchmark("open", "AA"),
            Metric::Instructions,
        );
        let point = |delayed: Delayed, delay_ns| Point { delayed, delay_ns };
        let one = || Delayed::Hook("file_open".to_owned());
        let points = vec![
            point(Delayed::All, 0),
            point(Delayed::All, 10),
            point(one(), 5),
        ];
        let sweep = Sweep {
            module: DelayModule::Bpf,
            everything: false,
            hooks: vec![SweptHook {
                name: "file_open".to_owned(),
                btf_id: 7,
            }],
            points: BTreeMap::from([(key.clone(), points)]),
            repetitions: 3,
            counted: true,
        };
        assert_eq!(
            sweep.directives(),
            "delays bpf listed instructions\nhook file_open 7\n"
        );
        assert_eq!(
            sweep.directives_of(&key),
            "point all 0,10\npoint file_open 5\n"
        );
    }
}
