// SPDX-License-Identifier: GPL-2.0-or-later
//! Stacks in every state of their policies, and what is compared with what.

use model::{Configuration, Experiment, Key, Metric, Subject};

use super::{refused, spec};

#[test]
fn the_baseline_is_a_stack_or_a_position() {
    let stacks = "stacks = ['capability,selinux', 'capability']\n";
    let e = spec(&format!("{stacks}baseline = 'capability'"))
        .resolve()
        .unwrap();
    assert_eq!(e.baseline, 1);
    let e = spec(&format!("{stacks}baseline = 1")).resolve().unwrap();
    assert_eq!(e.baseline, 1);
    let (message, hint) = refused(&format!("{stacks}baseline = 'selinux'"));
    assert_eq!(
        message,
        "baseline `selinux` is not one of the 2 stacks: capability,selinux · capability"
    );
    assert!(hint.contains("add it to `stacks`"));
    assert!(
        refused(&format!("{stacks}baseline = 2"))
            .0
            .starts_with("baseline `2`")
    );
    assert!(
        refused("baseline = -1")
            .0
            .contains("a stack, or a configuration's position from 0")
    );
    assert!(
        refused("baseline = 1.5")
            .0
            .contains("a stack, or a configuration's position from 0")
    );
}

#[test]
fn configurations_are_stacks_in_every_state() {
    let titles = |text: &str| -> Vec<String> {
        let configurations = spec(text).resolve().unwrap().configurations;
        configurations.iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        titles(
            "stacks = ['capability', 'capability,selinux']\npolicies = ['none', 'enforcing']\n\
             integrity = ['', 'ima,audit']"
        ),
        [
            // Capabilities have no policy to load.
            "capability",
            "capability +audit,ima",
            "capability,selinux",
            "capability,selinux +audit,ima",
            "capability,selinux (enforcing)",
            "capability,selinux +audit,ima (enforcing)",
        ]
    );
    // What has no policy has no size.
    assert_eq!(
        titles(
            "stacks = ['capability,landlock']\npolicies = ['none', 'enforcing']\nlayers = [1, 2]"
        ),
        [
            "capability,landlock",
            "capability,landlock (enforcing, 1 layers)",
            "capability,landlock (enforcing, 2 layers)",
        ]
    );
    // Audit and IMA have rules whatever the policy.
    assert_eq!(
        titles(
            "stacks = ['capability,selinux']\nintegrity = ['', 'audit', 'evm']\nrules = [10, 100]"
        ),
        [
            "capability,selinux",
            "capability,selinux +audit (10 rules)",
            "capability,selinux +audit (100 rules)",
            "capability,selinux +evm",
        ]
    );
    // Only what is enforced denies; where nothing can there is the baseline.
    assert_eq!(
        titles(
            "stacks = ['capability', 'tomoyo']\npolicies = ['none', 'enforcing']\ndenials = true"
        ),
        [
            "capability (denials)",
            "tomoyo",
            "tomoyo (enforcing, denials)"
        ]
    );
    // Each stack has the events that make its modules forget, and none twice.
    assert_eq!(
        titles(
            "stacks = ['capability', 'selinux', 'apparmor', 'tomoyo']\npolicies = ['enforcing']\n\
             first_after = ['nothing', 'load', 'relabel']"
        ),
        [
            "capability",
            "selinux (enforcing)",
            "selinux (enforcing, first after load)",
            "selinux (enforcing, first after relabel)",
            "apparmor (enforcing)",
            "apparmor (enforcing, first after load)",
            "tomoyo (enforcing)",
        ]
    );
    // What audit has is nothing to who has no audit.
    assert_eq!(
        titles("stacks = ['capability']\nintegrity = ['', 'audit']\naudit_rules = 'never-task'"),
        ["capability", "capability +audit (audit rules: never-task)"]
    );
    // Nor is SELinux's policy anything to another module.
    assert_eq!(
        titles(
            "stacks = ['capability,selinux', 'capability,tomoyo']\npolicies = ['enforcing']\n\
             selinux_policy = 'reference'"
        ),
        [
            "capability,selinux (enforcing, reference policy)",
            "capability,tomoyo (enforcing)"
        ]
    );
    assert_eq!(
        titles("stacks = ['capability']\nintegrity = ['', 'ima']\nima_policy = 'tcb'"),
        ["capability", "capability +ima (IMA policy: tcb)"]
    );
    assert_eq!(
        titles(
            "kernels = ['build:dac', 'build:all']\n[[configurations]]\nkernel = 'build:dac'\n\
             stack = 'none'\n[[configurations]]\nkernel = 'build:all'\n\
             stack = 'capability,selinux'\npolicy = 'enforcing'\nselinux_policy = 'reference'"
        ),
        [
            "none on build:dac",
            "capability,selinux (enforcing, reference policy) on build:all"
        ]
    );
}

