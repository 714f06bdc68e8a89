// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter profile` that does not get as far as to boot.

use std::fs;

use crate::common::Place;

#[test]
fn words_that_make_no_sense_are_refused() {
    let place = Place::new();
    let lab = "--events is counted with instructions, which are not measured here";
    let benchmarks = "--events is of benchmarks, not of whole programs";
    let outputs = "two outputs cannot both be standard output | name a file for one";
    let baseline = "there is no stack to compare with";
    let table = format!(
        "profile --offline --bench opne | pattern `opne` fits no benchmark | did you mean `open`?
         profile --offline --bench open: | names no variant behind the colon | BENCHMARK:VARIANT
         profile --offline quik | no preset is called `quik` | did you mean `quick`?
         profile --offline --stack 'capability, selinux' | ' ' in a module name | capability,selinux
         profile --offline missing.toml | cannot read missing.toml | TOML file
         profile --baseline capability --stack capability | {baseline} capability | with --stack
         profile --baseline default --stack default --check | {baseline} default | with --stack
         profile --baseline SELinux | stack `SELinux`: 'S' in a module name | lsm= parameter
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
         profile --metric=time | unexpected argument
         profile --on=host | unexpected argument
         profile --dir=. | unexpected argument"
    );
    place.refuses(2, &table);
    // What is to be checked is a comparison.
    for (flags, told) in [
        ("--check", "--baseline <LSM,…>"),
        ("--view hook", "operation, hooks, summary"),
    ] {
        let ended = place.line(&format!("profile {flags}")).code(2);
        assert!(ended.stderr.contains(told), "{ended:#?}");
    }
    assert_eq!(place.names(), [""; 0], "nothing was written");
}

#[test]
fn hook_definitions_that_are_none() {
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
        ("binary.h", "it is not text"),
        ("torn.h", "an LSM_HOOK has no end, in line 2"),
        ("large.h", "it is too large for that"),
        // A device claims no length, and has no end.
        ("/dev/zero", "it is too large for that"),
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
        "profile --offline --qemu /nonexistent | cannot run /nonexistent: | --qemu takes the path",
    );
    place.refuses(
        2,
        "profile --offline --kernel debian:6.12 | not in the cache | kernel fetch debian:6.12
         profile --offline --kernel not/there | there is no such file | bzImage",
    );
}
