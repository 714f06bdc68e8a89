// SPDX-License-Identifier: GPL-2.0-or-later
//! All commands of the tutorials, run in order, print the output shown. SLOW: minutes.
//!
//! In `console` blocks of `docs/tutorials/*.md`, a shell runs each line after `$ `. The lines below
//! are its output on both streams, then the exit status if it fails. Figures and blanks may differ.
//! `…` is any text, and on a line by itself any lines. `sh` blocks are not run; the tests check their
//! number. Blocks with a name (`toml web.toml`) are files, which exist from the start.
//!
//! LSMETER_TUTORIALS=DIRECTORY writes the tutorials there with the real output.
//!
//! Needs QEMU, busybox and the kernels debian:6.1 and debian:6.12.

mod text;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use text::{Block, Tutorial};

use crate::common::Place;
use crate::vm::Vm;

/// `3/10 measurements, 30 seconds: debian:6.1 …`: progress, printed only on slow machines.
fn is_progress(line: &str) -> bool {
    let rest = line
        .split_once(" measurements, ")
        .map_or(line, |(_, rest)| rest);
    let elapsed = rest
        .split_once(": ")
        .and_then(|(time, _)| time.split_once(' '));
    elapsed
        .is_some_and(|(n, unit)| n.parse::<u32>().is_ok() && ["seconds", "minutes"].contains(&unit))
}

/// Output of a command, and its exit status if that is not 0.
fn shown(output: &[u8], status: Option<i32>) -> String {
    let mut shown = String::new();
    for line in str::from_utf8(output).unwrap().lines() {
        if !is_progress(line) {
            writeln!(shown, "{line}").unwrap();
        }
    }
    if status != Some(0) {
        let status = status.map_or("signal".to_owned(), |status| status.to_string());
        writeln!(shown, "exit status {status}").unwrap();
    }
    shown
}

fn read(name: &str) -> Tutorial {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/tutorials/{name}.md"));
    Tutorial::parse(&fs::read_to_string(path).unwrap())
}

/// Compares output with a tutorial.
#[track_caller]
fn assert_shows(name: &str, tutorial: &Tutorial, printed: &[String]) {
    if let Some(directory) = std::env::var_os("LSMETER_TUTORIALS") {
        let path = PathBuf::from(directory).join(format!("{name}.md"));
        fs::write(path, tutorial.with_output(printed)).unwrap();
    }
    let mut wrong = String::new();
    for (command, printed) in tutorial.commands().zip(printed) {
        if !text::matches(&command.output, printed) {
            write!(
                wrong,
                "$ {}\n--- {name}.md shows\n{}--- printed\n{printed}\n",
                command.line, command.output
            )
            .unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Runs a tutorial in a directory of this machine, with its kernels.
fn run_here(name: &str, not_run: usize) {
    let tutorial = read(name);
    assert_eq!(tutorial.blocks(Block::Sh), not_run);
    let place = Place::with_kernel("debian:6.1");
    for (name, content) in tutorial.files() {
        place.write(name, content);
    }
    let programs = place.join("tmp/programs");
    fs::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_lsmeter"), programs.join("lsmeter")).unwrap();
    let path = std::env::join_paths(
        std::iter::once(programs.clone())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    let printed: Vec<String> = tutorial
        .commands()
        .map(|command| {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(format!("exec 2>&1\n{}", command.line));
            let output = place.environment(&mut shell).env("PATH", &path).output();
            let output = output.unwrap();
            shown(&output.stdout, output.status.code())
        })
        .collect();
    assert_shows(name, &tutorial, &printed);
}

#[test]
fn a_patch_author() {
    run_here("patch-author", 1);
}

#[test]
fn a_distribution_engineer() {
    run_here("distribution-engineer", 1);
}

#[test]
fn a_service_operator() {
    run_here("service", 1);
}

#[test]
fn a_researcher() {
    run_here("researcher", 2);
}

/// This tutorial runs as root in a guest.
#[test]
fn an_operator() {
    let tutorial = read("operator");
    assert_eq!(tutorial.blocks(Block::Sh), 2);
    let mut vm = Vm::new("debian:6.12").lsm("capability,selinux,bpf");
    let mut script = String::new();
    for (nth, command) in tutorial.commands().enumerate() {
        vm = vm.file(&format!("/commands/{nth}"), &command.line, 0o644);
        writeln!(
            script,
            "NO_COLOR=1 sh /commands/{nth} >/out/{nth} 2>&1; echo $? >/out/{nth}.status"
        )
        .unwrap();
    }
    let outcome = vm.run(&script).status(0);
    outcome.assert_no_kernel_warnings();
    let printed: Vec<String> = (0..tutorial.commands().count())
        .map(|nth| {
            let status = String::from_utf8(outcome.file(&format!("{nth}.status"))).unwrap();
            let text = shown(&outcome.file(&nth.to_string()), status.trim().parse().ok());
            // This happens only on a busy host.
            text.replace(
                "The overhead of watching a call could not be measured.",
                "Watching added 1 ns to a call.",
            )
        })
        .collect();
    assert_shows("operator", &tutorial, &printed);
}