#[test]
fn configurations_that_make_no_sense_are_refused() {
    for (text, message, hint) in [
        (
            "policies = ['enforcing', 'enforcing']",
            "`policies` holds `enforcing` twice",
            "",
        ),
        (
            "integrity = ['audit,imma']",
            "unknown integrity subsystem `imma`; one of audit, ima, evm",
            "",
        ),
        (
            "policies = ['enforcing']\nlayers = [17]",
            "`layers` is 17; it must be from 1 to 16",
            "",
        ),
        (
            "policies = ['enforcing']\nrules = [0]",
            "`rules` is 0; it must be from 1 to 100000",
            "",
        ),
        (
            "policies = ['enforcing']\nlabels = 4097",
            "`labels` is 4097; it must be from 1 to 4096",
            "",
        ),
        (
            "[[configurations]]\nstack = 'selinux'\nlabels = 10",
            "`selinux` has no policy",
            "say policy = \"enforcing\"",
        ),
        (
            "[[configurations]]\nstack = 'tomoyo'\npolicy = 'permissive'\ndenials = true",
            "`denials` is true, and no policy of `tomoyo` is enforced",
            "say policy = \"enforcing\"",
        ),
        (
            "stacks = ['tomoyo']\npolicies = ['none', 'permissive']\ndenials = true",
            "`denials` is true, and no policy of what is measured is enforced",
            "say policy = \"enforcing\" (--policy enforcing)",
        ),
        (
            "stacks = ['tomoyo']\npolicies = ['enforcing']\nintegrity = ['audit']\ndenials = true",
            "`denials` is true, and audit would record each open",
            "leave out `denials`",
        ),
        (
            "stacks = ['apparmor']\npolicies = ['enforcing']\nfirst_after = ['relabel']",
            "`first_after` is `relabel`, which is about SELinux",
            "add SELinux and policy = \"enforcing\"",
        ),
        (
            "[[configurations]]\nstack = 'selinux'\nfirst_after = 'load'",
            "`first_after` is `load`, which is about SELinux or AppArmor, and `selinux` has no policy",
            "add SELinux or AppArmor",
        ),
        (
            "stacks = ['none']\npolicies = ['enforcing']",
            "a kernel without LSMs has neither policies",
            "name a stack",
        ),
        (
            "[[configurations]]\nstack = 'smack'\nrules = 10",
            "`smack` has no policy",
            "say policy = \"enforcing\"",
        ),
        (
            "[[configurations]]\nstack = 'selinux'\naudit_rules = 'one'",
            "`audit_rules` is `one`, and audit is not at work",
            "say integrity = \"audit\"",
        ),
        (
            "[[configurations]]\nstack = 'selinux'\nintegrity = 'audit'\naudit_rules = 'never-task'\n\
             rules = 10",
            "`audit_rules` is `never-task`: there are no rules",
            "leave out `rules`",
        ),
        (
            "[[configurations]]\nstack = 'selinux'\nintegrity = 'evm'\nima_policy = 'tcb'",
            "`ima_policy` is `tcb`, and ima is not at work",
            "say integrity = \"ima\"",
        ),
        (
            "stacks = ['selinux']\nintegrity = ['', 'evm']\nima_policy = 'tcb'",
            "`ima_policy` is `tcb`, and ima is not at work",
            "say integrity = \"ima\" (--integrity ima)",
        ),
        (
            "stacks = ['tomoyo']\npolicies = ['enforcing']\nselinux_policy = 'reference'",
            "`selinux_policy` and `labels` are SELinux's, which no stack has",
            "add SELinux",
        ),
        (
            "stacks = ['selinux']\naudit_rules = 'one'",
            "`audit_rules` is `one`, and audit is not at work",
            "say integrity = \"audit\" (--integrity audit)",
        ),
        (
            "[[configurations]]\nstack = 'selinux'\nintegrity = 'ima'\nima_policy = 'tcb'\n\
             rules = 10",
            "`ima_policy` is `tcb`: no rules can be added",
            "leave out `rules`",
        ),
        (
            "[[configurations]]\nstack = 'smack'\nkernel = 'build:x'",
            "`kernel` is `build:x`: not one of the 1 kernels",
            "",
        ),
        (
            "[[configurations]]\nstack = 'smack'\nkernel = 'build:x.*'",
            "`kernel` is `build:x.*`: not one of the 1 kernels",
            "add it to `kernels`",
        ),
        (
            "baseline_kernel = 'debian:6.1'",
            "`baseline_kernel` is `debian:6.1`: not one of the 1 kernels: debian:6.12",
            "add it to `kernels`",
        ),
        (
            "stacks = ['capability']\n[[configurations]]\nstack = 'capability'",
            "`configurations` holds `capability` twice",
            "",
        ),
    ] {
        let (found, advice) = refused(text);
        assert!(found.contains(message), "{found}");
        assert!(advice.starts_with(hint), "{advice}");
    }
}

