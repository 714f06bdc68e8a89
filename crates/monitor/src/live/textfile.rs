// SPDX-License-Identifier: GPL-2.0-or-later
//! Metrics for the textfile collector of Prometheus' `node_exporter`: text format 0.0.4.
//! `docs/monitor.md` lists them.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;

use model::{Interval, Monitoring, printable};

/// The maximum number of characters in a label's value. It exceeds the length of any function's
/// name in practice, and limits lists of modules.
const LABEL_LIMIT: usize = 200;

/// Bounds of buckets are powers of two, in ns. Times below the first are below the clock's
/// resolution; the last is about a second. All histograms have the same buckets, so they can be
/// added up.
const BOUNDS: std::ops::RangeInclusive<u32> = 4..=30;

/// A file with sums since the start. Removed on drop.
#[derive(Debug)]
pub struct Textfile {
    path: PathBuf,
    metrics: Metrics,
    written: bool,
}

impl Textfile {
    pub fn new(path: PathBuf) -> Textfile {
        Textfile {
            path,
            metrics: Metrics::new(env!("CARGO_PKG_VERSION")),
            written: false,
        }
    }

    pub fn write(&mut self, monitoring: &Monitoring, total: &Interval) -> io::Result<()> {
        let text = self.metrics.text(monitoring, total);
        // The collector ignores this extension.
        let new = self.path.with_extension("prom.new");
        // Never write through a link that somebody else made.
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        self.written = true;
        let mut file = OpenOptions::new().write(true).create_new(true).open(&new)?;
        let written = file.write_all(text.as_bytes());
        written
            .and_then(|()| fs::rename(&new, &self.path))
            .inspect_err(|_| drop(fs::remove_file(&new)))
    }
}

