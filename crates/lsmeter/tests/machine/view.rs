// SPDX-License-Identifier: GPL-2.0-or-later
//! The live view of `lsmeter monitor` in a pseudo terminal. The test types and reads the screen.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Child;

use crate::common::{Place, wait_for};
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use rustix::pty::OpenptFlags;
use rustix::termios::{LocalModes, Termios, Winsize};

/// lsmeter in its own terminal.
struct Terminal {
    /// The user's end.
    person: File,
    /// lsmeter's end, which is kept open here so that its settings outlive lsmeter.
    program: OwnedFd,
    before: Termios,
    screen: vt100::Parser,
    child: Child,
}

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize {
        ws_col: columns,
        ws_row: rows,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

impl Terminal {
    fn start(place: &Place, arguments: &[&str], colour: bool) -> Terminal {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let person = rustix::pty::openpt(flags).unwrap();
        rustix::pty::grantpt(&person).unwrap();
        rustix::pty::unlockpt(&person).unwrap();
        rustix::io::ioctl_fionbio(&person, true).unwrap();
        let name = rustix::pty::ptsname(&person, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let program = rustix::fs::open(name, flags, Mode::empty()).unwrap();
        rustix::termios::tcsetwinsize(&program, size(120, 24)).unwrap();
        let before = rustix::termios::tcgetattr(&program).unwrap();
        let end = || program.try_clone().unwrap();
        let mut command = place.command(arguments);
        command
            .env("TERM", "xterm-256color")
            .stdin(end())
            .stdout(end())
            .stderr(end());
        if colour {
            command.env_remove("NO_COLOR");
        }
        // SAFETY: after a fork, only these two system calls are made.
        unsafe {
            command.pre_exec(|| {
                rustix::process::setsid()?;
                rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
                Ok(())
            });
        }
        Terminal {
            person: person.into(),
            program,
            before,
            screen: vt100::Parser::new(24, 120, 0),
            child: command.spawn().unwrap(),
        }
    }

    fn type_keys(&mut self, keys: &str) {
        self.person.write_all(keys.as_bytes()).unwrap();
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.screen.screen_mut().set_size(rows, columns);
        rustix::termios::tcsetwinsize(self.program.as_fd(), size(columns, rows)).unwrap();
    }

    /// Reads the output of lsmeter.
    fn look(&mut self) -> &vt100::Screen {
        let mut bytes = [0; 4096];
        loop {
            match self.person.read(&mut bytes) {
                Ok(n) => self.screen.process(&bytes[..n]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => panic!("{error}"),
            }
        }
        self.screen.screen()
    }

    #[track_caller]
    fn sees(&mut self, text: &str) -> String {
        self.sees_after("", text)
    }

    /// Types keys until the text appears. lsmeter may read a key before an earlier event, such as a
    /// new size.
    #[track_caller]
    fn sees_after(&mut self, keys: &str, text: &str) -> String {
        wait_for(text, || {
            self.type_keys(keys);
            let ended = self.child.try_wait().unwrap();
            let contents = self.look().contents();
            let seen = contents.contains(text);
            assert!(
                seen || ended.is_none(),
                "no {text}, but {ended:?}: {contents}"
            );
            seen.then_some(contents)
        })
    }

    /// Whether the terminal is in line mode with echo.
    fn is_for_lines(&self) -> bool {
        let modes = rustix::termios::tcgetattr(&self.program)
            .unwrap()
            .local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// Waits for lsmeter to end, and checks that it restored the terminal.
    #[track_caller]
    fn ends_well(mut self) {
        // lsmeter can end only if its output is read.
        let status = wait_for("end", || {
            self.look();
            self.child.try_wait().unwrap()
        });
        let screen = self.look();
        assert!(!screen.alternate_screen() && !screen.hide_cursor());
        assert_eq!(screen.contents().trim(), "");
        assert_eq!(status.code(), Some(0));
        let after = rustix::termios::tcgetattr(&self.program).unwrap();
        assert_eq!(format!("{after:?}"), format!("{:?}", self.before));
    }

    fn has_colours(&mut self) -> bool {
        let screen = self.look();
        let (rows, columns) = screen.size();
        let mut cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        cells.any(|(row, column)| {
            let cell = screen.cell(row, column).unwrap();
            cell.fgcolor() != vt100::Color::Default || cell.bgcolor() != vt100::Color::Default
        })
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes a recording of two short intervals with a hostile name.
fn place() -> Place {
    let place = Place::new();
    let recording = include_bytes!("../../../model/tests/golden/monitor.json");
    place.write("recording.json", recording);
    place
}

const REPLAY: [&str; 3] = ["monitor", "--replay", "recording.json"];

#[test]
fn a_recording_is_played() {
    let place = place();
    let mut terminal = Terminal::start(&place, &REPLAY, false);
    terminal.sees("inode_permission");
    // Hooks of both intervals.
    let seen = terminal.sees("ENDED");
    for text in [
        "6.12.94-cloud-amd64",
        "capability,selinux",
        "the command ls -l",
        "inode_permission",
        "task_alloc?[31m|?<b>",
    ] {
        assert!(seen.contains(text), "no {text}: {seen}");
    }
    assert!(terminal.look().alternate_screen());
    assert!(terminal.look().hide_cursor());
    assert!(!terminal.is_for_lines());
    assert!(!terminal.has_colours());
    terminal.type_keys("/INODE");
    terminal.sees("filter: inode");
    terminal.type_keys("\r");
    terminal.sees("1/1  since start  filter inode");
    terminal.type_keys("\r");
    terminal.sees_after("\x1b[F", "System calls");
    terminal.resize(40, 8);
    let seen = terminal.sees_after("\x1b[F", "EACCES");
    assert!(
        seen.lines().all(|line| line.chars().count() <= 40),
        "{seen}"
    );
    terminal.type_keys("?");
    terminal.sees("any key goes back");
    terminal.type_keys("qq");
    terminal.ends_well();
}

#[test]
fn signals_and_interrupts_give_the_terminal_back() {
    let place = place();
    for signal in [Signal::TERM, Signal::INT, Signal::QUIT] {
        let mut terminal = Terminal::start(&place, &REPLAY, true);
        terminal.sees("inode_permission");
        assert!(terminal.has_colours());
        crate::common::signal(terminal.child.id(), signal);
        terminal.ends_well();
    }
    let mut terminal = Terminal::start(&place, &REPLAY, true);
    terminal.sees("inode_permission");
    terminal.type_keys("\x03");
    terminal.ends_well();
}
