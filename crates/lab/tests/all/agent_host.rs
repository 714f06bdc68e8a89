// SPDX-License-Identifier: GPL-2.0-or-later
//! The agent as a process on this machine, with a driver that only knows docs/protocol.md.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{OnceLock, mpsc};
use std::time::Duration;

use kernels::bytes::{u32_at, u64_at};
use lab::catalogue::{Benchmark, agent, catalogue};
use proptest::prelude::*;
use rustix::process::{Pid, Signal, kill_process};

use super::common;

const CELL_BEGIN: u8 = 2;
const SAMPLES: u8 = 3;
const CELL_END: u8 = 4;
const DONE: u8 = 6;
const FAILED: u8 = 7;
const EXPERIMENT: u8 = 16;
const RUN: u8 = 17;

/// Far longer than any of these runs takes. A run that takes this long hangs.
const HANG: Duration = Duration::from_secs(300);

fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut checked = vec![1, kind, 0, 0];
    checked.extend((payload.len() as u32).to_le_bytes());
    let mut crc = crc32fast::Hasher::new();
    crc.update(&checked);
    crc.update(payload);
    let mut frame = b"LSMF".to_vec();
    frame.extend(checked);
    frame.extend(crc.finalize().to_le_bytes());
    frame.extend(payload);
    frame
}

fn frames(mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut frames = Vec::new();
    while !bytes.is_empty() {
        assert!(bytes.len() >= 16, "a frame's head is cut: {bytes:?}");
        let (whole, rest) = bytes.split_at(16 + u32_at(bytes, 8) as usize);
        assert_eq!(frame(bytes[5], &whole[16..]), whole);
        frames.push((bytes[5], whole[16..].to_vec()));
        bytes = rest;
    }
    frames
}

/// The agent is written once, before the first process starts. A program cannot be run while a
/// process has it open for writing.
fn agent_path() -> &'static Path {
    static PATH: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = PATH.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("agent");
        fs::write(&path, agent()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        (dir, path)
    });
    path
}

