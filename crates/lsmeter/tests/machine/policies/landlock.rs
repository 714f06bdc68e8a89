// SPDX-License-Identifier: GPL-2.0-or-later
//! Landlock in a VM, and on the host without privilege.

use std::fs;

use model::{Cell, Document, Policy, Status};

use super::{assert_in_force, assert_unsupported, cells, read, stock};
use crate::common::{Ended, Place, names};

const STACK: &str = "capability,landlock";

#[test]
fn the_agent_sandboxes_itself() {
    let texts = [
        "landlock: landlock_restrict_self 1 times",
        "landlock: denied: creat of ../landlock-denied: EACCES (13)",
        "landlock: allowed: creat of ./landlock-allowed",
    ];
    assert_in_force(stock(), STACK, Policy::Enforcing, &texts);
    assert_unsupported(stock(), STACK, Policy::Permissive, "no permissive state");
}

const ON_HOST: &[&str] = &[
    "run",
    "--on",
    "host",
    "--dir",
    "work",
    "--policy",
    "none",
    "--policy",
    "enforcing",
    "--layers",
    "1",
    "--layers",
    "16",
    "--rules",
    "2",
    "--rules",
    "100",
    "--bench",
    "open:AA",
    "--bench",
    "landlock-open:*",
    "--bench",
    "rename:depth2",
    "--bench",
    "fork",
    "--bench",
    "execve",
    "--bench",
    "mkdir:one",
    "-n",
    "6",
    "--quiet",
    "--output",
    "out.json",
];

/// None, recorded as skipped, if this machine's kernel has no Landlock.
fn check(place: &Place, ended: Ended) -> Option<Document> {
    let run = read(&place.join("out.json"));
    assert_eq!(
        names(&place.join("work")),
        Vec::<String>::new(),
        "left behind"
    );
    assert_eq!(place.left_over(), Vec::<String>::new());
    let lacking = |reason: &str| reason.contains("landlock: this kernel has none");
    let mut reasons = run.cells.iter().filter_map(Cell::reason);
    if reasons.any(lacking) {
        let command = "boot this machine with landlock in lsm=";
        testing::skip("this machine runs without Landlock", command);
        return None;
    }
    ended.code(0);
    Some(run)
}

fn check_sandboxes(run: &Document) {
    let experiment = run.experiment.as_ref().unwrap();
    assert_eq!(experiment.configurations.len(), 5, "{experiment:#?}");
    assert!(experiment.rounds >= 3, "configurations take turns");
    for cell in cells(run, "default", Policy::None) {
        let expected = match cell.key.variant() {
            "denied" => Status::Unsupported,
            _ => Status::Ok,
        };
        assert_eq!(cell.status(), expected, "{cell:#?}");
    }
    for cell in cells(run, "default", Policy::Enforcing) {
        assert_eq!(cell.status(), Status::Ok, "{cell:#?}");
    }
    assert_eq!(run.setups.len(), 4, "every sandbox proves itself");
    for setup in &run.setups {
        let layers = setup.configuration.settings.layers.unwrap();
        for text in [
            format!("landlock_restrict_self {layers} times"),
            "landlock: denied: creat of ../landlock-denied: EACCES (13)".to_owned(),
            "landlock: allowed: creat of ./landlock-allowed".to_owned(),
        ] {
            assert!(
                setup.steps.iter().any(|step| step.contains(&text)),
                "{setup:#?}"
            );
        }
    }
}

#[test]
fn sandboxes_on_the_host() {
    let place = Place::new();
    fs::create_dir(place.join("work")).unwrap();
    let ended = place.run(ON_HOST);
    if let Some(run) = check(&place, ended) {
        check_sandboxes(&run);
    }
}

#[test]
fn sandboxes_on_the_host_need_no_root() {
    let place = Place::new();
    fs::create_dir(place.join("work")).unwrap();
    let ended = place.run_unprivileged(ON_HOST);
    let Some(run) = check(&place, ended) else {
        return;
    };
    check_sandboxes(&run);
    let steps = run.setups.iter().flat_map(|setup| &setup.steps);
    assert_eq!(
        steps
            .filter(|step| step.contains("PR_SET_NO_NEW_PRIVS"))
            .count(),
        4
    );
}

/// All of the paper's benchmarks work in it, and leave nothing.
#[test]
fn the_paper_s_benchmarks_run_in_a_sandbox() {
    let place = Place::new();
    fs::create_dir(place.join("work")).unwrap();
    let asked = [
        "run",
        "--on",
        "host",
        "--dir",
        "work",
        "--policy",
        "enforcing",
        "--suite",
        "paper",
        "--suite",
        "beyond",
        "-n",
        "4",
        "--rounds",
        "1",
        "--quiet",
        "--output",
        "out.json",
    ];
    let ended = place.run(&asked);
    let Some(run) = check(&place, ended) else {
        return;
    };
    assert!(run.cells.iter().all(|cell| cell.status() != Status::Failed));
    let measured = run.cells.iter().filter(|cell| cell.status() == Status::Ok);
    assert!(measured.count() * 10 > run.cells.len() * 9);
}
