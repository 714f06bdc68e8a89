// SPDX-License-Identifier: GPL-2.0-or-later
//! Suites of system calls that do not operate on files, in booted kernels: sockets, IPC, processes
//! and administration.
//!
//! Needs QEMU and the kernel debian:6.12.

use model::{Document, Status};

use super::cells::{RUN, assert_same};
use crate::common::Place;

/// One of each kind: with one task, over each address family, with another task, and with objects
/// that have to be removed.
const SOME: &str = "socket:unix-stream,bind:tcp6,connect:unix-stream,accept4:tcp,\
                    shutdown:unix-stream,unix-message:seqpacket-1KB,unix-control:SCM_RIGHTS,\
                    udp-message:ipv6-1B,tcp-message:1B,netlink,raw-message:1B,packet-message:1B,\
                    socket-ping-pong:udp,pipe-message:64KB,msg-message:1B,shmat,mq-message:1KB,\
                    kill:child,ptrace:seize,bpf:map-create,io_uring_enter:openat,clone:vfork,\
                    execve-script,capset,sched_setaffinity,unshare,sysctl-write,remount,\
                    keyctl:KEYCTL_READ";
/// These have no dominant path, or have one only if measured alone (docs/suite.md).
const NO_ONE_PATH: [&str; 3] = ["clone:vfork", "execve-script:agent", "socket-ping-pong:udp"];

fn run(place: &Place, output: &str, flag: &str) -> Document {
    let stacks = "--stack capability --stack capability,selinux";
    let line = format!("{RUN} {stacks} --bench {SOME} --variants all --output {output} {flag}");
    place.line(&line).code(0);
    place.document(output)
}

#[test]
fn two_boots_give_equal_counts() {
    let place = Place::with_kernels();
    let first = run(&place, "first.json", "");
    assert_eq!(first.cells.len(), 2 * SOME.split(',').count());
    for cell in &first.cells {
        assert_eq!(cell.status(), Status::Ok, "{cell:#?}");
        let title = cell.title();
        let paths = cell.paths().unwrap_or_else(|| panic!("{cell:#?}"));
        let has_one = paths.dominant.regions * 2 >= paths.regions - paths.dirty;
        assert!(has_one || NO_ONE_PATH.contains(&&*title), "{cell:#?}");
    }
    assert_same(&run(&place, "second.json", "--no-cache"), &first);
}
