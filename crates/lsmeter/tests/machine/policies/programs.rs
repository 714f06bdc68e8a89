// SPDX-License-Identifier: GPL-2.0-or-later
//! Whole programs under enforced policies.

use model::{Cell, Document, Policy, Program, Status};

use super::steps;
use crate::common::Place;

/// Runs on one kernel.
struct Measured {
    /// The first run under enforced policies.
    first: Document,
    /// A repetition of the first run.
    second: Document,
    /// A run without a policy, of only the program that expects a refusal.
    free: Document,
}

const WORKLOADS: &str = r#"
    [[workloads]]
    name = "pipeline"
    argv = ["sh", "-c", "cat a | sort | wc -l > /tmp/lines; read n < /tmp/lines; [ $n = 3 ]"]
    user = "1000:1000"
    prepare = [["sh", "-c", "echo new > /tmp/fresh"]]
    repeat = 2
    [[workloads]]
    name = "server"
    argv = ["sh", "-c", "chrt -f 1 busybox httpd -p 8080 -h /; busybox wget -q -O /tmp/a http://127.0.0.1:8080/tree/a"]
    repeat = 1
    [[workloads]]
    name = "find"
    argv = ["find", "/", "-xdev", "-newer", "/tree/a"]
    cold = true
    repeat = 2
"#;

/// Measures them and a program that succeeds only if it is refused something. `all_refuse`: every
/// module refuses it.
fn measured(kernel: &str, stacks: &[String], refused: &str, all_refuse: bool) -> Measured {
    let place = Place::with_kernels();
    place.write("tree/a", "one\ntwo\none\n");
    let run = |policy: &str, workloads: &str, code: i32| {
        let spec = format!(
            r#"
            stacks = {stacks:?}
            policies = [{policy:?}]
            [root]
            programs = ["sh", "cat", "sort", "wc", "find", "chrt", "busybox"]
            tree = "tree"
            {workloads}
            [[workloads]]
            name = "refused"
            argv = ["sh", "-c", {refused:?}]
            repeat = 1
            "#
        );
        place.write("programs.toml", spec);
        let line = format!("run programs.toml --offline --kernel {kernel} -o out.json");
        place.line(&line).code(code);
        assert_eq!(place.left_over(), [""; 0]);
        place.document("out.json")
    };
    let code = if all_refuse { 0 } else { 4 };
    Measured {
        first: run("enforcing", WORKLOADS, code),
        second: run("enforcing", WORKLOADS, code),
        free: run("none", "", 4),
    }
}

fn cell<'a>(run: &'a Document, stack: &str, policy: Policy, title: &str) -> &'a Cell {
    let is = |cell: &&Cell| {
        cell.title() == title && cell.key.stack.join(",") == stack && cell.key.policy == policy
    };
    run.cells.iter().find(is).unwrap()
}

fn program(cell: &Cell) -> &Program {
    let counted = cell.counted();
    let program = counted.and_then(|counted| counted.program.as_ref());
    program.unwrap_or_else(|| panic!("{}: {:?}", cell.title(), cell.reason()))
}

/// Entry and hook, calls, and their instructions.
fn hooks(cell: &Cell) -> Vec<(String, u64, u64)> {
    let entries = program(cell).entries.iter();
    let hooks = entries.flat_map(|entry| entry.hooks.iter().map(move |hook| (entry, hook)));
    let hooks = hooks.map(|(entry, hook)| {
        let name = format!("{}: {}", entry.entry, hook.hook);
        (name, hook.calls, hook.instructions)
    });
    hooks.collect()
}

/// Instructions of a module's hook implementations.
fn in_module(cell: &Cell, module: &str) -> u64 {
    let hooks = program(cell).entries.iter().flat_map(|entry| &entry.hooks);
    let modules = hooks.flat_map(|hook| &hook.modules);
    let own = modules.filter(|found| found.module == module);
    own.map(|found| found.instructions).sum()
}

/// Asserts that the programs ended normally under the module's policy, equally in both runs, and that
/// the refusal happened.
#[track_caller]
fn assert_confined(runs: &Measured, module: &str, proof: &str) {
    // Possibly memcpy_orig() copied backwards, which depends on addresses from the allocator: a
    // difference of 4 instructions was seen once.
    const BACKWARDS: u64 = 16;
    let stack = format!("capability,{module}");
    let applied = steps(&runs.first, &stack, Policy::Enforcing);
    assert!(
        applied.iter().any(|step| step.contains(proof)),
        "{applied:#?}"
    );
    for title in ["pipeline", "server", "find", "refused"] {
        // The AppArmor profile allows programs everything in their root.
        if title == "refused" && module == "apparmor" {
            continue;
        }
        let what = format!("{stack} {title}");
        let [enforced, again] =
            [&runs.first, &runs.second].map(|run| cell(run, &stack, Policy::Enforcing, title));
        let both = [enforced, again].map(hooks);
        assert_eq!(both[0].len(), both[1].len(), "{what}");
        for (one, other) in both[0].iter().zip(&both[1]) {
            assert_eq!((&one.0, one.1), (&other.0, other.1), "{what}");
            assert!(
                one.2.abs_diff(other.2) <= BACKWARDS,
                "{what}: {one:?} {other:?}"
            );
        }
        for (run, other) in program(enforced).runs.iter().zip(&program(again).runs) {
            assert_eq!(run.user, other.user, "{what}");
            // The timing of the host may change where the guest takes memory: a few instructions of
            // millions, in one boot of dozens.
            let more = run.kernel.abs_diff(other.kernel);
            assert!(more <= run.kernel / 10_000, "{what}: {run:?} {other:?}");
        }
        assert!(in_module(enforced, module) > 0, "{what}");
        // Other programs wait for each other and for a disk.
        let never_idle = program(enforced).runs.iter().all(|run| run.idle == 0);
        assert!(never_idle || title != "pipeline", "{what}");
    }
    let free = cell(&runs.free, &stack, Policy::None, "refused");
    assert_eq!(free.status(), Status::Failed);
    assert!(free.reason().unwrap().contains("ended with status 1"));
}

#[test]
fn programs_run_under_the_policies_of_stock_kernels() {
    let modules = ["selinux", "apparmor", "tomoyo", "landlock"];
    let stacks = modules.map(|module| format!("capability,{module}"));
    let refused = "! busybox mount -t tmpfs none /tmp";
    let runs = measured("debian:6.12", &stacks, refused, false);
    for (module, proof) in modules.into_iter().zip([
        "denied: open of ./selinux-denied for reading: EACCES",
        "denied: open of /apparmor-denied for reading: EACCES",
        "denied: open of /tomoyo-denied for reading: EPERM",
        "denied: creat of ../landlock-denied: EACCES",
    ]) {
        assert_confined(&runs, module, proof);
    }
    let applied = steps(&runs.first, "capability,selinux", Policy::Enforcing);
    let mounted = "the root is mounted with -o defcontext=lsmeter_u:object_r:work_t";
    assert!(
        applied.iter().any(|step| step.contains(mounted)),
        "{applied:#?}"
    );
}

#[test]
fn programs_run_under_the_rules_of_smack() {
    let Some((_, kernel)) = Place::with_test_kernel(&["SECURITY_SMACK", "INET"]) else {
        return;
    };
    // Root may write it; the label lsmeter may not.
    let refused = "! echo 100000 > /proc/sys/fs/file-max";
    let runs = measured(&kernel, &["capability,smack".to_owned()], refused, true);
    let proof = "denied: open of /smack/denied for reading: EACCES";
    assert_confined(&runs, "smack", proof);
}
