// SPDX-License-Identifier: GPL-2.0-or-later
//! Profiles and sweeps continue after `kill -9` at any instant. SLOW: minutes.
//!
//! Needs QEMU and the kernel debian:6.12. Kills lsmeter `LSMETER_KILLS` times; default: once.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use super::cells::assert_same;
use crate::common::{Place, Running, children, runs, signal, wait_for, words};
use rustix::process::Signal;

const WHAT: &str = "--offline --kernel debian:6.12 --fs tmpfs \
                    --bench getppid,stat:AA,stat:AA/BB,fstat,access:*";

/// Instants spread over the duration of the command, in no order.
fn instants(all: Duration) -> impl Iterator<Item = Duration> {
    let times = std::env::var("LSMETER_KILLS").ok();
    let times = times.map_or(1, |n| n.parse().expect("LSMETER_KILLS is a number"));
    let step =
        move |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / f64::from(1 << 24);
    (1..=times).map(move |i| all.mul_f64(step(i)))
}

/// Runs the command undisturbed, and with kills in another cache. Both results must be equal.
fn killed(command: &str) {
    let [whole, place] = [(); 2].map(|()| Place::with_kernels().alone());
    let begun = Instant::now();
    let asked = format!("{command} {WHAT} -o out.json");
    whole.line(&asked).code(0);
    let takes = begun.elapsed();
    let mut kills = Vec::new();
    for instant in instants(takes) {
        let mut running = Running::start(&place, &words(&asked));
        let until = Instant::now() + instant;
        while Instant::now() < until && !running.has_ended() {
            thread::sleep(Duration::from_millis(20));
        }
        let machines = children(running.pid());
        if running.has_ended() {
            // It ended before the kill: start again.
            running.wait().code(0);
            assert_same_documents(&place, &whole);
            fs::remove_file(place.join("out.json")).unwrap();
            place.line("doctor --clear-cache").code(0);
            continue;
        }
        signal(running.pid(), Signal::KILL);
        assert_eq!(running.wait().signal, Some(9));
        for machine in machines {
            wait_for("end of QEMU", || (!runs(machine)).then_some(()));
        }
        kills.push(format!("{:.1} s", instant.as_secs_f64()));
    }
    place.line(&asked).code(0);
    assert_same_documents(&place, &whole);
    assert_eq!(place.names(), ["out.json"]);
    assert_eq!(place.left_over(), [""; 0]);
    eprintln!("killed after {}", kills.join(", "));
}

fn assert_same_documents(killed: &Place, whole: &Place) {
    let [killed, whole] = [killed, whole].map(|place| place.document("out.json"));
    assert_eq!(killed.kind, whole.kind);
    assert_eq!(killed.sweep, whole.sweep);
    assert_eq!(killed.kernel_hooks, whole.kernel_hooks);
    assert_eq!(killed.warnings, whole.warnings);
    assert_same(&killed, &whole);
}

#[test]
fn a_killed_profile_continues() {
    killed("profile --stack capability,selinux --baseline capability");
}

#[test]
fn a_killed_sweep_continues() {
    killed("sensitivity");
}
