// SPDX-License-Identifier: GPL-2.0-or-later
//! A VM with a stock kernel and lsmeter, for tests as root on a live machine. Runs a script in the
//! guest and returns its output, status and files.
//!
//! Needs QEMU, a static busybox (Debian's busybox-static) and a kernel in the user's cache. The VM has
//! neither network nor disk nor kernel modules.

// Not every user of this file calls all functions.
#![allow(dead_code)]

mod archive;
pub mod program;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use kernels::child::{describe, die_with_parent};
use kernels::scratch::Scratch;
use kernels::{Kernel, Store};
use lab::process::{Process, last_lines};
use rustix::process::{Resource, Rlimit, Signal, setrlimit};

const INIT: &[u8] = include_bytes!("init.sh");
const SHELL: &str = "/bin/sh";
const BUSYBOX: &str = "bin/busybox";
/// Maximum size of console and archive, in bytes. QEMU is killed above it.
const PORT_LIMIT: u64 = 64 << 20;
/// Console lines printed after a failure.
const CONSOLE_LINES: usize = 60;

/// Directories for mounts and for the links of busybox.
const DIRECTORIES: &[&str] = &[
    "bin", "dev", "etc", "mnt", "proc", "result", "root", "run", "sbin", "sys", "tmp", "usr/bin",
    "usr/sbin", "var/tmp",
];

/// Settings of a VM.
#[derive(Debug, Clone)]
pub struct Vm {
    kernel: Kernel,
    cmdline: Vec<String>,
    memory_mib: u32,
    limit: Duration,
    icount: bool,
    /// Mode and content by path, which has no leading `/`.
    files: BTreeMap<String, (u32, Vec<u8>)>,
}

impl Vm {
    /// With a cached kernel: `debian:6.12`, or another value of `--kernel`.
    #[track_caller]
    pub fn new(kernel: &str) -> Vm {
        match resolve(kernel) {
            Ok(kernel) => Vm::with_kernel(kernel),
            Err(error) => panic!(
                "these tests boot {kernel}: {error}: {}",
                error
                    .hint()
                    .unwrap_or("lsmeter kernel list shows what is here")
            ),
        }
    }

    fn with_kernel(kernel: Kernel) -> Vm {
        let busybox = program::find("busybox")
            .expect("tests in a VM need busybox: apt-get install busybox-static");
        let mut vm = Vm {
            kernel,
            cmdline: Vec::new(),
            memory_mib: 768,
            limit: Duration::from_secs(300),
            icount: false,
            files: BTreeMap::new(),
        }
        .file("/init", INIT, 0o755)
        .file("/etc/passwd", USERS, 0o644)
        .file("/etc/group", GROUPS, 0o644)
        .file("/usr/bin/lsmeter", program::lsmeter(), 0o755);
        vm.copy(&busybox, BUSYBOX);
        vm.libraries(&busybox);
        // Not busybox's shell, which runs its own commands without execve.
        vm.copy(Path::new(SHELL), guest_path(Path::new(SHELL)));
        vm.libraries(Path::new(SHELL));
        vm.libraries(Path::new(env!("CARGO_BIN_EXE_lsmeter")));
        vm
    }

    /// The release of its kernel, as in `uname -r`.
    pub fn release(&self) -> &str {
        &self.kernel.release
    }

    /// The stack, as in `lsm=`. Default: the kernel's.
    pub fn lsm(self, stack: &str) -> Vm {
        self.cmdline(&format!("lsm={stack}"))
    }

    /// More parameters of the kernel command line.
    pub fn cmdline(mut self, words: &str) -> Vm {
        self.cmdline.push(words.trim().to_owned());
        self
    }

    pub fn memory_mib(mut self, memory_mib: u32) -> Vm {
        self.memory_mib = memory_mib;
        self
    }

    /// Time limit. Default: five minutes.
    pub fn minutes(mut self, minutes: u64) -> Vm {
        self.limit = Duration::from_secs(60 * minutes);
        self
    }

    /// Uses one processor and a clock of one instruction per nanosecond: two boots are equal, and
    /// guest time is a number of instructions.
    pub fn icount(mut self) -> Vm {
        self.icount = true;
        self
    }

    /// Adds or replaces a file at an absolute path.
    #[track_caller]
    pub fn file(mut self, path: &str, content: impl AsRef<[u8]>, mode: u32) -> Vm {
        let path = path.strip_prefix('/').expect("an absolute path");
        let entry = (mode & 0o7777, content.as_ref().to_vec());
        self.files.insert(path.to_owned(), entry);
        self
    }

