// SPDX-License-Identifier: GPL-2.0-or-later
//! Custom policies, enforced or refused.

mod audit;
mod bpf;
mod ima;
mod permissive;
mod programs;
mod smack;

use std::fs;
use std::process::Command;

use model::{Document, Status};

use crate::common::Place;

const FILE_CONTEXTS: &str = "/etc/selinux/default/contexts/files/file_contexts";
const BINARY: &str = "/etc/selinux/default/policy/policy.33";

/// Each configuration has its own policy and boot.
const EXPERIMENT: &str = r#"
stacks = [
    "capability", "capability,apparmor", "capability,landlock", "capability,bpf",
    "capability,tomoyo",
]
filesystem = "tmpfs"
benchmarks = ["open:AA", "creat"]
samples = 8
work_dir = "/srv/www"

[custom.web]
module = "apparmor"
files = ["profiles"]
profile = "web"
denied = ["read /etc/shadow", "create /srv/x"]
allowed = ["read /srv/www/index.html", "execute /usr/bin/x", "list /srv"]
[custom.stacked]
module = "apparmor"
files = ["profiles"]
profile = "web//&other"
denied = ["read /etc/shadow", "read /srv/www/secret"]
allowed = ["read /srv/www/index.html"]
[custom.lax]
module = "apparmor"
files = ["lax"]
denied = ["read /etc/shadow"]
allowed = ["read /etc/hosts"]
[custom.strict]
module = "apparmor"
files = ["lax"]
denied = ["read /proc/version"]
allowed = ["read /srv/x"]

[custom.box]
module = "landlock"
files = ["box.toml", "second.toml"]
denied = ["write /etc/passwd", "bind 8080", "connect 80"]
allowed = ["read /usr/lib/x", "connect 443"]
[custom.open]
module = "landlock"
files = ["open.toml"]
denied = ["read /etc/shadow"]
allowed = ["read /etc/hosts"]

[custom.server]
module = "tomoyo"
files = ["tomoyo"]
domain = "<kernel> /usr/sbin/server"
denied = ["read /etc/shadow", "write /srv/x"]
allowed = ["read /etc/hosts"]
[custom.guard]
module = "bpf"
files = ["lsm.o"]
programs = ["guard"]
denied = ["read /etc/shadow"]
allowed = ["read /etc/hosts", "write /etc/hosts"]
[custom.wild]
module = "bpf"
files = ["lsm.o"]
programs = ["wild"]
denied = ["read /etc/shadow"]
allowed = ["read /etc/hosts"]
[custom.all]
module = "bpf"
files = ["lsm.o"]
programs = ["all"]
denied = ["read /etc/shadow"]
allowed = ["read /etc/hosts"]
[custom.nowhere]
module = "bpf"
files = ["lsm.o"]
programs = ["nowhere"]
denied = ["read /etc/shadow"]
allowed = ["read /etc/hosts"]
"#;

/// A policy of an experiment.
fn custom(experiment: &str, name: &str) -> String {
    let begin = format!("[custom.{name}]");
    let (_, rest) = experiment.split_once(&begin).unwrap();
    begin + rest.split("[custom.").next().unwrap()
}

/// Debian's policy, in a domain of its users.
const DEBIAN: &str = r#"
filesystem = "tmpfs"
benchmarks = ["open:AA", "creat", "chmod"]
samples = 8
work_dir = "/home/user/work"
stacks = ["capability", "capability,selinux"]
policies = ["enforcing", "permissive"]
[custom.user]
module = "selinux"
files = ["/etc/selinux/default/policy/policy.33"]
context = "user_u:user_r:user_t:s0"
file_contexts = "/etc/selinux/default/contexts/files/file_contexts"
files_context = "user_u:object_r:user_home_t:s0"
booleans = { allow_execmem = true }
denied = ["write /etc/shadow", "create /etc/x"]
allowed = ["read /etc/hosts"]
[custom.nobody]
module = "selinux"
files = ["/etc/selinux/default/policy/policy.33"]
context = "user_u:user_r:nobody_knows_t:s0"
files_context = "user_u:object_r:user_home_t:s0"
denied = ["read /etc/shadow"]
allowed = ["read /etc/hosts"]
"#;

