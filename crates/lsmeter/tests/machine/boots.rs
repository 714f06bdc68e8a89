// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter run` with real boots. SLOW: minutes.
//!
//! Needs QEMU and the kernels debian:6.1 and debian:6.12.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::cells::{RUN, assert_same};
use crate::common::{Place, Running, children, grouped, runs, signal, wait_for, words};
use kernels::Store;
use lab::cache::Cache;
use model::{Cell, Document, Key, Status, WarningKind};
use rustix::process::Signal;

const STACKS: &str = "--stack capability --stack capability,selinux";
const THREE: &str = "--bench getppid,stat:AA,open:AA";
/// A run that is long enough to be interrupted, with one machine at a time.
const INTERRUPTED: &str = "run --offline --kernel debian:6.12 --fs tmpfs --stack capability \
                         --stack capability,selinux --bench getppid,stat,fstat,access --jobs 1 \
                         -n 400 --output";

fn statuses(cells: &[Cell], status: Status) -> Vec<&Cell> {
    cells
        .iter()
        .filter(|cell| cell.status() == status)
        .collect()
}

fn dominant(run: &Document) -> BTreeMap<(String, String), u64> {
    let entry = |cell: &Cell| {
        let paths = cell.paths().unwrap_or_else(|| panic!("{cell:#?}"));
        let key = (cell.key.stack.join(","), cell.title());
        (key, paths.dominant.instructions)
    };
    run.cells.iter().map(entry).collect()
}

#[test]
fn two_runs_with_the_deterministic_clock_are_the_same() {
    let place = Place::with_kernels();
    let run = |rest: &str| place.line(&format!("{RUN} {STACKS} {THREE} {rest}"));
    let first = run("--output a.json").code(0);
    let second = run("--no-cache --json --output b.json").code(0);
    let (a, b) = (place.document("a.json"), place.document("b.json"));
    assert_eq!(statuses(&a.cells, Status::Ok).len(), 6, "{:#?}", a.cells);
    assert_same(&a, &b);
    let saved = fs::read_to_string(place.join("b.json")).unwrap();
    assert_eq!(second.stdout, saved);

    crate::common::schema::assert_fits(&serde_json::from_str(&second.stdout).unwrap());

    let counts = dominant(&a);
    let count = |stack: &str, title: &str| counts[&(stack.to_owned(), title.to_owned())];
    for (title, differs) in [
        ("getppid:null", false),
        ("open:AA", true),
        ("stat:AA", true),
    ] {
        let [without, with] = ["capability", "capability,selinux"].map(|stack| count(stack, title));
        assert!(
            without > 50 && (with > without) == differs,
            "{title}: {without} {with}"
        );
    }
    assert_eq!(
        count("capability", "getppid:null"),
        count("capability,selinux", "getppid:null")
    );
    for cell in &a.cells {
        assert!(cell.release.starts_with("6.12."), "{}", cell.release);
        let active = cell.active_lsms.iter();
        let asked = active.filter(|lsm| cell.key.stack.contains(lsm));
        assert!(asked.eq(cell.key.stack.iter()), "{cell:?}");
    }

    // The table, the report and the CSV have the same figures.
    let markdown = place.line("report a.json --format markdown").code(0).stdout;
    for table in [&first.stdout, &markdown] {
        for title in ["getppid:null", "stat:AA", "open:AA"] {
            // A sentence above the table also names operations.
            let is_row = |line: &&str| line.contains(title) && !line.starts_with("- ");
            let row = table.lines().find(is_row).unwrap();
            for stack in ["capability", "capability,selinux"] {
                let figure = grouped(count(stack, title));
                assert!(row.contains(&figure), "{row}: {figure}");
            }
        }
    }
    let csv = place.line("export a.json").code(0).stdout;
    assert_eq!(csv.lines().count(), 1 + 6);
    assert_eq!(place.names(), ["a.json", "b.json"]);
    assert_eq!(place.left_over(), [""; 0]);
}

/// IPE is in 6.12 and not in 6.1.
#[test]
fn a_stack_that_the_kernel_does_not_honour_fails_alone() {
    let place = Place::with_kernel("debian:6.1");
    let ended = place.line(&format!(
        "{RUN} --kernel debian:6.1 --stack capability --stack capability,ipe {THREE} \
         --output out.json"
    ));
    let ended = ended.code(4);
    let expected = "did not honour the stack";
    let run = place.document("out.json");
    for cell in &run.cells {
        if cell.key.stack.len() == 1 || cell.key.kernel == "debian:6.12" {
            assert_eq!(cell.status(), Status::Ok, "{cell:?}");
            continue;
        }
        // A failed measurement has no figure.
        assert_eq!((cell.status(), cell.evidence()), (Status::Failed, None));
        let reason = cell.reason().unwrap();
        assert!(reason.contains(expected), "{reason}");
        assert!(reason.contains("without ipe"), "{reason}");
        assert!(!cell.active_lsms.is_empty());
    }
    assert_eq!(run.cells.len(), 12);
    let mut warnings = run.warnings.iter();
    assert!(warnings.any(|warning| warning.kind == WarningKind::MissingMeasurements));
    assert!(ended.stderr.contains(expected), "{ended:#?}");
    assert!(
        ended.stdout.contains("3 of 12 measurements failed"),
        "{ended:#?}"
    );
}

