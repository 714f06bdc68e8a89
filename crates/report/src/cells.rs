// SPDX-License-Identifier: GPL-2.0-or-later
//! A result file's measurements, arranged for a table.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use compare::judge::{Baselines, GETPPID};
use model::{
    Cell, Document, Integrity, Metric, Place, Policy, Settings, Status, configuration_title,
};
use stats::overhead;

use crate::group::{distinct, grouped, shared};
use crate::table::{TEXT_LIMIT, Tone, Value};
use crate::text::{printable, short};

pub(crate) type Operation<'a> = (&'a str, &'a str);

pub(crate) fn operation(cell: &Cell) -> Operation<'_> {
    (cell.key.benchmark(), cell.key.variant())
}

/// `open:AA/BB`, escaped.
pub(crate) fn operation_title((benchmark, variant): Operation<'_>) -> String {
    short(&model::cell_title(benchmark, variant))
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Configuration {
    pub(crate) kernel: Option<String>,
    pub(crate) stack: Vec<String>,
    pub(crate) integrity: Vec<Integrity>,
    pub(crate) policy: Policy,
    pub(crate) settings: Settings,
}

impl Configuration {
    pub(crate) fn from_cell(cell: &Cell) -> Configuration {
        Configuration {
            kernel: None,
            stack: cell.key.stack.clone(),
            integrity: cell.key.integrity.clone(),
            policy: cell.key.policy,
            settings: cell.key.settings.clone(),
        }
    }

    pub(crate) fn title(&self) -> String {
        let title = configuration_title(
            &self.stack.join(","),
            &self.integrity,
            self.policy,
            &self.settings,
        );
        match &self.kernel {
            Some(kernel) => format!("{title} on {kernel}"),
            None => title,
        }
    }

    pub(crate) fn is_reordered(&self, other: &Configuration) -> bool {
        let sorted = |configuration: &Configuration| {
            let mut configuration = configuration.clone();
            configuration.stack.sort_unstable();
            configuration
        };
        self.stack != other.stack && sorted(self) == sorted(other)
    }

    /// Short title next to the baseline's: `+selinux` for its stack with selinux appended.
    pub(crate) fn short_title(&self, baseline: Option<&Configuration>) -> String {
        if let Some(baseline) = baseline
            && self != baseline
            && self.kernel == baseline.kernel
            && let Some(added) = added(&self.stack, &baseline.stack)
        {
            let added = Configuration {
                stack: added.to_vec(),
                ..self.clone()
            };
            return format!("+{}", added.title());
        }
        self.title()
    }
}

/// What `stack` appends to `base`; None if it does not start with `base`.
pub(crate) fn added<'a>(stack: &'a [String], base: &[String]) -> Option<&'a [String]> {
    let added = stack.strip_prefix(base)?;
    (base != ["default"] && base != ["none"] && !added.is_empty()).then_some(added)
}

const WITH_POLICIES: [&str; 5] = ["selinux", "apparmor", "smack", "tomoyo", "landlock"];

/// The measurements of one table: one kernel, file system and metric; if kernels are compared, one
/// configuration, file system and metric.
pub(crate) struct Group<'a> {
    /// The kernel or, if the columns are kernels, the configuration.
    pub(crate) subject: String,
    pub(crate) of_kernels: bool,
    pub(crate) filesystem: &'a str,
    pub(crate) metric: Metric,
    /// The configurations, with the baseline first if it was measured.
    pub(crate) configurations: Vec<Configuration>,
    pub(crate) baseline: Option<Configuration>,
    pub(crate) rows: Vec<Operation<'a>>,
    cells: HashMap<(Operation<'a>, Configuration), &'a Cell>,
}

impl<'a> Group<'a> {
    pub(crate) fn heading(&self, column: &Configuration) -> String {
        match &column.kernel {
            Some(kernel) if self.of_kernels => {
                let kernels = self.configurations.iter();
                let all: Vec<&str> = kernels.filter_map(|c| c.kernel.as_deref()).collect();
                distinguishing_part(kernel, &all)
            }
            _ => column.short_title(self.baseline.as_ref()),
        }
    }