fn write_sources(place: &Place) {
    let profiles = place.join("profiles");
    fs::create_dir_all(profiles.join("abstractions")).unwrap();
    fs::create_dir_all(profiles.join("tunables")).unwrap();
    fs::create_dir_all(place.join("tomoyo")).unwrap();
    for (name, text) in [
        ("profiles/tunables/global", "@{SITE}=/srv/www\n"),
        (
            "profiles/abstractions/site",
            "  @{SITE}/** r,\n  /srv/ r,\n",
        ),
        (
            "profiles/web",
            "include <tunables/global>\nprofile web /usr/sbin/web flags=(complain) {\n  \
             include <abstractions/site>\n  /usr/bin/x ix,\n}\n",
        ),
        (
            "profiles/other",
            "include <tunables/global>\nprofile other {\n  include <abstractions/site>\n  \
             deny /srv/www/secret r,\n}\n",
        ),
        ("lax", "profile lax {\n  file,\n}\n"),
        (
            "box.toml",
            "abi = 6\n[[variable]]\nname = \"lib\"\nliteral = [\"/usr/lib\"]\n\
             [[ruleset]]\nhandled_access_fs = [\"abi.all\"]\n\
             handled_access_net = [\"bind_tcp\"]\n\
             [[path_beneath]]\nallowed_access = [\"abi.read_execute\"]\nparent = [\"${lib}\"]\n\
             [[path_beneath]]\nallowed_access = [\"abi.all\"]\nparent = [\".\"]\n\
             [[net_port]]\nallowed_access = [\"connect_tcp\"]\nport = [443]\n",
        ),
        (
            "second.toml",
            "[[ruleset]]\nhandled_access_fs = [\"write_file\"]\n\
             [[path_beneath]]\nallowed_access = [\"write_file\"]\nparent = [\"/srv\"]\n",
        ),
        (
            "open.toml",
            "[[ruleset]]\nhandled_access_fs = [\"make_char\"]\n",
        ),
        (
            "tomoyo/profile.conf",
            "PROFILE_VERSION=20150505\n0-CONFIG={ mode=disabled }\n3-CONFIG={ mode=enforcing }\n",
        ),
        (
            "tomoyo/domain_policy.conf",
            "<kernel>\nuse_profile 3\nuse_group 0\n\n<kernel> /usr/sbin/server\nuse_profile 3\n\
             use_group 0\nfile read /srv/www/\\{\\*\\}/\\*\nfile read /etc/hosts\n",
        ),
        ("experiment.toml", EXPERIMENT),
        ("debian.toml", DEBIAN),
    ] {
        fs::write(place.join(name), text).unwrap();
    }
    compile(place, "lsm");
}

/// Compiles an object of `given/`.
fn compile(place: &Place, name: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machine/policies/given");
    let clang = Command::new("clang")
        .args([
            "-g", "-O2", "-target", "bpf", "-mcpu=v3", "-Wall", "-Wextra", "-Werror",
        ])
        .args(["-fno-stack-protector", "-c"])
        .arg(format!("{folder}/{name}.bpf.c"))
        .arg("-o")
        .arg(place.join(&format!("{name}.o")))
        .status();
    assert!(clang.unwrap().success());
}

fn run(place: &Place, experiment: &str) -> Document {
    let line = format!("run {experiment} --offline --output out.json");
    place.line(&line).code(4);
    assert_eq!(place.left_over(), [""; 0]);
    place.document("out.json")
}

/// Benchmark, status and reason of each measurement of a policy, and the steps that loaded it.
fn ended<'a>(run: &'a Document, name: &str) -> (Vec<(&'a str, Status, &'a str)>, Vec<&'a str>) {
    let is_of = |settings: &model::Settings| settings.custom.values().any(|custom| custom == name);
    let cells = run.cells.iter().filter(|cell| is_of(&cell.key.settings));
    let cells = cells.map(|cell| {
        let reason = cell.reason().unwrap_or_default();
        (cell.key.benchmark(), cell.status(), reason)
    });
    let cells: Vec<_> = cells.collect();
    assert!(!cells.is_empty(), "{name}");
    let setups = run.setups.iter();
    let setups = setups.filter(|setup| is_of(&setup.configuration.settings));
    let steps = setups.flat_map(|setup| setup.steps.iter().map(String::as_str));
    (cells, steps.collect())
}

/// Asserts that each line of `texts` is in a step.
#[track_caller]
fn assert_steps(run: &Document, name: &str, texts: &str) {
    let (_, steps) = ended(run, name);
    for text in texts.lines().map(str::trim) {
        let is_there = steps.iter().any(|step| step.contains(text));
        assert!(is_there, "{text}: {steps:#?}");
    }
}

#[track_caller]
fn assert_measured(run: &Document, name: &str) {
    for (benchmark, status, reason) in ended(run, name).0 {
        assert_eq!(status, Status::Ok, "{name}: {benchmark}: {reason}");
    }
}

/// Median cost of a benchmark under a policy, or without one.
fn cost(run: &Document, benchmark: &str, name: &str) -> f64 {
    let mut cells = run.cells.iter();
    let cell = cells.find(|cell| {
        let mut custom = cell.key.settings.custom.values();
        cell.key.benchmark() == benchmark
            && match name {
                "" => cell.key.stack == ["capability"] && cell.key.integrity.is_empty(),
                name => custom.any(|custom| custom == name),
            }
    });
    cell.unwrap().estimate().unwrap().median
}

