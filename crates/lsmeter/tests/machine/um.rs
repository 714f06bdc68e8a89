// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter run --on um`: UML kernels. Takes seconds.

use std::fs;

use crate::common::{Place, Running, children, runs, signal, wait_for, words};
use model::{Cell, Metric, Status};
use rustix::process::Signal;

/// A place with a UML kernel with security modules, and a run on it.
fn place() -> Option<(Place, String)> {
    let (place, kernel) = Place::with_test_kernel(&["UML", "SECURITY_SELINUX"])?;
    let run = format!("run --on um --offline --kernel {kernel} -o out.json");
    Some((place, run))
}

#[test]
fn every_stack_has_its_time() {
    let Some((place, run)) = place() else {
        return;
    };
    let refused = place.line(&format!("{run} --stack capability,nothing"));
    let error = "no kernel in this run has a module";
    refused.refused(2, error, Some("choose one of"));
    for filesystem in ["tmpfs", "ext4"] {
        let line = format!(
            "{run} --fs {filesystem} --stack capability --stack capability,selinux -n 60 \
             --bench open:AA/BB,getppid,treewalk:small,landlock-open:depth29,fork,execve,mmap"
        );
        place.line(&line).code(0);
        let run = place.document("out.json");
        let cell = |title: &str, stack: &str| {
            let is = |cell: &&Cell| cell.title() == title && cell.key.stack.join(",") == stack;
            run.cells.iter().find(is).unwrap()
        };
        assert!(run.environment.qemu.is_none());
        let median = |title: &str, stack: &str| {
            let cell = cell(title, stack);
            assert_eq!(cell.status(), Status::Ok, "{cell:#?}");
            assert_eq!(cell.key.metric, Metric::Time);
            let timed = cell.timed().unwrap();
            // Disturbed rounds are left out or repeated, up to 3 times. Tree walks have as many
            // samples as the time allows.
            let (n, rounds) = (timed.estimate.n, timed.rounds.len() as u64);
            assert!((1..=6).contains(&rounds), "{title}: {rounds}");
            let is_walk = title == "treewalk:small";
            assert!(
                is_walk || (8 * rounds..=20 * rounds).contains(&n),
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
            let cell = cell(title, "capability");
            assert_eq!(cell.status(), Status::Unsupported, "{cell:#?}");
            assert!(cell.reason().unwrap().contains("this kernel"), "{cell:#?}");
        }
        assert_eq!(place.left_over(), [""; 0]);
    }
}

#[test]
fn policies_are_measured_elsewhere() {
    let Some((place, run)) = place() else {
        return;
    };
    let asked = "--stack capability,yama --policy enforcing --bench getppid";
    place.line(&format!("{run} {asked}")).code(4);
    let run = place.document("out.json");
    assert_eq!(run.cells[0].status(), Status::Unsupported);
    assert!(run.cells[0].reason().unwrap().contains("second task"));
}

#[test]
fn a_virtual_machine_does_not_boot_it() {
    let Some((place, run)) = place() else {
        return;
    };
    let lab = place.line(&run.replace("--on um", ""));
    lab.refused(3, "is a UML kernel", Some("--on um"));
    let stock = place.line("run --on um --offline --kernel debian:6.12");
    stock.refused(3, "is not a UML kernel", Some("--flavour um"));
}

/// Processes of a running measurement: the kernel and its children.
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
    let Some((place, run)) = place() else {
        return;
    };
    let long = format!("{run} --bench treewalk:full --set rounds=9");
    let mut running = Running::start(&place, &words(&long));
    let processes = under_way(&mut running);
    signal(running.pid(), Signal::KILL);
    assert_eq!(running.wait().signal, Some(9));
    for process in processes {
        wait_for("end of the kernel", || (!runs(process)).then_some(()));
    }
}

/// A killed kernel loses at most one measurement. The run continues.
#[test]
fn a_killed_kernel_is_reported() {
    let Some((place, run)) = place() else {
        return;
    };
    // The measurements are long, without gaps between them.
    let cells = "--bench getppid,stat,open,rename,mkdir,treewalk --stack capability";
    let asked = format!("{run} {cells} --set rounds=1 --samples 4000");
    let hit = (0..5).any(|_| {
        let mut running = Running::start(&place, &words(&asked));
        let kernels = under_way(&mut running);
        for &kernel in kernels.iter().filter(|&&kernel| runs(kernel)) {
            signal(kernel, Signal::KILL);
        }
        let ended = running.wait();
        let run = place.document("out.json");
        let cells = run.cells.iter();
        let failed = cells.filter(|cell| cell.status() == Status::Failed);
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

/// Virtual machines count in the same run, and its result file is enough for an estimate.
#[test]
fn one_experiment_counts_and_times() {
    let Some((place, kernel)) = Place::with_test_kernel(&["UML", "SECURITY_SELINUX"]) else {
        return;
    };
    let line = format!(
        "run suite --offline --fs tmpfs --kernel debian:6.12 --kernel {kernel} \
         --metric instructions,time --stack capability --stack capability,selinux \
         --bench getppid,open,stat,read,write --set rounds=3 --events -o out.json"
    );
    let ended = place.line(&line).code(0);
    assert!(ended.stdout.contains(", as a UML kernel on "), "{ended:#?}");
    let document = place.document("out.json");
    for cell in &document.cells {
        let timed = cell.key.metric == Metric::Time;
        assert_eq!(timed, cell.key.kernel == kernel, "{}", cell.title());
        assert_eq!(cell.status(), Status::Ok, "{}", cell.title());
    }
    let [counting, timing] = &document.environments[..] else {
        panic!("{:#?}", document.environments);
    };
    assert!(counting.environment.qemu.is_some() && timing.environment.qemu.is_none());
    let estimate = place.line("estimate out.json").code(0);
    assert!(estimate.stdout.contains("instructions"), "{estimate:#?}");
}
