// SPDX-License-Identifier: GPL-2.0-or-later
//! Metrics for the textfile collector of Prometheus's `node_exporter`: text format 0.0.4.
//! `docs/prometheus.md` lists them.

mod sums;

use std::fmt::{Display, Write as _};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;

use model::{Interval, Monitoring, printable};

use sums::{Highest, Sums, seconds, upper_bounds};

/// Characters of a label's value: longer than any function's name in practice, and short enough for
/// a list of modules.
const LABEL_LIMIT: usize = 200;

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

    pub fn write<'a>(
        &mut self,
        monitoring: &Monitoring,
        intervals: impl IntoIterator<Item = &'a Interval>,
    ) -> io::Result<()> {
        let text = self.metrics.text(monitoring, intervals);
        // The collector ignores this extension.
        let new = self.path.with_extension("prom.new");
        // Never write through somebody else's link.
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

/// Writes the file's text.
///
/// Prometheus takes a falling counter for a restart. A sum of times can fall a little where calls
/// are as short as the spread of the subtracted cost: this remembers the written values.
#[derive(Debug)]
pub struct Metrics {
    version: &'static str,
    highest: Highest,
}

impl Metrics {
    pub fn new(version: &'static str) -> Metrics {
        Metrics {
            version,
            highest: Highest::default(),
        }
    }

    /// `intervals`: all since the start, or one that is their sum.
    pub fn text<'a>(
        &mut self,
        monitoring: &Monitoring,
        intervals: impl IntoIterator<Item = &'a Interval>,
    ) -> String {
        let sums = Sums::of(intervals, &mut self.highest);
        let mut text = Text::default();
        text.metric("lsmeter_build_info", "gauge", "The lsmeter that watches.");
        text.sample("", ["version"], [self.version], 1);
        text.metric(
            "lsmeter_monitored_info",
            "gauge",
            "What is watched, and how.",
        );
        let monitored = [
            label(&monitoring.release),
            label(&monitoring.active_lsms.join(",")),
            label(&monitoring.scope),
            monitoring.mode.to_string(),
        ];
        text.sample("", ["release", "lsms", "scope", "mode"], monitored, 1);
        let help = "Calls that were seen and are in no figure.";
        text.metric("lsmeter_lost_calls_total", "counter", help);
        text.sample("", [], [""; 0], sums.lost);
        let cost = &monitoring.cost;
        // 0: nothing was measured.
        if cost.added_ns > 0 {
            let help = "What watching a call costs: all that it adds, and what of that lies \
                        within the times and is subtracted.";
            text.metric("lsmeter_monitor_overhead_seconds", "gauge", help);
            for (kind, ns) in [("added", cost.added_ns), ("within", cost.within_ns)] {
                text.sample("", ["kind"], [kind], seconds(ns.into()));
            }
        }
        let help = "Kernel memory that the figures take.";
        text.metric("lsmeter_monitor_memory_bytes", "gauge", help);
        text.sample("", [], [""; 0], monitoring.memory_bytes);

        let of_call = ["hook", "module", "syscall"];
        let help = "Calls of an LSM hook's function.";
        text.counters(
            "lsmeter_hook_calls_total",
            help,
            of_call,
            &sums.calls,
            |n| n,
        );
        let help = "Time in calls of an LSM hook's function, without what watching added.";
        text.counters(
            "lsmeter_hook_seconds_total",
            help,
            of_call,
            &sums.time_ns,
            seconds,
        );
        let of_error = ["hook", "module", "errno"];
        let help = "Calls of an LSM hook's function that returned an error; \
                    EACCES and EPERM are denials.";
        text.counters(
            "lsmeter_hook_errors_total",
            help,
            of_error,
            &sums.errors,
            |n| n,
        );
        let (name, help) = (
            "lsmeter_system_calls_total",
            "System calls that came to an end.",
        );
        text.counters(name, help, ["syscall"], &sums.whole_calls, |n| n);
        let name = "lsmeter_system_call_seconds_total";
        let help = "Time in system calls, waiting included, without what watching hooks added.";
        text.counters(name, help, ["syscall"], &sums.whole_ns, seconds);

        if !sums.durations.is_empty() {
            let help = "Time of a call of an LSM hook's function, without what watching added.";
            text.metric("lsmeter_hook_duration_seconds", "histogram", help);
        }
        for (of @ [hook, module], durations) in &sums.durations {
            let mut calls = 0;
            for (bound, more) in upper_bounds().zip(durations.buckets) {
                calls += more;
                let bound = match bound {
                    f64::INFINITY => "+Inf".to_owned(),
                    bound => bound.to_string(),
                };
                let values = [hook, module, &bound];
                text.sample("_bucket", ["hook", "module", "le"], values, calls);
            }
            let names = ["hook", "module"];
            text.sample("_sum", names, of.each_ref(), seconds(durations.sum_ns));
            text.sample("_count", names, of.each_ref(), durations.count());
        }
        text.text
    }
}

fn label(text: &str) -> String {
    printable(text, LABEL_LIMIT)
}

#[derive(Default)]
struct Text {
    text: String,
    name: &'static str,
}

impl Text {
    fn metric(&mut self, name: &'static str, kind: &str, help: &str) {
        self.name = name;
        self.text += &format!("# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn sample<const N: usize>(
        &mut self,
        suffix: &str,
        labels: [&str; N],
        values: [impl AsRef<str>; N],
        value: impl Display,
    ) {
        let labels = labels.iter().zip(values).map(|(name, value)| {
            let value = value.as_ref().replace('\\', "\\\\").replace('"', "\\\"");
            format!("{name}=\"{value}\"")
        });
        let mut labels = labels.collect::<Vec<_>>().join(",");
        if N > 0 {
            labels = format!("{{{labels}}}");
        }
        let _ = writeln!(self.text, "{}{suffix}{labels} {value}", self.name);
    }

    fn counters<const N: usize, V: Display>(
        &mut self,
        name: &'static str,
        help: &str,
        labels: [&str; N],
        sums: &std::collections::BTreeMap<[String; N], u64>,
        value: fn(u64) -> V,
    ) {
        if !sums.is_empty() {
            self.metric(name, "counter", help);
        }
        for (values, sum) in sums {
            self.sample("", labels, values.each_ref(), value(*sum));
        }
    }
}
