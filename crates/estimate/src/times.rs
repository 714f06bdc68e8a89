// SPDX-License-Identifier: GPL-2.0-or-later
//! Times of operations, and the time that stacks add.

use std::collections::{BTreeMap, BTreeSet};

use compare::judge::{FEWEST_LAYOUTS, Layouts, quiet};
use model::{Document, Failure, Key, Metric, Place, Timed, estimate::Nanoseconds, layouts_base};
use stats::Centre;

/// A time and its standard error, in ns: a quarter of a 95 % interval's width.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ns {
    pub(crate) ns: f64,
    pub(crate) error: f64,
}

#[derive(Debug, Clone)]
pub struct Times {
    pub(crate) processor: String,
    pub(crate) release: String,
    /// Times of operations, by key without kernel and metric.
    pub(crate) whole: BTreeMap<Key, Ns>,
    pub(crate) added: BTreeMap<Key, Ns>,
    pub(crate) system_calls: BTreeMap<Key, usize>,
    /// True for times of the running kernel, which has one stack. Keys are from [`anywhere`].
    pub(crate) of_running: bool,
}

/// A key that times and counts have in common: without kernel and metric.
pub(crate) fn meeting(key: &Key) -> Key {
    Key {
        kernel: String::new(),
        metric: Metric::Instructions,
        ..key.clone()
    }
}

/// A key shared by counts and a running kernel's times: also without stack and file system.
pub(crate) fn anywhere(key: &Key) -> Key {
    Key {
        stack: Vec::new(),
        filesystem: String::new(),
        ..meeting(key)
    }
}

impl Ns {
    pub(crate) fn with_interval(self) -> Nanoseconds {
        let half = 2.0 * self.error;
        Nanoseconds {
            ns: self.ns,
            ci95: [self.ns - half, self.ns + half],
        }
    }

    fn of_layouts(centre: Centre) -> Ns {
        let [low, high] = centre.ci95;
        Ns {
            ns: centre.value,
            error: (high - low) / 4.0,
        }
    }

    fn of_one(timed: &Timed) -> Ns {
        let [low, high] = timed.estimate.ci95.unwrap_or([timed.estimate.median; 2]);
        Ns {
            ns: quiet(timed),
            error: (high - low).abs() / 4.0,
        }
    }
}

/// Times from a run of one kernel, or over the layouts of one kernel. If the baseline belongs to
/// another kernel (one without security modules), added times are computed within the kernel that
/// has the modules, as for counts. The running kernel has only whole operations.
pub fn times_of(document: &Document) -> Result<Times, Failure> {
    let timed = document.cells.iter().filter_map(|cell| {
        let timed = cell.timed()?;
        (cell.key.metric == Metric::Time).then_some((cell, timed))
    });
    let timed: BTreeMap<&Key, _> = timed
        .map(|(cell, timed)| (&cell.key, (cell, timed)))
        .collect();
    let layouts = Layouts::in_run(document);
    let of_layouts = |key: &Key| {
        let mut all = layouts.iter();
        all.find(|layouts| layouts.figure(key).is_some())
    };
    let is_others_baseline = |key: &Key| {
        let mut others = layouts.iter().filter_map(Layouts::baseline);
        others.any(|other| layouts_base(&key.kernel) == Some(other.kernel))
    };
    let experiment = document.experiment.as_ref();
    let of_running = experiment.is_some_and(|experiment| experiment.place == Place::Host);
    let mut times = Times {
        processor: document.environment.cpu.clone(),
        release: String::new(),
        whole: BTreeMap::new(),
        added: BTreeMap::new(),
        system_calls: BTreeMap::new(),
        of_running,
    };
    let mut kernels = BTreeSet::new();
    for (key, (cell, own)) in &timed {
        if is_others_baseline(key) {
            continue;
        }
        let meet = if of_running {
            anywhere(key)
        } else {
            meeting(key)
        };
        if times.whole.contains_key(&meet) && of_layouts(key).is_some() {
            continue;
        }
        let base = match of_layouts(key) {
            Some(layouts) if layouts.baseline().is_some() => layouts.own_baseline(key),
            _ => document.baseline_of(key),
        };
        let base = base.and_then(|base| timed.get_key_value(&base));
        let (whole, added) = match of_layouts(key) {
            Some(layouts) => {
                kernels.insert(layouts.kernel);
                let added = base.and_then(|(base, _)| layouts.added(base, key));
                (
                    layouts.figure(key).map(Ns::of_layouts),
                    added.map(Ns::of_layouts),
                )
            }
            None => {
                kernels.insert(key.kernel.as_str());
                let own = Ns::of_one(own);
                let added = base.map(|(_, (_, base))| {
                    let base = Ns::of_one(base);
                    Ns {
                        ns: own.ns - base.ns,
                        error: own.error.hypot(base.error),
                    }
                });
                (Some(own), added)
            }
        };
        let sound = |ns: &Ns| ns.ns.is_finite() && ns.error.is_finite();
        times
            .whole
            .extend(whole.filter(sound).map(|ns| (meet.clone(), ns)));
        times
            .added
            .extend(added.filter(sound).map(|ns| (meet.clone(), ns)));
        times.system_calls.insert(meet, cell.syscalls.len());
        times.release.clone_from(&cell.release);
    }
    let known = if of_running {
        &times.whole
    } else {
        &times.added
    };
    if known.is_empty() {
        return Err(Failure::usage(
            "no times for a stack and its baseline",
            "measure two or more stacks with `lsmeter run --on um` (docs/time.md)",
        ));
    }
    if kernels.len() > 1 {
        let kernels: Vec<&str> = kernels.into_iter().collect();
        let kernels = kernels.join(" and ");
        return Err(Failure::usage(
            format!("the times are from more than one kernel: {kernels}"),
            format!("give times from one kernel, or from at least {FEWEST_LAYOUTS} layouts of it"),
        ));
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_baseline_of_another_kernel_is_not_what_stacks_add_to() {
        let path = "../../publications/lsm-overhead/nanoseconds-6.12.json.xz";
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let document = testing::unpack(&std::fs::read(path).unwrap());
        let document = Document::parse(&document).unwrap();
        let times = times_of(&document).unwrap();
        let none = |by_key: &BTreeMap<Key, Ns>| by_key.keys().any(|key| key.stack == ["none"]);
        assert!(!none(&times.whole) && !none(&times.added));
        let added = |stack: &str| {
            let stack: Vec<&str> = stack.split(',').collect();
            let mut all = times.added.iter();
            all.find(|(key, _)| key.title() == "stat:AA" && key.stack == stack)
        };
        assert!(added("capability").is_none());
        // stat does not call Landlock, and the cost of the framework is not Landlock's.
        let (_, landlock) = added("capability,landlock").unwrap();
        assert!(landlock.ns.abs() < 4.0 * landlock.error, "{landlock:?}");
        let (_, selinux) = added("capability,selinux").unwrap();
        assert!(selinux.ns > 4.0 * selinux.error, "{selinux:?}");
    }
}
