// SPDX-License-Identifier: GPL-2.0-or-later
//! What counting a program costs: the host's time of one more run of it in a guest without the
//! plugin, and with the plugin that tells tasks, system calls, hooks and modules apart, taking
//! turns. One more run: a boot with 22 of them less a boot with two, of twenty.
//!
//! `cargo bench -p lab --bench programs_cost [-- KERNEL [ROUNDS [WORKLOAD...]]]`; the kernel is in
//! the cache (`lsmeter kernel fetch debian:6.12`), the programs are those of the preset `workloads`.

mod spread;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kernels::Store;
use lab::initramfs::Guest;
use lab::plan::{Plan, Treatment};
use lab::prepare::Hooks;
use lab::qemu::{Accelerator, PluginMode, Qemu};
use lab::root::{Root, Watch};
use lab::session::{AgentEvent, Patience};
use lab::vm::{self, Boot, Bootable};
use lab::{prepare, write_plugin};
use model::{Experiment, FileSystem};
use spread::{show, spread};

const ROUNDS: usize = 3;
const WORKLOADS: [&str; 4] = ["git-status", "find-stat", "tar", "make-noop"];
const STACK: &str = "lsm=capability,selinux";
/// Runs in the two boots whose difference is taken.
const RUNS: [u32; 2] = [2, 22];

fn main() -> Result<(), Box<dyn Error>> {
    let mut asked = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'));
    let kernel = asked.next().unwrap_or_else(|| "debian:6.12".to_owned());
    let rounds = asked.next().map_or(Ok(ROUNDS), |rounds| rounds.parse())?;
    let asked: Vec<String> = asked.collect();
    let workloads: Vec<&str> = match asked.as_slice() {
        [] => WORKLOADS.to_vec(),
        asked => asked.iter().map(String::as_str).collect(),
    };
    let cache = match std::env::var_os("XDG_CACHE_HOME") {
        Some(cache) => PathBuf::from(cache),
        None => PathBuf::from(std::env::var_os("HOME").ok_or("no HOME")?).join(".cache"),
    };
    let store = Store::open(&cache.join("lsmeter"))?;
    let kernel = store.resolve(&kernel.parse()?)?;
    let scratch = tempfile::tempdir()?;
    let plugin = write_plugin(scratch.path())?;
    let qemu = Qemu::probe(None, &plugin, kernels::arch::native())?;
    println!(
        "QEMU {}, {}, {rounds} rounds in turns; ms of one more run: least, median and most\n",
        qemu.version, kernel.name
    );
    println!(
        "{:<14} {:>24} {:>24} {:>7}",
        "", "uncounted", "counted", "x"
    );
    for workload in workloads {
        let mut experiment = model::preset(workload)?.spec()?.resolve()?;
        let cancel = AtomicBool::new(false);
        let mut tell = |_| {};
        let mut watch = Watch::new(&cancel, &mut tell);
        let mut root = Root::of(experiment.programs.as_mut(), &mut watch)?.ok_or("no root")?;
        let filesystem = FileSystem::Ext4;
        root.make_image(filesystem, &mut watch)?;
        let prepared = scratch.path().join(workload);
        fs::create_dir(&prepared)?;
        let bootable = prepare::prepare(
            &store,
            lab::catalogue::agent(),
            &kernel,
            Guest {
                root: Some(&root),
                ..filesystem.into()
            },
            Some(Hooks::default()),
            &prepared,
        )?;
        let place = Place {
            qemu: &qemu,
            bootable: &bootable,
            root: &root,
            scratch: scratch.path(),
        };
        let mut one_more_ms: BTreeMap<bool, Vec<f64>> = BTreeMap::new();
        for _ in 0..rounds {
            for counted in [false, true] {
                let plugin = counted.then_some((plugin.as_path(), PluginMode::Tasks));
                let mut took = [Duration::ZERO; 2];
                for (took, runs) in took.iter_mut().zip(RUNS) {
                    *took = place.run(&mut experiment, runs, plugin)?;
                }
                let more = took[1].as_secs_f64() - took[0].as_secs_f64();
                let ms = 1e3 * more / f64::from(RUNS[1] - RUNS[0]);
                one_more_ms.entry(counted).or_default().push(ms);
            }
        }
        let [plain, counted] = [false, true].map(|counted| spread(&one_more_ms[&counted]));
        let times = counted[1] / plain[1];
        println!(
            "{workload:<14} {:>24} {:>24} {times:>7.2}",
            show(plain),
            show(counted)
        );
    }
    Ok(())
}

/// What all boots of a workload have.
struct Place<'a> {
    qemu: &'a Qemu,
    bootable: &'a Bootable,
    root: &'a Root,
    scratch: &'a Path,
}

impl Place<'_> {
    /// Boots, and returns what the cell took on this machine: its setting up and all its runs.
    fn run(
        &self,
        experiment: &mut Experiment,
        runs: u32,
        plugin: Option<(&Path, PluginMode)>,
    ) -> Result<Duration, Box<dyn Error>> {
        for workload in experiment
            .programs
            .iter_mut()
            .flat_map(|of| &mut of.workloads)
        {
            workload.repeat = Some(runs);
        }
        let plan = Plan::new(experiment)?;
        let treatment = Treatment::default();
        let mut directives = plan.machine(experiment, &treatment);
        directives += &plan.directives(experiment, &treatment, 0, 0, 0);
        let place = tempfile::tempdir_in(self.scratch)?;
        let boot = Boot {
            qemu: self.qemu,
            bootable: self.bootable,
            cmdline: STACK.to_owned(),
            accelerator: Accelerator::Tcg,
            plugin,
            root: Some(self.root),
            files: &[],
            directives: &directives,
            patience: Patience {
                boot: Duration::from_secs(120),
                cell: Duration::from_secs(600),
            },
            scratch: place.path(),
        };
        let mut took = None;
        vm::boot(&boot, &[0], &AtomicBool::new(false), &mut |event| {
            if let AgentEvent::CellEnd { report, .. } = event {
                took = Some(report.took);
            }
            Ok(())
        })
        .map_err(|end| end.reason().unwrap_or("cancelled").to_owned())?;
        Ok(took.ok_or("the cell has no end")?)
    }
}