fn start(agent: &Path) -> Child {
    Command::new(agent)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs `work` on the agent, and kills the agent if it takes too long.
fn guarded<T>(child: Child, work: impl FnOnce(&mut Child) -> T) -> (T, ExitStatus) {
    let mut child = child;
    let pid = Pid::from_child(&child);
    let (finished, waiting) = mpsc::channel::<()>();
    let guard = std::thread::spawn(move || {
        let hung = waiting.recv_timeout(HANG) == Err(mpsc::RecvTimeoutError::Timeout);
        if hung {
            let _ = kill_process(pid, Signal::KILL);
        }
        hung
    });
    let result = work(&mut child);
    let status = child.wait().unwrap();
    drop(finished);
    assert!(!guard.join().unwrap(), "the agent hung");
    (result, status)
}

/// The agent's whole answer to `input`, and its exit status.
pub fn output_of(agent: &Path, input: &[u8]) -> (Vec<u8>, ExitStatus) {
    guarded(start(agent), |child| {
        let mut stdin = child.stdin.take().unwrap();
        // This write fails if the agent exits before it has read everything.
        let _ = stdin.write_all(input);
        drop(stdin);
        let mut output = Vec::new();
        let stdout = child.stdout.as_mut().unwrap();
        stdout.read_to_end(&mut output).unwrap();
        output
    })
}

fn converse(input: &[u8]) -> (Vec<(u8, Vec<u8>)>, ExitStatus) {
    let (output, status) = output_of(agent_path(), input);
    (frames(&output), status)
}

fn experiment(text: &str) -> Vec<u8> {
    [frame(EXPERIMENT, text.as_bytes()), frame(RUN, b"")].concat()
}

/// Text of the `failed` frame that ended the conversation.
fn refusal(input: &[u8]) -> String {
    let (frames, status) = converse(input);
    let (kind, payload) = frames.last().expect("no frame at all");
    assert_eq!(*kind, FAILED, "{frames:?}");
    assert_eq!(status.code(), Some(1));
    String::from_utf8(payload.clone()).unwrap()
}

/// All C files of the agent.
fn agent_sources() -> Vec<PathBuf> {
    let (guest, arch) = (common::guest(), common::arch());
    let parts = ["bench", "policy", "delays", "program", "settings"].map(|part| guest.join(part));
    let mut files = Vec::new();
    for dir in [guest, arch.clone(), arch.join("bench")]
        .iter()
        .chain(&parts)
    {
        let entries = fs::read_dir(dir).into_iter().flatten();
        files.extend(entries.map(|entry| entry.unwrap().path()));
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    files
}

fn is_empty(dir: &Path) -> bool {
    fs::read_dir(dir).unwrap().next().is_none()
}

#[test]
fn every_benchmark_works_here() {
    // One metric at a time: an agent takes at most 512 measurements.
    for metric in ["instructions", "time", "throughput"] {
        every_benchmark_works(agent_path(), metric);
    }
}

/// Some architectures lack the forms of calls that benchmarks name.
#[test]
fn every_benchmark_works_in_the_form_of_newer_architectures() {
    let dir = tempfile::tempdir().unwrap();
    let agent = dir.path().join("agent");
    let forms = common::guest().join("arch/at-forms.h");
    let arguments = ["-s", "-include", forms.to_str().unwrap()];
    common::compile(&agent, &arguments, &agent_sources());
    let output = Command::new(&agent).arg("--list").output().unwrap();
    let list = String::from_utf8(output.stdout).unwrap();
    let calls = |benchmark: &Benchmark| {
        let begin = [&benchmark.name, "\t", &benchmark.variant, "\t"].concat();
        let (_, rest) = list.split_once(&format!("\t{begin}")).unwrap();
        rest.split('\t').nth(2).unwrap().to_owned()
    };
    for benchmark in catalogue() {
        let mut expected = Vec::new();
        for call in &benchmark.syscalls {
            expected.push(match call.as_str() {
                "open" | "creat" => "openat",
                "stat" | "lstat" => "newfstatat",
                "access" => "faccessat",
                "chmod" => "fchmodat",
                "chown" => "fchownat",
                "link" => "linkat",
                "symlink" => "symlinkat",
                "readlink" => "readlinkat",
                "rename" => "renameat2",
                "mkdir" => "mkdirat",
                "mknod" => "mknodat",
                "rmdir" | "unlink" => "unlinkat",
                "fork" => "clone",
                call => call,
            });
        }
        assert_eq!(calls(benchmark), expected.join(" "), "{}", benchmark.id());
    }
    every_benchmark_works(&agent, "instructions");
}

fn every_benchmark_works(agent: &Path, metric: &str) {
    // The test makes and deletes thousands of directories, which takes minutes on a disk and
    // seconds in memory.
    let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let dir = dir.unwrap();
    let mut text = format!("dir {}\nclock -1\n", dir.path().display());
    let cells = catalogue().iter().filter(|benchmark| match metric {
        "throughput" => benchmark.measures.throughput,
        _ => benchmark.measures.latency,
    });
    let cells: Vec<&Benchmark> = cells.collect();
    for (number, Benchmark { name, variant, .. }) in cells.iter().enumerate() {
        let how = "warmup=1 samples=3 ms=3 share=1000";
        writeln!(text, "cell {number} {name} {variant} {metric} {how}").unwrap();
    }
    let (output, status) = output_of(agent, &experiment(&text));
    let frames = frames(&output);
    assert!(status.success(), "{status}: {:?}", frames.last());
    assert_eq!(frames.last().unwrap().0, DONE);
    assert!(is_empty(dir.path()), "the working directory stays");

    let hello = String::from_utf8(frames[0].1.clone()).unwrap();
    for key in [
        "protocol=1",
        "release=",
        &format!("machine={}", std::env::consts::ARCH),
        "lsm=",
        "cmdline=",
        "memory_kib=",
        "clock_ns=",
        "uid=",
    ] {
        let has = hello.lines().any(|line| line.starts_with(key));
        assert!(has, "{key} in {hello}");
    }

    let mut ended = 0;
    let mut samples: Vec<(u64, u64)> = Vec::new();
    for (kind, payload) in &frames {
        match *kind {
            CELL_BEGIN => {
                assert_eq!(u32_at(payload, 0), ended);
                samples.clear();
            }
            SAMPLES => {
                assert_eq!(u32_at(payload, 0), ended);
                assert_eq!(payload.len(), 8 + 16 * u32_at(payload, 4) as usize);
                let pairs = payload[8..].chunks_exact(16);
                samples.extend(pairs.map(|pair| (u64_at(pair, 0), u64_at(pair, 8))));
            }
            CELL_END => {
                let benchmark = cells[ended as usize];
                let id = benchmark.id();
                let reason = std::str::from_utf8(&payload[20..]).unwrap();
                assert_eq!(u32_at(payload, 0), ended);
                ended += 1;
                if payload[4] == 2 {
                    assert!(!reason.is_empty(), "{id} gives no reason");
                    continue;
                }
                assert_eq!(payload[4], 0, "{id} {metric}: {reason}");
                assert_eq!(reason, "");
                let wanted = match metric {
                    "throughput" => 3,
                    // Only the tree walk requires its number when timed.
                    "time" if !benchmark.composite => 3,
                    _ => benchmark.repetitions.unwrap_or(3),
                } as usize;
                let operations = u64_at(payload, 8);
                let batch = u32_at(payload, 16);
                if metric == "instructions" {
                    assert_eq!(operations, wanted as u64, "{id}");
                    assert_eq!((batch, samples.len()), (0, 0), "{id}");
                } else {
                    assert_eq!(samples.len(), wanted, "{id} {metric}");
                    assert_eq!(operations, samples.iter().map(|s| s.0).sum::<u64>());
                    let most = benchmark.max_batch.unwrap_or(1 << 20);
                    assert!((1..=most).contains(&batch), "{id} {metric}");
                    assert!(samples.iter().all(|s| s.0 >= 1), "{id} {metric}");
                }
            }
            _ => {}
        }
    }
    assert_eq!(ended as usize, cells.len());
}

#[test]
fn a_batch_outweighs_the_clock() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!(
        "dir {}\ncell 7 getppid null time warmup=0 samples=5 share=1\n",
        dir.path().display()
    );
    let (frames, status) = converse(&experiment(&text));
    assert!(status.success());
    let end = &frames.iter().find(|f| f.0 == CELL_END).unwrap().1;
    assert_eq!(u32_at(end, 0), 7);
    assert!(u32_at(end, 16) > 16, "one per mille takes many calls");
    assert_eq!(u64_at(end, 8), 5 * u64::from(u32_at(end, 16)));
}

#[test]
fn a_metric_that_makes_no_sense_fails_that_cell_only() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!(
        "dir {}\ncell 1 open AA throughput\ncell 2 stat AA time samples=1 warmup=0\n",
        dir.path().display()
    );
    let (frames, status) = converse(&experiment(&text));
    assert!(status.success());
    let ends = frames.iter().filter(|frame| frame.0 == CELL_END);
    let ends: Vec<&Vec<u8>> = ends.map(|frame| &frame.1).collect();
    assert_eq!((ends[0][4], ends[1][4]), (1, 0));
    assert_eq!(&ends[0][20..], b"this benchmark has no throughput");
}

