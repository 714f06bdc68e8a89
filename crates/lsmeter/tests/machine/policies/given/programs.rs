// SPDX-License-Identifier: GPL-2.0-or-later
//! Custom policies of whole programs: a program runs under each, and its denials are shown.

use super::{
    BINARY, FILE_CONTEXTS, assert_measured, assert_refused, assert_steps, custom, ended,
    write_sources,
};
use crate::common::Place;
use model::{Cell, Document, Status};

const PROGRAM: &str = r#"
[root]
programs = ["sh", "cat"]
files = ["/etc/hosts"]
[[workloads]]
name = "reads"
argv = ["sh", "-c", "cat /etc/hosts && { cat /etc/shadow || true; }"]
repeat = 2
"#;

/// `cat` may read /etc/hosts, and not /etc/shadow.
const EXPERIMENT: &str = r#"
stacks = [
    "capability", "capability,apparmor", "capability,landlock", "capability,bpf",
    "capability,tomoyo",
]
PROGRAM
[[workloads]]
name = "refused"
argv = ["cat", "/etc/shadow"]
repeat = 1

[custom.attached]
module = "apparmor"
files = ["cat"]
starts_in = "unconfined"
denied = ["read /etc/shadow"]
allowed = ["read /etc/hosts"]
[custom.unused]
module = "apparmor"
files = ["unused"]
starts_in = "unconfined"
denied = ["read /etc/shadow"]
allowed = ["read /etc/hosts"]
[custom.box]
module = "landlock"
files = ["programs.toml"]
denied = ["read /etc/shadow"]
allowed = ["read /etc/hosts"]
[custom.guard]
module = "bpf"
files = ["lsm.o"]
programs = ["guard"]
denied = ["read /etc/shadow"]
allowed = ["read /etc/hosts"]
[custom.domain]
module = "tomoyo"
files = ["domains"]
domain = "<kernel> /usr/bin/cat"
denied = ["read /etc/shadow"]
allowed = ["read /etc/hosts"]
"#;

const DEBIAN: &str = r#"
stacks = ["capability,selinux"]
PROGRAM
[custom.user]
module = "selinux"
files = ["/etc/selinux/default/policy/policy.33"]
context = "user_u:user_r:user_t:s0"
file_contexts = "/etc/selinux/default/contexts/files/file_contexts"
denied = ["write /etc/shadow"]
allowed = ["read /etc/hosts"]
"#;

const LABELS: &str = r#"
kernels = ["KERNEL"]
stacks = ["capability,smack"]
PROGRAM
[custom.user]
module = "smack"
files = ["rules"]
label = "User"
labels = { "/etc/shadow" = "Secret" }
denied = ["read /etc/shadow"]
allowed = ["read /etc/hosts"]
[custom.other]
module = "smack"
files = ["rules"]
label = "User"
starts_in = "Other"
files_label = "_"
labels = { "/etc/shadow" = "Secret" }
denied = ["read /etc/shadow"]
allowed = ["read /etc/hosts"]
"#;

const HASHES: &str = r#"
stacks = ["capability"]
PROGRAM
[custom.all]
module = "ima"
files = ["rules"]
measured = ["execute /usr/bin/x", "read /etc/hosts"]
not_measured = ["write /etc/w"]
[custom.few]
module = "ima"
files = ["rules"]
measured = ["write /etc/v"]
not_measured = ["write /etc/w"]
"#;

const PROFILE: &str = "profile cat PATH {\n  PATH mr,\n  /etc/ld.so.cache r,\n  \
                       /{usr/,}lib{,32,64}/** mr,\n  /etc/hosts r,\n  /dev/{null,errors} rw,\n}\n";

const RULESET: &str = r#"
[[ruleset]]
handled_access_fs = ["abi.all"]
[[path_beneath]]
allowed_access = ["abi.read_execute"]
parent = ["/usr", "/bin", "/lib", "/lib64", "/etc/hosts"]
[[path_beneath]]
allowed_access = ["read_file", "write_file"]
parent = ["/dev/null"]
"#;

const DOMAIN: &str = "<kernel> /usr/bin/cat\nuse_profile 3\nuse_group 0\nmisc env \\*\n\
                      file read/getattr /usr/bin/cat\nfile read/getattr /lib64/\\*\n\
                      file read/getattr /lib/\\{\\*\\}/\\*\n\
                      file read/getattr /usr/lib/\\{\\*\\}/\\*\n\
                      file read/getattr /etc/ld.so.cache\nfile read/getattr /etc/hosts\n\
                      file getattr /dev/null\nfile write /dev/errors\n";

