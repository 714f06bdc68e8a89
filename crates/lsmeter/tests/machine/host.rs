// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter run --on host`: this machine's own kernel, as the current user and, if that is
//! root, as another one. Some seconds.

use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::common::{Ended, Place, Running, children, names, runs, signal, wait_for};
use model::{Cell, Document, Metric, Status};
use rustix::process::Signal;

/// Who measures is alone.
static MACHINE: Mutex<()> = Mutex::new(());

fn machine() -> MutexGuard<'static, ()> {
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

const PAPER: &[&str] = &[
    "run",
    "--on",
    "host",
    "--dir",
    "work",
    "--suite",
    "paper",
    "--variants",
    "all",
    "-n",
    "9",
    "--rounds",
    "1",
    "--output",
    "out.json",
];

fn place() -> Place {
    let place = Place::new();
    fs::create_dir(place.join("work")).unwrap();
    place
}

fn read(place: &Place) -> Document {
    Document::read(fs::File::open(place.join("out.json")).unwrap()).unwrap()
}

fn check(place: &Place, ended: &Ended) {
    let run = read(place);
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
    assert!(
        measured * 2 > run.cells.len(),
        "{measured} of {}",
        run.cells.len()
    );
    assert!(run.environment.qemu.is_none());
    assert!(ended.stdout.contains("stat:AA"), "{ended:#?}");
    assert_eq!(
        names(&place.join("work")),
        Vec::<String>::new(),
        "left behind"
    );
    assert_eq!(place.left_over(), Vec::<String>::new());
}

#[test]
fn the_paper_s_benchmarks_run_and_leave_nothing() {
    let _machine = machine();
    let place = place();
    let ended = place.run(PAPER).code(0);
    check(&place, &ended);
}

#[test]
fn no_root_is_needed() {
    let _machine = machine();
    let place = place();
    let ended = place.run_unprivileged(PAPER).code(0);
    check(&place, &ended);
}

/// Long enough to be caught at it: the tree walk makes 19,255 files.
const LONG: &[&str] = &[
    "run",
    "--on",
    "host",
    "--dir",
    "work",
    "--bench",
    "treewalk:full",
    "--bench",
    "stat",
    "--output",
    "out.json",
];

/// A run that is in the midst of its work, and its agent.
fn under_way(place: &Place) -> (Running, Vec<u32>) {
    let mut running = Running::start(place, LONG);
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
        assert_eq!(
            names(&place.join("work")),
            Vec::<String>::new(),
            "left behind"
        );
        assert_eq!(place.left_over(), Vec::<String>::new());
        assert_eq!(place.names(), ["cache", "out.json.journal", "work"]);
    }
}

#[test]
fn a_killed_run_s_agent_tidies_up() {
    let _machine = machine();
    let place = place();
    let (running, agents) = under_way(&place);
    signal(running.pid(), Signal::KILL);
    assert_eq!(running.wait().signal, Some(9));
    for agent in agents {
        wait_for("end of the agent", || (!runs(agent)).then_some(()));
    }
    assert_eq!(
        names(&place.join("work")),
        Vec::<String>::new(),
        "left behind"
    );
}

/// An agent that is killed costs its cell; the run goes on with another.
#[test]
fn a_killed_agent_is_told() {
    let _machine = machine();
    let place = place();
    let (running, agents) = under_way(&place);
    for agent in agents {
        signal(agent, Signal::KILL);
    }
    running.wait().code(4);
    let run = read(&place);
    let failed: Vec<_> = run
        .cells
        .iter()
        .filter(|cell| cell.status() == Status::Failed)
        .collect();
    assert_eq!(failed.len(), 1, "{failed:#?}");
    assert!(
        failed[0]
            .reason()
            .unwrap()
            .contains("the agent was killed by signal 9")
    );
}

#[test]
fn killed_runs_without_a_change_go_on() {
    let _machine = machine();
    let place = place();
    let again = [PAPER, &["--aa=3"]].concat();
    let running = Running::start(&place, &again);
    let second = place.join("out.json.journal.2");
    wait_for("the second run", || second.exists().then_some(()));
    signal(running.pid(), Signal::KILL);
    assert_eq!(running.wait().signal, Some(9));
    place
        .run(&again)
        .refused(2, "holds the measurements of a run", Some("--resume"));
    place.run(&[&again[..], &["--resume"]].concat()).code(0);
    let run = read(&place);
    assert_eq!(run.aa.unwrap().runs, 3);
    let journals = names(place.path()).into_iter();
    let left: Vec<String> = journals.filter(|name| name.contains("journal")).collect();
    assert_eq!(left, Vec::<String>::new());
}
