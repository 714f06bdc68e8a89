// SPDX-License-Identifier: GPL-2.0-or-later
//! Whole programs in the lab. SLOW: a minute.
//!
//! Needs QEMU and the kernel debian:6.12.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::common::Place;
use model::{Cell, Document, Program, Status};

/// Runs the workloads of `programs.toml`.
fn run(place: &Place, code: i32) -> Document {
    run_with(place, "", code)
}

fn run_with(place: &Place, flag: &str, code: i32) -> Document {
    let line = "run programs.toml -o out.json --offline --kernel debian:6.12";
    place.line(&format!("{line} {flag}")).code(code);
    place.document("out.json")
}

fn program(cell: &Cell) -> &Program {
    let counted = cell.counted();
    let program = counted.and_then(|counted| counted.program.as_ref());
    program.unwrap_or_else(|| panic!("{}: {:?}", cell.title(), cell.reason()))
}

fn cell<'a>(document: &'a Document, title: &str, stack: &str) -> &'a Cell {
    let is = |cell: &&Cell| cell.title() == title && cell.key.stack.join(",") == stack;
    document.cells.iter().find(is).unwrap()
}

/// Pipelines and forks take equal instructions twice in a boot and in two boots of each stack.
#[test]
fn every_boot_counts_the_same() {
    let place = Place::with_kernels();
    for name in ["a", "b", "below/c"] {
        place.write(&format!("tree/{name}"), "one\ntwo\none\n");
    }
    place.write(
        "programs.toml",
        r#"
        stacks = ["capability", "capability,selinux"]
        [root]
        programs = ["sh", "cat", "sort", "find", "wc"]
        tree = "tree"
        [[workloads]]
        name = "pipeline"
        argv = ["sh", "-c", "cat a b below/c | sort | wc -l > lines; read n < lines; [ $n = 9 ]"]
        [[workloads]]
        name = "forks"
        argv = ["sh", "-c", "i=0; while [ $i -lt 20 ]; do (:); i=$((i+1)); done"]
        repeat = 2
        [[workloads]]
        name = "find"
        argv = ["find", "/", "-xdev", "-name", "c"]
        prepare = [["sh", "-c", "echo new > fresh"]]
        cold = true
        repeat = 2
        "#,
    );
    let [first, second] = ["", "--no-cache"].map(|flag| run_with(&place, flag, 0));
    assert_eq!(first.cells.len(), 6);
    for cell in &first.cells {
        let again = second.cells.iter().find(|other| other.key == cell.key);
        let again = again.unwrap();
        assert_eq!(cell.outcome, again.outcome, "{}", cell.title());
        for run in &program(cell).runs {
            // Everything that the guest executed is accounted for.
            assert_eq!(run.idle, 0, "{}", cell.title());
        }
        let same = program(cell).differing.is_empty();
        assert_eq!(same, program(cell).same_hooks, "{}", cell.title());
    }
    let tasks = |title| program(cell(&first, title, "capability")).tasks.len();
    assert_eq!(tasks("forks"), 21);
    assert_eq!(tasks("pipeline"), 4);
    let pipeline = &program(cell(&first, "pipeline", "capability,selinux")).tasks;
    let names = pipeline.iter().flat_map(|task| task.name.as_deref());
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    assert_eq!(names, ["cat", "sh", "sort", "wc"]);
    let counted = cell(&first, "pipeline", "capability,selinux").counted();
    let hooked = counted.unwrap().hooked.as_ref().unwrap().hooked;
    let of_tasks = pipeline.iter().map(|task| task.hooked.unwrap());
    assert_eq!(of_tasks.sum::<u64>(), hooked);
    let find = |stack| cell(&first, "find", stack).counted().unwrap();
    let hooked = |stack| find(stack).hooked.as_ref().unwrap().hooked;
    assert!(hooked("capability,selinux") > hooked("capability"));
    let selinux = program(cell(&first, "find", "capability,selinux"));
    // The rest of the difference is listed by function.
    assert_eq!(program(cell(&first, "find", "capability")).residual, None);
    for title in ["pipeline", "forks", "find"] {
        let path = |stack| cell(&first, title, stack).counted().unwrap().hooked.clone();
        let outside = |stack| path(stack).map(|path| path.total - path.hooked).unwrap();
        let differs = outside("capability,selinux").wrapping_sub(outside("capability"));
        let residual = program(cell(&first, title, "capability,selinux"));
        let residual = residual.residual.as_ref().unwrap();
        assert_eq!(residual.stack, ["capability"]);
        assert_eq!(residual.instructions, differs.cast_signed(), "{title}");
    }
    // Only warm hooks are exact: cold ones read labels from the disk.
    assert!(program(cell(&first, "forks", "capability,selinux")).same_hooks);
    let mut opens = selinux.entries.iter();
    let opens = opens.find(|entry| entry.entry == "openat").unwrap();
    let mut hooks = opens.hooks.iter();
    let file_open = hooks.find(|hook| hook.hook == "file_open").unwrap();
    let mut modules = file_open.modules.iter();
    assert!(modules.any(|module| module.module == "selinux"));
}

