// SPDX-License-Identifier: GPL-2.0-or-later
//! Predictions compared with measurements, and predictions for a live machine's recording. SLOW:
//! minutes.
//!
//! Needs QEMU, busybox and the kernel debian:6.12.

use std::fs;

use crate::common::Place;
use crate::vm::Vm;
use model::{PredictionDocument, Stored};

const OFFLINE: &str = "--offline --kernel debian:6.12";
const STACKS: &str = "--stack capability --stack capability,selinux --stack capability,apparmor";

/// Leaves out slow benchmarks with hooks that the programs do not call.
const COSTS: &str = "--variants all -n 16 \
    --bench paper/*,lmbench/*,howells/*,beyond/*,process/*,admin/*,socket:unix*,connect:unix* \
    --bench !treewalk,!*:9437-names,!*:64KB,!seccomp,!setexeccon,!execve-script,!clone:new* \
    --bench !ptrace*,!mount,!overlay,!loop,!quotaon,!fuse,!tun,!module-request";

fn predicted(place: &Place, more: &str) -> PredictionDocument {
    let json = place.line(&format!("predict --json {more}")).code(0).stdout;
    PredictionDocument::parse(json.as_bytes()).unwrap()
}

/// Compares predictions from calls under `capability` with counts under the other stacks.
#[test]
fn programs_cost_what_was_predicted() {
    let place = Place::with_kernels();
    for directory in 0..12 {
        let below = place.join(&format!("tree/{directory}/below"));
        fs::create_dir_all(&below).unwrap();
        for file in 0..20 {
            fs::write(below.join(file.to_string()), "one\ntwo\none\n").unwrap();
        }
    }
    place.write(
        "programs.toml",
        r#"
        stacks = ["capability", "capability,selinux", "capability,apparmor"]
        [root]
        programs = ["sh", "cat", "find", "tar", "git", "sort"]
        tree = "tree"
        [[workloads]]
        name = "find-stat"
        argv = ["find", "/tree", "-newer", "/tree/0/below/1"]
        repeat = 1
        [[workloads]]
        name = "tar"
        argv = ["tar", "-cf", "/tmp/out.tar", "-C", "/tree", "."]
        repeat = 1
        [[workloads]]
        name = "git-status"
        argv = ["git", "status"]
        prepare = [["sh", "-c", "[ -d .git ] || { git init -q . && git add -A; }"]]
        repeat = 1
        [[workloads]]
        name = "forks"
        argv = ["sh", "-c", "i=0; while [ $i -lt 20 ]; do cat /tree/0/below/1 > /tmp/out; i=$((i+1)); done"]
        repeat = 1
        [[workloads]]
        name = "pipe"
        argv = ["sh", "-c", "cat /tree/*/below/* | while read line; do :; done"]
        repeat = 1
        "#,
    );
    let run = format!("run programs.toml -q -o programs.json {OFFLINE}");
    place.line(&run).code(0);
    // Costs of the suite: file operations and other calls of such programs. Fork and execve may have
    // no clean sample.
    let profile = format!("profile {COSTS} -q -o costs.json {OFFLINE} {STACKS}");
    let ended = place.line(&profile);
    assert!(matches!(ended.code, Some(0 | 4)), "{ended:#?}");
    let from = "--recording programs.json --costs costs.json";
    let document = predicted(&place, from);
    assert_eq!(document.loads.len(), 5);
    for load in &document.loads {
        let coverage = load.coverage;
        assert!(coverage.uncovered * 20 < coverage.calls(), "{coverage:?}");
        for (name, stack) in document.stacks.iter().zip(&load.stacks).skip(1) {
            let measured = stack.measured.unwrap() as f64;
            let error = (stack.added.unwrap().middle - measured) / measured;
            println!("{} under {name}: {:+.1} %", load.name, error * 100.0);
            let within = match (load.name.as_str(), name.as_str()) {
                // A read of a pipe costs SELinux four times as much as one of a file. The suite reads
                // only files.
                ("pipe", "capability,selinux") => -0.9..=-0.3,
                _ => -0.07..=0.07,
            };
            assert!(within.contains(&error), "{}: {name}: {error}", load.name);
        }
    }
    // Costs of a program that reads a pipe include that.
    let pipe = format!("{from} --workload pipe");
    let apart = predicted(&place, &pipe);
    let measured = apart.loads[0].stacks[1].measured.unwrap() as f64;
    let document = predicted(&place, &format!("{pipe} --costs programs.json"));
    let stack = &document.loads[0].stacks[1];
    let added = stack.added.unwrap();
    assert!(added.low <= measured && measured <= added.high, "{stack:?}");
    // A recording that is part of the costs gives no error.
    assert_eq!(stack.measured, None);
}

/// An eBPF recording of a live machine.
#[test]
fn a_recording_of_a_live_machine() {
    let outcome = Vm::new("debian:6.12")
        .lsm("capability,apparmor")
        .run(
            "mkdir -p /tmp/a/b; echo text >/tmp/a/b/c
             printf 'i=0; while [ $i -lt 1000 ]; do read x </tmp/a/b/c; i=$((i+1)); done' >/tmp/loop
             lsmeter monitor --functions apparmor --hooks 'file_*,inode_*' --record /out/R.json \
                 -- sh /tmp/loop >&2",
        )
        .status(0);
    let place = Place::with_kernels();
    place.write("R.json", outcome.file("R.json"));
    let costs = "profile suite --bench open,stat,read -q -o costs.json";
    place.line(&format!("{costs} {OFFLINE} {STACKS}")).code(0);
    let document = predicted(&place, "--recording R.json --costs costs.json");
    let load = &document.loads[0];
    assert!(load.seconds.is_some());
    let opens = load.calls.iter();
    let opens = opens.filter(|call| (&*call.hook, &*call.system_call) == ("file_open", "openat"));
    let opens: Vec<_> = opens.collect();
    assert_eq!(opens.len(), 1, "modules' functions are their hook's");
    assert!((1_000..1_020).contains(&opens[0].calls), "{opens:?}");
    assert!(opens[0].recorded_ns.is_some());
    // SELinux looks up two labels and its cache. The framework adds nothing.
    let added = opens[0].costs[1].added.unwrap();
    assert!((150.0..350.0).contains(&added.middle), "{added:?}");
}
