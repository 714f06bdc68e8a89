// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter run --policy`: policies deny, allow, and let the suite run. SLOW: a minute.
//!
//! Needs QEMU and the kernel debian:6.12, and for modules that it does not have a kernel of
//! `make test-kernels`. Modules share runs, to save boots.

mod denials;
mod first;
mod given;
mod integrity;
mod landlock;
mod learned;
mod memory;
mod programs;
mod selinux;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::common::{Ended, Place, words};
use model::{Cell, Document, Policy, Status};

fn measure(place: &Place, kernel: &str, stacks: &str, rest: &str) -> Document {
    measure_on("tmpfs", place, kernel, stacks, rest)
}

fn measure_on(fs: &str, place: &Place, kernel: &str, stacks: &str, rest: &str) -> Document {
    let stacks = words(stacks).join(" --stack ");
    let ended = place.line(&format!(
        "run --offline --fs {fs} --kernel {kernel} --stack {stacks} --bench open:AA,execve -n 8 \
         --output out.json {rest}"
    ));
    assert_eq!(place.left_over(), [""; 0]);
    let run = place.document("out.json");
    // Unsupported measurements are not failures unless all are unsupported.
    let measured = run.cells.iter().any(|cell| cell.status() == Status::Ok);
    ended.code(if measured { 0 } else { 4 });
    run
}

/// The steps that loaded the policies of this stack.
fn steps<'a>(run: &'a Document, stack: &str, policy: Policy) -> &'a [String] {
    let mut found = run.setups.iter().filter(|setup| {
        setup.configuration.stack.as_str() == stack && setup.configuration.policy == policy
    });
    let setup = found
        .next()
        .unwrap_or_else(|| panic!("no {stack} {policy}: {:#?}", run.cells));
    &setup.steps
}

fn cells<'a>(run: &'a Document, stack: &str, policy: Policy) -> Vec<&'a Cell> {
    let is_of = |cell: &&Cell| cell.key.stack.join(",") == stack && cell.key.policy == policy;
    let cells: Vec<&Cell> = run.cells.iter().filter(is_of).collect();
    assert!(!cells.is_empty(), "{stack} {policy}");
    cells
}

/// Asserts that all is measured, and that each text is in a step.
#[track_caller]
fn assert_in_force(run: &Document, stack: &str, policy: Policy, texts: &[&str]) {
    for cell in cells(run, stack, policy) {
        assert_eq!(cell.status(), Status::Ok, "{cell:#?}");
    }
    let steps = steps(run, stack, policy);
    for text in texts {
        assert!(
            steps.iter().any(|step| step.contains(text)),
            "{text}: {steps:#?}"
        );
    }
}

/// Asserts that the state is unsupported, with this text in the reason.
#[track_caller]
fn assert_unsupported(run: &Document, stack: &str, policy: Policy, reason: &str) {
    for cell in cells(run, stack, policy) {
        assert_eq!(cell.status(), Status::Unsupported, "{cell:#?}");
        let found = cell.reason().unwrap();
        assert!(found.contains(reason), "{found}");
    }
}

/// Checks paragraphs of stack, state, and texts in its steps, or `unsupported` and the reason.
#[track_caller]
fn assert_proofs(run: &Document, proofs: &str) {
    for proof in proofs.split("\n\n") {
        let mut lines = proof.trim().lines().map(str::trim);
        let heading = words(lines.next().unwrap());
        let policy = heading[1].parse().unwrap();
        let texts: Vec<&str> = lines.collect();
        match heading[2..] {
            ["unsupported"] => assert_unsupported(run, heading[0], policy, texts[0]),
            _ => assert_in_force(run, heading[0], policy, &texts),
        }
    }
}

const STATES: &str = "--policy permissive --policy enforcing";