impl Drop for Textfile {
    fn drop(&mut self) {
        if self.written {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Sums by the values of labels.
type Sums = BTreeMap<Vec<String>, i128>;

/// Writes the file's text.
///
/// Prometheus treats a falling counter as a restart. A sum of times can fall a little if calls are
/// as short as the variation of the subtracted cost. So this struct remembers the written values.
#[derive(Debug)]
pub struct Metrics {
    version: &'static str,
    text: String,
    highest: BTreeMap<(&'static str, Vec<String>), i128>,
}

impl Metrics {
    pub fn new(version: &'static str) -> Metrics {
        Metrics {
            version,
            text: String::new(),
            highest: BTreeMap::new(),
        }
    }

    pub fn text(&mut self, monitoring: &Monitoring, total: &Interval) -> String {
        let metric = "lsmeter_build_info";
        self.metric(metric, "gauge", "Version of lsmeter.");
        self.sample(metric, &["version"], &[self.version.to_owned()], 1);
        let metric = "lsmeter_monitored_info";
        self.metric(metric, "gauge", "The watched machine, scope and mode.");
        let monitored = [
            label(&monitoring.release),
            label(&monitoring.active_lsms.join(",")),
            label(&monitoring.scope),
            monitoring.mode.to_string(),
        ];
        let labels = ["release", "lsms", "scope", "mode"];
        self.sample(metric, &labels, &monitored, 1);
        let metric = "lsmeter_lost_calls_total";
        let help = "Calls that are in no other metric.";
        self.metric(metric, "counter", help);
        self.sample(metric, &[], &[], total.lost);
        let cost = &monitoring.cost;
        // 0 means that the cost was not measured.
        if cost.added_ns > 0 {
            let metric = "lsmeter_monitor_overhead_seconds";
            let help = "Cost of watching a call: in total (added), and the part within the \
                        call's time, which is subtracted (within).";
            self.metric(metric, "gauge", help);
            for (kind, ns) in [("added", cost.added_ns), ("within", cost.within_ns)] {
                self.sample(metric, &["kind"], &[kind.to_owned()], seconds(ns.into()));
            }
        }
        let metric = "lsmeter_monitor_memory_bytes";
        self.metric(metric, "gauge", "Kernel memory of the counters.");
        self.sample(metric, &[], &[], monitoring.memory_bytes);
        self.hooks(total);
        self.system_calls(total);
        self.durations(total);
        std::mem::take(&mut self.text)
    }

    fn hooks(&mut self, total: &Interval) {
        let (mut calls, mut times, mut errors) = (Sums::new(), Sums::new(), Sums::new());
        for hook in &total.hooks {
            let labels = |last: &str| [&function(hook)[..], &[label(last)]].concat();
            for call in &hook.system_calls {
                let labels = labels(&call.system_call);
                if let Some(ns) = call.calls.sum_ns {
                    *times.entry(labels.clone()).or_default() += i128::from(ns);
                }
                *calls.entry(labels).or_default() += i128::from(call.calls.count);
            }
            for (errno, count) in &hook.errnos {
                *errors.entry(labels(errno)).or_default() += i128::from(*count);
            }
        }
        let by_call = ["hook", "module", "syscall"];
        let help = "Calls to an LSM hook's function.";
        self.counters("lsmeter_hook_calls_total", help, &by_call, calls, calls_of);
        let help = "Time in calls to an LSM hook's function, without the overhead of watching.";
        self.counters("lsmeter_hook_seconds_total", help, &by_call, times, seconds);
        let by_error = ["hook", "module", "errno"];
        let help = "Calls to an LSM hook's function that returned an error; \
                    EACCES and EPERM are denials.";
        let metric = "lsmeter_hook_errors_total";
        self.counters(metric, help, &by_error, errors, calls_of);
    }

    fn system_calls(&mut self, total: &Interval) {
        let (mut calls, mut times) = (Sums::new(), Sums::new());
        for whole in &total.system_calls {
            let labels = vec![label(&whole.system_call)];
            *calls.entry(labels.clone()).or_default() += i128::from(whole.count);
            *times.entry(labels).or_default() += i128::from(whole.sum_ns);
        }
        let metric = "lsmeter_system_calls_total";
        let help = "Finished system calls.";
        self.counters(metric, help, &["syscall"], calls, calls_of);
        let metric = "lsmeter_system_call_seconds_total";
        let help = "Time in system calls, including waits, without the overhead of watching hooks.";
        self.counters(metric, help, &["syscall"], times, seconds);
    }

    fn durations(&mut self, total: &Interval) {
        let mut durations: BTreeMap<Vec<String>, (Vec<i128>, i128)> = BTreeMap::new();
        for hook in total.hooks.iter().filter(|hook| !hook.histogram.is_empty()) {
            let (buckets, sum_ns) = durations.entry(function(hook).to_vec()).or_default();
            buckets.resize(BOUNDS.count() + 1, 0);
            for bucket in &hook.histogram {
                let fits = |to_ns: u64| BOUNDS.into_iter().position(|power| to_ns <= 1 << power);
                let at = bucket.to_ns.and_then(fits).unwrap_or(BOUNDS.count());
                buckets[at] += i128::from(bucket.count);
            }
            *sum_ns += i128::from(hook.calls.sum_ns.unwrap_or(0));
        }
        if !durations.is_empty() {
            let help =
                "Time of a call to an LSM hook's function, without the overhead of watching.";
            self.metric("lsmeter_hook_duration_seconds", "histogram", help);
        }
        for (labels, (buckets, sum_ns)) in durations {
            let bounds = BOUNDS.map(|power| seconds(1 << power).to_string());
            let mut calls = 0;
            for (bound, more) in bounds.chain(["+Inf".to_owned()]).zip(buckets) {
                calls += more;
                let metric = "lsmeter_hook_duration_seconds_bucket";
                let values = [&labels[..], &[bound]].concat();
                self.sample(metric, &["hook", "module", "le"], &values, calls_of(calls));
            }
            let metric = "lsmeter_hook_duration_seconds_sum";
            let sum_ns = self.never_less(metric, &labels, sum_ns);
            self.sample(metric, &["hook", "module"], &labels, seconds(sum_ns));
            // The count is the sum of the buckets, so that both agree.
            let metric = "lsmeter_hook_duration_seconds_count";
            self.sample(metric, &["hook", "module"], &labels, calls_of(calls));
        }
    }

    fn metric(&mut self, name: &str, kind: &str, help: &str) {
        self.text += &format!("# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn sample(&mut self, name: &str, labels: &[&str], values: &[String], value: impl Display) {
        let labels = labels.iter().zip(values).map(|(name, value)| {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            format!("{name}=\"{value}\"")
        });
        let mut labels = labels.collect::<Vec<_>>().join(",");
        if !values.is_empty() {
            labels = format!("{{{labels}}}");
        }
        let _ = writeln!(self.text, "{name}{labels} {value}");
    }

    fn counters<V: Display>(
        &mut self,
        name: &'static str,
        help: &str,
        labels: &[&str],
        sums: Sums,
        value: fn(i128) -> V,
    ) {
        if !sums.is_empty() {
            self.metric(name, "counter", help);
        }
        for (values, sum) in sums {
            let sum = self.never_less(name, &values, sum);
            self.sample(name, labels, &values, value(sum));
        }
    }

    /// The sum, but not less than before, and at least 0.
    fn never_less(&mut self, name: &'static str, labels: &[String], sum: i128) -> i128 {
        let highest = self.highest.entry((name, labels.to_vec())).or_default();
        *highest = sum.max(*highest);
        *highest
    }
}

fn function(hook: &model::WatchedHook) -> [String; 2] {
    let module = hook.module.as_deref().unwrap_or("framework");
    [label(&hook.hook), label(module)]
}

fn label(text: &str) -> String {
    printable(text, LABEL_LIMIT)
}

fn seconds(ns: i128) -> f64 {
    ns as f64 / 1e9
}

fn calls_of(sum: i128) -> u64 {
    u64::try_from(sum).unwrap_or(u64::MAX)
}