#[test]
fn kernels_are_compared_when_that_is_all_there_is() {
    let kernels = "kernels = ['a', 'b']\n";
    let one = spec(&format!("{kernels}stacks = ['capability']"))
        .resolve()
        .unwrap();
    assert_eq!(one.baseline_kernel.as_deref(), Some("a"));
    assert_eq!(compared(&one, "b", "capability"), "a capability");
    assert_eq!(compared(&one, "a", "capability"), "");

    let two = spec(&format!(
        "{kernels}stacks = ['capability', 'capability,selinux']"
    ))
    .resolve()
    .unwrap();
    assert_eq!(two.baseline_kernel, None);
    assert_eq!(compared(&two, "b", "capability,selinux"), "b capability");

    let pinned = spec(&format!(
        "{kernels}stacks = ['capability']\nbaseline = 'none'\n\
         [[configurations]]\nkernel = 'a'\nstack = 'none'"
    ))
    .resolve()
    .unwrap();
    assert_eq!(compared(&pinned, "b", "capability"), "a none");
    assert_eq!(compared(&pinned, "a", "none"), "");
}

/// Kernel and stack that a cell is compared with.
fn compared(experiment: &Experiment, kernel: &str, stack: &str) -> String {
    let configuration = Configuration::of_stack(stack.parse().unwrap());
    let subject = Subject::benchmark("open", "AA");
    let key = Key::new(
        kernel,
        &configuration,
        "ext4",
        subject,
        Metric::Instructions,
    );
    let base = experiment.baseline_of(&key);
    base.map_or_else(String::new, |base| {
        format!("{} {}", base.kernel, base.stack.join(","))
    })
}

#[test]
fn a_baseline_of_layouts_is_the_one_of_the_same_number() {
    let kernels =
        "kernels = ['build:dac.1', 'build:dac.2', 'build:um.1', 'build:um.2', 'build:um.3']";
    let experiment = spec(&format!(
        "{kernels}\nbaseline = 'none'\n\
         [[configurations]]\nkernel = 'build:dac.*'\nstack = 'none'\n\
         [[configurations]]\nkernel = 'build:um.*'\nstack = 'capability'"
    ))
    .resolve()
    .unwrap();
    for (kernel, stack, base) in [
        ("build:um.2", "capability", "build:dac.2 none"),
        ("build:um.1", "capability", "build:dac.1 none"),
        // There is none of its number: it has a baseline all the same.
        ("build:um.3", "capability", "build:dac.1 none"),
        ("build:dac.2", "none", ""),
    ] {
        assert_eq!(compared(&experiment, kernel, stack), base, "{kernel}");
    }
}
