// SPDX-License-Identifier: GPL-2.0-or-later
//! Every instrument goes on after `kill -9`, at whatever instant. SLOW: minutes.
//!
//! Needs QEMU and the kernel debian:6.12 in the cache of whoever runs the tests. It is killed
//! `LSMETER_KILLS` times; unless said, once.

use std::collections::BTreeSet;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use super::cells::assert_same;
use crate::common::{Place, Running, children, names, runs, signal, wait_for, words};
use rustix::process::Signal;

const WHAT: &str = "--offline --kernel debian:6.12 --fs tmpfs \
                    --bench getppid,stat:AA,stat:AA/BB,fstat,access:*";

/// Instants spread over the time that the command takes, without any order.
fn instants(all: Duration) -> impl Iterator<Item = Duration> {
    let times = std::env::var("LSMETER_KILLS").ok();
    let times = times.map_or(1, |n| n.parse().expect("LSMETER_KILLS is a number"));
    let step =
        move |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / f64::from(1 << 24);
    (1..=times).map(move |i| all.mul_f64(step(i)))
}

/// Runs the command undisturbed, to `whole.json`, and with kills, to `killed.json`; each time
/// that this comes to its end, both must be the same.
fn killed(command: &str) {
    let place = Place::with_kernels();
    let begun = Instant::now();
    place
        .line(&format!("{command} {WHAT} -o whole.json"))
        .code(0);
    let takes = begun.elapsed();
    let journal = place.join("killed.json.journal");
    let asked = format!("{command} {WHAT} -o killed.json");
    let resumed = format!("{asked} --resume");
    let mut told = Vec::new();
    for instant in instants(takes) {
        let now = if journal.exists() { &resumed } else { &asked };
        let mut running = Running::start(&place, &words(now));
        let until = Instant::now() + instant;
        while Instant::now() < until && !running.has_ended() {
            thread::sleep(Duration::from_millis(20));
        }
        let machines = children(running.pid());
        if running.has_ended() {
            // There is time for more: once more from the beginning.
            running.wait().code(0);
            assert_same_documents(&place);
            fs::remove_file(place.join("killed.json")).unwrap();
            continue;
        }
        signal(running.pid(), Signal::KILL);
        assert_eq!(running.wait().signal, Some(9));
        for machine in machines {
            wait_for("end of QEMU", || (!runs(machine)).then_some(()));
        }
        told.push(format!("{:.1} s", instant.as_secs_f64()));
        nothing_is_measured_twice(&place);
    }
    let now = if journal.exists() { &resumed } else { &asked };
    place.line(now).code(0);
    assert_same_documents(&place);
    let left = names(place.path()).into_iter();
    let left: Vec<String> = left.filter(|name| name.contains("journal")).collect();
    assert_eq!(left, [""; 0]);
    assert_eq!(place.left_over(), [""; 0]);
    eprintln!("killed after {}", told.join(", "));
}

/// A cell that was measured is in its journal once.
fn nothing_is_measured_twice(place: &Place) {
    let all = names(place.path()).into_iter();
    for journal in all.filter(|name| name.contains(".journal") && !name.ends_with("counts")) {
        let text = fs::read_to_string(place.join(&journal)).unwrap();
        let mut seen = BTreeSet::new();
        let whole = text
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'));
        for line in whole.skip(1) {
            let entry: serde_json::Value = serde_json::from_str(line).unwrap();
            let cell = &entry["cell"];
            let measured = cell["status"] == "ok";
            assert!(
                !measured || seen.insert(cell["key"].to_string()),
                "{journal}: {}",
                cell["key"]
            );
        }
    }
}

fn assert_same_documents(place: &Place) {
    let [killed, whole] = ["killed.json", "whole.json"].map(|name| place.document(name));
    assert_eq!(killed.kind, whole.kind);
    assert_eq!(killed.sweep, whole.sweep);
    assert_eq!(killed.kernel_hooks, whole.kernel_hooks);
    assert_eq!(killed.warnings, whole.warnings);
    assert_same(&killed, &whole);
}

#[test]
fn a_killed_profile_goes_on() {
    killed("profile --stack capability,selinux --baseline capability");
}

#[test]
fn a_killed_sweep_goes_on() {
    killed("sensitivity");
}
