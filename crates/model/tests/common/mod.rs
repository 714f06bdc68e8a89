// SPDX-License-Identifier: GPL-2.0-or-later
//! A small run to write, read and damage, and what other documents are kept by.

#![allow(dead_code, reason = "each test file uses its part of this module")]

use std::path::Path;
use std::sync::LazyLock;

use model::journal::{JOURNAL_VERSION, JournalHeader};
use model::{
    Architecture, Cell, Clock, Configuration, Counted, Document, DocumentError, DocumentFault,
    Emulator, Environment, Estimate, Evidence, Integrity, Key, Kind, Metric, Outcome, PathCount,
    Paths, PluginApi, Policy, PolicyProof, Settings, Spec, Status, Stored, Subject, Timed, Tool,
    Warning, WarningKind,
};
use stats::Summary;

pub const STACKS: [&str; 3] = ["capability", "capability,selinux", "capability,apparmor"];

pub fn key(stack: &str, benchmark: &str, variant: &str, metric: Metric) -> Key {
    Key {
        architecture: Architecture::X86_64,
        kernel: "debian:6.1".to_owned(),
        stack: stack.split(',').map(str::to_owned).collect(),
        integrity: Vec::new(),
        policy: Policy::None,
        settings: Settings::default(),
        filesystem: "tmpfs".to_owned(),
        subject: Subject::benchmark(benchmark, variant),
        delay: None,
        metric,
    }
}

pub fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn cell(stack: &str, benchmark: &str, variant: &str, metric: Metric) -> Cell {
    let mut cell = Cell::unmeasured(key(stack, benchmark, variant, metric));
    cell.release = "6.1.0-56-cloud-amd64".to_owned();
    cell.active_lsms = [vec!["lockdown".to_owned()], cell.key.stack.clone()].concat();
    cell
}

fn counted(stack: &str, benchmark: &str, variant: &str, path: [u64; 2], others: u64) -> Cell {
    let mut cell = cell(stack, benchmark, variant, Metric::Instructions);
    let dominant = PathCount {
        instructions: path[0],
        rep_iterations: path[1],
        regions: 64 - others,
    };
    let other = PathCount {
        instructions: path[0] + 12,
        regions: others,
        ..dominant
    };
    let mut samples = vec![dominant.instructions as f64; (64 - others) as usize];
    samples.resize(64, other.instructions as f64);
    let counted = Counted {
        estimate: Some(Estimate::from(&Summary::of(&samples).unwrap())),
        paths: Some(Paths {
            dominant,
            others: if others > 0 { vec![other] } else { vec![] },
            regions: 64,
            dirty: 3,
            path_hash: Some("91a3c5f00d5eed01".to_owned()),
        }),
        ..Counted::default()
    };
    cell.outcome = Evidence::from(counted).into();
    cell.class = "file".to_owned();
    cell.syscalls = vec![benchmark.to_owned(), "close".to_owned()];
    cell.seconds = Some(0.25);
    cell
}

fn timed(stack: &str, metric: Metric, samples: &[f64]) -> Cell {
    let mut cell = cell(stack, "read", "4KB", metric);
    let estimate = Estimate {
        samples: Some(samples.to_vec()),
        ..Estimate::from(&Summary::of(samples).unwrap())
    };
    let timed = Timed {
        batch: Some(128),
        ..Timed::of(estimate)
    };
    cell.outcome = Evidence::Timed(timed).into();
    cell.class = "read_write".to_owned();
    cell.syscalls = vec!["read".to_owned()];
    cell
}

/// Cells of all metrics, ok, failed and unsupported; one with hostile text.
pub fn run() -> Document {
    static RUN: LazyLock<Document> = LazyLock::new(make_run);
    RUN.clone()
}

