// SPDX-License-Identifier: GPL-2.0-or-later
//! What a monitor saw, as OpenMetrics text for Prometheus.
//!
//! | metric | labels | |
//! |---|---|---|
//! | `lsmeter_hook_calls_total` | hook, module, syscall | calls |
//! | `lsmeter_hook_seconds_total` | hook, module, syscall | time in them, unless they were only counted |
//! | `lsmeter_hook_errors_total` | hook, module, errno | calls that returned an error |
//! | `lsmeter_hook_duration_seconds` | hook, module | histogram, where one was kept |
//! | `lsmeter_system_calls_total` | syscall | system calls as a whole, where they were timed |
//! | `lsmeter_system_call_seconds_total` | syscall | time from their entry to their exit |
//! | `lsmeter_lost_calls_total` | | calls that are in no figure |
//! | `lsmeter_monitor_overhead_seconds` | kind | what watching adds to a call |
//! | `lsmeter_monitor_memory_bytes` | | kernel memory of the figures |
//! | `lsmeter_build_info` | version | 1 |
//! | `lsmeter_monitored_info` | release, lsms, scope, mode | 1 |
//!
//! The label module is `framework` for a framework function.
//!
//! Only calls and time have a series for each system call, and only for those in which a
//! function was called: as many as the monitor tells apart, which bounds them by itself.
//! Histograms have a fixed number of series for each function.

mod sums;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::{self, Write};

use diagnostics::printable;
use experiment::{Interval, Monitoring};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeMetric, MetricEncoder, NoLabelSet, text,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::Exemplar;
use prometheus_client::registry::{Registry, Unit};

use sums::{Durations, Highest, Sums, seconds, upper_bounds};

/// Longest value of a label, in characters: longer than any function's name in practice,
/// and short enough for a list of modules.
const LABEL_LIMIT: usize = 200;

/// The media type of what [`OpenMetrics::write`] writes.
pub const OPEN_METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Writes what was seen since a monitor's start as OpenMetrics text, time and again.
///
/// Counters must not fall, or Prometheus takes it for a restart. A sum of times can, by a
/// little, where calls are as short as the spread of what is subtracted from each. So one
/// of these remembers what it wrote, and is to be kept as long as the monitor runs.
#[derive(Debug)]
pub struct OpenMetrics {
    version: String,
    highest: Highest,
}

impl OpenMetrics {
    /// `version` is lsmeter's.
    pub fn new(version: &str) -> OpenMetrics {
        OpenMetrics {
            version: label(version),
            highest: Highest::default(),
        }
    }

    /// Writes the sums over `intervals`, which are all there were since the start, or one
    /// that is their sum already.
    ///
    /// # Errors
    /// When the writer fails. Flushes at the end.
    pub fn write<'a>(
        &mut self,
        monitoring: &Monitoring,
        intervals: impl IntoIterator<Item = &'a Interval>,
        mut to: impl Write,
    ) -> io::Result<()> {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Scrape {
            build: [("version", self.version.clone())],
            monitored: [
                ("release", label(&monitoring.release)),
                ("lsms", label(&monitoring.active_lsms.join(","))),
                ("scope", label(&monitoring.scope)),
                ("mode", monitoring.mode.to_string()),
            ],
            overhead_ns: [
                ("added", monitoring.cost.added_ns),
                ("within", monitoring.cost.within_ns),
            ],
            memory_bytes: monitoring.memory_bytes,
            sums: Sums::of(intervals, &mut self.highest),
        }));
        let mut written = String::new();
        text::encode(&mut written, &registry).map_err(io::Error::other)?;
        to.write_all(written.as_bytes())?;
        to.flush()
    }
}

/// Text as the value of a label. Quotes, backslashes and newlines are the encoder's job.
fn label(text: &str) -> String {
    printable(text, LABEL_LIMIT)
}