/// Asserts that nothing was measured, for this reason.
#[track_caller]
fn assert_refused(run: &Document, name: &str, why: &str) {
    for (_, status, reason) in ended(run, name).0 {
        assert_eq!(status, Status::Failed, "{name}");
        assert!(reason.contains(why), "{name}: {reason}");
    }
}

#[test]
fn custom_policies_are_enforced_or_refused() {
    let place = Place::with_kernels();
    write_sources(&place);
    let run = run(&place, "experiment.toml");

    let open = |name: &str| ended(&run, name).0[0];
    for name in ["web", "stacked", "box", "guard", "server"] {
        assert_eq!(open(name), ("open", Status::Ok, ""), "{name}");
    }
    let (cells, _) = ended(&run, "web");
    let (_, status, reason) = cells[1];
    assert_eq!(status, Status::Failed);
    assert!(
        reason.contains("EACCES") && reason.contains("apparmor=\"DENIED\""),
        "{reason}"
    );
    assert!(reason.contains("name=\"/srv/www/cell/"), "{reason}");
    for (name, steps) in [
        (
            "web",
            "2 profiles in 2 files
             wrote changeprofile web to
             apparmor: denied: open of /etc/shadow for reading: EACCES
             apparmor: denied: creat of /srv/x: EACCES
             apparmor: allowed: execve of /usr/bin/x
             apparmor: allowed: open of the directory /srv",
        ),
        (
            "stacked",
            "denied: open of /srv/www/secret for reading: EACCES",
        ),
        (
            "box",
            "landlock: 2 layers with 4 rules
             landlock_restrict_self 2 times, 4 rules in all
             denied: open of /etc/passwd for writing: EACCES
             denied: bind to port 8080 of 127.0.0.1: EACCES
             denied: connect to port 80 of 127.0.0.1: EACCES
             allowed: connect to port 443 of 127.0.0.1",
        ),
        (
            "guard",
            "bpf: attached guard
             bpf: denied: open of /etc/shadow for reading: EPERM",
        ),
        (
            "server",
            "wrote <kernel> /usr/sbin/server to
             tomoyo: denied: open of /etc/shadow for reading: EPERM",
        ),
    ] {
        assert_steps(&run, name, steps);
    }
    let took: Vec<_> = run
        .setups
        .iter()
        .flat_map(|proof| &proof.took)
        .map(|part| (&*part.module, &*part.part, part.busy_ns > 1000))
        .collect();
    for part in [
        ("bpf", "loading", true),
        ("bpf", "attaching", true),
        ("tomoyo", "loading", true),
    ] {
        assert!(took.contains(&part), "{took:?}");
    }
    // Each policy adds cost.
    let cost = |name: &str| cost(&run, "open", name);
    for name in ["web", "box", "guard"] {
        assert!(cost(name) > cost(""), "{name}");
    }
    assert!(cost("stacked") > cost("web"));

    let passes = "bpf: open of /etc/hosts for reading must pass, and gave EPERM";
    for (name, why) in [
        ("lax", "apparmor does not enforce: open of /etc/shadow"),
        ("open", "landlock does not enforce: open of /etc/shadow"),
        ("wild", "the verifier's last lines: "),
        ("wild", "invalid mem access"),
        ("all", passes),
        ("nowhere", "a hook, a type or a symbol"),
    ] {
        assert_refused(&run, name, why);
    }
    // The result file has the digest of the policy.
    let custom = &run.experiment.as_ref().unwrap().custom;
    assert!(
        custom.values().all(|policy| policy.digest.len() == 16),
        "{custom:?}"
    );
}

#[test]
fn debian_s_policy_confines_its_users() {
    if !(testing::has_file(BINARY, "selinux-policy-default")
        && testing::has_file(FILE_CONTEXTS, "selinux-policy-default"))
    {
        return;
    }
    let place = Place::with_kernels();
    write_sources(&place);
    let run = run(&place, "debian.toml");
    assert_measured(&run, "user");
    assert_steps(
        &run,
        "user",
        "policy.33, unchanged
         wrote 1 to /sys/fs/selinux/booleans/allow_execmem
         -v system_u:object_r:shadow_t:s0 /etc/shadow
         wrote user_u:user_r:user_t:s0 to /proc/self/attr/current
         /access says that system_u:system_r:kernel_t:s0 is permissive
         selinux: denied: open of /etc/shadow for writing: EACCES
         selinux: denied: creat of /etc/x: EACCES
         selinux: allowed: open of /etc/shadow for writing
         selinux: logged: avc:  denied name=\"shadow\"",
    );
    assert_refused(&run, "nobody", "/proc/self/attr/current: EINVAL");
}

