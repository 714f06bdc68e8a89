// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter run --on um`: kernels that are processes of this machine. Seconds.

use std::fs;

use crate::common::{Place, Running, children, runs, signal, wait_for};
use model::{Cell, Document, Metric, Status};
use rustix::process::Signal;

/// A place with a kernel that is a process and has security modules, and its name.
fn place() -> Option<(Place, String)> {
    Place::with_test_kernel(&["UML", "SECURITY_SELINUX"])
}

fn arguments<'a>(kernel: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let run = [
        "run",
        "--on",
        "um",
        "--offline",
        "--kernel",
        kernel,
        "-o",
        "out.json",
    ];
    [&run, more].concat()
}

fn read(place: &Place) -> Document {
    Document::read(fs::File::open(place.join("out.json")).unwrap()).unwrap()
}

fn cell<'a>(run: &'a Document, title: &str, stack: &str) -> &'a Cell {
    let of = |cell: &&Cell| cell.title() == title && cell.key.stack.join(",") == stack;
    run.cells.iter().find(of).unwrap()
}

#[test]
fn every_stack_has_its_time() {
    let Some((place, kernel)) = place() else {
        return;
    };
    for filesystem in ["tmpfs", "ext4"] {
        let asked = [
            "--fs",
            filesystem,
            "--stack",
            "capability",
            "--stack",
            "capability,selinux",
            "--stack",
            "capability,nothing",
            "--bench",
            "open:AA/BB,getppid,treewalk:small,landlock-open:depth29,fork,execve,mmap",
            "-n",
            "60",
        ];
        place.run(&arguments(&kernel, &asked)).refused(
            2,
            "no kernel of this run has a module",
            Some("there are"),
        );
        let asked = [&asked[..6], &asked[8..]].concat();
        place.run(&arguments(&kernel, &asked)).code(0);
        let run = read(&place);
        assert!(run.environment.qemu.is_none());
        let median = |title: &str, stack: &str| {
            let cell = cell(&run, title, stack);
            assert_eq!(cell.status(), Status::Ok, "{cell:#?}");
            assert_eq!(cell.key.metric, Metric::Time);
            let timed = cell.timed().unwrap();
            // Rounds that others disturbed are left out, or visited again: 3 more at most. Of
            // walks of a tree there are as many samples as there is time for.
            let (n, rounds) = (timed.estimate.n, timed.rounds.len() as u64);
            assert!((1..=6).contains(&rounds), "{title}: {rounds}");
            let bounds = 8 * rounds..=20 * rounds;
            assert!(
                bounds.contains(&n) || title == "treewalk:small",
                "{title}: {n}"
            );
            timed.estimate.median
        };
        for title in [
            "open:AA/BB",
            "getppid:null",
            "treewalk:small",
            "landlock-open:depth29",
        ] {
            for stack in ["capability", "capability,selinux"] {
                assert!(median(title, stack) > 0.0);
            }
        }
        for title in ["fork:exit", "execve:agent", "mmap:4KB"] {
            let cell = cell(&run, title, "capability");
            assert_eq!(cell.status(), Status::Unsupported, "{cell:#?}");
            assert!(cell.reason().unwrap().contains("this kernel"), "{cell:#?}");
        }
        assert_eq!(place.left_over(), Vec::<String>::new());
    }
}

#[test]
fn policies_are_measured_elsewhere() {
    let Some((place, kernel)) = place() else {
        return;
    };
    let asked = [
        "--stack",
        "capability,yama",
        "--policy",
        "enforcing",
        "--bench",
        "getppid",
    ];
    place.run(&arguments(&kernel, &asked)).code(4);
    let run = read(&place);
    assert_eq!(run.cells[0].status(), Status::Unsupported);
    assert!(run.cells[0].reason().unwrap().contains("second task"));
}

#[test]
fn a_virtual_machine_does_not_boot_it() {
    let Some((place, kernel)) = place() else {
        return;
    };
    place
        .run(&["run", "--offline", "--kernel", &kernel])
        .refused(3, "is a process of this machine", Some("--on um"));
    place
        .run(&["run", "--on", "um", "--offline", "--kernel", "debian:6.12"])
        .refused(3, "is no kernel that is a process", Some("--flavour um"));
}