/// These runs are refused before a boot.
#[test]
fn a_module_that_no_kernel_has_is_refused() {
    let place = Place::with_kernels();
    for (command, stack, module, hint) in [
        ("run", "capabilty", "capabilty", "`capability`?"),
        (
            "run",
            "capability,smack",
            "smack",
            "choose one of apparmor, ",
        ),
        ("profile", "capability,selnux", "selnux", "`selinux`?"),
    ] {
        let line = format!("{command} --offline --kernel debian:6.12 --stack {stack}");
        let error = format!("stack `{stack}`: no kernel in this run has a module `{module}`");
        place.line(&line).refused(2, &error, Some(hint));
    }
    assert_eq!(place.names(), [""; 0], "nothing was measured");
}

/// Linux puts capability first, so the order is unsupported and the run does not fail.
#[test]
fn an_order_that_the_kernel_ignores_is_unsupported() {
    let place = Place::with_kernels();
    let stacks = "--stack capability --stack selinux,capability";
    let line = format!("{RUN} {stacks} {THREE} --output out.json");
    place.line(&line).code(0);
    let run = place.document("out.json");
    for cell in run.cells.iter().filter(|cell| cell.key.stack.len() == 2) {
        assert_eq!(cell.status(), Status::Unsupported, "{cell:?}");
        let reason = cell.reason().unwrap();
        assert!(reason.contains("LSM_ORDER_FIRST"), "{reason}");
    }
    assert_eq!(run.cells.len(), 6);
}

#[test]
fn every_file_system_boots() {
    let place = Place::with_kernels();
    for (fs, package) in [
        ("ext4", "e2fsprogs"),
        ("xfs", "xfsprogs"),
        ("btrfs", "btrfs-progs"),
        ("overlay", "e2fsprogs"),
    ] {
        let maker = if fs == "overlay" { "ext4" } else { fs };
        if !testing::has_program(&format!("mkfs.{maker}"), package) {
            continue;
        }
        let what = "--stack capability --bench creat:random --output out.json";
        let line = format!("run --offline --fs {fs} {what}");
        place.line(&line).code(0);
        let run = place.document("out.json");
        assert_eq!(run.cells.len(), 1);
        assert_eq!(run.cells[0].status(), Status::Ok, "{fs}: {:#?}", run.cells);
        assert_eq!(run.cells[0].key.filesystem, fs);
    }
}

#[test]
fn times_and_throughputs() {
    let place = Place::with_kernels();
    let line = format!(
        "{RUN} {STACKS} --metric time --metric throughput -n 8 --set rounds=2 \
         --set throughput_warmup_s=0.1 --set throughput_period_s=0.3 \
         --bench getppid,read:4KB --keep-samples --output out.json"
    );
    place.line(&line).code(0);
    let run = place.document("out.json");
    let mut warnings = run.warnings.iter();
    let emulated = warnings.any(|warning| warning.kind == WarningKind::EmulatedTime);
    assert_eq!(emulated, !run.environment.kvm, "{:#?}", run.warnings);
    // getppid has no throughput.
    assert_eq!(run.cells.len(), 6, "{:#?}", run.cells);
    for cell in &run.cells {
        assert_eq!(cell.status(), Status::Ok, "{cell:#?}");
        let estimate = &cell.timed().unwrap().estimate;
        assert_eq!(estimate.n, 8, "{cell:#?}");
        assert!(estimate.median > 0.0);
        assert_eq!(estimate.samples.as_ref().map(Vec::len), Some(8));
    }
}

/// A run with this many measurements in the cache, and its child processes.
fn under_way(place: &Place, line: &str, measured: usize) -> (Running, Vec<u32>) {
    let mut running = Running::start(place, &words(line));
    wait_for("finished measurement", || {
        assert!(!running.has_ended(), "it ended too soon");
        (place.measured().len() >= measured).then_some(())
    });
    let machines = children(running.pid());
    (running, machines)
}

/// Kills a run and its machines.
fn kill((running, machines): (Running, Vec<u32>)) {
    signal(running.pid(), Signal::KILL);
    assert_eq!(running.wait().signal, Some(9));
    for machine in machines {
        wait_for("end of QEMU", || (!runs(machine)).then_some(()));
    }
}

