// SPDX-License-Identifier: GPL-2.0-or-later
//! Landlock on the host, as root and as an ordinary user.

use std::fs;

use model::{Cell, Document, Policy, Status};

use super::cells;
use crate::common::{Place, names, words};

/// Measures in an empty directory. Returns None and records a skipped test without Landlock.
fn run(line: &str, privileged: bool) -> Option<Document> {
    let place = Place::new();
    fs::create_dir(place.join("work")).unwrap();
    let line = format!("run --on host --dir work --quiet --output out.json {line}");
    let ended = match privileged {
        true => place.line(&line),
        false => place.run_unprivileged(&words(&line)),
    };
    let run = place.document("out.json");
    assert_eq!(names(&place.join("work")), [""; 0], "left behind");
    assert_eq!(place.left_over(), [""; 0]);
    let mut reasons = run.cells.iter().filter_map(Cell::reason);
    if reasons.any(|reason| reason.contains("landlock: this kernel has none")) {
        let command = "boot this machine with landlock in lsm=";
        testing::skip("this machine runs without Landlock", command);
        return None;
    }
    ended.code(0);
    Some(run)
}

#[test]
fn sandboxes_on_the_host_need_no_root() {
    for privileged in [true, false] {
        let asked = "--policy none --policy enforcing --layers 1 --layers 16 --rules 2 --rules 100 \
                     -n 6 --bench open:AA,landlock-open:*,rename:depth2,fork,execve,mkdir:one";
        let Some(run) = run(asked, privileged) else {
            return;
        };
        let experiment = run.experiment.as_ref().unwrap();
        assert_eq!(experiment.configurations.len(), 5, "{experiment:#?}");
        assert!(experiment.rounds >= 3, "configurations take turns");
        for policy in [Policy::None, Policy::Enforcing] {
            for cell in cells(&run, "default", policy) {
                let expected = match (policy, cell.key.variant()) {
                    (Policy::None, "denied") => Status::Unsupported,
                    _ => Status::Ok,
                };
                assert_eq!(cell.status(), expected, "{cell:#?}");
            }
        }
        assert_eq!(run.setups.len(), 4, "every sandbox proves itself");
        for setup in &run.setups {
            let layers = setup.configuration.settings.layers.unwrap();
            let restricted = format!("landlock_restrict_self {layers} times");
            let has = |text: &str| setup.steps.iter().any(|step| step.contains(text));
            for text in [
                &restricted,
                "landlock: denied: creat of ../landlock-denied: EACCES (13)",
                "landlock: allowed: creat of ./landlock-allowed",
            ] {
                assert!(has(text), "{setup:#?}");
            }
            assert!(privileged || has("PR_SET_NO_NEW_PRIVS"), "{setup:#?}");
        }
    }
}

/// All benchmarks of the paper work in a sandbox and leave no files.
#[test]
fn the_paper_s_benchmarks_run_in_a_sandbox() {
    let Some(run) = run(
        "--policy enforcing --suite paper --suite beyond -n 4 --set rounds=1",
        true,
    ) else {
        return;
    };
    assert!(run.cells.iter().all(|cell| cell.status() != Status::Failed));
    let measured = run.cells.iter().filter(|cell| cell.status() == Status::Ok);
    assert!(measured.count() * 10 > run.cells.len() * 9);
}
