// SPDX-License-Identifier: GPL-2.0-or-later
//! Policies of the user's own: who has them, and what makes none.

use model::{Experiment, Policy};

use super::{refused, spec};

const WEB: &str = "[custom.web]\nmodule = 'apparmor'\nfiles = ['web']\n\
                   denied = ['read /etc/shadow']\nallowed = ['read /etc/hosts']\n";
const BOX: &str = "[custom.box]\nmodule = 'landlock'\nfiles = ['box.toml']\n\
                   denied = ['connect 80']\nallowed = ['connect 443']\n";

const SMACK: &str = "[custom.user]\nmodule = 'smack'\nfiles = ['/etc/smack']\nlabel = 'User'\n\
                     files_label = 'User::Home'\nlabels = { '/etc/shadow' = 'System::Shadow' }\n\
                     denied = ['read /etc/shadow']\nallowed = ['read /etc/hosts']\n";
const IMA: &str = "[custom.mine]\nmodule = 'ima'\nfiles = ['ima-policy']\n\
                   measured = ['read /etc/shadow']\nnot_measured = ['read /etc/hosts']\n";

fn titles(e: &Experiment) -> Vec<String> {
    e.configurations.iter().map(ToString::to_string).collect()
}

#[test]
fn stacks_have_the_policies_of_their_modules() {
    let e = spec(&[WEB, BOX].concat()).resolve().unwrap();
    assert_eq!(
        titles(&e),
        [
            "capability",
            "capability,apparmor (enforcing, policy web)",
            "capability,landlock (enforcing, policy box)",
        ]
    );
    assert_eq!(e.custom["web"].denied[0].to_string(), "read /etc/shadow");

    let stacks = "stacks = ['capability,apparmor,landlock', 'capability,selinux']\n\
                  policies = ['none', 'enforcing']\n";
    let e = spec(&[stacks, WEB, BOX].concat()).resolve().unwrap();
    assert_eq!(
        titles(&e),
        [
            "capability,apparmor,landlock",
            "capability,apparmor,landlock (enforcing, policy web, policy box)",
            "capability,selinux",
            "capability,selinux (enforcing)",
        ]
    );

    // Two of one module are measured one after the other.
    let other = WEB.replace("custom.web", "custom.other");
    let e = spec(&[WEB, other.as_str()].concat()).resolve().unwrap();
    assert_eq!(
        titles(&e)[1..],
        [
            "capability,apparmor (enforcing, policy other)",
            "capability,apparmor (enforcing, policy web)",
        ]
    );
}

#[test]
fn a_configuration_names_its_own() {
    let text = [
        "stacks = ['capability']\nwork_dir = '/srv/www'\n",
        "[[configurations]]\nstack = 'capability,apparmor'\npolicy = 'permissive'\ncustom = ['web']\n",
        WEB,
    ]
    .concat();
    let e = spec(&text).resolve().unwrap();
    assert_eq!(e.work_dir.as_deref(), Some("/srv/www"));
    assert_eq!(e.configurations[1].policy, Policy::Permissive);
    assert_eq!(e.configurations[1].settings.custom["apparmor"], "web");
    let wrong = text.replace("custom = ['web']", "custom = ['web', 'wep']");
    let (message, hint) = refused(&wrong);
    assert!(message.contains("`wep`, which is not given"), "{message}");
    assert!(hint.contains("there are: web"), "{hint}");
    let wrong = text.replace(
        "stack = 'capability,apparmor'",
        "stack = 'capability,tomoyo'",
    );
    assert!(
        refused(&wrong)
            .0
            .contains("decides nothing in `capability,tomoyo`")
    );
}

#[test]
fn a_policy_of_ima_decides_whatever_the_modules_do() {
    let e = spec(IMA).resolve().unwrap();
    let of_ima = "capability +ima (policy mine)";
    assert_eq!(titles(&e), ["capability", of_ima]);
    let e = spec(&[IMA, SMACK].concat()).resolve().unwrap();
    assert_eq!(
        titles(&e),
        [
            "capability",
            of_ima,
            "capability,smack (enforcing, policy user)",
            "capability,smack +ima (enforcing, policy mine, policy user)",
        ]
    );
    let stacks = "stacks = ['capability,selinux']\nintegrity = ['audit,ima']\n";
    let e = spec(&[stacks, IMA].concat()).resolve().unwrap();
    assert_eq!(titles(&e), ["capability,selinux +audit,ima (policy mine)"]);
    let written = "stacks = ['capability']\nintegrity = ['none']\n[[configurations]]\n\
                   stack = 'default'\nintegrity = 'ima'\ncustom = ['mine']\n";
    let e = spec(&[written, IMA].concat()).resolve().unwrap();
    assert_eq!(titles(&e)[1], "default +ima (policy mine)");
    let (message, hint) = refused(&[&written.replace("'ima'", "'evm'"), IMA].concat());
    assert!(
        message.contains("decides nothing in `default`"),
        "{message}"
    );
    assert!(hint.contains("integrity = \"ima\""), "{hint}");
}