    /// Adds a program of this machine and its shared libraries, at the same path. A name is searched
    /// in PATH.
    #[track_caller]
    pub fn program(mut self, program: &str) -> Vm {
        let found = match program.contains('/') {
            true => Some(PathBuf::from(program)).filter(|path| path.is_file()),
            false => program::find(program),
        };
        let path = found.unwrap_or_else(|| panic!("there is no {program} to copy into a VM"));
        self.copy(&path, guest_path(&path));
        self.libraries(&path);
        self
    }

    #[track_caller]
    fn libraries(&mut self, program: &Path) {
        for library in program::libraries(program) {
            self.copy(&library, guest_path(&library));
        }
    }

    #[track_caller]
    fn copy(&mut self, from: &Path, to: &str) {
        if self.files.contains_key(to) {
            return;
        }
        let content = fs::read(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
        let mode = fs::metadata(from).unwrap().permissions().mode() & 0o7777;
        self.files.insert(to.to_owned(), (mode, content));
    }

    /// Boots, runs `script` as root in `/root` with this machine's `/bin/sh` and without input, and
    /// shuts down. Returns the files that the script leaves in `/out`.
    ///
    /// Panics with the last console lines at the time limit.
    #[track_caller]
    pub fn run(&self, script: &str) -> Outcome {
        let dir = Scratch::new().unwrap();
        let at = |name: &str| dir.path().join(name);
        let mut files = self.files.clone();
        files.insert("script".to_owned(), (0o755, script.as_bytes().to_vec()));
        fs::write(at("initramfs"), archive::write(&files, DIRECTORIES)).unwrap();
        let mut qemu = Process::start(self.command(dir.path()))
            .unwrap_or_else(|error| panic!("QEMU (apt-get install qemu-system-x86): {error}"));
        qemu.wait_at_most(self.limit);
        let ended = qemu.status();
        qemu.end();
        if let Some(outcome) = Outcome::parse(&read(&at("result"))) {
            return outcome;
        }
        let console = String::from_utf8_lossy(&read(&at("console"))).replace('\r', "");
        panic!(
            "{} did not finish the script: QEMU {}\n{}\nconsole:\n{}",
            self.kernel.name,
            ended.map_or_else(
                || format!("had not ended after {} s", self.limit.as_secs()),
                describe
            ),
            qemu.stderr(),
            last_lines(&console, CONSOLE_LINES).join("\n")
        )
    }

    fn command(&self, dir: &Path) -> Command {
        let port = |name: &str| {
            let path = dir.join(name);
            format!("file,id={name},path={}", path.display())
        };
        let image = match (&self.kernel.vmlinux, self.kernel.pvh_entry) {
            (Some(vmlinux), Some(_)) => vmlinux,
            _ => &self.kernel.image,
        };
        let machine = &kernels::arch::native().machine;
        let mut command = Command::new(machine.program);
        command
            .args(["-nodefaults", "-no-user-config", "-display", "none"])
            .args(["-monitor", "none", "-no-reboot", "-nic", "none"])
            .args(["-machine", &machine.board_argument()])
            .args([
                "-cpu",
                machine.processor,
                "-m",
                &self.memory_mib.to_string(),
            ])
            .args(["-smp", if self.icount { "1" } else { "2" }])
            .args(["-chardev", &port("console"), "-serial", "chardev:console"])
            .args(["-chardev", &port("result"), "-serial", "chardev:result"])
            .arg("-kernel")
            .arg(image)
            .arg("-initrd")
            .arg(dir.join("initramfs"))
            .args(["-append", &self.kernel_arguments()]);
        // One thread for all processors. With one for each, a processor may execute a block that
        // was translated while another patched the kernel's text, and the kernel crashes at a
        // breakpoint (int3) that is removed already. Monitors patch a lot.
        command.args(["-accel", "tcg,thread=single"]);
        if self.icount {
            command
                .args(["-icount", "shift=0,sleep=off", "-seed", "1"])
                .args(["-rtc", "base=2024-01-01T00:00:00,clock=vm"]);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        die_with_parent(&mut command, Signal::KILL);
        let limit = Rlimit {
            current: Some(PORT_LIMIT),
            maximum: Some(PORT_LIMIT),
        };
        // SAFETY: only this async-signal-safe system call runs between fork and exec, without
        // allocation or locks.
        unsafe {
            command.pre_exec(move || Ok(setrlimit(Resource::Fsize, limit)?));
        }
        command
    }

    fn kernel_arguments(&self) -> String {
        let mut words = vec![
            "console=ttyS0 loglevel=5 log_buf_len=1M panic=-1 oops=panic reboot=t rdinit=/init",
            // A busy host may stop the guest for as long as the kernel would wait.
            "no_timer_check cryptomgr.notests=1 rcupdate.rcu_cpu_stall_timeout=200",
        ];
        if self.icount {
            words.push("nolapic_timer tsc_early_khz=1000000 norandmaps nokaslr");
        }
        words.extend(self.cmdline.iter().map(String::as_str));
        words.join(" ")
    }
}

const USERS: &str = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n";
const GROUPS: &str = "root:x:0:\ntty:x:5:\nnogroup:x:65534:\n";

/// Result of a script.
#[derive(Debug)]
pub struct Outcome {
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error, which is also on the console.
    pub stderr: String,
    /// Exit status, or 128 plus the number of the signal that killed it.
    pub status: i32,
    /// The kernel log until the script ended.
    pub kernel_log: String,
    files: BTreeMap<String, Vec<u8>>,
}

impl Outcome {
    /// None if `result` is incomplete.
    fn parse(result: &[u8]) -> Option<Outcome> {
        let line = result.iter().position(|&byte| byte == b'\n')?;
        let status = str::from_utf8(&result[..line]).ok()?;
        // The kernel log is the last file. Zeros follow it.
        let mut files = BTreeMap::new();
        for entry in tar::Archive::new(&result[line + 1..]).entries().ok()? {
            let mut entry = entry.ok()?;
            let path = entry.path().ok()?.to_str()?.to_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).ok()?;
            files.insert(path, bytes);
        }
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Some(Outcome {
            status: status.strip_prefix("status ")?.parse().ok()?,
            stdout: files.remove("result/stdout")?,
            stderr: text(files.remove("result/stderr")?),
            kernel_log: text(files.remove("run/kernel-log")?),
            files: files
                .into_iter()
                .filter_map(|(path, content)| {
                    Some((path.strip_prefix("result/out/")?.to_owned(), content))
                })
                .collect(),
        })
    }

    /// Standard output as text.
    #[track_caller]
    pub fn text(&self) -> &str {
        str::from_utf8(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.summary()))
    }