#[track_caller]
fn assert_same_counts(found: &Document, whole: &Document) {
    let ok = statuses(&found.cells, Status::Ok).len();
    assert_eq!(ok, whole.cells.len());
    assert_eq!(dominant(found), dominant(whole));
}

#[test]
fn an_interrupted_or_killed_run_continues() {
    let place = Place::with_kernels().alone();
    let line = format!("{INTERRUPTED} out.json");

    // A closed terminal; Ctrl-C is handled the same way.
    let (running, machines) = under_way(&place, &line, 3);
    assert_eq!(machines.len(), 1, "one job, one machine");
    signal(running.pid(), Signal::HUP);
    let ended = running.wait().code(4);
    for expected in ["interrupted: ", "hint: run the same command again"] {
        assert!(ended.stderr.contains(expected), "{ended:#?}");
    }
    assert_eq!(ended.stdout, "", "no table of half a run");
    let gone = machines.iter().all(|&machine| !runs(machine));
    assert!(gone, "QEMU outlived lsmeter");
    assert_eq!(place.left_over(), [""; 0]);
    assert!(!place.join("out.json").exists());

    // kill -9 after the continuation.
    let saved = place.measured();
    kill(under_way(&place, &line, saved.len() + 2));
    let when = |path: &PathBuf| fs::metadata(path).unwrap().modified().unwrap();
    let saved: Vec<_> = { place.measured().into_iter() }
        .map(|path| (when(&path), path))
        .collect();
    assert!(saved.len() >= 5);

    let ended = place.line(&line).code(0);
    assert!(ended.stdout.contains("getppid:null"), "{ended:#?}");
    for (then, path) in &saved {
        assert_eq!(when(path), *then, "it was measured twice");
    }
    let went_on = place.document("out.json");
    let mut warnings = went_on.warnings.iter();
    assert!(warnings.all(|warning| warning.kind != WarningKind::Interrupted));
    // Files of the killed run are removed too.
    assert_eq!(place.left_over(), [""; 0]);
    let whole = format!("{INTERRUPTED} whole.json --no-cache");
    place.line(&whole).code(0);
    assert_same_counts(&went_on, &place.document("whole.json"));
}

/// Damaged, truncated and foreign cache entries are measured again. A valid entry with other content is
/// an error.
#[test]
fn wrong_cache_entries_are_not_used() {
    let place = Place::with_kernels().alone();
    let line = format!("{RUN} --stack capability --bench getppid,stat:AA,fstat --output");
    place.line(&format!("{line} a.json")).code(0);
    let entries = place.measured();
    let machine = entries[0].parent().unwrap();
    let [one, other, third] = &entries[..] else {
        panic!("{entries:?}");
    };
    let sound = fs::read(one).unwrap();
    let mut changed = sound.clone();
    changed[sound.len() / 2] ^= 1;
    fs::write(one, changed).unwrap();
    fs::copy(third, other).unwrap();
    fs::write(machine.join("ready"), "cut off").unwrap();
    place.line(&format!("{line} b.json")).code(0);
    assert_same(&place.document("a.json"), &place.document("b.json"));
    assert_eq!(fs::read(one).unwrap(), sound);

    // A valid entry with changed content.
    let store = Store::open(&place.cache().join("lsmeter")).unwrap();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let cached = Cache::new(&store).machine(&name(machine)).unwrap();
    let mut entry = cached.read(&name(one)).unwrap();
    entry.records.pop();
    cached.write(&name(one), &entry);
    let error = "differs from an earlier one with the same input";
    let again = format!("{line} c.json --no-cache");
    let hint = Some("lsmeter doctor --clear-cache");
    place.line(&again).refused(70, error, hint);

    let shown = place.line("doctor").stdout;
    assert!(shown.contains("cached counts: "), "{shown}");
    drop(cached);
    place.line("doctor --clear-cache").code(0);
    assert_eq!(place.measured(), [""; 0].map(PathBuf::from));
    for (size, code) in [("0", 0), ("5GiB", 2)] {
        let mut command = place.command(&words(&format!("{line} d.json")));
        let output = command.env("LSMETER_CACHE_SIZE", size).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{size}");
        assert_eq!(place.measured(), [""; 0].map(PathBuf::from));
    }
    assert_same(&place.document("a.json"), &place.document("d.json"));
}