#[test]
fn damaged_input_is_refused() {
    let good = frame(EXPERIMENT, b"clock 0\n");
    let altered = |at: usize, to: u8| {
        let mut bytes = good.clone();
        bytes[at] = to;
        bytes
    };
    let oversized = {
        let mut bytes = frame(EXPERIMENT, &vec![b'\n'; 65_537]);
        bytes.truncate(16 + 65_537);
        bytes
    };
    let mut huge = good.clone();
    huge[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    for (input, reason) in [
        (b"".to_vec(), "ended"),
        (b"hello, is anybody there?".to_vec(), "magic"),
        (vec![0; 1 << 20], "magic"),
        (good[..7].to_vec(), "ended"),
        (good[..good.len() - 1].to_vec(), "ended"),
        (good.clone(), "ended"),
        (altered(0, b'X'), "magic"),
        (altered(4, 2), "version 2"),
        (altered(5, 1), "type 1"),
        (altered(6, 1), "reserved"),
        (altered(12, good[12] ^ 1), "checksum"),
        (altered(16, b'C'), "checksum"),
        (huge, "payload of 4294967295 bytes"),
        (oversized, "payload of 65537 bytes"),
        (frame(RUN, b"now"), "run frame"),
    ] {
        let message = refusal(&input);
        assert!(message.contains(reason), "{message} instead of {reason}");
    }
}

#[test]
fn wrong_directives_are_refused() {
    let many = "cell 1 open AA time\n".repeat(513);
    let long_dir = format!("dir /{}\n", "x".repeat(1023));
    for (text, reason) in [
        ("", "dir is missing"),
        ("dir\n", "dir wants a path"),
        (long_dir.as_str(), "dir wants a path"),
        (
            "dir /nonexistent/directory\n",
            "/nonexistent/directory: ENOENT (2)",
        ),
        ("dir /dev/null\n", "ENOTDIR"),
        ("dir /\nfs ext4\n", "VM only"),
        ("fs averyverylongname\n", "fs wants a name"),
        ("clock -2\n", "clock wants"),
        ("clock 99999999999\n", "clock wants"),
        ("clock\n", "clock wants"),
        ("walk 1\n", "unknown directive: walk"),
        ("cell 1 open AA\n", "cell wants ID"),
        ("cell x open AA time\n", "not a cell's number: x"),
        ("cell 4294967296 open AA time\n", "not a cell's number"),
        ("cell 1 nosuch AA time\n", "unknown benchmark: nosuch"),
        ("cell 1 open ZZ time\n", "open has no variant ZZ"),
        ("cell 1 open AA speed\n", "unknown metric: speed"),
        ("cell 1 open AA time samples\n", "not KEY=VALUE: samples"),
        ("cell 1 open AA time samples=0\n", "samples must be"),
        ("cell 1 open AA time samples=-1\n", "samples must be"),
        (
            "cell 1 open AA time samples=20000\n",
            "at most 16384 samples",
        ),
        ("cell 1 open AA time share=1001\n", "share must be"),
        ("cell 1 open AA time colour=1\n", "unknown key: colour"),
        ("dir /\0tmp\n", "control character 0x00"),
        ("clock\t0\n", "control character 0x09"),
        (many.as_str(), "more than 512 cells"),
    ] {
        let message = refusal(&experiment(text));
        assert!(message.contains(reason), "{message} instead of {reason}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn noise_is_refused(noise in prop::collection::vec(any::<u8>(), 0..200)) {
        refusal(&noise);
    }

    #[test]
    fn any_damaged_byte_is_noticed(at in any::<prop::sample::Index>(), flip in 1u8..) {
        let mut input = experiment("dir /tmp\ncell 1 getppid null time samples=1 warmup=0\n");
        let at = at.index(input.len());
        input[at] ^= flip;
        refusal(&input);
    }

    #[test]
    fn any_cut_is_noticed(at in any::<prop::sample::Index>()) {
        let input = experiment("dir /tmp\ncell 1 getppid null time samples=1 warmup=0\n");
        refusal(&input[..at.index(input.len())]);
    }
}

/// Starts a measurement that would take an hour and waits until it has begun.
fn start_long_cell(child: &mut Child, dir: &Path) {
    let text = format!(
        "dir {}\ncell 0 mkdir 9437-names throughput ms=3600000 warmup=1 samples=16384\ncell 1 stat AA time\n",
        dir.display()
    );
    let mut stdin = child.stdin.as_ref().unwrap();
    stdin.write_all(&experiment(&text)).unwrap();
    let stdout = child.stdout.as_mut().unwrap();
    loop {
        let mut head = [0; 16];
        stdout.read_exact(&mut head).unwrap();
        let mut payload = vec![0; u32_at(&head, 8) as usize];
        stdout.read_exact(&mut payload).unwrap();
        if head[5] == CELL_BEGIN {
            return;
        }
    }
}

#[test]
fn a_signal_ends_it_and_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let ((), status) = guarded(start(agent_path()), |child| {
        start_long_cell(child, dir.path());
        kill_process(Pid::from_child(child), Signal::TERM).unwrap();
    });
    assert_eq!(status.code(), Some(128 + 15));
    assert!(is_empty(dir.path()));
}

#[test]
fn a_reader_that_goes_away_ends_it() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!(
        "dir {}\ncell 0 mkdir 9437-names throughput ms=20 warmup=1 samples=1\n",
        dir.path().display()
    );
    let ((), status) = guarded(start(agent_path()), |child| {
        let mut stdin = child.stdin.as_ref().unwrap();
        stdin.write_all(&experiment(&text)).unwrap();
        drop(child.stdout.take());
    });
    assert_eq!(status.code(), Some(1));
    assert!(is_empty(dir.path()));
}

#[test]
fn other_arguments_than_list_are_refused() {
    let wrong = Command::new(agent_path()).arg("--help").output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(wrong.stdout.is_empty() && !wrong.stderr.is_empty());
}
