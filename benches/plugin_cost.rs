// SPDX-License-Identifier: GPL-2.0-or-later
//! What counting, tracing and telling events cost inside measured regions, against markers alone: the host's
//! time in the same measured regions of the same boot, the four modes taking turns.
//!
//! `cargo bench -p lab --bench plugin_cost [-- KERNEL [ROUNDS]]`; the kernel is in the cache
//! (`lsmeter kernel fetch debian:6.12`).

mod spread;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use counts::records::RecordReader;
use kernels::Store;
use lab::qemu::{Accelerator, PluginMode, Qemu};
use lab::session::{AgentEvent, Patience};
use lab::vm::{self, Boot, BootCell};
use lab::{prepare, write_plugin};
use model::{Clock, FileSystem, Metric};
use spread::{show, spread};

const ROUNDS: usize = 5;
const BENCHMARKS: [&str; 6] = [
    "getppid null",
    "stat AA",
    "open AA",
    "read 4KB",
    "rename depth1",
    "fork exit",
];
const MODES: [(PluginMode, &str); 4] = [
    (PluginMode::Markers, "markers"),
    (PluginMode::Counts, "counts"),
    (PluginMode::Traces, "traces"),
    (PluginMode::Events, "events"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut asked = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'));
    let kernel = asked.next().unwrap_or_else(|| "debian:6.12".to_owned());
    let rounds = asked.next().map_or(Ok(ROUNDS), |rounds| rounds.parse())?;
    let cache = match std::env::var_os("XDG_CACHE_HOME") {
        Some(cache) => PathBuf::from(cache),
        None => PathBuf::from(std::env::var_os("HOME").ok_or("no HOME")?).join(".cache"),
    };
    let store = Store::open(&cache.join("lsmeter"))?;
    let kernel = store.resolve(&kernel.parse()?)?;
    let scratch = tempfile::tempdir()?;
    let plugin = write_plugin(scratch.path())?;
    let qemu = Qemu::probe(None, &plugin, kernels::arch::native())?;
    let prepared = scratch.path().join("prepared");
    fs::create_dir(&prepared)?;
    let agent = lab::catalogue::agent();
    let bootable = prepare::prepare(
        &store,
        agent,
        &kernel,
        FileSystem::Tmpfs.into(),
        None,
        &prepared,
    )?;
    let mut directives = "fs tmpfs\n".to_owned();
    let mut cells = Vec::new();
    for (number, benchmark) in (0..).zip(BENCHMARKS) {
        directives += &format!("cell {number} {benchmark} instructions warmup=64 samples=2000\n");
        cells.push(BootCell {
            number,
            metric: Metric::Instructions,
            kinds: None,
        });
    }

    let mut window_us: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
    let mut boot_s: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    let mut outside_s: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for round in 0..rounds {
        for (mode, (plugin_mode, _)) in MODES.into_iter().enumerate() {
            let place = scratch.path().join(format!("{round}-{mode}"));
            fs::create_dir(&place)?;
            let boot = Boot {
                qemu: &qemu,
                bootable: &bootable,
                cmdline: "lsm=capability,selinux",
                accelerator: Accelerator::Tcg(Clock::Deterministic),
                plugin: Some((&plugin, plugin_mode)),
                root: None,
                files: &[],
                directives: &directives,
                cells: &cells,
                patience: Patience {
                    boot: Duration::from_secs(120),
                    cell: Duration::from_secs(300),
                },
                scratch: &place,
            };
            let begin = Instant::now();
            let mut booted = Duration::ZERO;
            let mut cells_took = Duration::ZERO;
            vm::boot(&boot, &AtomicBool::new(false), &mut |event| {
                match event {
                    AgentEvent::Hello(_) => booted = begin.elapsed(),
                    AgentEvent::CellEnd { report, .. } => cells_took += report.took,
                    AgentEvent::Modules(_)
                    | AgentEvent::Step(_)
                    | AgentEvent::Undelayed(_)
                    | AgentEvent::CellBegin(_) => {}
                }
                Ok(())
            })
            .map_err(|end| end.reason().unwrap_or("cancelled").to_owned())?;
            boot_s.entry(mode).or_default().push(booted.as_secs_f64());
            let records = RecordReader::default().push(&fs::read(place.join("records"))?)?;
            let in_windows: u64 = records.iter().map(|cell| cell.host_ns).sum();
            let outside = cells_took.saturating_sub(Duration::from_nanos(in_windows));
            outside_s
                .entry(mode)
                .or_default()
                .push(outside.as_secs_f64());
            for (cell, records) in records.iter().enumerate() {
                let us = records.host_ns as f64 / 1e3 / records.regions.len() as f64;
                window_us.entry((cell, mode)).or_default().push(us);
            }
            fs::remove_dir_all(&place)?;
        }
    }

    println!(
        "QEMU {}, {}, {rounds} rounds in turns; \u{b5}s a window: least, median and most\n",
        qemu.version, kernel.name
    );
    let more = MODES[1..].iter();
    let more = more.map(|(_, name)| format!(" {name:>24} {:>7}", "x"));
    println!("{:<14} {:>24}{}", "", MODES[0].1, more.collect::<String>());
    for (cell, benchmark) in BENCHMARKS.into_iter().enumerate() {
        let spread = |mode: usize| spread(&window_us[&(cell, mode)]);
        let times = |mode: usize| spread(mode)[1] / spread(0)[1];
        let more = (1..MODES.len())
            .map(|mode| format!(" {:>24} {:>7.2}", show(spread(mode)), times(mode)));
        println!(
            "{benchmark:<14} {:>24}{}",
            show(spread(0)),
            more.collect::<String>()
        );
    }
    for (heading, seconds) in [
        (
            "until the agent runs, s (nothing is instrumented yet)",
            &boot_s,
        ),
        ("in cells, outside of measured regions, s", &outside_s),
    ] {
        println!("\n{heading}");
        for (mode, (_, name)) in MODES.into_iter().enumerate() {
            println!("{name:<14} {:>24}", show(spread(&seconds[&mode])));
        }
    }
    Ok(())
}