    pub(crate) fn cell(&self, row: Operation<'a>, column: &Configuration) -> Option<&'a Cell> {
        self.cells.get(&(row, column.clone())).copied()
    }

    pub(crate) fn baseline_cell(&self, row: Operation<'a>) -> Option<&'a Cell> {
        self.cell(row, self.baseline.as_ref()?)
    }

    /// Row by row.
    pub(crate) fn measured(
        &self,
    ) -> impl Iterator<Item = (Operation<'a>, &Configuration, &'a Cell)> {
        self.rows.iter().flat_map(move |&row| {
            let cell = move |column| Some((row, column, self.cell(row, column)?));
            self.configurations.iter().filter_map(cell)
        })
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = &'a Cell> {
        self.measured().map(|(.., cell)| cell)
    }

    /// `debian:6.1 (6.1.0-56-cloud-amd64), tmpfs, deterministic clock`.
    pub(crate) fn place(&self, run: &Document) -> String {
        let releases = releases(self.cells()).into_iter();
        let releases: Vec<String> = releases.map(short).collect();
        let mut text = place(&self.subject, &releases.join(", "), self.filesystem);
        if let Some(experiment) = &run.experiment {
            if run.is_of_process(&self.subject) {
                let processor = printable(&run.environment.cpu, 60);
                text += &format!(", as a UML kernel on {processor}");
            } else if experiment.place == Place::Lab
                && (self.metric.is_counted() || !run.environment_of_kernel(&self.subject).kvm)
            {
                text += ", deterministic clock";
            }
            if !experiment.cmdline.is_empty() {
                text += &format!(", {}", printable(&experiment.cmdline, 100));
            }
        }
        text
    }

    pub(crate) fn own_policies(&self) -> Option<String> {
        let is_own = |cell: &&Cell| {
            let key = &cell.key;
            key.policy != Policy::None && !key.settings.has_given_modules()
        };
        let cells: Vec<&Cell> = self.cells().filter(is_own).collect();
        let with = |module: &&str| {
            let is_other =
                |cell: &Cell| *module == "selinux" && cell.key.settings.selinux_policy.is_some();
            let runs = |cell: &Cell| cell.active_lsms.iter().any(|name| name == module);
            cells.iter().any(|cell| !is_other(cell) && runs(cell))
        };
        let names: Vec<&str> = WITH_POLICIES.into_iter().filter(with).collect();
        let states = distinct(cells.iter().map(|cell| cell.key.policy));
        let states: Vec<String> = states.iter().map(Policy::to_string).collect();
        (!names.is_empty()).then(|| {
            format!(
                "{}: lsmeter's own policies for {}, not a distribution's (docs/policies.md).",
                states.join(", "),
                names.join(", ")
            )
        })
    }

    /// Mean overhead of a configuration and its n: see [`mean`].
    pub(crate) fn mean(
        &self,
        rows: &[Operation<'a>],
        configuration: &Configuration,
    ) -> Option<(f64, usize)> {
        let pair = |row: &Operation<'a>| {
            Some((self.cell(*row, configuration)?, self.baseline_cell(*row)?))
        };
        mean(self.metric, rows.iter().filter_map(pair))
    }

    pub(crate) fn tested(&self) -> impl Iterator<Item = &Configuration> {
        (self.configurations.iter()).filter(|c| Some(*c) != self.baseline.as_ref())
    }

    pub(crate) fn is_exact(&self) -> bool {
        let mut cells = self.cells.values();
        cells.all(|cell| cell.status() != Status::Ok || cell.is_exact())
    }
}

pub(crate) fn added_modules<'a>(cells: impl Iterator<Item = &'a Cell>) -> Vec<String> {
    let mut added: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for cell in cells.filter(|cell| cell.key.stack != ["default"]) {
        let lsms = cell.active_lsms.iter();
        let own = lsms.filter(|lsm| !cell.key.stack.contains(lsm));
        let kernel = added.entry(&cell.key.kernel).or_default();
        kernel.extend(own.map(String::as_str));
    }
    added.retain(|_, lsms| !lsms.is_empty());
    let sentence = |(kernel, lsms)| {
        let lsms = Vec::from_iter::<BTreeSet<&str>>(lsms).join(", ");
        let text = format!("{kernel} adds {lsms} to every stack");
        format!("{}.", printable(&text, 3 * TEXT_LIMIT))
    };
    added.into_iter().map(sentence).collect()
}

pub(crate) fn releases<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> Vec<&'a str> {
    let mut releases = distinct(cells.into_iter().map(|cell| cell.release.as_str()));
    releases.retain(|release| !release.is_empty());
    releases
}

