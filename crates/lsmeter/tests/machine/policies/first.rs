// SPDX-License-Identifier: GPL-2.0-or-later
//! First accesses after a policy reload or a relabelling.

use model::{FirstAfter, Policy, Status};

use super::{assert_in_force, measure};
use crate::common::Place;

#[test]
fn cached_decisions_are_dropped_before_each_operation() {
    let asked = "--policy enforcing --set first_after=['nothing','load','relabel'] --set warmup=2 \
                 --bench stat:AA,read:4KB";
    let stacks = "capability capability,selinux capability,apparmor";
    let run = measure(&Place::with_kernels(), "debian:6.12", stacks, asked);
    let cost = |stack: &str, benchmark: &str, after: Option<FirstAfter>| {
        let mut cells = run.cells.iter();
        let cell = cells.find(|cell| {
            cell.key.stack.join(",") == stack
                && cell.key.benchmark() == benchmark
                && cell.key.settings.first_after == after
        });
        let cell = cell.unwrap();
        assert_eq!(cell.status(), Status::Ok, "{:?}", cell.reason());
        cell.estimate().unwrap().median
    };
    let (load, relabel) = (Some(FirstAfter::Load), Some(FirstAfter::Relabel));
    for benchmark in ["open", "stat", "read"] {
        let selinux = |after| cost("capability,selinux", benchmark, after);
        assert!(selinux(None) < selinux(relabel), "{benchmark}");
        // A reload drops more than the file's label.
        assert!(selinux(relabel) < selinux(load), "{benchmark}");
        let apparmor = |after| cost("capability,apparmor", benchmark, after);
        assert!(apparmor(None) < apparmor(load), "{benchmark}");
    }
    // No module caches decisions there, so it is measured once.
    let mut alone = run.cells.iter().filter(|c| c.key.stack == ["capability"]);
    assert!(alone.all(|cell| cell.key.settings.first_after.is_none()));
    for text in [
        "selinux: the policy is loaded again before each operation",
        "selinux: files are labelled again before each operation",
        "apparmor: the profiles are replaced again before each operation",
    ] {
        let mut steps = run.setups.iter().flat_map(|setup| &setup.steps);
        assert!(steps.any(|step| step.starts_with(text)), "{text}");
    }
    assert_in_force(&run, "capability,apparmor", Policy::Enforcing, &[]);
}

#[test]
fn a_custom_policy_is_reloaded_and_its_files_relabelled() {
    let policy = "/etc/selinux/default/policy/policy.33";
    if !(testing::has_file(policy, "selinux-policy-default")
        && testing::has_program("matchpathcon", "selinux-utils"))
    {
        return;
    }
    let place = Place::with_kernels();
    place.write(
        "user.toml",
        r#"[custom.user]
        module = "selinux"
        files = ["/etc/selinux/default/policy/policy.33"]
        context = "user_u:user_r:user_t:s0"
        file_contexts = "/etc/selinux/default/contexts/files/file_contexts"
        files_context = "user_u:object_r:user_home_t:s0"
        denied = ["read /etc/shadow"]
        allowed = ["read /etc/hosts"]"#,
    );
    let asked = "run first-access --offline --stack capability,selinux --bench open:AA -n 4 \
                 --set first_after=['relabel','load'] --policy enforcing --policy-file user.toml \
                 -o out.json";
    place.line(asked).code(0);
    let run = place.document("out.json");
    let costs = run.cells.iter().map(|cell| cell.estimate().unwrap().median);
    let costs: Vec<f64> = costs.collect();
    assert!(costs.len() == 2 && costs[0] < costs[1], "{costs:?}");

    // The number of labels does not grow.
    let many = "run --offline --stack capability,selinux --policy enforcing --bench stat:AA \
                -n 1100 --set first_after=['relabel'] -o many.json --timeout 600";
    place.line(many).code(4);
    let run = place.document("many.json");
    let reason = run.cells[0].reason().unwrap_or_default();
    assert!(reason.contains("all labels were used"), "{reason}");
}
