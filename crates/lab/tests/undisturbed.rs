// SPDX-License-Identifier: GPL-2.0-or-later
//! The agent of kernels that are processes waits for a processor that nobody else uses: here as
//! a process of its own, with its probes and with scripted ones.

mod common;

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{agent_objects, compile, guest};
use lab::protocol::{Decoder, Message, encode_experiment};
use model::Status;

/// What asks whether it is to wait.
const ASKING: [&str; 4] = ["main.c", "protocol.c", "timing.c", "undisturbed.c"];

/// An agent that waits, in `dir`; with another file in place of its probes.
fn agent(dir: &Path, probes: Option<&str>) -> PathBuf {
    let mut files = agent_objects();
    let all = files.len();
    for name in ASKING {
        let ending = format!("-{}.o", name.trim_end_matches(".c"));
        files.retain(|file| !file.to_str().unwrap().ends_with(&ending));
        let source = match probes {
            Some(probes) if name == "undisturbed.c" => Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests")
                .join(probes),
            _ => guest().join(name),
        };
        let object = dir.join(name).with_extension("o");
        compile(&object, &["-DARCH_WAIT_MS=20", "-c"], &[source]);
        files.push(object);
    }
    assert_eq!(files.len(), all);
    let agent = dir.join("agent");
    compile(&agent, &["-s"], &files);
    agent
}

/// All that it says of these cells.
fn measure(agent: &Path, dir: &Path, cells: &str) -> Vec<Message> {
    let mut child = Command::new(agent)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let directives = format!("dir {}\n{cells}", dir.display());
    let mut input = child.stdin.take().unwrap();
    input.write_all(&encode_experiment(&directives)).unwrap();
    let mut output = Vec::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_end(&mut output)
        .unwrap();
    assert!(child.wait().unwrap().success());
    Decoder::default().push(&output).unwrap()
}

fn hello(messages: &[Message]) -> &BTreeMap<String, String> {
    let Message::Hello(facts) = &messages[0] else {
        panic!("{messages:?}");
    };
    facts
}

/// Of each cell its samples' times, in ns, and how many were disturbed.
fn cells(messages: &[Message]) -> Vec<(Vec<u64>, u16)> {
    let mut cells = Vec::new();
    let mut times = Vec::new();
    for message in messages {
        match message {
            Message::Samples { samples, .. } => times.extend(samples.iter().map(|of| of.ns)),
            Message::CellEnd {
                status, disturbed, ..
            } => {
                assert_eq!(*status, Status::Ok);
                cells.push((std::mem::take(&mut times), *disturbed));
            }
            _ => {}
        }
    }
    cells
}

#[test]
fn probes_tell_of_the_processor() {
    let dir = tempfile::tempdir().unwrap();
    let agent = agent(dir.path(), None);
    let told = measure(&agent, dir.path(), "cell 0 getppid null time samples=40\n");
    let fact = |name: &str| hello(&told)[name].parse::<u32>().unwrap();
    // Of a processor that does at least two additions at a time, and of one that does eight.
    let ratio = fact("undisturbed");
    assert!((200..4000).contains(&ratio), "{ratio}");
    assert!(fact("pace_ns") > 0);
    let [(times, disturbed)] = &cells(&told)[..] else {
        panic!("{told:?}");
    };
    // Whether others are at this machine is not known: it measures all the same.
    assert!(times.len() >= 8, "{times:?}");
    // Disturbed ones are only kept if hardly any other was found.
    let alone = times.len() - usize::from(*disturbed);
    assert!(
        *disturbed == 0 || alone < 8 && times.len() >= 40,
        "{disturbed} of {times:?}"
    );
}

#[test]
fn disturbed_samples_are_taken_again() {
    let dir = tempfile::tempdir().unwrap();
    let agent = agent(dir.path(), Some("undisturbed_agent.c"));
    // Few that are asked for are enough, too.
    let text: String = [30, 5, 30]
        .map(|samples| format!("cell {samples} getppid null time samples={samples}\n"))
        .concat();
    let told = measure(&agent, dir.path(), &text);
    assert_eq!(hello(&told)["undisturbed"], "1000");
    let cells = cells(&told);
    let counts: Vec<_> = { cells.iter() }
        .map(|(times, disturbed)| (times.len(), *disturbed))
        .collect();
    // Who waits in vain keeps what there is, and says so.
    assert_eq!(counts, [(30, 0), (5, 0), (30, 30)]);
    let times = cells.iter().flat_map(|(times, _)| times);
    // Each is told at one pace.
    assert!(times.min().is_some_and(|ns| *ns >= 1_000_000_000));
}
