// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter sensitivity --on host` as root in a VM with a Debian kernel. SLOW: boots of half a minute
//! each.
//!
//! Needs QEMU, busybox and the kernel debian:6.12.

use crate::vm::Vm;
use model::{Document, Unit};

fn vm() -> Vm {
    Vm::new("debian:6.12").lsm("capability,bpf")
}

/// A clock that counts instructions makes times exact.
#[test]
fn slopes_of_a_live_kernel_equal_its_checks() {
    let outcome = vm()
        .icount()
        .program("setpriv")
        .run(
            "lsmeter doctor >/out/doctor
             lsmeter sensitivity --on host --dir /tmp -b getppid -b stat:AA/BB -n 5 \
                 --hooks inode_permission,inode_getattr --by-hook -o /out/slopes.json
             status=$?
             ls -d /sys/fs/cgroup/lsmeter-agent-* >&2 && exit 99
             HOME=/tmp setpriv --reuid 65534 --clear-groups lsmeter sensitivity --on host \
                 --dir /tmp -b getppid --hooks inode_permission 2>/out/user
             [ $? = 3 ] || exit 98
             exit $status",
        )
        .status(0);
    outcome.assert_no_kernel_warnings();
    let doctor = String::from_utf8(outcome.file("doctor")).unwrap();
    assert!(
        doctor.contains("ok       delaying hooks of this machine"),
        "{doctor}"
    );
    let user = String::from_utf8(outcome.file("user")).unwrap();
    assert!(user.contains("CAP_BPF and CAP_PERFMON"), "{user}");
    assert!(user.contains("hint: "), "{user}");
    let document = Document::parse(&outcome.file("slopes.json")).unwrap();
    let expected = [
        ("getppid", vec!["inode_permission", "inode_getattr"], 0.0),
        ("getppid", vec!["inode_getattr"], 0.0),
        ("getppid", vec!["inode_permission"], 0.0),
        ("stat", vec!["inode_permission", "inode_getattr"], 3.0),
        ("stat", vec!["inode_getattr"], 1.0),
        ("stat", vec!["inode_permission"], 2.0),
    ];
    assert_eq!(document.cells.len(), expected.len(), "{document:#?}");
    for (benchmark, hooks, count) in expected {
        let mut slopes = document.slopes();
        let found = slopes
            .find(|(cell, delay, _)| cell.key.benchmark() == benchmark && delay.hooks == hooks);
        let (_, _, slope) =
            found.unwrap_or_else(|| panic!("no {benchmark} {hooks:?}: {document:#?}"));
        assert_eq!((slope.unit, slope.counted), (Unit::Ns, None));
        assert!((slope.slope - count).abs() < 0.05, "{slope:#?}");
    }
}

/// However lsmeter and its agent end, no process stays delayed and no program attached.
#[test]
fn nothing_outlives_a_killed_sweep() {
    let script = "
        sweep() {
            lsmeter sensitivity --on host --dir /tmp -b stat:AA/BB -n 3000 -q \
                --hooks inode_permission --delays 0..800us/200us >/dev/null &
            lsmeter=$!
            tries=0
            until agent=$(agents) && [ -n \"$(links)\" ]; do
                tries=$((tries + 1))
                [ $tries -lt 500 ] || exit 98
                sleep 0.2
            done
        }
        agents() { ls /sys/fs/cgroup | sed -n 's/lsmeter-agent-//p' | grep .; }
        links() { ls -l /proc/[0-9]*/fd 2>/dev/null | grep bpf_link; }
        soon() {
            tries=0
            until \"$@\"; do
                tries=$((tries + 1))
                [ $tries -lt 500 ] || exit 97
                sleep 0.2
            done
        }
        unlinked() { [ -z \"$(links)\" ]; }
        gone() { unlinked && [ -z \"$(agents)\" ]; }
        sweep; kill -9 $lsmeter; wait $lsmeter; echo $?; soon gone
        sweep; kill -9 $agent; wait $lsmeter; echo $?; soon unlinked
        # The next sweep removes the remains of the killed agent.
        sweep; kill -INT $lsmeter; wait $lsmeter; echo $?; soon gone
        echo end";
    let outcome = vm().run(script).status(0);
    outcome.assert_no_kernel_warnings();
    // On a slow machine the killed agent may be the one that tries whether hooks can be delayed. The
    // exit status is then 3.
    let ends = ["137\n4\n4\nend\n", "137\n3\n4\nend\n"];
    assert!(ends.contains(&outcome.text()), "{}", outcome.summary());
}

#[test]
fn a_stack_without_bpf_is_refused() {
    let sweep = "lsmeter sensitivity --on host --dir /tmp -b getppid --hooks inode_permission";
    let outcome = Vm::new("debian:6.12")
        .lsm("capability")
        .run(sweep)
        .status(3);
    let stderr = &outcome.stderr;
    assert!(stderr.contains("bpf is not in the stack"), "{stderr}");
}