    /// A file in `/out`, by its path below it.
    #[track_caller]
    pub fn file(&self, path: &str) -> Vec<u8> {
        match self.files.get(path) {
            Some(content) => content.clone(),
            None => {
                let names: Vec<&String> = self.files.keys().collect();
                panic!("no {path} in /out, but {names:?}: {}", self.summary())
            }
        }
    }

    #[track_caller]
    pub fn status(self, status: i32) -> Outcome {
        assert_eq!(self.status, status, "{}", self.summary());
        self
    }

    /// Warnings in the kernel log since the script began. Earlier ones are not caused by a test.
    #[track_caller]
    pub fn kernel_warnings(&self) -> Vec<&str> {
        let words = ["WARNING:", "BUG:", "Oops", "rcu: INFO", "soft lockup"];
        let Some((_boot, script)) = self.kernel_log.split_once("Run /init as init process") else {
            panic!("no /init in the kernel's log: {}", self.kernel_log);
        };
        let lines = script.lines();
        lines
            .filter(|line| words.iter().any(|word| line.contains(word)))
            .collect()
    }

    #[track_caller]
    pub fn assert_no_kernel_warnings(&self) {
        let warnings = self.kernel_warnings();
        assert!(warnings.is_empty(), "{warnings:#?}\n{}", self.kernel_log);
    }

    /// Summary for the message of a failed test.
    pub fn summary(&self) -> String {
        format!(
            "status {}\nstdout:\n{}\nstderr:\n{}\nkernel log:\n{}",
            self.status,
            String::from_utf8_lossy(&self.stdout),
            self.stderr,
            last_lines(&self.kernel_log, CONSOLE_LINES).join("\n")
        )
    }
}

fn resolve(name: &str) -> Result<Kernel, kernels::Error> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").expect("HOME is not set")).join(".cache"),
        PathBuf::from,
    );
    Store::open(&cache.join("lsmeter"))?.resolve(&name.parse()?)
}

#[track_caller]
fn guest_path(path: &Path) -> &str {
    let path = path.to_str().expect("a path in UTF-8");
    path.strip_prefix('/').expect("an absolute path")
}

/// Data sent to a port; empty if QEMU did not open it.
fn read(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(path) {
        file.take(PORT_LIMIT).read_to_end(&mut bytes).unwrap();
    }
    bytes
}