/// `debian:6.1 (6.1.0-56-cloud-amd64), tmpfs`.
pub(crate) fn place(subject: &str, releases: &str, filesystem: &str) -> String {
    let mut text = short(subject);
    if !releases.is_empty() {
        text += &format!(" ({})", printable(releases, 200));
    }
    text + &format!(", {}", short(filesystem))
}

/// `name` without the directories that `all` have in common at their start and end. Names that are
/// not paths are not shortened.
fn distinguishing_part(name: &str, all: &[&str]) -> String {
    let split: Vec<Vec<&str>> = all.iter().map(|name| name.split('/').collect()).collect();
    let shortest = split.iter().map(Vec::len).min().unwrap_or(0);
    if split.len() < 2 || shortest < 2 {
        return name.to_owned();
    }
    let first = |at: &usize| shared(split.iter().map(|parts| parts[*at])).is_some();
    let last = |at: &usize| shared(split.iter().map(|parts| parts[parts.len() - 1 - at])).is_some();
    let before = (0..shortest - 1).take_while(first).count();
    let after = (0..shortest - 1 - before).take_while(last).count();
    let parts: Vec<&str> = name.split('/').collect();
    let Some(middle) = parts.get(before..parts.len().saturating_sub(after)) else {
        return name.to_owned();
    };
    let [before, after] =
        [(before, "…/"), (after, "/…")].map(|(n, dots)| if n > 0 { dots } else { "" });
    format!("{before}{}{after}", middle.join("/"))
}

pub(crate) fn groups(run: &Document) -> Vec<Group<'_>> {
    let baselines = Baselines::new(run);
    let experiment = run.experiment.as_ref();
    // The columns of its tables are kernels.
    let of_kernels = experiment.is_some_and(|experiment| experiment.baseline_kernel.is_some());
    let parts = grouped(&run.cells, |cell| {
        let subject = match of_kernels {
            true => cell.configuration_title(),
            false => cell.key.kernel.clone(),
        };
        (subject, cell.key.filesystem.as_str(), cell.key.metric)
    });
    let groups = parts.into_iter();
    let group = |(key, members): (_, Vec<_>)| group(run, &baselines, of_kernels, key, &members);
    let mut groups: Vec<Group<'_>> = groups.map(group).collect();
    // A kernel that only provides the baseline for other kernels is already in their tables.
    let shown = |group: &Group<'_>| group.configurations.len() > 1 || group.baseline.is_none();
    if groups.iter().any(shown) {
        let pinned = experiment.and_then(|experiment| experiment.baseline_configuration());
        let pinned = pinned.filter(|configuration| configuration.kernel.is_some());
        let is_pinned = |group: &Group<'_>| {
            pinned.is_some_and(|configuration| configuration.is_on(&group.subject))
        };
        groups.retain(|group| shown(group) || !is_pinned(group));
    }
    groups
}

