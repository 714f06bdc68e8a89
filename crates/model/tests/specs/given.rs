// SPDX-License-Identifier: GPL-2.0-or-later
//! Custom policies: the configurations that use them, and invalid ones.

use model::Policy;

use super::configurations::assert_titles;
use super::{common, refused, resolved};

const WEB: &str = "[custom.web]\nmodule = 'apparmor'\nfiles = ['web']\n\
                   denied = ['read /etc/shadow']\nallowed = ['read /etc/hosts']\n";
const BOX: &str = "[custom.box]\nmodule = 'landlock'\nfiles = ['box.toml']\n\
                   denied = ['connect 80']\nallowed = ['connect 443']\n";

const SMACK: &str = "[custom.user]\nmodule = 'smack'\nfiles = ['/etc/smack']\nlabel = 'User'\n\
                     files_label = 'User::Home'\nlabels = { '/etc/shadow' = 'System::Shadow' }\n\
                     denied = ['read /etc/shadow']\nallowed = ['read /etc/hosts']\n";
const IMA: &str = "[custom.mine]\nmodule = 'ima'\nfiles = ['ima-policy']\n\
                   measured = ['read /etc/shadow']\nnot_measured = ['read /etc/hosts']\n";

#[test]
fn stacks_have_the_policies_of_their_modules() {
    assert_titles(
        &[WEB, BOX].concat(),
        "capability
         capability,apparmor (enforcing, policy web)
         capability,landlock (enforcing, policy box)",
    );
    let denied = &resolved(WEB).custom["web"].denied;
    assert_eq!(denied[0].to_string(), "read /etc/shadow");
    let stacks = "stacks = ['capability,apparmor,landlock', 'capability,selinux']\n\
                  policies = ['none', 'enforcing']\n";
    assert_titles(
        &[stacks, WEB, BOX].concat(),
        "capability,apparmor,landlock
         capability,apparmor,landlock (enforcing, policy web, policy box)
         capability,selinux
         capability,selinux (enforcing)",
    );
    // Two policies for one module are measured one after the other.
    assert_titles(
        &[WEB, &WEB.replace("custom.web", "custom.other")].concat(),
        "capability
         capability,apparmor (enforcing, policy other)
         capability,apparmor (enforcing, policy web)",
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
    let e = resolved(&text);
    assert_eq!(e.work_dir.as_deref(), Some("/srv/www"));
    assert_eq!(e.configurations[1].policy, Policy::Permissive);
    assert_eq!(e.configurations[1].settings.custom["apparmor"], "web");
    let wrong = text.replace("custom = ['web']", "custom = ['web', 'wep']");
    let (message, hint) = refused(&wrong);
    assert!(message.contains("unknown policy `wep`"), "{message}");
    assert!(hint.contains("known policies: web"), "{hint}");
    let (message, _) = refused(&text.replace("ity,apparmor'", "ity,tomoyo'"));
    let expected = "enforces nothing in `capability,tomoyo`";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn a_policy_of_ima_decides_whatever_the_modules_do() {
    assert_titles(
        IMA,
        "capability
         capability +ima (policy mine)",
    );
    assert_titles(
        &[IMA, SMACK].concat(),
        "capability
         capability +ima (policy mine)
         capability,smack (enforcing, policy user)
         capability,smack +ima (enforcing, policy mine, policy user)",
    );
    let stacks = "stacks = ['capability,selinux']\nintegrity = ['audit,ima']\n";
    assert_titles(
        &[stacks, IMA].concat(),
        "capability,selinux +audit,ima (policy mine)",
    );
    let written = "stacks = ['capability']\nintegrity = ['none']\n[[configurations]]\n\
                   stack = 'default'\nintegrity = 'ima'\ncustom = ['mine']\n";
    let e = resolved(&[written, IMA].concat());
    let title = e.configurations[1].to_string();
    assert_eq!(title, "default +ima (policy mine)");
    let (message, hint) = refused(&[&written.replace("'ima'", "'evm'"), IMA].concat());
    let expected = "enforces nothing in `default`";
    assert!(message.contains(expected), "{message}");
    assert!(hint.contains("integrity = \"ima\""), "{hint}");
}

const WORKLOAD: &str = "[root]; path = '/x'; [[workloads]]; name = 'a'; argv = ['a']";

/// Policies, each with an edit: replaced (`old -> new`), put before (`^`) or after it (`+`); then
/// the message and the hint.
const WRONG: &str = "
    web | 'apparmor' -> 'aparmor' | has no custom policies | did you mean apparmor?
    web | custom.web -> custom.'a b' | invalid policy name | letters
    web | denied = ['read /etc/shadow'] -> # | needs `denied` | denied =
    web | allowed = ['read /etc/hosts'] -> # | needs `allowed` | allowed =
    web | /etc/hosts -> /etc/shadow | both deny and allow `read /etc/shadow` |
    web | read /etc/hosts -> look /etc/hosts | invalid access |
    web | + context = 'a:b:c' | `context` is for selinux | leave out
    web | + digest = '00' | `digest`, which lsmeter computes | leave out
    web | + label = 'User' | `label` is for smack | leave out
    web | + measured = ['read /x'] | `measured` is for ima | leave out
    web | ^ policies = ['none'] | no stack has apparmor with a policy | --stack
    web | ^ stacks = ['capability'] | no stack has apparmor with a policy | apparmor
    web | ^ work_dir = '/proc/x' | `work_dir` is `/proc/x` | /proc
    web | ^ work_dir = 'srv' | `work_dir` is `srv` | absolute path
    web | ^ work_dir = '/a b' | `work_dir` is `/a b` | letters
    web | ^ work_dir = '/srv'; WORKLOAD | `work_dir` is for benchmarks | leave out
    web | + starts_in = 'init' | `starts_in`, which is for whole programs | --root DIR
    web | module = 'apparmor' -> module = 'audit' | records accesses and denies none | leave out `denied`
    web | + records = 'written' | `records` is for audit | leave out
    web | + [custom.r]; module = 'audit'; files = ['x']; records = 'written' | log their denials as | leave out `records`
    box | + starts_in = 'init'; WORKLOAD | landlock, which has no domains | leave out
    web | ^ where = 'host'; dir = '/x' | `custom` has no meaning | leave out
    selinux | + | needs `context` | user_t
    selinux | + context = 'u:r:t' | needs a label for the benchmarks' files | file_contexts
    selinux | + context = 'user_t' | invalid SELinux context `user_t` | user:role:type
    smack | label = 'User' -> # | needs `label` | subject
    smack | label = 'User' -> label = 'a/b' | invalid Smack label `a/b` | blanks
    smack | System::Shadow -> LONG | invalid Smack label | 255
    smack | label = 'User' -> label = '*' | no process can have the label `*` | subject
    smack | { '/etc/shadow' -> { '/etc/passwd'
      | `/etc/passwd` has a label, but no access uses it | directories above
    ima | not_measured = ['read /etc/hosts'] -> # | needs `not_measured` | must be unmeasured
    ima | + denied = ['read /x'] | needs `allowed` | allowed =
    ima | /etc/hosts -> /etc/shadow | both measure and leave unmeasured `read /etc/shadow` |
    ima | read /etc/hosts -> list /etc | `list /etc` does not open a file | read, written or executed
    ima | ^ integrity = ['ima']; ima_policy = 'tcb'
      | `ima_policy` is `tcb`, but the policy mine is also for ima | leave out one
    ima | ^ rules = [10] | `rules` cannot extend a custom policy | leave out `rules`
    ima | ^ integrity = ['audit'] | not active in any configuration | --integrity ima
    ima | ^ stacks = ['selinux']; policies = ['enforcing']
      | none of its modules has a custom policy | --policy none
    ima | + starts_in = 'init'; WORKLOAD | ima, which has no domains | leave out
    ima | + denied = ['read /x']; allowed = ['read /y']; WORKLOAD
      | IMA's appraisal applies to benchmarks only | only measure
    bare | + | needs accesses to test it with | measured =
";

#[test]
fn policies_that_make_no_sense_are_refused() {
    let selinux = WEB.replace("apparmor", "selinux");
    let bare: String = IMA.split_inclusive('\n').take(3).collect();
    for row in common::rows(WRONG) {
        let base = match &*row[0] {
            "web" => WEB,
            "box" => BOX,
            "selinux" => &selinux,
            "smack" => SMACK,
            "ima" => IMA,
            _ => &bare,
        };
        let edit = row[1].replace("WORKLOAD", WORKLOAD).replace("; ", "\n");
        let edit = edit.replace("LONG", &"x".repeat(256));
        let text = match (edit.split_once(" -> "), edit.strip_prefix('^')) {
            (Some((old, new)), _) => base.replacen(old, new, 1),
            (None, Some(before)) => [before, "\n", base].concat(),
            (None, None) => [base, &edit[1..], "\n"].concat(),
        };
        let refusal = refused(&text);
        let hint = row[3].trim();
        assert!(refusal.0.contains(&row[2]), "{text}: {refusal:?}");
        assert!(refusal.1.contains(hint), "{text}: {refusal:?}");
    }
}