/// Each measurement runs in a copy of the same machine.
#[test]
fn a_count_does_not_depend_on_other_measurements() {
    let place = Place::with_kernels().alone();
    let run = |what: &str, output: &str| {
        let line =
            format!("{RUN} --stack capability,selinux -n 31 {what} --no-cache --output {output}");
        place.line(&line).code(0);
        place.document(output)
    };
    let all = "open:AA,creat,rename:depth1,fork,inotify_add_watch,setxattr,stat:AA";
    let whole = run(&format!("--bench {all} --jobs 1"), "whole.json");
    let timeless = |cell: &Cell| Cell {
        seconds: None,
        ..cell.clone()
    };
    let whole: BTreeMap<&Key, &Cell> = whole.cells.iter().map(|cell| (&cell.key, cell)).collect();
    let mut parts: Vec<String> = all.split(',').map(|one| format!("--bench {one}")).collect();
    parts.push(format!("--bench {all} --jobs 4"));
    parts.extend((1..=3).map(|shard| format!("--bench {all} --shard {shard}/3")));
    for (number, part) in parts.iter().enumerate() {
        for cell in &run(part, &format!("{number}.json")).cells {
            assert_eq!(timeless(cell), timeless(whole[&cell.key]), "{part}");
        }
    }
}

#[test]
fn a_copy_killed_from_outside_costs_one_measurement() {
    let place = Place::with_kernels().alone();
    let line = format!("{RUN} --stack capability --bench fork,execve,stat:AA --output out.json");
    let mut running = Running::start(&place, &words(&line));
    let copy = wait_for("copy of a machine", || {
        assert!(!running.has_ended(), "it ended too soon");
        let machines = children(running.pid()).into_iter();
        machines.flat_map(children).next()
    });
    signal(copy, Signal::KILL);
    running.wait().code(4);
    let run = place.document("out.json");
    let failed = statuses(&run.cells, Status::Failed);
    assert_eq!((failed.len(), run.cells.len()), (1, 3));
    let reason = failed[0].reason().unwrap();
    assert!(reason.starts_with("the guest ended during"), "{reason}");
}

/// The machine's copies end with it. A new machine measures the rest.
#[test]
fn a_killed_machine_costs_one_measurement() {
    let place = Place::with_kernels().alone();
    let line = format!(
        "{RUN} --stack capability --bench stat:*,fork,execve --jobs 1 -n 400 --output out.json"
    );
    let (running, machines) = under_way(&place, &line, 2);
    for &machine in &machines {
        signal(machine, Signal::KILL);
    }
    running.wait();
    let run = place.document("out.json");
    let failed = statuses(&run.cells, Status::Failed);
    assert!(failed.len() <= 1, "{failed:#?}");
    let is_lost = |cell: &&Cell| cell.reason().unwrap().contains("the guest ended during");
    assert!(failed.iter().all(is_lost), "{failed:#?}");
}

/// lsmeter boots the machine again.
#[test]
fn a_machine_killed_while_it_boots_costs_nothing() {
    let place = Place::with_kernels().alone();
    let line = format!("{RUN} --stack capability {THREE} --output out.json");
    let mut running = Running::start(&place, &words(&line));
    let boots = |&pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let mut words = words.split(|&byte| byte == 0);
        words.any(|word| word == b"-kernel")
    };
    let machine = wait_for("machine", || {
        assert!(!running.has_ended(), "it ended too soon");
        children(running.pid()).into_iter().find(boots)
    });
    signal(machine, Signal::KILL);
    running.wait().code(0);
    let run = place.document("out.json");
    assert_eq!(statuses(&run.cells, Status::Ok).len(), 3);
}

#[test]
fn the_console_of_a_panic_is_printed() {
    let place = Place::with_kernels();
    let line = format!("{RUN} --stack capability {THREE} --output out.json --cmdline");
    let nothing = "rdinit=/nonexistent root=/dev/nothing";
    let ended = place.run(&[&words(&line)[..], &[nothing]].concat());
    let ended = ended.code(4);
    let run = place.document("out.json");
    assert_eq!(statuses(&run.cells, Status::Failed).len(), 3);
    for cell in &run.cells {
        let reason = cell.reason().unwrap();
        let panicked = reason.starts_with("Kernel panic - not syncing: ");
        assert!(panicked && reason.contains("\nconsole: "), "{reason}");
        assert!(!reason.contains('\u{1b}'), "{reason}");
    }
    assert!(ended.stderr.contains("Kernel panic"), "{ended:#?}");
}

/// This QEMU fails when it should run a machine.
#[test]
fn errors_of_qemu_are_reported() {
    let place = Place::with_kernels();
    let real = super::vm::program::find("qemu-system-x86_64").unwrap();
    let fails = "case \"$*\" in *-append*) echo 'no machine today' >&2; exit 7;; esac";
    let script = format!("#!/bin/sh\n{fails}\nexec {} \"$@\"\n", real.display());
    let path = place.write("qemu", script);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let line = format!("{RUN} --qemu ./qemu --stack capability --output out.json {THREE}");
    place.line(&line).code(4);
    for cell in &place.document("out.json").cells {
        let reason = cell.reason().unwrap();
        assert!(reason.starts_with("QEMU exited with status 7"), "{reason}");
        assert!(reason.contains("QEMU: no machine today"), "{reason}");
    }
}
