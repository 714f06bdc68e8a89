// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter profile` without a boot.

use std::fs;

use crate::common::Place;

#[test]
fn invalid_arguments_are_refused() {
    let place = Place::new();
    let lab = "--events needs instruction counts, which are not selected";
    let benchmarks = "--events works only for benchmarks, not for whole programs";
    let outputs = "two outputs cannot both go to standard output | name a file for one";
    let baseline = "there is no stack to compare with";
    let table = format!(
        "profile --offline --bench opne | pattern `opne` matches no benchmark | did you mean `open`?
         profile --offline --bench open: | no variant after the colon | BENCHMARK:VARIANT
         profile --offline quik | unknown preset `quik` | did you mean `quick`?
         profile --offline --stack 'capability, selinux' | name contains ' ' | capability,selinux
         profile --offline missing.toml | cannot read missing.toml | TOML file
         profile --baseline capability --stack capability | {baseline} capability | with --stack
         profile --baseline default --stack default --check | {baseline} default | with --stack
         profile --baseline SELinux | stack `SELinux`: a module name contains 'S' | lsm= parameter
         profile git-status --events | {benchmarks} | --bench
         run git-status --events | {benchmarks} | --bench
         profile --events --programs true -- true | {benchmarks} | --bench
         run --events --metric time | {lab} | --metric instructions
         run --events --on um --kernel build:um --metric time | {lab} | --metric instructions
         run --events --on host --dir . | {lab} | --metric instructions
         profile --json --trace | {outputs}
         profile --json --output - | {outputs}
         profile --trace --output - | {outputs}
         profile --callgrind - --folded - | {outputs}
         profile --on=host | unexpected argument
         profile --dir=. | unexpected argument"
    );
    place.refuses(2, &table);
    for (flags, expected) in [
        ("--check", "--baseline <LSM,…>"),
        ("--view hook", "operation, hooks, summary"),
        (
            "--metric time",
            "instructions, transfers, transfers_siblings",
        ),
    ] {
        let ended = place.line(&format!("profile {flags}")).code(2);
        assert!(ended.stderr.contains(expected), "{ended:#?}");
    }
    assert_eq!(place.names(), [""; 0], "nothing was written");
}

#[test]
fn invalid_hook_definitions_are_refused() {
    let place = Place::new();
    fs::create_dir(place.join("directory.h")).unwrap();
    place.write("empty.h", "");
    place.write("prose.h", "hooks, many of them\n\u{1b}[31m");
    place.write("binary.h", [0xff, 0xfe, 0, 1]);
    let whole = "LSM_HOOK(int, 0, file_open, struct file *file)\n";
    place.write("torn.h", format!("{whole}LSM_HOOK(int, 0, "));
    place.write("large.h", "/* */\n".repeat(1 << 20));
    for (name, why) in [
        ("missing.h", "No such file or directory"),
        ("directory.h", "Is a directory"),
        ("empty.h", "no LSM hook in the hook definitions"),
        ("prose.h", "no LSM hook in the hook definitions"),
        ("binary.h", "it is not UTF-8 text"),
        ("torn.h", "at line 2: an LSM_HOOK has no end"),
        ("large.h", "it is too large"),
        // A device has length 0 but never ends.
        ("/dev/zero", "it is too large"),
    ] {
        let refused = place.line(&format!("profile --offline --hook-definitions {name}"));
        assert!(refused.stderr.contains(why), "{refused:#?}");
        let error = format!("cannot read {name}: ");
        refused.refused(2, &error, Some("include/linux/lsm_hook_defs.h"));
    }
}

#[test]
fn it_needs_qemu_and_a_kernel() {
    let place = Place::new();
    place.refuses(
        3,
        "profile --offline --qemu /nonexistent | cannot run /nonexistent: | give --qemu the path",
    );
    place.refuses(
        2,
        "profile --offline --kernel debian:6.12 | not in the cache | kernel fetch debian:6.12
         profile --offline --kernel not/there | no such file | bzImage",
    );
}