#[test]
fn invalid_policies_are_refused_before_a_boot() {
    let place = Place::with_kernels();
    write_sources(&place);
    let noise = (0..9000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8);
    let noise: Vec<u8> = noise.collect();
    place.write("noise", &noise);
    place.write("noise.o", [b"\x7fELF\x02\x01\x01", &*noise].concat());
    place.write("itself", "profile itself {\n  include \"itself\"\n}\n");
    let large = fs::File::create(place.join("large")).unwrap();
    large.set_len(100 << 20).unwrap();
    place.write("none/cipso", "System 1 2\n");
    place.write("binary", [0xff; 64]);
    place.write("word", "User System r\nUser System\n");
    place.write("right", "User System rz\n");
    place.write("long", format!("{} System r\n", "x".repeat(256)));
    place.write("comment", "# nothing\n\n");
    place.write("rule", "measure func=BPRM_CHECK\nmesure func=FILE_CHECK\n");
    place.write("measures", "measure func=BPRM_CHECK\n");
    let denied = "denied = ['read /etc/shadow']\nallowed = ['read /etc/hosts']\n";
    let measured = "measured = ['read /x']\nnot_measured = ['read /y']\n";
    let context = "context = 'u:r:t:s0'\nfiles_context = 'u:r:t:s0'\n";
    // Module, file, more keys, and error.
    for row in [
        "apparmor | noise | | apparmor_parser: ",
        "apparmor | itself | | apparmor_parser: ",
        "apparmor | large | | larger than 64 MiB",
        "apparmor | profiles | | found 2 profiles in",
        "apparmor | profiles | profile = 'wep' | no profile wep",
        "landlock | noise | | noise: ",
        "landlock | large | | larger than 64 MiB",
        "bpf | noise | | not an ELF object",
        "bpf | noise.o | | libbpf cannot read it",
        "bpf | lsm.o | programs = ['gard'] | no program gard",
        "bpf | nothing.o | | No such file",
        "selinux | noise | | noise: ",
        "selinux | large | | larger than 64 MiB",
        "smack | none | label = 'User' | no rules in none",
        "smack | binary | label = 'User' | binary: not a text file",
        "smack | word | label = 'User' | word: line 2: `User System` is not a rule",
        "smack | right | label = 'User' | right: line 1: invalid access `rz`",
        "smack | long | label = 'User' | is not a label",
        "smack | nothing | label = 'User' | No such file",
        "ima | comment | | no rules in comment",
        "ima | binary | | binary: not a text file",
        "ima | rule | | rule: line 2: `mesure func=FILE_CHECK`",
        "ima | measures | deny | no rule in measures appraises",
        "ima | nothing | | No such file",
        "audit | comment | | 0 rules in comment",
        "audit | word | | word, line 1: `User System r` is not a rule",
        "audit | binary | | binary is not a text file",
    ] {
        let [module, file, more, error] = row.split('|').map(str::trim).collect::<Vec<_>>()[..]
        else {
            panic!("{row}")
        };
        let proof = match module {
            "audit" => "",
            "ima" if more != "deny" => measured,
            _ => denied,
        };
        let context = if module == "selinux" { context } else { "" };
        let more = if more == "deny" { "" } else { more };
        let policy = format!(
            "[custom.x]\nmodule = '{module}'\nfiles = ['{file}']\n{proof}{context}{more}\n"
        );
        place.write("policy.toml", policy);
        let line = "run --offline --bench open:AA --policy-file policy.toml";
        let ended = place.line(line).code(3);
        assert!(ended.stderr.contains(error), "{row}: {}", ended.stderr);
        assert!(ended.stderr.contains("\nhint: "), "{row}: {}", ended.stderr);
        assert_eq!(ended.stdout, "", "{row}");
    }
}

/// Profiles list custom BPF programs as implementations of the module bpf.
#[test]
fn custom_programs_are_in_profiles() {
    let place = Place::with_kernels();
    write_sources(&place);
    place.write("guard.toml", custom(EXPERIMENT, "guard"));
    let line = "profile --offline --fs tmpfs --bench open:AA --stack capability,bpf \
                --baseline capability --policy-file guard.toml --output out.json --format json";
    place.line(line).code(0);
    let profile = place.document("out.json");
    let counted = profile.cells[0].counted().unwrap();
    assert_eq!(counted.residual.as_ref().unwrap().instructions, 0);
    let hooks = &counted.hooked.as_ref().unwrap().hooks;
    let open = hooks.iter().find(|hook| hook.hook == "file_open").unwrap();
    let mut implementations = open.implementations.iter();
    let program = implementations
        .find(|implementation| implementation.module == "bpf")
        .unwrap();
    assert!(program.inclusive > 50, "{program:#?}");
}