/// What one text says: an encoder takes nothing that is borrowed.
#[derive(Debug)]
struct Scrape {
    build: [(&'static str, String); 1],
    monitored: [(&'static str, String); 4],
    overhead_ns: [(&'static str, u32); 2],
    memory_bytes: u64,
    sums: Sums,
}

impl Collector for Scrape {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let to = &mut encoder;
        self.about(to)?;
        self.hooks(to)?;
        self.system_calls(to)?;
        self.durations(to)
    }
}

impl Scrape {
    /// What was monitored, by what, and what that costs.
    fn about(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let build = "The lsmeter that watches.";
        to.encode_descriptor("lsmeter_build", build, None, MetricType::Info)?
            .encode_info(&self.build.as_slice())?;
        let monitored = "What is watched, and how.";
        to.encode_descriptor("lsmeter_monitored", monitored, None, MetricType::Info)?
            .encode_info(&self.monitored.as_slice())?;
        let lost = "Calls that were seen and are in no figure.";
        to.encode_descriptor("lsmeter_lost_calls", lost, None, MetricType::Counter)?
            .encode_counter::<NoLabelSet, _, u64>(&self.sums.lost, None)?;
        let (name, unit) = ("lsmeter_monitor_overhead", Some(&Unit::Seconds));
        let overhead = "What watching a call costs: all that it adds, and what of that lies \
                        within the times and is subtracted.";
        let mut overhead = to.encode_descriptor(name, overhead, unit, MetricType::Gauge)?;
        // Without the first, nothing was measured.
        let measured = self
            .overhead_ns
            .iter()
            .filter(|_| self.overhead_ns[0].1 > 0);
        for (kind, ns) in measured {
            let kind = [("kind", *kind)];
            let mut series = overhead.encode_family(&kind)?;
            series.encode_gauge(&seconds((*ns).into()))?;
        }
        let (name, unit) = ("lsmeter_monitor_memory", Some(&Unit::Bytes));
        let memory = "Kernel memory that the figures take.";
        to.encode_descriptor(name, memory, unit, MetricType::Gauge)?
            .encode_gauge(&self.memory_bytes)
    }

    fn hooks(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let of_call = ["hook", "module", "syscall"];
        let (name, help) = ("lsmeter_hook_calls", "Calls of an LSM hook's function.");
        counters(to, name, help, None, of_call, &self.sums.calls)?;
        let help = "Time in calls of an LSM hook's function, without what watching added.";
        let unit = Some(Unit::Seconds);
        counters(to, "lsmeter_hook", help, unit, of_call, &self.sums.time_ns)?;
        let of_error = ["hook", "module", "errno"];
        let name = "lsmeter_hook_errors";
        let help = "Calls of an LSM hook's function that returned an error; \
                    EACCES and EPERM are denials.";
        counters(to, name, help, None, of_error, &self.sums.errors)
    }

    fn system_calls(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let (name, help) = ("lsmeter_system_calls", "System calls that came to an end.");
        counters(to, name, help, None, ["syscall"], &self.sums.whole_calls)?;
        let (name, unit) = ("lsmeter_system_call", Some(Unit::Seconds));
        let help = "Time in system calls, waiting included, without what watching hooks added.";
        counters(to, name, help, unit, ["syscall"], &self.sums.whole_ns)
    }

    fn durations(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        if self.sums.durations.is_empty() {
            return Ok(());
        }
        let help = "Time of a call of an LSM hook's function, without what watching added.";
        let unit = Some(&Unit::Seconds);
        let kind = MetricType::Histogram;
        let mut metric = to.encode_descriptor("lsmeter_hook_duration", help, unit, kind)?;
        let names = ["hook", "module"];
        for (of, durations) in &self.sums.durations {
            durations.encode(metric.encode_family(&pairs(names, of))?)?;
        }
        Ok(())
    }
}

impl EncodeMetric for Durations {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        let buckets: Vec<(f64, u64)> = upper_bounds().zip(self.buckets).collect();
        let exemplars: Option<&HashMap<usize, Exemplar<NoLabelSet, f64>>> = None;
        encoder.encode_histogram(seconds(self.sum_ns), self.count(), &buckets, exemplars)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}

fn pairs<'a, const N: usize>(
    names: [&'static str; N],
    values: &'a [String; N],
) -> [(&'static str, &'a str); N] {
    std::array::from_fn(|at| (names[at], values[at].as_str()))
}

/// A counter with its series, which are of ns if it counts seconds; left out if it has none.
fn counters<const N: usize>(
    to: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    unit: Option<Unit>,
    labels: [&'static str; N],
    sums: &BTreeMap<[String; N], u64>,
) -> fmt::Result {
    if sums.is_empty() {
        return Ok(());
    }
    let mut encoder = to.encode_descriptor(name, help, unit.as_ref(), MetricType::Counter)?;
    for (values, &sum) in sums {
        let labels = pairs(labels, values);
        let mut series = encoder.encode_family(&labels)?;
        match unit {
            Some(_) => series.encode_counter::<NoLabelSet, _, u64>(&seconds(sum), None)?,
            None => series.encode_counter::<NoLabelSet, _, u64>(&sum, None)?,
        }
    }
    Ok(())
}
