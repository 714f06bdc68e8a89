// SPDX-License-Identifier: GPL-2.0-or-later
//! Stacks in every state of their policies, and their baselines.

use model::{Configuration, Experiment, Key, Metric, Subject};

use super::{assert_refused, resolved};

#[test]
fn the_baseline_is_a_stack_or_a_position() {
    for baseline in ["'capability'", "1"] {
        let text = "stacks = ['capability,selinux', 'capability']\nbaseline = ";
        assert_eq!(resolved(&[text, baseline].concat()).baseline, 1);
    }
    assert_refused(
        r#"
        stacks = ['capability,selinux', 'capability']; baseline = 'selinux'
          | baseline `selinux` is not one of the 2 stacks: capability,selinux · capability
          | did you mean `capability,selinux`
        stacks = ['capability,selinux', 'capability']; baseline = 2 | baseline `2` |
        baseline = -1 | a stack, or a configuration's position from 0
        baseline = 1.5 | a stack, or a configuration's position from 0
        "#,
    );
}

/// The configurations of a spec, one per line; `; ` separates the lines of the spec.
#[track_caller]
pub fn assert_titles(text: &str, titles: &str) {
    let configurations = resolved(&text.replace("; ", "\n")).configurations;
    let found: Vec<String> = configurations.iter().map(ToString::to_string).collect();
    let expected: Vec<&str> = titles.lines().map(str::trim).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn configurations_are_stacks_in_every_state() {
    // Capabilities have no policy to load.
    assert_titles(
        "stacks = ['capability', 'capability,selinux']; policies = ['none', 'enforcing']; \
         integrity = ['', 'ima,audit']",
        "capability
         capability +audit,ima
         capability,selinux
         capability,selinux +audit,ima
         capability,selinux (enforcing)
         capability,selinux +audit,ima (enforcing)",
    );
    // Without a policy there is no size.
    assert_titles(
        "stacks = ['capability,landlock']; policies = ['none', 'enforcing']; layers = [1, 2]",
        "capability,landlock
         capability,landlock (enforcing, 1 layers)
         capability,landlock (enforcing, 2 layers)",
    );
    // Audit and IMA have rules, whatever the policy.
    assert_titles(
        "stacks = ['capability,selinux']; integrity = ['', 'audit', 'evm']; rules = [10, 100]",
        "capability,selinux
         capability,selinux +audit (10 rules)
         capability,selinux +audit (100 rules)
         capability,selinux +evm",
    );
    // Only enforced policies deny; the baseline is a configuration that cannot.
    assert_titles(
        "stacks = ['capability', 'tomoyo']; policies = ['none', 'enforcing']; denials = true",
        "capability (denials)
         tomoyo
         tomoyo (enforcing, denials)",
    );
    // Each stack has the events that invalidate its modules' decisions, each once.
    assert_titles(
        "stacks = ['capability', 'selinux', 'apparmor', 'tomoyo']; policies = ['enforcing']; \
         first_after = ['nothing', 'load', 'relabel']",
        "capability
         selinux (enforcing)
         selinux (enforcing, first after load)
         selinux (enforcing, first after relabel)
         apparmor (enforcing)
         apparmor (enforcing, first after load)
         tomoyo (enforcing)",
    );
    // Audit's rules do not apply without audit.
    assert_titles(
        "stacks = ['capability']; integrity = ['', 'audit']; audit_rules = 'never-task'",
        "capability
         capability +audit (audit rules: never-task)",
    );
    // SELinux's policy does not apply to other modules.
    assert_titles(
        "stacks = ['capability,selinux', 'capability,tomoyo']; policies = ['enforcing']; \
         selinux_policy = 'reference'",
        "capability,selinux (enforcing, reference policy)
         capability,tomoyo (enforcing)",
    );
    assert_titles(
        "stacks = ['capability']; integrity = ['', 'ima']; ima_policy = 'tcb'",
        "capability
         capability +ima (IMA policy: tcb)",
    );
    assert_titles(
        "kernels = ['build:dac', 'build:all']; [[configurations]]; kernel = 'build:dac'; \
         stack = 'none'; [[configurations]]; kernel = 'build:all'; stack = 'capability,selinux'; \
         policy = 'enforcing'; selinux_policy = 'reference'",
        "none on build:dac
         capability,selinux (enforcing, reference policy) on build:all",
    );
}

#[test]
fn configurations_that_make_no_sense_are_refused() {
    assert_refused(
        r#"
        policies = ['enforcing', 'enforcing'] | `policies` contains `enforcing` twice
        integrity = ['audit,imma'] | unknown integrity subsystem `imma`; expected one of audit
        policies = ['enforcing']; layers = [17] | `layers` is 17; it must be from 1 to 16
        policies = ['enforcing']; rules = [0] | `rules` is 0; it must be from 1 to 100000
        policies = ['enforcing']; labels = 4097 | `labels` is 4097; it must be from 1 to 4096
        [[configurations]]; stack = 'selinux'; labels = 10 | `selinux` has no policy
          | set policy = "enforcing"
        [[configurations]]; stack = 'tomoyo'; policy = 'permissive'; denials = true
          | `denials` needs an enforced policy, but `tomoyo` has none | set policy = "enforcing"
        stacks = ['tomoyo']; policies = ['none', 'permissive']; denials = true
          | `denials` needs an enforced policy, but the experiment has none
          | set policy = "enforcing" (--policy enforcing)
        stacks = ['tomoyo']; policies = ['enforcing']; integrity = ['audit']; denials = true
          | `denials` cannot be combined with audit | leave out `denials`
        stacks = ['apparmor']; policies = ['enforcing']; first_after = ['relabel']
          | `first_after` is `relabel`, which needs SELinux with a policy
          | add SELinux and policy = "enforcing"
        [[configurations]]; stack = 'selinux'; first_after = 'load'
          | `first_after` is `load`, which needs SELinux or AppArmor with a policy, but `selinux`
          | add SELinux or AppArmor
        stacks = ['none']; policies = ['enforcing'] | a kernel without LSMs has neither policies
          | use another stack
        [[configurations]]; stack = 'smack'; rules = 10 | `smack` has no policy
          | set policy = "enforcing"
        [[configurations]]; stack = 'selinux'; audit_rules = 'one'
          | `audit_rules` is `one`, but audit is not active | set integrity = "audit"
        [[configurations]]; stack = 'selinux'; integrity = 'audit'; audit_rules = 'never-task'; rules = 10
          | `audit_rules` is `never-task`: `rules` needs a rule | leave out `rules`
        [[configurations]]; stack = 'selinux'; integrity = 'evm'; ima_policy = 'tcb'
          | `ima_policy` is `tcb`, but ima is not active | set integrity = "ima"
        stacks = ['selinux']; integrity = ['', 'evm']; ima_policy = 'tcb'
          | `ima_policy` is `tcb`, but ima is not active | set integrity = "ima" (--integrity ima)
        stacks = ['tomoyo']; policies = ['enforcing']; selinux_policy = 'reference'
          | `selinux_policy` and `labels` need a stack with SELinux and a policy | add SELinux
        stacks = ['selinux']; audit_rules = 'one' | `audit_rules` is `one`, but audit is not active
          | set integrity = "audit" (--integrity audit)
        [[configurations]]; stack = 'selinux'; integrity = 'ima'; ima_policy = 'tcb'; rules = 10
          | `ima_policy` is `tcb`: `rules` cannot extend | leave out `rules`
        [[configurations]]; stack = 'smack'; kernel = 'build:x'
          | `kernel` is `build:x`, which is not one of the 1 kernels |
        [[configurations]]; stack = 'smack'; kernel = 'build:x.*'
          | `kernel` is `build:x.*`, which is not one of the 1 kernels | add it to `kernels`
        baseline_kernel = 'debian:6.1'
          | `baseline_kernel` is `debian:6.1`, which is not one of the 1 kernels: debian:6.12
          | add it to `kernels`
        stacks = ['capability']; [[configurations]]; stack = 'capability'
          | `configurations` contains `capability` twice
        "#,
    );
}

#[test]
fn kernels_are_compared_when_that_is_all_there_is() {
    let kernels = "kernels = ['a', 'b']\n";
    let one = resolved(&format!("{kernels}stacks = ['capability']"));
    assert_eq!(one.baseline_kernel.as_deref(), Some("a"));
    assert_eq!(compared(&one, "b", "capability"), "a capability");
    assert_eq!(compared(&one, "a", "capability"), "");

    let two = "stacks = ['capability', 'capability,selinux']";
    let two = resolved(&[kernels, two].concat());
    assert_eq!(two.baseline_kernel, None);
    assert_eq!(compared(&two, "b", "capability,selinux"), "b capability");

    let pinned = "stacks = ['capability']\nbaseline = 'none'\n\
                  [[configurations]]\nkernel = 'a'\nstack = 'none'";
    let pinned = resolved(&[kernels, pinned].concat());
    assert_eq!(compared(&pinned, "b", "capability"), "a none");
    assert_eq!(compared(&pinned, "a", "none"), "");
}

/// Kernel and stack of a measurement's baseline.
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
    let experiment = resolved(
        "kernels = ['build:dac.1', 'build:dac.2', 'build:um.1', 'build:um.2', 'build:um.3']\n\
         baseline = 'none'\n\
         [[configurations]]\nkernel = 'build:dac.*'\nstack = 'none'\n\
         [[configurations]]\nkernel = 'build:um.*'\nstack = 'capability'",
    );
    for (kernel, stack, base) in [
        ("build:um.2", "capability", "build:dac.2 none"),
        ("build:um.1", "capability", "build:dac.1 none"),
        // No baseline layout has its number: it has a baseline all the same.
        ("build:um.3", "capability", "build:dac.1 none"),
        ("build:dac.2", "none", ""),
    ] {
        assert_eq!(compared(&experiment, kernel, stack), base, "{kernel}");
    }
}