fn make_run() -> Document {
    let spec = Spec::parse(
        "run",
        "kernels = ['debian:6.1']\nfilesystem = 'tmpfs'\nmetrics = ['instructions', 'time', 'throughput']\n\
         stacks = ['capability', 'capability,selinux', 'capability,apparmor']\ncmdline = 'mitigations=off'\n\
         suites = ['paper', 'lmbench', 'howells', 'beyond']\n",
    );
    let mut cells = Vec::new();
    for (stack, open, stat) in [
        (STACKS[0], 4979, 3317),
        (STACKS[1], 6567, 4309),
        (STACKS[2], 5386, 3317),
    ] {
        cells.push(counted(stack, "open", "AA/BB", [open, 4324], 0));
        cells.push(counted(stack, "stat", "AA/BB", [stat, 4324], 5));
    }
    let mut unsupported = cell(STACKS[0], "fsetxattr", "", Metric::Instructions);
    unsupported.outcome = Outcome::without(
        Status::Unsupported,
        "user.* attributes: Operation not supported (95)",
    );
    cells.push(unsupported);
    let mut failed = cell(STACKS[1], "fsetxattr", "", Metric::Instructions);
    failed.outcome = Outcome::without(
        Status::Failed,
        "panic: \u{1b}[31m|not\u{202e}syncing|\nVFS: <b>`rm -rf`</b> \u{7}=1+1",
    );
    cells.push(failed);
    let base: Vec<f64> = (0..40).map(|i| 400.0 + f64::from(i % 7)).collect();
    for (stack, factor) in [(STACKS[0], 1.0), (STACKS[1], 1.5), (STACKS[2], 1.001)] {
        let times: Vec<f64> = base.iter().map(|x| x * factor).collect();
        cells.push(timed(stack, Metric::Time, &times));
        let rates: Vec<f64> = times.iter().map(|ns| (1e9 / ns).round()).collect();
        cells.push(timed(stack, Metric::Throughput, &rates));
    }
    let mut emulated = Warning::new(
        WarningKind::EmulatedTime,
        "time was taken under TCG: compare stacks, not machines",
    );
    emulated.cells = vec![8, 10, 12];
    Document {
        started: Some("2026-02-28T10:00:00Z".to_owned()),
        finished: Some("2026-02-28T10:01:30Z".to_owned()),
        experiment: Some(spec.unwrap().resolve().unwrap()),
        setups: vec![PolicyProof {
            kernel: "debian:6.1".to_owned(),
            configuration: Configuration {
                policy: Policy::Enforcing,
                integrity: vec![Integrity::Audit],
                ..Configuration::of_stack("capability,selinux".parse().unwrap())
            },
            steps: vec!["selinux: denied: open of ./denied for reading: EACCES (13)".to_owned()],
            cache: None,
            took: Vec::new(),
        }],
        cells,
        warnings: vec![
            emulated,
            Warning::new(
                WarningKind::MissingMeasurements,
                "1 cell failed, 1 is unsupported",
            ),
        ],
        ..document(Kind::Run, environment())
    }
}

pub fn tool() -> Tool {
    Tool {
        name: "lsmeter".to_owned(),
        version: "0.1.0".to_owned(),
    }
}

pub fn environment() -> Environment {
    Environment {
        os: "Debian GNU/Linux 12 (bookworm)".to_owned(),
        host_kernel: "6.18.5".to_owned(),
        cpu: "Intel(R) Xeon(R)".to_owned(),
        cores: 2,
        kvm: false,
        clock: Clock::Deterministic,
        qemu: Some(Emulator {
            version: "7.2.19".to_owned(),
            cpu: "Haswell-noTSX".to_owned(),
            machine: "q35".to_owned(),
            plugin_api: Some(PluginApi { min: 0, current: 1 }),
        }),
        host_lsms: Vec::new(),
    }
}

/// A document without cells, of a tool that does not change with this one.
pub fn document(kind: Kind, environment: Environment) -> Document {
    Document {
        tool: tool(),
        ..Document::new(kind, environment)
    }
}

pub fn header(run: &Document) -> JournalHeader {
    JournalHeader {
        journal_version: JOURNAL_VERSION,
        tool: run.tool.clone(),
        environment: run.environment.clone(),
        others: Vec::new(),
        started: run.started.clone().unwrap(),
        experiment: run.experiment.clone(),
        monitor: None,
        treatment: String::new(),
        shard: None,
    }
}

/// Compares with a file of the repository, or writes it when `variable` is set.
pub fn same_as_file(path: &str, text: &str, variable: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os(variable).is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == text,
        "{} is not up to date: run the tests with {variable}=1",
        path.display()
    );
}

/// A golden file: `profile`.
pub fn golden(name: &str) -> Vec<u8> {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    std::fs::read(format!("{dir}/{name}.json")).unwrap()
}

pub fn written(document: &Document) -> String {
    let mut bytes = Vec::new();
    document.write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

pub fn stored(document: &impl Stored) -> String {
    let mut bytes = Vec::new();
    document.write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The writer keeps to its golden file, and the document is what was written there.
pub fn keeps_to_golden(name: &str, document: &Document) {
    let path = format!("tests/golden/{name}.json");
    same_as_file(&path, &written(document), "UPDATE_GOLDEN");
    assert_eq!(Document::parse(&golden(name)).unwrap(), *document);
}

/// As [`keeps_to_golden`].
pub fn stored_keeps_to_golden<T: Stored + PartialEq + std::fmt::Debug>(name: &str, document: &T) {
    let path = format!("tests/golden/{name}.json");
    same_as_file(&path, &stored(document), "UPDATE_GOLDEN");
    assert_eq!(T::parse(&golden(name)).unwrap(), *document);
}

/// Why a document is refused that contradicts itself.
pub fn contradiction<T: std::fmt::Debug>(parsed: Result<T, DocumentError>) -> String {
    let error = parsed.unwrap_err();
    let contradicts = matches!(error.fault, DocumentFault::Contradiction { .. });
    assert!(contradicts, "{error:?}");
    error.to_string()
}