/// Processes of a run that is in the midst of its work: the kernel, and what it has made.
fn under_way(running: &mut Running) -> Vec<u32> {
    wait_for("kernel with a process of its own", || {
        assert!(!running.has_ended(), "it ended too soon");
        let kernels = children(running.pid());
        let own: Vec<u32> = kernels
            .iter()
            .flat_map(|&kernel| children(kernel))
            .collect();
        (!own.is_empty()).then(|| [kernels, own].concat())
    })
}

#[test]
fn a_killed_run_leaves_no_kernel() {
    let Some((place, kernel)) = place() else {
        return;
    };
    let long = arguments(&kernel, &["--bench", "treewalk:full", "--rounds", "9"]);
    let mut running = Running::start(&place, &long);
    let processes = under_way(&mut running);
    signal(running.pid(), Signal::KILL);
    assert_eq!(running.wait().signal, Some(9));
    for process in processes {
        wait_for("end of the kernel", || (!runs(process)).then_some(()));
    }
}

/// A kernel that is killed costs the cell that it was at, if it was at one; the run goes on to its
/// end.
#[test]
fn a_killed_kernel_is_told() {
    let Some((place, kernel)) = place() else {
        return;
    };
    // Cells that follow each other at once, and take long enough.
    let cells = [
        "--bench",
        "getppid,stat,open,rename,mkdir,treewalk",
        "--stack",
        "capability",
    ];
    let slow = ["--rounds", "1", "--samples", "4000"];
    let asked = arguments(&kernel, &[&cells[..], &slow].concat());
    let hit = (0..5).any(|_| {
        let journal = place.join("out.json.journal");
        let (running, kernels) = crate::boots::under_way(&place, &asked, &journal, 1);
        for &kernel in kernels.iter().filter(|&&kernel| runs(kernel)) {
            signal(kernel, Signal::KILL);
        }
        let ended = running.wait();
        let run = read(&place);
        let failed = run
            .cells
            .iter()
            .filter(|cell| cell.status() == Status::Failed);
        let reasons: Vec<&str> = failed.filter_map(Cell::reason).collect();
        assert!(reasons.len() <= 1, "{reasons:#?}");
        for reason in &reasons {
            assert!(reason.contains("was killed by signal 9"), "{reason}");
        }
        ended.code(if reasons.is_empty() { 0 } else { 4 });
        fs::remove_file(place.join("out.json")).unwrap();
        !reasons.is_empty()
    });
    assert!(hit, "five kernels died, none in a cell");
}

/// Machines count beside them, in one document that an estimate needs nothing else for.
#[test]
fn one_experiment_counts_and_times() {
    let Some((place, kernel)) = place() else {
        return;
    };
    let run = [
        "run",
        "suite",
        "--offline",
        "--fs",
        "tmpfs",
        "--kernel",
        "debian:6.12",
        "--kernel",
        &kernel,
        "--metric",
        "instructions,time",
        "--stack",
        "capability",
        "--stack",
        "capability,selinux",
        "--bench",
        "getppid,open,stat,read,write",
        "--rounds",
        "3",
        "--events",
        "-o",
        "out.json",
    ];
    let ended = place.run(&run).code(0);
    assert!(ended.stdout.contains(", as a process on "), "{ended:#?}");
    let document = read(&place);
    for cell in &document.cells {
        let timed = cell.key.metric == Metric::Time;
        assert_eq!(timed, cell.key.kernel == kernel, "{}", cell.title());
        assert_eq!(cell.status(), Status::Ok, "{}", cell.title());
    }
    let [counting, timing] = &document.environments[..] else {
        panic!("{:#?}", document.environments);
    };
    assert!(counting.environment.qemu.is_some() && timing.environment.qemu.is_none());
    let estimate = place.run(&["estimate", "out.json"]).code(0);
    assert!(estimate.stdout.contains("instructions"), "{estimate:#?}");
}