fn find_cell<'a>(document: &'a Document, name: &str) -> &'a Cell {
    let has = |cell: &&Cell| {
        cell.key
            .settings
            .custom
            .values()
            .any(|custom| custom == name)
    };
    document.cells.iter().find(has).unwrap()
}

#[track_caller]
fn assert_denials(document: &Document, name: &str, logged: &str) {
    let cell = find_cell(document, name);
    assert_eq!(cell.status(), Status::Ok, "{name}: {:?}", cell.reason());
    let counted = cell.counted().unwrap();
    let denials = &counted.program.as_ref().unwrap().denials;
    if logged.is_empty() {
        // Neither BPF programs nor Landlock, before 6.15, log what they deny.
        assert_eq!(*denials, None, "{name}");
        return;
    }
    let denials = denials.as_ref().unwrap();
    assert_eq!(denials.count, 2, "{name}: {denials:?}");
    assert!(denials.first.contains(logged), "{name}: {denials:?}");
    let warnings = document.warnings.iter();
    let mut warnings = warnings.filter(|warning| warning.message.contains(logged));
    assert!(warnings.next().is_some(), "{name}: {:?}", document.warnings);
}

fn write_policies(place: &Place) {
    write_sources(place);
    for (name, text) in [
        ("cat", PROFILE.replace("PATH", "/usr/bin/cat")),
        ("unused", PROFILE.replace("PATH", "/usr/bin/unused")),
        ("programs.toml", RULESET.to_owned()),
        (
            "domains/profile.conf",
            "PROFILE_VERSION=20150505\n0-CONFIG={ mode=disabled }\n3-CONFIG={ mode=enforcing }\n"
                .to_owned(),
        ),
        (
            "domains/exception_policy.conf",
            "initialize_domain /usr/bin/cat from any\n".to_owned(),
        ),
        (
            "domains/domain_policy.conf",
            format!("<kernel>\nuse_profile 0\nuse_group 0\n\n{DOMAIN}"),
        ),
    ] {
        place.write(name, text);
    }
}

#[test]
fn programs_run_under_custom_policies() {
    let place = Place::with_kernels();
    write_policies(&place);
    place.write("experiment.toml", EXPERIMENT.replace("PROGRAM", PROGRAM));
    place
        .line("run experiment.toml --offline -o out.json")
        .code(4);
    let document = place.document("out.json");
    assert_denials(&document, "attached", "name=\"/etc/shadow\"");
    assert_denials(
        &document,
        "domain",
        "<kernel> /usr/bin/cat: file read /etc/shadow",
    );
    assert_denials(&document, "box", "");
    let uncounted = "landlock: denials of programs are not counted: this kernel logs none";
    assert_steps(&document, "box", uncounted);
    assert_denials(&document, "guard", "");
    let without = |cell: &&Cell| cell.key.settings.custom.is_empty();
    for cell in document.cells.iter().filter(without) {
        assert_eq!(cell.status(), Status::Ok, "{cell:?}");
    }
    // Nothing but the policy refuses the file to root.
    for (name, error) in [
        ("attached", "Permission denied"),
        ("box", "Permission denied"),
        ("guard", "Operation not permitted"),
        ("domain", "Operation not permitted"),
    ] {
        let is_it = |cell: &&Cell| {
            let mut custom = cell.key.settings.custom.values();
            cell.title() == "refused" && custom.any(|custom| custom == name)
        };
        let cell = document.cells.iter().find(is_it).unwrap();
        let reason = cell.reason().unwrap_or_default();
        assert!(reason.contains(error), "{name}: {reason}");
    }
    let unused = find_cell(&document, "unused").reason().unwrap().to_owned();
    assert!(
        unused.contains("no task of the program ran as cat"),
        "{unused}"
    );
    assert_eq!(place.left_over(), [""; 0]);
}

#[test]
fn debian_s_policy_confines_a_program() {
    let has = |path, package| testing::has_file(path, package);
    if !has(BINARY, "selinux-policy-default") || !has(FILE_CONTEXTS, "selinux-policy-default") {
        return;
    }
    let place = Place::with_kernels();
    place.write("experiment.toml", DEBIAN.replace("PROGRAM", PROGRAM));
    place
        .line("run experiment.toml --offline -o out.json")
        .code(0);
    let document = place.document("out.json");
    assert_denials(&document, "user", "avc:  denied");
}

