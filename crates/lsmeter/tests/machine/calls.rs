// SPDX-License-Identifier: GPL-2.0-or-later
//! The suites beside those of file system calls, in booted kernels: sockets, IPC, processes and
//! what administrators do.
//!
//! Needs QEMU and the kernel debian:6.12 in the cache of whoever runs the tests
//! (`lsmeter kernel fetch debian:6.12`); nothing is fetched here.

use model::{Document, Status};

use super::cells::{RUN, assert_same};
use crate::common::Place;

/// One of each kind: what one task does with itself, over each family of addresses, with another
/// task, and what leaves something behind that has to be undone.
const SOME: &str = "socket:unix-stream,bind:tcp6,connect:unix-stream,accept4:tcp,\
                    shutdown:unix-stream,unix-message:seqpacket-1KB,unix-control:SCM_RIGHTS,\
                    udp-message:ipv6-1B,tcp-message:1B,netlink,raw-message:1B,packet-message:1B,\
                    socket-ping-pong:udp,pipe-message:64KB,msg-message:1B,shmat,mq-message:1KB,\
                    kill:child,ptrace:seize,bpf:map-create,io_uring_enter:openat,clone:vfork,\
                    execve-script,capset,sched_setaffinity,unshare,sysctl-write,remount,\
                    keyctl:KEYCTL_READ";
/// Which have no path that holds half of their measured regions, or not in company (docs/suite.md).
const NO_ONE_PATH: [&str; 3] = ["clone:vfork", "execve-script:agent", "socket-ping-pong:udp"];

fn run(place: &Place, output: &str, flag: &str) -> Document {
    let stacks = "--stack capability --stack capability,selinux";
    let line = format!("{RUN} {stacks} --bench {SOME} --variants all --output {output} {flag}");
    place.line(&line).code(0);
    place.document(output)
}

#[test]
fn other_calls_than_those_of_files_are_counted_alike_in_two_boots() {
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