#[test]
fn policies_that_make_no_sense_are_refused() {
    for (text, message, hint) in [
        (
            WEB.replace("apparmor'", "aparmor'"),
            "takes none",
            "did you mean apparmor?",
        ),
        (
            WEB.replace("custom.web", "custom.'a b'"),
            "no name of a policy",
            "letters",
        ),
        (
            WEB.replace("denied = ['read /etc/shadow']\n", ""),
            "`denied` is missing",
            "denied =",
        ),
        (
            WEB.replace("allowed = ['read /etc/hosts']\n", ""),
            "`allowed` is missing",
            "allowed =",
        ),
        (
            WEB.replace("/etc/hosts", "/etc/shadow"),
            "to deny and to allow `read /etc/shadow`",
            "",
        ),
        (
            WEB.replace("read /etc/hosts", "look /etc/hosts"),
            "no access",
            "",
        ),
        (
            format!("{WEB}context = 'a:b:c'\n"),
            "`context` is of selinux",
            "leave out",
        ),
        (
            format!("{WEB}digest = '00'\n"),
            "`digest`, which lsmeter makes",
            "leave out",
        ),
        (
            format!("policies = ['none']\n{WEB}"),
            "no stack of what is measured",
            "--stack",
        ),
        (
            format!("stacks = ['capability']\n{WEB}"),
            "no stack of what is measured",
            "apparmor",
        ),
        (
            WEB.replace("apparmor", "selinux"),
            "which `context` benchmarks run in",
            "user_t",
        ),
        (
            format!("{}context = 'u:r:t'\n", WEB.replace("apparmor", "selinux")),
            "which label the benchmarks' files have",
            "file_contexts",
        ),
        (
            format!("{}context = 'user_t'\n", WEB.replace("apparmor", "selinux")),
            "`user_t` is no context",
            "user:role:type",
        ),
        (
            format!("work_dir = '/proc/x'\n{WEB}"),
            "`work_dir` is `/proc/x`",
            "/proc",
        ),
        (
            format!("work_dir = 'srv'\n{WEB}"),
            "`work_dir` is `srv`",
            "root",
        ),
        (
            format!("work_dir = '/a b'\n{WEB}"),
            "`work_dir` is `/a b`",
            "letters",
        ),
        (
            format!("{WEB}[root]\npath = '/x'\n[[workloads]]\nname = 'a'\nargv = ['a']\n"),
            "for benchmarks",
            "leave out",
        ),
        (
            format!("where = 'host'\ndir = '/x'\n{WEB}"),
            "`custom` has no meaning",
            "leave out",
        ),
        (
            SMACK.replace("label = 'User'\n", ""),
            "which `label` benchmarks run with",
            "subject",
        ),
        (
            SMACK.replace("label = 'User'\n", "label = 'a/b'\n"),
            "`a/b` is no label of Smack's",
            "blanks",
        ),
        (
            SMACK.replace("System::Shadow", &"x".repeat(256)),
            "is no label of Smack's",
            "255",
        ),
        (
            SMACK.replace("label = 'User'\n", "label = '*'\n"),
            "no process has the label `*`",
            "subject",
        ),
        (
            SMACK.replace("{ '/etc/shadow'", "{ '/etc/passwd'"),
            "`/etc/passwd` has a label, and nothing is there",
            "directories above",
        ),
        (
            format!("{WEB}label = 'User'\n"),
            "`label` is of smack",
            "leave out",
        ),
        (
            format!("{WEB}measured = ['read /x']\n"),
            "`measured` is of ima",
            "leave out",
        ),
        (
            IMA.replace("not_measured = ['read /etc/hosts']\n", ""),
            "`not_measured` is missing",
            "let pass unmeasured",
        ),
        (
            IMA.split_inclusive('\n').take(3).collect(),
            "it has no accesses",
            "measured = ",
        ),
        (
            format!("{IMA}denied = ['read /x']\n"),
            "`allowed` is missing",
            "allowed =",
        ),
        (
            IMA.replace("/etc/hosts", "/etc/shadow"),
            "to measure and to leave unmeasured `read /etc/shadow`",
            "",
        ),
        (
            IMA.replace("read /etc/hosts", "list /etc"),
            "`list /etc` measures no file",
            "read, written or executed",
        ),
        (
            format!("integrity = ['ima']\nima_policy = 'tcb'\n{IMA}"),
            "`ima_policy` is `tcb`, and the policy mine is of ima",
            "leave out one",
        ),
        (
            format!("rules = [10]\n{IMA}"),
            "no rules are added to a user's own",
            "leave out `rules`",
        ),
        (
            format!("integrity = ['audit']\n{IMA}"),
            "not at work in anything measured",
            "--integrity ima",
        ),
        (
            format!("stacks = ['selinux']\npolicies = ['enforcing']\n{IMA}"),
            "none of its modules has a policy of your own",
            "--policy none",
        ),
    ] {
        let refusal = refused(&text);
        assert!(refusal.0.contains(message), "{text}: {refusal:?}");
        assert!(refusal.1.contains(hint), "{text}: {refusal:?}");
    }
}
