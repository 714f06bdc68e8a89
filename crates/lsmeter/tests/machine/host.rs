// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter run --on host`: the running kernel, as the current user and, if that is root, as
//! another user. Takes seconds.

use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::common::{Ended, Place, Running, children, names, runs, signal, wait_for, words};
use model::{Cell, Metric, Status};
use rustix::process::Signal;

/// Only one test measures at a time.
static MACHINE: Mutex<()> = Mutex::new(());

fn machine() -> MutexGuard<'static, ()> {
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

const PAPER: &str = "run --on host --dir work --suite paper --variants all -n 9 --set rounds=1 \
                     --output out.json";

fn place() -> Place {
    let place = Place::new();
    fs::create_dir(place.join("work")).unwrap();
    place
}

/// Asserts that the working directory and the temporary directory are empty.
#[track_caller]
fn assert_tidy(place: &Place) {
    assert_eq!(names(&place.join("work")), [""; 0], "left behind");
    assert_eq!(place.left_over(), [""; 0]);
}

#[test]
fn the_paper_s_benchmarks_need_no_root_and_leave_nothing() {
    let _machine = machine();
    for privileged in [true, false] {
        let place = place();
        let ended = match privileged {
            true => place.line(PAPER),
            false => place.run_unprivileged(&words(PAPER)),
        };
        check(&place, &ended.code(0));
    }
}

fn check(place: &Place, ended: &Ended) {
    let run = place.document("out.json");
    assert!(run.cells.len() >= 55, "{} cells", run.cells.len());
    for cell in &run.cells {
        let key = &cell.key;
        assert_eq!((key.metric, &*key.kernel), (Metric::Time, "host"));
        assert!(!cell.release.is_empty());
        match cell.status() {
            Status::Ok => {
                let timed = cell.timed().unwrap();
                assert!(timed.estimate.median > 0.0, "{cell:#?}");
                assert_eq!(timed.estimate.n, 9, "{cell:#?}");
                assert!(timed.batch.unwrap() > 0, "{cell:#?}");
            }
            Status::Unsupported => assert!(!cell.reason().unwrap().is_empty()),
            Status::Failed => panic!("{cell:#?}"),
        }
    }
    let measured = run.cells.iter().filter_map(Cell::evidence).count();
    assert!(measured * 2 > run.cells.len(), "{measured}");
    assert!(run.environment.qemu.is_none());
    assert!(ended.stdout.contains("stat:AA"), "{ended:#?}");
    assert_tidy(place);
}

/// Long enough to be interrupted: the tree walk makes 19,255 files.
const LONG: &str = "run --on host --dir work --bench treewalk:full,stat --output out.json";

/// A running measurement, and its agent.
fn under_way(place: &Place) -> (Running, Vec<u32>) {
    let mut running = Running::start(place, &words(LONG));
    wait_for("working directory", || {
        assert!(!running.has_ended(), "it ended too soon");
        let dirs = names(&place.join("work"));
        let agents = dirs
            .iter()
            .filter(|name| name.starts_with("lsmeter-agent-"));
        let mut busy = agents.map(|name| place.join("work").join(name));
        busy.any(|dir| fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some()))
            .then_some(())
    });
    let agents = children(running.pid());
    assert_eq!(agents.len(), 1);
    (running, agents)
}

#[test]
fn an_interrupted_run_leaves_nothing() {
    let _machine = machine();
    for stop in [Signal::INT, Signal::TERM, Signal::HUP] {
        let place = place();
        let (running, agents) = under_way(&place);
        signal(running.pid(), stop);
        let ended = running.wait().code(4);
        assert!(ended.stderr.contains("interrupted: "), "{ended:#?}");
        assert!(agents.iter().all(|&agent| !runs(agent)));
        assert_tidy(&place);
        assert_eq!(place.names(), ["cache", "work"]);
    }
}

#[test]
fn the_agent_of_a_killed_run_cleans_up() {
    let _machine = machine();
    let place = place();
    let (running, agents) = under_way(&place);
    signal(running.pid(), Signal::KILL);
    assert_eq!(running.wait().signal, Some(9));
    for agent in agents {
        wait_for("end of the agent", || (!runs(agent)).then_some(()));
    }
    assert_eq!(names(&place.join("work")), [""; 0], "left behind");
}

/// A killed agent loses its measurement. The run continues with a new agent.
#[test]
fn a_killed_agent_is_reported() {
    let _machine = machine();
    let place = place();
    let (running, agents) = under_way(&place);
    for agent in agents {
        signal(agent, Signal::KILL);
    }
    running.wait().code(4);
    let run = place.document("out.json");
    let failed = run
        .cells
        .iter()
        .filter(|cell| cell.status() == Status::Failed);
    let reasons: Vec<_> = failed.filter_map(Cell::reason).collect();
    assert_eq!(reasons.len(), 1, "{reasons:#?}");
    assert!(reasons[0].contains("the agent was killed by signal 9"));
}
