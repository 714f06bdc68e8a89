// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter run --slurm`, on a Slurm of its own: one controller, three nodes, all on loopback.
//! SLOW: some minutes.
//!
//! Needs root, slurmctld, slurmd, slurm-client and munge, which `make test` installs, QEMU and
//! the kernel debian:6.12 in the cache of whoever runs the tests. LSMETER_SLURM_PRESET=suite
//! divides all of a preset, which takes far longer.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use experiment::Status;
use rustix::process::Signal;

use super::cells::{RUN, assert_same, read};
use crate::common::{Ended, Place, Running, names, runs, signal, wait_for};

const NODES: [&str; 3] = ["n1", "n2", "n3"];

const WHAT: &[&str] = &[
    "--jobs",
    "1",
    // So that a boot has not ended before it was seen that it has begun.
    "--samples",
    "400",
    "--stack",
    "capability",
    "--stack",
    "capability,selinux",
    "--stack",
    "capability,apparmor",
    "--bench",
    "getppid",
    "--bench",
    "stat:*",
    "--bench",
    "open:*",
    "--bench",
    "read:*",
];

/// A cluster, ended when it is dropped.
struct Cluster {
    dir: PathBuf,
    daemons: Vec<Child>,
    nodes: Vec<Child>,
}

/// Ports that are free now, one after the other.
fn ports(count: usize) -> Vec<u16> {
    let listeners: Vec<TcpListener> = (0..count)
        .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
        .collect();
    listeners
        .iter()
        .map(|of| of.local_addr().unwrap().port())
        .collect()
}

fn daemon(dir: &Path, program: &str, arguments: &[&str]) -> Child {
    let log =
        fs::File::create(dir.join(format!("{}.out", arguments.concat().replace('/', "")))).unwrap();
    Command::new(program)
        .args(arguments)
        .env("SLURM_CONF", dir.join("slurm.conf"))
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap_or_else(|error| panic!("cannot start {program}: {error}; `make test` installs it"))
}

