// SPDX-License-Identifier: GPL-2.0-or-later
//! Whole programs under policies that decide.

use std::collections::BTreeMap;

use model::{Cell, Document, EntryHook, Policy, Program, Status};

use super::{read, steps};
use crate::common::Place;

/// What was measured on one kernel.
struct Measured {
    /// Under policies that decide.
    first: Document,
    /// The same once more.
    second: Document,
    /// Without a policy, only the program that is to be refused something.
    free: Document,
}

/// Programs that do what most do.
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

/// Those, and one that ends well only if it is refused something; `all_refuse` if every module does.
fn measured(kernel: &str, stacks: &[&str], refused: &str, all_refuse: bool) -> Measured {
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
        let asked = ["run", "programs.toml", "--offline", "--kernel", kernel];
        place
            .run(&[&asked[..], &["-o", "out.json"]].concat())
            .code(code);
        assert_eq!(place.left_over(), Vec::<String>::new());
        read(&place.join("out.json"))
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

/// Each way into the kernel with its hooks.
fn hooks(cell: &Cell) -> BTreeMap<&str, &[EntryHook]> {
    let entries = program(cell).entries.iter();
    entries
        .map(|entry| (entry.entry.as_str(), &entry.hooks[..]))
        .filter(|(_, hooks)| !hooks.is_empty())
        .collect()
}

/// Instructions that a module's implementations of hooks took.
fn in_module(cell: &Cell, module: &str) -> u64 {
    let hooks = program(cell).entries.iter().flat_map(|entry| &entry.hooks);
    hooks
        .flat_map(|hook| &hook.modules)
        .filter(|found| found.module == module)
        .map(|found| found.instructions)
        .sum()
}

/// The programs ran to their ends under the module's policy, alike in both runs, and the one that
/// is to be refused something was.
/// The same calls, and the same instructions but for a few: 4 were seen once. Possibly memcpy_orig()
/// copied backwards, which it does by the addresses that the allocator gave.
#[track_caller]
fn assert_same_hooks(
    first: &BTreeMap<&str, &[EntryHook]>,
    second: &BTreeMap<&str, &[EntryHook]>,
    what: &str,
) {
    const BACKWARDS: u64 = 16;
    let all = |of: &BTreeMap<&str, &[EntryHook]>| -> Vec<(String, u64, u64)> {
        let hooks = of.iter().flat_map(|(entry, hooks)| {
            let name = move |hook: &EntryHook| format!("{entry}: {}", hook.hook);
            hooks
                .iter()
                .map(move |hook| (name(hook), hook.calls, hook.instructions))
        });
        hooks.collect()
    };
    let (first, second) = (all(first), all(second));
    assert_eq!(first.len(), second.len(), "{what}");
    for (one, other) in first.iter().zip(&second) {
        assert_eq!((&one.0, one.1), (&other.0, other.1), "{what}");
        let more = one.2.abs_diff(other.2);
        assert!(more <= BACKWARDS, "{what}: {one:?} {other:?}");
    }
}

#[track_caller]
fn assert_confined(runs: &Measured, module: &str, proof: &str) {
    let Measured {
        first,
        second,
        free,
    } = runs;
    let stack = format!("capability,{module}");
    let told = steps(first, &stack, Policy::Enforcing);
    assert!(told.iter().any(|step| step.contains(proof)), "{told:#?}");
    // What AppArmor's profile leaves to programs is all that they can do in their root.
    let refuses = module != "apparmor";
    for title in ["pipeline", "server", "find", "refused"] {
        if title == "refused" && !refuses {
            continue;
        }
        let enforced = cell(first, &stack, Policy::Enforcing, title);
        let again = cell(second, &stack, Policy::Enforcing, title);
        assert_same_hooks(&hooks(enforced), &hooks(again), &format!("{stack} {title}"));
        for (run, other) in program(enforced).runs.iter().zip(&program(again).runs) {
            assert_eq!(run.user, other.user, "{stack} {title}");
            // When the host answers the guest decides where memory is taken from: a few
            // instructions of millions, in one boot of dozens.
            let more = run.kernel.abs_diff(other.kernel);
            assert!(
                more <= run.kernel / 10_000,
                "{stack} {title}: {run:?} {other:?}"
            );
        }
        assert!(in_module(enforced, module) > 0, "{stack} {title}");
        // Others wait for each other, and for a disk.
        let never_idle = program(enforced).runs.iter().all(|run| run.idle == 0);
        assert!(never_idle || title != "pipeline", "{stack} {title}");
    }
    let free = cell(free, &stack, Policy::None, "refused");
    assert_eq!(free.status(), Status::Failed);
    assert!(free.reason().unwrap().contains("ended with status 1"));
}

#[test]
fn programs_run_under_the_policies_of_stock_kernels() {
    let stacks = [
        "capability,selinux",
        "capability,apparmor",
        "capability,tomoyo",
        "capability,landlock",
    ];
    let refused = "! busybox mount -t tmpfs none /tmp";
    let runs = measured("debian:6.12", &stacks, refused, false);
    for (module, proof) in [
        (
            "selinux",
            "denied: open of ./selinux-denied for reading: EACCES",
        ),
        (
            "apparmor",
            "denied: open of /apparmor-denied for reading: EACCES",
        ),
        (
            "tomoyo",
            "denied: open of /tomoyo-denied for reading: EPERM",
        ),
        ("landlock", "denied: creat of ../landlock-denied: EACCES"),
    ] {
        assert_confined(&runs, module, proof);
    }
    let told = steps(&runs.first, "capability,selinux", Policy::Enforcing);
    let mounted = "the root is mounted with -o defcontext=lsmeter_u:object_r:work_t";
    assert!(told.iter().any(|step| step.contains(mounted)), "{told:#?}");
}

#[test]
fn programs_run_under_the_rules_of_smack() {
    let Some((_, kernel)) = Place::with_test_kernel(&["SECURITY_SMACK", "INET"]) else {
        return;
    };
    // Root may write it, the label lsmeter may not.
    let refused = "! echo 100000 > /proc/sys/fs/file-max";
    let runs = measured(&kernel, &["capability,smack"], refused, true);
    let proof = "denied: open of /smack/denied for reading: EACCES";
    assert_confined(&runs, "smack", proof);
}