fn group<'a>(
    run: &Document,
    baselines: &Baselines<'a>,
    of_kernels: bool,
    (subject, filesystem, metric): (String, &'a str, Metric),
    members: &[&'a Cell],
) -> Group<'a> {
    let mut configurations: Vec<Configuration> = Vec::new();
    let mut cells = HashMap::new();
    let mut baseline = None;
    for member in members {
        let row = operation(member);
        for cell in std::iter::once(*member).chain(baselines.baseline(member)) {
            let mut column = Configuration::from_cell(cell);
            column.kernel =
                (of_kernels || cell.key.kernel != subject).then(|| cell.key.kernel.clone());
            let is_baseline = run.baseline_of(&cell.key).is_none();
            if !configurations.contains(&column) {
                configurations.push(column.clone());
            }
            if is_baseline {
                baseline = Some(column.clone());
            }
            cells.insert((row, column), cell);
        }
    }
    configurations.sort_by_key(|configuration| Some(configuration) != baseline.as_ref());
    Group {
        subject,
        of_kernels,
        filesystem,
        metric,
        configurations,
        baseline,
        rows: distinct(members.iter().map(|member| operation(member))),
        cells,
    }
}

pub(crate) fn cost(tested: &Cell, baseline: &Cell) -> Option<(f64, f64)> {
    let (a, b) = (tested.headline()?, baseline.headline()?);
    Some((overhead(a, b, tested.key.metric.direction())?, a / b))
}

/// The geometric mean of the overheads, and n. For counts, only exact operations are included,
/// without the floor (the cost of any system call). None if there is no mean.
pub(crate) fn mean<'a>(
    metric: Metric,
    pairs: impl Iterator<Item = (&'a Cell, &'a Cell)>,
) -> Option<(f64, usize)> {
    let is_in =
        |cell: &Cell| cell.key.benchmark() != GETPPID && (!metric.is_counted() || cell.is_exact());
    let pairs = pairs.filter(|(tested, baseline)| is_in(tested) && is_in(baseline));
    let ratios = pairs.filter_map(|(tested, baseline)| Some(cost(tested, baseline)?.1));
    let found = metric.direction().mean_overhead(ratios);
    found.filter(|_| metric.has_mean())
}

/// Guest kernel instructions of an operation with a dominant path.
pub(crate) fn instructions(cell: &Cell) -> Option<i128> {
    let paths = cell.paths().filter(|paths| paths.is_stable())?;
    Some(i128::from(paths.dominant.instructions))
}

pub(crate) fn without_figure(cell: &Cell) -> Value {
    let text = match cell.status() {
        Status::Unsupported => "-",
        Status::Failed | Status::Ok => "failed",
    };
    Value::toned(text, Tone::Missing).noted([reason(cell)])
}

pub(crate) fn not_measured(why: &str) -> Value {
    Value::dash().noted([why.to_owned()])
}

pub(crate) fn reason(cell: &Cell) -> String {
    let reason = cell.reason().filter(|reason| !reason.trim().is_empty());
    let lines: Vec<&str> = reason.unwrap_or("unknown reason").lines().collect();
    let reason = printable(&lines.join("; "), 200);
    match cell.status() {
        Status::Unsupported => format!("unsupported: {reason}"),
        Status::Failed => format!("failed: {reason}"),
        Status::Ok => "ok, but without a figure".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::distinguishing_part;

    #[test]
    fn kernels_are_told_apart_by_what_differs() {
        for (all, expected) in [
            (
                &["./a/arch/x86/boot/bzImage", "./b/arch/x86/boot/bzImage"][..],
                &["…/a/…", "…/b/…"][..],
            ),
            (
                &["/boot/vmlinuz-1", "/boot/vmlinuz-2"],
                &["…/vmlinuz-1", "…/vmlinuz-2"],
            ),
            (
                &["/x/bzImage", "/x/y/bzImage"],
                &["…/bzImage", "…/y/bzImage"],
            ),
            (&["debian:6.1", "/a/bzImage"], &["debian:6.1", "/a/bzImage"]),
            (&["/a/bzImage"], &["/a/bzImage"]),
            (&["/a/b", "/a/b"], &["…/b", "…/b"]),
            (&["a//", "//"], &["a/…", "/…"]),
        ] {
            let names: Vec<String> = all
                .iter()
                .map(|name| distinguishing_part(name, all))
                .collect();
            assert_eq!(names, expected);
        }
    }
}