#[test]
fn modules_of_debian_kernels_deny_and_allow() {
    let stacks = "capability,apparmor capability,tomoyo capability,landlock lockdown,capability";
    let run = measure(&Place::with_kernels(), "debian:6.12", stacks, STATES);
    assert_proofs(
        &run,
        "capability,apparmor enforcing
         apparmor_parser -QK
         /sys/kernel/security/apparmor/.replace
         changeprofile lsmeter
         apparmor: denied: open of /apparmor-denied for reading: EACCES (13)
         apparmor: allowed: creat and unlink of ./apparmor-allowed

         capability,apparmor permissive
         flags=(complain)
         apparmor: allowed: open of /apparmor-denied for reading
         apparmor: logged: apparmor=\"ALLOWED\"

         capability,tomoyo enforcing
         has profile 3
         activated by execve of /sbin/init
         self_domain
         tomoyo: denied: open of /tomoyo-denied for reading: EPERM (1)
         tomoyo: allowed: creat and unlink of ./tomoyo-allowed

         capability,tomoyo permissive
         has profile 2
         tomoyo: allowed: open of /tomoyo-denied for reading
         tomoyo: noticed: stat counts a violation in permissive mode

         capability,landlock enforcing
         landlock: landlock_restrict_self 1 times
         landlock: denied: creat of ../landlock-denied: EACCES (13)
         landlock: allowed: creat of ./landlock-allowed

         capability,landlock permissive unsupported
         no permissive state

         lockdown,capability enforcing
         lockdown: wrote integrity to /sys/kernel/security/lockdown
         lockdown: denied: ioperm(0x80, 1, 1): EPERM (1)
         lockdown: allowed: ioperm(0x80, 1, 0)

         lockdown,capability permissive unsupported
         no permissive state",
    );
}

/// Test kernels do not have CONFIG_SECURITY_SMACK_BRINGUP. lsmeter cannot load a policy for IPE.
#[test]
fn modules_of_test_kernels_deny_and_allow() {
    let options = "SECURITY_SMACK SECURITY_SAFESETID SECURITY_LOADPIN SECURITY_IPE";
    let Some((place, kernel)) = Place::with_test_kernel(&words(options)) else {
        return;
    };
    let stacks = "capability,smack capability,safesetid capability,loadpin capability,ipe";
    let run = measure(&place, &kernel, stacks, STATES);
    assert_proofs(
        &run,
        "capability,smack enforcing
         /sys/fs/smackfs/load2
         SMACK64TRANSMUTE=TRUE on the working directory
         dropped CAP_MAC_OVERRIDE
         smack: denied: open of /smack/denied for reading: EACCES (13)
         smack: allowed: creat and unlink of ./smack-allowed

         capability,smack permissive unsupported
         SMACK_BRINGUP

         capability,safesetid enforcing
         safesetid: denied: setresuid from 1000 to 1002: SIGKILL
         safesetid: allowed: setresuid from 1000 to 1001

         capability,safesetid permissive unsupported
         no permissive state

         capability,loadpin enforcing
         loadpin.enforce=1
         loadpin: denied: finit_module of a file on another tmpfs: EPERM (1)
         loadpin: allowed: finit_module of /loadpin-allowed

         capability,loadpin permissive
         loadpin.enforce=0
         loadpin: allowed: finit_module of a file on another tmpfs
         loadpin: logged: LoadPin: pinning-ignored

         capability,ipe enforcing unsupported
         CONFIG_IPE_BOOT_POLICY

         capability,ipe permissive unsupported
         CONFIG_IPE_BOOT_POLICY",
    );
}

#[test]
fn a_kernel_without_the_modules_is_refused() {
    let stacks = "capability,smack capability,safesetid capability,loadpin";
    let run = measure(
        &Place::with_kernels(),
        "debian:6.12",
        stacks,
        "--policy enforcing",
    );
    assert_proofs(
        &run,
        "capability,smack enforcing unsupported
         CONFIG_SECURITY_SMACK

         capability,safesetid enforcing unsupported
         CONFIG_SECURITY_SAFESETID

         capability,loadpin enforcing unsupported
         CONFIG_SECURITY_LOADPIN",
    );
    assert!(run.setups.is_empty());
}

/// A failing compiler is first in PATH.
#[test]
fn a_policy_that_does_not_compile_is_an_error() {
    let refuses = "#!/bin/sh\ncase $1 in --version) echo AppArmor parser version 0;; \
                   *) echo 'syntax error, line 7' >&2; exit 1;; esac\n";
    for (module, compiler, error, hint) in [
        ("apparmor", "apparmor_parser", "apparmor_parser", "by hand"),
        (
            "selinux",
            "secilc",
            "secilc: exit status: 1",
            "secilc by hand",
        ),
    ] {
        let place = Place::with_kernels();
        let path = place.write(&format!("bin/{compiler}"), refuses);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        let line = format!(
            "run --offline --kernel debian:6.12 --fs tmpfs --stack capability,{module} \
             --policy enforcing --bench getppid --quiet --output out.json"
        );
        let mut command = place.command(&words(&line));
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", place.join("bin").display()));
        let ended = Ended::new(&[&line], command.output().unwrap());
        assert!(ended.stderr.contains("syntax error, line 7"), "{ended:#?}");
        ended.refused(3, error, Some(hint));
        assert_eq!(place.names(), ["bin"]);
    }
}