/// A walk of directories allocates and frees an object for each name. Its cost hardly depends on
/// earlier programs and the stack, because the allocator's state is reset first.
#[test]
fn earlier_programs_matter_little() {
    const FILES: &str = r#"setup = [["sh", "-ec", """
            for a in 0 1 2 3 4 5 6 7 8 9; do for b in 0 1; do
                mkdir -p /files/$a$b
                for c in 0 1 2 3 4 5 6; do for d in 0 1 2 3 4 5 6 7; do : > /files/$a$b/$c$d; done; done
            done; done
        """]]"#;
    let place = Place::with_kernels();
    place.write(
        "programs.toml",
        r#"
        stacks = ["capability", "capability,tomoyo"]
        [root]
        programs = ["sh", "find", "mkdir"]
        [[workloads]]
        name = "walk"
        SETUP
        argv = ["find", "/files", "-size", "+1M"]
        [[workloads]]
        name = "again"
        SETUP
        prepare = [["sh", "-c", "i=0; while [ $i -lt 20 ]; do : > /tmp/file$i$i$i$i$i$i$i$i$i$i$i; i=$((i+1)); done; find / -xdev"]]
        argv = ["find", "/files", "-size", "+1M"]
        "#
        .replace("SETUP", FILES),
    );
    let document = run(&place, 0);
    for title in ["walk", "again"] {
        let base = cell(&document, title, "capability").counted().unwrap();
        let all = base.hooked.as_ref().unwrap().total;
        let residual = program(cell(&document, title, "capability,tomoyo"));
        let residual = residual.residual.as_ref().unwrap();
        let size = residual.instructions.unsigned_abs();
        let most = size.max(residual.unexplained);
        assert!(500 * most < all, "{title}: {residual:?} of {all}");
    }
}

/// A kernel without persistent memory gets a copy of the root, with the same hook calls.
#[test]
fn a_root_on_a_ram_disk_counts_the_same_hooks() {
    let place = Place::with_kernels();
    let cached = place.line("kernel list --json").json();
    let mut kernels = cached["kernels"].as_array().unwrap().iter();
    let matches =
        |kernel: &&serde_json::Value| kernel["name"].as_str().unwrap().starts_with("debian:6.12.");
    let kernel = kernels.find(matches).unwrap();
    let release = kernel["release"].as_str().unwrap();
    let image = Path::new(kernel["image"].as_str().unwrap());
    let entry = image.parent().unwrap();
    for directory in ["boot", "lib/modules"] {
        fs::create_dir_all(place.join(directory)).unwrap();
    }
    let own = format!("boot/vmlinuz-{release}");
    fs::copy(image, place.join(&own)).unwrap();
    let modules = place.join("lib/modules").join(release);
    symlink(entry.join("modules"), modules).unwrap();
    let config = fs::read_to_string(entry.join("config")).unwrap();
    let without = config.replace("CONFIG_BLK_DEV_PMEM=m", "# CONFIG_BLK_DEV_PMEM is not set");
    assert_ne!(config, without);
    fs::write(place.join(&format!("boot/config-{release}")), without).unwrap();
    let hooked = |kernel: &str, out: &str| {
        let line = format!(
            "run --offline --kernel {kernel} --programs find --stack capability -o {out} \
             -- find / -xdev"
        );
        place.line(&line).code(0);
        let document = place.document(out);
        let cell = &document.cells[0];
        assert!(program(cell).same_hooks);
        let counted = cell.counted().unwrap();
        counted.hooked.as_ref().unwrap().hooked
    };
    let mapped = hooked("debian:6.12", "mapped.json");
    assert_eq!(hooked(&own, "copied.json"), mapped);
}

/// Markers executed by a program do not change its counts.
#[test]
fn programs_cannot_forge_their_counts() {
    let place = Place::with_kernels();
    fs::create_dir_all(place.join("root/bin")).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machine/forging.c");
    let compiled = Command::new("cc")
        .args(["-static", "-O1", "-o"])
        .arg(place.join("root/bin/m"))
        .arg(source)
        .status();
    assert!(compiled.unwrap().success());
    place.write(
        "programs.toml",
        r#"
        stacks = ["capability"]
        root = { path = "root" }
        [[workloads]]
        name = "honest"
        argv = ["/bin/m"]
        [[workloads]]
        name = "forging"
        prepare = [["/bin/m", "forge"]]
        argv = ["/bin/m", "forge"]
        [[workloads]]
        name = "again"
        argv = ["/bin/m"]
        "#,
    );
    let document = run(&place, 0);
    let runs = |title| &program(cell(&document, title, "capability")).runs;
    let honest = runs("honest")[0];
    assert!(honest.user > 1000 && honest.kernel > 1000);
    for run in runs("forging").iter().chain(runs("again")) {
        assert_eq!(run.idle, 0);
        assert!(run.user.abs_diff(honest.user) < 200, "{run:?} {honest:?}");
        assert!(run.kernel > 9 * honest.kernel / 10, "{run:?} {honest:?}");
    }
}

/// A hostile root affects only its own measurement.
#[test]
fn hostile_programs_fail_alone() {
    let place = Place::with_kernels();
    let measured = |measurement_timeout_s: u32, workloads: &str| {
        let common = "stacks = [\"capability\"]\n[root]\nprograms = [\"sh\", \"busybox\"]\n";
        let spec = format!("measurement_timeout_s = {measurement_timeout_s}\n{common}{workloads}");
        place.write("programs.toml", spec);
        run(&place, 4)
    };
    let assert_failed = |document: &Document, title: &str, why: &str| {
        let cell = cell(document, title, "capability");
        assert_eq!(cell.status(), Status::Failed, "{title}");
        let reason = cell.reason().unwrap();
        assert!(reason.contains(why), "{title}: {reason}");
    };
    let endless = r#"
        [[workloads]]
        name = "endless"
        argv = ["sh", "-c", "while :; do :; done"]
        [[workloads]]
        name = "bomb"
        argv = ["sh", "-c", "f() { f & f & }; f; while :; do :; done"]
    "#;
    let document = measured(5, endless);
    for title in ["endless", "bomb"] {
        assert_failed(&document, title, "did not end within 5 s");
    }
    let ending = r#"
        [[workloads]]
        name = "fails"
        argv = ["sh", "-c", "echo no luck >&2; exit 3"]
        [[workloads]]
        name = "reboot"
        argv = ["sh", "-c", "echo 1 > /proc/sys/kernel/sysrq; echo b > /proc/sysrq-trigger; while :; do :; done"]
        [[workloads]]
        name = "killer"
        argv = ["sh", "-c", "kill -9 1; kill -9 -1; :"]
        [[workloads]]
        name = "daemon"
        argv = ["sh", "-c", "(while :; do :; done) & :"]
        [[workloads]]
        name = "ports"
        argv = ["sh", "-c", "busybox mknod /tmp/port c 4 65; while :; do echo garbage > /tmp/port; done"]
        [[workloads]]
        name = "off"
        argv = ["busybox", "poweroff", "-f"]
    "#;
    let document = measured(60, ending);
    for (title, why) in [
        ("fails", "sh ended with status 3: no luck"),
        ("reboot", "sysrq: Resetting"),
        ("ports", "garbage on the results port"),
        ("off", "reboot: Power down"),
    ] {
        assert_failed(&document, title, why);
    }
    let program = |title| program(cell(&document, title, "capability"));
    assert!(!program("killer").runs.is_empty());
    assert_eq!(program("daemon").tasks.len(), 2);
}
