// SPDX-License-Identifier: GPL-2.0-or-later
//! The terminal after a panic: runs this test in a pseudo terminal.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use model::MonitorMode;
use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;

use super::monitoring;
use crate::live::view::{Reading, Source, show};

const VARIABLE: &str = "LSMETER_TEST_PANICS";

struct Faulty;

impl Source for Faulty {
    fn read(&mut self) -> Reading {
        panic!("a fault in the source");
    }

    fn ended(&mut self) -> bool {
        false
    }
}

#[test]
fn gives_the_terminal_back() {
    if std::env::var_os(VARIABLE).is_some() {
        let monitoring = monitoring(MonitorMode::Time);
        let stop = AtomicBool::new(false);
        show(&monitoring, &mut Faulty, Duration::ZERO, true, &stop).unwrap();
        return;
    }
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let person = rustix::pty::openpt(flags).unwrap();
    rustix::pty::grantpt(&person).unwrap();
    rustix::pty::unlockpt(&person).unwrap();
    rustix::io::ioctl_fionbio(&person, true).unwrap();
    let name = rustix::pty::ptsname(&person, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let program = rustix::fs::open(name, flags, Mode::empty()).unwrap();
    let settings = || format!("{:?}", rustix::termios::tcgetattr(&program).unwrap());
    let before = settings();
    let end = || program.try_clone().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            "live::view::tests::panic::gives_the_terminal_back",
        ])
        .arg("--nocapture")
        .env(VARIABLE, "1")
        .env("TERM", "xterm")
        .stdin(end())
        .stdout(end())
        .stderr(end());
    // SAFETY: setsid is only a system call, which is allowed after a fork.
    unsafe {
        command.pre_exec(|| {
            rustix::process::setsid()?;
            Ok(())
        });
    }
    let mut child = command.spawn().unwrap();
    let mut person = File::from(person);
    let mut written = Vec::new();
    // The child could not exit if its output were not read.
    let status = loop {
        let status = child.try_wait().unwrap();
        match person.read_to_end(&mut written) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            other => panic!("{other:?}"),
        }
        match status {
            Some(status) => break status,
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    let written = String::from_utf8(written).unwrap();
    let place = |text: &str| {
        written
            .find(text)
            .unwrap_or_else(|| panic!("no {text}: {written}"))
    };
    assert!(!status.success(), "{written}");
    assert!(place("\x1b[?1049h") < place("\x1b[?1049l"), "{written:?}");
    assert!(
        place("\x1b[?1049l") < place("a fault in the source"),
        "{written:?}"
    );
    assert_eq!(settings(), before);
}
