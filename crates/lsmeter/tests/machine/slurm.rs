// SPDX-License-Identifier: GPL-2.0-or-later
//! `packaging/slurm/lsmeter.sbatch`, on a Slurm of the test: one controller and three nodes on
//! loopback.
//!
//! Needs root, slurmctld, slurmd, slurm-client and munge, which `make test` installs.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;

use super::cells::{RUN, assert_same};
use crate::common::{Place, children, runs, signal, wait_for, words};

const NODES: [&str; 3] = ["n1", "n2", "n3"];

/// Enough samples that a boot is seen before it ends.
const WHAT: &str = "--jobs 1 --samples 400 --stack capability --stack capability,selinux \
                    --stack capability,apparmor --bench getppid,stat:*,open:*,read:*";

/// A cluster, stopped when dropped.
struct Cluster {
    dir: PathBuf,
    daemons: Vec<Child>,
    nodes: Vec<Child>,
}

/// Consecutive free ports.
fn ports(count: usize) -> Vec<u16> {
    let listeners: Vec<TcpListener> = (0..count)
        .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
        .collect();
    listeners
        .iter()
        .map(|listener| listener.local_addr().unwrap().port())
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

    /// Output of a Slurm command.
    fn ask(&self, place: &Place, words: &[&str]) -> String {
        let mut command = Command::new(words[0]);
        let command = place.environment(command.args(&words[1..]));
        let command = command
            .env("SLURM_CONF", self.dir.join("slurm.conf"))
            .env("LSMETER", env!("CARGO_BIN_EXE_lsmeter"));
        let ended = command.output().unwrap();
        assert!(ended.status.success(), "{words:?}: {ended:#?}");
        String::from_utf8(ended.stdout).unwrap().trim().to_owned()
    }

    /// Processes of tasks with `variables` in their environment.
    fn processes_with(&self, variables: &[&str]) -> Vec<u32> {
        let own = format!("SLURM_CONF={}", self.dir.join("slurm.conf").display());
        let wanted: Vec<&str> = variables.iter().copied().chain([own.as_str()]).collect();
        let pids = fs::read_dir("/proc").unwrap().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        pids.filter(|pid| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let has = |wanted: &&str| {
                environment
                    .split(|byte| *byte == 0)
                    .any(|variable| variable == wanted.as_bytes())
            };
            wanted.iter().all(has)
        })
        .collect()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for node in NODES {
            let left = self.processes_with(&[&format!("SLURMD_NODENAME={node}")]);
            if std::thread::panicking() {
                for pid in &left {
                    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                    eprintln!("left on {node}: {pid} {}", String::from_utf8_lossy(&words));
                }
            }
            kill_all(&left);
        }
        // The controller is stopped before munge, because it would wait without it.
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

#[test]
fn a_requeued_task_continues() {
    let place = Place::with_kernels().alone();
    let line = format!("{RUN} {WHAT}");
    let cluster = Cluster::start(&place);
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../packaging/slurm/lsmeter.sbatch"
    );
    let submit = ["sbatch", "--parsable", "--array=1-3", script];
    let job = cluster.ask(&place, &[&submit[..], &words(&line)[1..]].concat());
    let state = |task: &str| {
        let format = ["--noheader", "--states=all", "--format=%T"];
        let queued = [&["squeue", "--job", task][..], &format].concat();
        cluster.ask(&place, &queued)
    };
    let task = format!("{job}_2");
    let killed = wait_for("the second task's machine", || {
        let mut of_task = cluster
            .processes_with(&["SLURM_ARRAY_TASK_ID=2"])
            .into_iter();
        of_task.find(|pid| {
            let program = fs::read_link(format!("/proc/{pid}/exe"));
            program.is_ok_and(|path| path.ends_with("lsmeter")) && !children(*pid).is_empty()
        })
    });
    signal(killed, Signal::KILL);
    wait_for("the end of the task", || {
        (state(&task) == "FAILED").then_some(())
    });
    cluster.ask(&place, &["scontrol", "requeue", &task]);
    wait_for("the end of all tasks", || {
        let states = state(&job);
        assert!(!states.contains("CANCELLED"), "{states}");
        states
            .lines()
            .all(|state| state == "COMPLETED")
            .then_some(())
    });
    let parts = [1, 2, 3].map(|task| format!("lsmeter-{job}-{task}.json"));
    let merge = format!("merge {} --output run.json", parts.join(" "));
    place.line(&merge).code(0);
    let merged = place.document("run.json");
    place
        .line(&format!("{line} --no-cache --output whole.json"))
        .code(0);
    assert_same(&merged, &place.document("whole.json"));
    assert_eq!(merged.share, None);
}
