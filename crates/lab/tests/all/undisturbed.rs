// SPDX-License-Identifier: GPL-2.0-or-later
//! The agent of UML kernels waits until nobody else uses the processor. Here it runs as an ordinary
//! process, with its own probes and with scripted ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lab::protocol::{Decoder, Message, encode_experiment};
use model::Status;

use super::agent_host::output_of;
use super::common::{agent_objects, compile, guest, of_tests};

/// Files whose code depends on whether the agent waits.
const ASKING: [&str; 4] = ["main", "protocol", "timing", "undisturbed"];

/// Makes an agent in `dir` that waits. `probes` is a file that replaces its probes.
fn agent(dir: &Path, probes: Option<&str>) -> PathBuf {
    let mut files = agent_objects(&ASKING);
    for name in ASKING {
        let source = match probes {
            Some(probes) if name == "undisturbed" => of_tests(probes),
            _ => guest().join(name).with_extension("c"),
        };
        let object = dir.join(name).with_extension("o");
        compile(&object, &["-DARCH_WAIT_MS=20", "-c"], &[source]);
        files.push(object);
    }
    let agent = dir.join("agent");
    compile(&agent, &["-s"], &files);
    agent
}

/// All messages about these measurements.
fn measure(agent: &Path, dir: &Path, cells: &str) -> Vec<Message> {
    let directives = format!("dir {}\n{cells}", dir.display());
    let (output, status) = output_of(agent, &encode_experiment(&directives));
    assert!(status.success());
    Decoder::default().push(&output).unwrap()
}

fn hello(messages: &[Message]) -> &BTreeMap<String, String> {
    let Message::Hello(facts) = &messages[0] else {
        panic!("{messages:?}");
    };
    facts
}

/// Sample times of each measurement, in ns, and how many were disturbed.
fn cells(messages: &[Message]) -> Vec<(Vec<u64>, u16)> {
    let mut cells = Vec::new();
    let mut times = Vec::new();
    for message in messages {
        match message {
            Message::Samples { samples, .. } => {
                times.extend(samples.iter().map(|sample| sample.ns))
            }
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
    let messages = measure(&agent, dir.path(), "cell 0 getppid null time samples=40\n");
    let fact = |name: &str| hello(&messages)[name].parse::<u32>().unwrap();
    // The limits allow for processors that do from two to eight additions at a time.
    let ratio = fact("undisturbed");
    assert!((200..4000).contains(&ratio), "{ratio}");
    assert!(fact("pace_ns") > 0);
    let [(times, disturbed)] = &cells(&messages)[..] else {
        panic!("{messages:?}");
    };
    // It is unknown whether others use this machine, but the agent must measure.
    assert!(times.len() >= 8, "{times:?}");
    // Disturbed samples are kept only if there are hardly any others.
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
    // A smaller requested number is also enough.
    let text: String = [30, 5, 30]
        .map(|samples| format!("cell {samples} getppid null time samples={samples}\n"))
        .concat();
    let messages = measure(&agent, dir.path(), &text);
    assert_eq!(hello(&messages)["undisturbed"], "1000");
    let cells = cells(&messages);
    let counts: Vec<_> = { cells.iter() }
        .map(|(times, disturbed)| (times.len(), *disturbed))
        .collect();
    // If the agent has waited without success, it keeps disturbed samples, and marks them.
    assert_eq!(counts, [(30, 0), (5, 0), (30, 30)]);
    let times = cells.iter().flat_map(|(times, _)| times);
    // All times are converted with the same pace.
    assert!(times.min().is_some_and(|ns| *ns >= 1_000_000_000));
}