impl Cluster {
    fn start(place: &Place) -> Cluster {
        assert!(
            rustix::process::getuid().is_root(),
            "slurmd wants to be root"
        );
        let dir = place.join("slurm");
        fs::create_dir(&dir).unwrap();
        for open in [place.path(), &dir] {
            fs::set_permissions(open, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let mut key = vec![0; 1024];
        fs::File::open("/dev/urandom")
            .unwrap()
            .read_exact(&mut key)
            .unwrap();
        let key_file = dir.join("key");
        fs::write(&key_file, key).unwrap();
        fs::set_permissions(&key_file, fs::Permissions::from_mode(0o400)).unwrap();
        fs::write(dir.join("slurm.conf"), configuration(&dir)).unwrap();

        let own = |name: &str, file: &str| format!("--{name}={}", dir.join(file).display());
        let munged = [
            own("key-file", "key"),
            own("socket", "munge"),
            own("pid-file", "munge.pid"),
            own("log-file", "munge.log"),
            own("seed-file", "munge.seed"),
        ];
        let mut arguments = vec!["--foreground", "--force"];
        arguments.extend(munged.iter().map(String::as_str));
        let mut daemons = vec![daemon(&dir, "/usr/sbin/munged", &arguments)];
        wait_for("munge", || dir.join("munge").exists().then_some(()));
        daemons.push(daemon(&dir, "/usr/sbin/slurmctld", &["-D", "-c"]));
        let nodes = NODES.map(|node| daemon(&dir, "/usr/sbin/slurmd", &["-D", "-N", node]));
        let cluster = Cluster {
            dir,
            daemons,
            nodes: nodes.into(),
        };
        wait_for("three idle nodes", || {
            let mut sinfo = Command::new("sinfo");
            sinfo.args(["--noheader", "--Node", "--format=%T"]);
            let listed = sinfo
                .env("SLURM_CONF", cluster.dir.join("slurm.conf"))
                .output();
            let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
            (listed.lines().filter(|state| *state == "idle").count() == 3).then_some(())
        });
        cluster
    }

    fn run(&self, place: &Place, arguments: &[&str]) -> Running {
        let mut command = place.command(arguments);
        command.env("SLURM_CONF", self.dir.join("slurm.conf"));
        Running::start_command(command, arguments)
    }

    /// Takes a node away, as if its power failed: its slurmd, and all that it runs.
    fn kill(&mut self, node: usize) {
        let child = &mut self.nodes[node];
        child.kill().unwrap();
        child.wait().unwrap();
        let tasks = self.processes_of(NODES[node]);
        // Slurm's own process above each task, which outlives its slurmd.
        let mut all: Vec<u32> = tasks.iter().filter_map(|&pid| step_above(pid)).collect();
        all.extend(tasks);
        kill_all(&all);
    }

    /// Processes of the tasks on a node.
    fn processes_of(&self, node: &str) -> Vec<u32> {
        let wanted = [
            format!("SLURMD_NODENAME={node}"),
            format!("SLURM_CONF={}", self.dir.join("slurm.conf").display()),
        ];
        let pids = fs::read_dir("/proc").unwrap().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        pids.filter(|pid| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let has = |wanted: &String| {
                environment
                    .split(|byte| *byte == 0)
                    .any(|of| of == wanted.as_bytes())
            };
            wanted.iter().all(has)
        })
        .collect()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for node in NODES {
            let left = self.processes_of(node);
            if std::thread::panicking() {
                for pid in &left {
                    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                    eprintln!("left on {node}: {pid} {}", String::from_utf8_lossy(&words));
                }
            }
            kill_all(&left);
        }
        // The controller before munge, without which it would wait.
        for child in self.nodes.iter_mut().chain(self.daemons.iter_mut().rev()) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn kill_all(pids: &[u32]) {
    for &pid in pids {
        if runs(pid) {
            signal(pid, Signal::KILL);
        }
    }
}

/// The parent of a task's first process, if it is Slurm's.
fn step_above(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    let parent: u32 = parent.trim().parse().ok()?;
    let name = fs::read_to_string(format!("/proc/{parent}/comm")).ok()?;
    (name.trim() == "slurmstepd").then_some(parent)
}

fn configuration(dir: &Path) -> String {
    let host = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    let ports = ports(4);
    let mut text = format!(
        "ClusterName=lsmeter\n\
         SlurmctldHost={host}(127.0.0.1)\n\
         SlurmctldPort={port}\n\
         AuthType=auth/munge\n\
         AuthInfo=socket={dir}/munge\n\
         SlurmUser=root\n\
         StateSaveLocation={dir}/state\n\
         SlurmdSpoolDir={dir}/spool-%n\n\
         SlurmctldPidFile={dir}/controller.pid\n\
         SlurmdPidFile={dir}/%n.pid\n\
         SlurmctldLogFile={dir}/controller.log\n\
         SlurmdLogFile={dir}/%n.log\n\
         ProctrackType=proctrack/linuxproc\n\
         TaskPlugin=task/none\n\
         SlurmdParameters=config_overrides\n\
         SelectType=select/cons_tres\n\
         MpiDefault=none\n\
         SlurmdTimeout=10\n\
         KillWait=2\n\
         PartitionName=main Nodes=ALL Default=YES State=UP\n",
        port = ports[0],
        dir = dir.display(),
    );
    for (node, port) in NODES.iter().zip(&ports[1..]) {
        text +=
            &format!("NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1\n");
    }
    fs::create_dir(dir.join("state")).unwrap();
    text
}

/// Until a node's task has finished a cell, of many; it may be at its end a second later.
fn mid_run(cluster: &Cluster, node: usize, directory: &Path) {
    let task = wait_for("the node's task", || {
        let pids = cluster.processes_of(NODES[node]);
        pids.into_iter().find_map(|pid| {
            let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
            let mut variables = environment.split(|byte| *byte == 0);
            let task = variables.find_map(|of| of.strip_prefix(b"SLURM_ARRAY_TASK_ID="))?;
            String::from_utf8(task.into()).ok()
        })
    });
    // Each attempt has a journal of its own.
    let own =
        |name: &String| name.starts_with(&format!("shard-{task}.")) && name.ends_with(".journal");
    wait_for("cell of the node's task", || {
        let journals = names(directory).into_iter().filter(own);
        let texts = journals.filter_map(|name| fs::read_to_string(directory.join(name)).ok());
        let begun = texts.into_iter().any(|text| text.lines().count() > 1);
        begun.then_some(())
    });
}

#[test]
fn a_node_is_lost_and_nothing_else() {
    let place = Place::with_kernels();
    let preset = std::env::var("LSMETER_SLURM_PRESET");
    let what = match &preset {
        Ok(preset) => vec!["run", preset, "--offline", "--jobs", "1"],
        Err(_) => [RUN, WHAT].concat(),
    };
    place
        .run(&[&what[..], &["--output", "whole.json"]].concat())
        .code(0);
    let mut cluster = Cluster::start(&place);
    let slurm = ["--slurm", "--shards", "3", "--output", "run.json"];
    let running = cluster.run(&place, &[&what[..], &slurm].concat());
    mid_run(&cluster, 1, &place.join("run.json.shards"));
    cluster.kill(1);
    let ended: Ended = running.wait().code(0);
    assert!(
        ended.stderr.contains(": lost; submitted again (2 of 4)"),
        "{ended:#?}"
    );
    let (whole, merged) = (
        read(&place.join("whole.json")),
        read(&place.join("run.json")),
    );
    assert_same(&merged, &whole);
    assert_eq!(merged.share, None);
    assert!(!place.join("run.json.shards").exists());
    eprintln!(
        "{} cells, each as in a run on one machine",
        merged.cells.len()
    );

    if preset.is_ok() {
        return;
    }
    // Ctrl-C ends the tasks; the same command goes on.
    let again = [
        "--slurm",
        "--shards",
        "2",
        "--workdir",
        "parts",
        "--output",
        "again.json",
    ];
    let running = cluster.run(&place, &[RUN, WHAT, &again].concat());
    wait_for("a task", || {
        (!cluster.processes_of("n1").is_empty()).then_some(())
    });
    signal(running.pid(), Signal::INT);
    let ended = running.wait().code(4);
    assert!(
        ended
            .stderr
            .contains("hint: the same command with --resume --workdir parts"),
        "{ended:#?}"
    );
    wait_for("the end of all tasks", || {
        let mut left = NODES.iter().flat_map(|node| cluster.processes_of(node));
        left.next().is_none().then_some(())
    });
    cluster
        .run(&place, &[RUN, WHAT, &again, &["--resume"]].concat())
        .wait()
        .code(0);
    assert_same(&read(&place.join("again.json")), &whole);
}

/// lsmeter on a node on which, in its first attempt, a cell fails.
const FAILS_FIRST: &str = r#"#!/bin/sh
LSMETER "$@" || exit
[ "$SLURM_ARRAY_TASK_ID" = 2 ] && mkdir "DIR/failed" 2>/dev/null || exit 0
for argument; do
	case $argument in
	*.json) sed -i 's/"status":"ok","evidence":.*}\([],]*\)$/"status":"failed","reason":"so"}\1/' "$argument" ;;
	esac
done
exit 4
"#;

#[test]
fn what_failed_is_tried_once_more() {
    let place = Place::with_kernels();
    let program = FAILS_FIRST
        .replace("LSMETER", env!("CARGO_BIN_EXE_lsmeter"))
        .replace("DIR", place.path().to_str().unwrap());
    let program = place.write("node-program", program);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let cluster = Cluster::start(&place);
    let cells = [
        "--stack",
        "capability",
        "--stack",
        "capability,selinux",
        "--bench",
        "getppid",
    ];
    let slurm = [
        "--slurm",
        "--shards",
        "2",
        "--output",
        "run.json",
        "--node-program",
    ];
    let asked = [
        RUN,
        &WHAT[..2],
        &cells,
        &slurm,
        &[program.to_str().unwrap()],
    ]
    .concat();
    let ended = cluster.run(&place, &asked).wait().code(0);
    let told = "shard 2: failed cells: 1; measured once more";
    assert!(ended.stderr.contains(told), "{ended:#?}");
    let merged = read(&place.join("run.json"));
    assert_eq!(merged.cells.len(), 2);
    assert!(merged.cells.iter().all(|cell| cell.status() == Status::Ok));
}
