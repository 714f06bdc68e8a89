// SPDX-License-Identifier: GPL-2.0-or-later
//! lsmeter gets the processor late. SLOW: some seconds.
//!
//! Needs QEMU and the kernel debian:6.12 in the cache of whoever runs the tests.

use std::time::Duration;

use rustix::process::Signal;

use super::cells::{RUN, assert_same};
use crate::common::{Place, Running, signal, words};

/// Measured regions of many paths, of which the rarest would tell.
const WHAT: &str = "--stack capability --bench mkdir:9437-names --keep-samples --output";

/// What a guest says must have room while nobody reads it: who waits for a serial port's byte
/// to go out executes other instructions than who does not.
#[test]
fn counts_do_not_depend_on_how_soon_the_guest_is_heard() {
    let place = Place::with_kernels();
    place.line(&format!("{RUN} {WHAT} soon.json")).code(0);

    let line = format!("{RUN} {WHAT} late.json");
    let mut running = Running::start(&place, &words(&line));
    while !running.has_ended() {
        signal(running.pid(), Signal::STOP);
        std::thread::sleep(Duration::from_millis(500));
        signal(running.pid(), Signal::CONT);
        std::thread::sleep(Duration::from_millis(30));
    }
    running.wait().code(0);
    assert_same(&place.document("late.json"), &place.document("soon.json"));
}
