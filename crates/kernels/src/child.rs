// SPDX-License-Identifier: GPL-2.0-or-later

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};

use rustix::process::{Resource, Rlimit, Signal, setrlimit};

/// Makes the child get `signal` when lsmeter ends, even by SIGKILL, but not the terminal's Ctrl-C.
pub fn die_with_parent(command: &mut Command, signal: Signal) {
    let parent = rustix::process::getpid();
    command.process_group(0);
    // SAFETY: between fork and exec only these two system calls are made, both
    // async-signal-safe; nothing is allocated or locked.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(signal))?;
            if rustix::process::getppid() != Some(parent) {
                return Err(std::io::Error::other("lsmeter has ended"));
            }
            Ok(())
        });
    }
}

pub fn no_core(command: &mut Command) {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    // SAFETY: between fork and exec only this system call is made, which is async-signal-safe;
    // nothing is allocated or locked.
    unsafe {
        command.pre_exec(move || Ok(setrlimit(Resource::Core, none)?));
    }
}

/// Describes a status in words: "was killed by signal 9", "exited with status 1".
pub fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with status {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended in an unknown way".to_owned(),
    }
}