#[test]
fn permissive_policies_let_programs_pass() {
    let place = Place::with_kernels();
    write_policies(&place);
    let (_, rest) = EXPERIMENT.split_once("PROGRAM").unwrap();
    let (refused, _) = rest.split_once("[custom").unwrap();
    let mut stacks = vec!["apparmor", "landlock", "tomoyo"];
    let mut policies = ["attached", "box", "domain"]
        .map(|name| custom(EXPERIMENT, name))
        .concat();
    let mut noticed = vec![
        (
            "attached",
            "apparmor: logged: apparmor=\"ALLOWED\" name=\"/etc/shadow\"",
        ),
        (
            "domain",
            "tomoyo: noticed: its count of what it let pass went up",
        ),
    ];
    if testing::has_file(BINARY, "selinux-policy-default") {
        stacks.push("selinux");
        policies += &custom(DEBIAN, "user");
        noticed.push(("user", "selinux: logged: avc:  denied name=\"shadow\""));
    }
    let stacks: String = { stacks.iter() }
        .map(|module| format!("'capability,{module}', "))
        .collect();
    let head = format!("stacks = [{stacks}]\npolicies = ['permissive']\n");
    let text = [&head, PROGRAM, refused, &policies];
    place.write("permissive.toml", text.concat());
    place
        .line("run permissive.toml --offline -o out.json")
        .code(0);
    let document = place.document("out.json");
    for (name, step) in noticed {
        assert_measured(&document, name);
        assert_steps(&document, name, step);
        let program = &find_cell(&document, name).counted().unwrap().program;
        assert_eq!(program.as_ref().unwrap().denials, None, "{name}");
    }
    for (_, status, reason) in ended(&document, "box").0 {
        assert_eq!(status, Status::Unsupported);
        assert!(
            reason.contains("Landlock has no permissive state"),
            "{reason}"
        );
    }
}

#[test]
fn smack_confines_programs_by_their_label() {
    let Some((place, kernel)) = Place::with_test_kernel(&["SECURITY_SMACK"]) else {
        return;
    };
    place.write("rules", "User Log rwx\n");
    let text = LABELS.replace("KERNEL", &kernel);
    place.write("labels.toml", text.replace("PROGRAM", PROGRAM));
    place.line("run labels.toml --offline -o out.json").code(4);
    let document = place.document("out.json");
    assert_denials(&document, "user", "subject=\"User\" object=\"Secret\"");
    assert_steps(&document, "user", "security.SMACK64=Secret on /etc/shadow");
    let why = "smack: no task of the program ran as User; the last one was Other";
    assert_refused(&document, "other", why);
}

#[test]
fn ima_measures_the_files_of_programs() {
    let place = Place::with_kernels();
    place.write(
        "rules",
        "measure func=BPRM_CHECK mask=MAY_EXEC\n\
         measure func=FILE_CHECK mask=^MAY_READ fsname=ext4\n",
    );
    place.write("hashes.toml", HASHES.replace("PROGRAM", PROGRAM));
    place.line("run hashes.toml --offline -o out.json").code(4);
    let document = place.document("out.json");
    assert_measured(&document, "all");
    assert_steps(
        &document,
        "all",
        "ima: wrote 2 rules to
         ima: measured: execve of /usr/bin/x
         ima: measured: open of /etc/hosts for reading
         ima: not measured: open of /etc/w for writing",
    );
    let why = "ima does not measure: open of /etc/v for writing";
    assert_refused(&document, "few", why);
}

/// Yama may forbid tracing, by which the tasks' profiles are found.
#[test]
fn programs_that_cannot_be_traced_fail() {
    let place = Place::with_kernels();
    write_policies(&place);
    let untraced = "setup = [['sh', '-c', 'echo 3 >/proc/sys/kernel/yama/ptrace_scope']]\n";
    let text = [
        "stacks = [\"capability,yama,apparmor\"]",
        PROGRAM,
        untraced,
        &custom(EXPERIMENT, "attached"),
    ];
    place.write("experiment.toml", text.concat());
    place
        .line("run experiment.toml --offline -o out.json")
        .code(4);
    let why = "apparmor: ptrace of the program, to find its subjects: EPERM";
    assert_refused(&place.document("out.json"), "attached", why);
}
