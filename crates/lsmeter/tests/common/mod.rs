// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs lsmeter as a user does.

// Not every test program uses all of this.
#![allow(dead_code)]

pub use testing::schema;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink as link};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

use model::Document;
use rustix::process::{Pid, Signal};
use tempfile::TempDir;

/// Only kernels of `make test-kernels` have this option.
const TEST_KERNEL: &str = r#"DEFAULT_HOSTNAME="lsmeter-test""#;

/// A working directory with its own cache and configuration.
pub struct Place {
    dir: TempDir,
    cache: Option<TempDir>,
}

impl Place {
    /// An empty place.
    pub fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("tmp")).unwrap();
        Place { dir, cache: None }
    }

    /// A place with the kernels in the user's cache, which must include debian:6.12.
    pub fn with_kernels() -> Place {
        Place::with_kernel("debian:6.12")
    }

    /// A place with the kernels in the user's cache, which must include `kernel`.
    #[track_caller]
    pub fn with_kernel(kernel: &str) -> Place {
        let cache = tempfile::tempdir().unwrap();
        link_cache(cache.path());
        let place = Place {
            cache: Some(cache),
            ..Place::new()
        };
        let listed = place.run(&["kernel", "list", "--json"]).json();
        let names = listed["kernels"].as_array().unwrap().iter();
        let pinned = format!("{kernel}.");
        assert!(
            names
                .map(|kernel| kernel["name"].as_str().unwrap())
                .any(|name| name.starts_with(&pinned)),
            "these tests boot a kernel that is not here: lsmeter kernel fetch {kernel}"
        );
        place
    }

    /// A place with a kernel of `make test-kernels` that has these options (`SECURITY_SMACK`), and
    /// the kernel's name. Returns None and records a skipped test without such a kernel.
    ///
    /// Ignores other kernels, whose figures and messages may differ.
    #[track_caller]
    pub fn with_test_kernel(options: &[&str]) -> Option<(Place, String)> {
        let place = Place::with_kernels();
        let listed = place.run(&["kernel", "list", "--json"]).json();
        let matches = |kernel: &&serde_json::Value| {
            let config = kernel["config"].as_str().map(fs::read_to_string);
            let config = config.and_then(Result::ok).unwrap_or_default();
            let has = |option: &str| {
                config
                    .lines()
                    .any(|line| line == format!("CONFIG_{option}"))
            };
            // Virtual machines do not boot UML kernels.
            let is_process = has("UML=y");
            has(TEST_KERNEL)
                && is_process == options.contains(&"UML")
                && options.iter().all(|option| has(&format!("{option}=y")))
        };
        let kernel = listed["kernels"].as_array().unwrap().iter().find(matches);
        let Some(kernel) = kernel else {
            let why = format!("no kernel for tests has {}", options.join(" and "));
            testing::skip(&why, "make test-kernels");
            return None;
        };
        let name = kernel["name"].as_str().unwrap().to_owned();
        Some((place, name))
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn cache(&self) -> PathBuf {
        let of_tests = self.cache.as_ref().map(|cache| cache.path().to_owned());
        of_tests.unwrap_or_else(|| self.join("cache"))
    }

    /// Stops sharing cached measurements with other tests.
    pub fn alone(self) -> Place {
        fs::remove_file(self.measurements()).unwrap();
        self
    }

    pub fn measurements(&self) -> PathBuf {
        self.cache().join("lsmeter/measurements")
    }

    /// Cached measurements, without the files of ready machines.
    pub fn measured(&self) -> Vec<PathBuf> {
        let machines = fs::read_dir(self.measurements()).into_iter().flatten();
        let entries = machines.flat_map(|entry| fs::read_dir(entry.unwrap().path()).unwrap());
        let is_one = |path: &PathBuf| path.file_name().unwrap().len() == 64;
        let mut all: Vec<_> = entries
            .map(|entry| entry.unwrap().path())
            .filter(is_one)
            .collect();
        all.sort();
        all
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Sorted names in the directory, without the temporary directory.
    pub fn names(&self) -> Vec<String> {
        let mut names = names(self.path());
        names.retain(|name| name != "tmp");
        names
    }

    /// Names in the temporary directory.
    pub fn left_over(&self) -> Vec<String> {
        names(&self.join("tmp"))
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        // Tests send SIGHUP even when they run under nohup.
        let mut command = Command::new("/usr/bin/env");
        command.args(["--default-signal=HUP", env!("CARGO_BIN_EXE_lsmeter")]);
        command.args(arguments);
        self.environment(&mut command);
        command
    }

    /// Sets the directory and environment of a command.
    pub fn environment<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .current_dir(self.path())
            .env("XDG_CACHE_HOME", self.cache())
            .env("XDG_CONFIG_HOME", self.join("config"))
            .env("TMPDIR", self.join("tmp"))
            .env("LC_ALL", "C.UTF-8")
            .env("NO_COLOR", "1")
            .env_remove("COLUMNS")
            .stdin(Stdio::null())
    }

    pub fn run(&self, arguments: &[&str]) -> Ended {
        Ended::new(arguments, self.command(arguments).output().unwrap())
    }

    /// Runs lsmeter with arguments without blanks.
    pub fn line(&self, line: &str) -> Ended {
        self.run(&words(line))
    }

    /// Runs each line of a table, `arguments | error | hint`, with arguments quoted as for a shell. A
    /// line that begins with `|` continues the previous one. Each must be refused with this exit
    /// code, and without a hint if there is no third field.
    #[track_caller]
    pub fn refuses(&self, code: i32, table: &str) {
        let lines: Vec<&str> = table.lines().map(str::trim).collect();
        for row in lines.join("\n").replace("\n|", " |").lines() {
            let mut fields = row.split('|').map(str::trim);
            let line = shlex::split(fields.next().unwrap()).unwrap();
            let line: Vec<&str> = line.iter().map(String::as_str).collect();
            let error = fields.next().unwrap();
            self.run(&line).refused(code, error, fields.next());
            assert_eq!(fields.next(), None, "{row}");
        }
    }

    /// Runs git without user settings, with arguments without blanks. Returns its output.
    #[track_caller]
    pub fn git(&self, line: &str) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=x", "-c", "user.email=x@x.example"]);
        git.args(words(line)).env("GIT_CONFIG_GLOBAL", "/dev/null");
        let output = self.environment(&mut git).output().unwrap();
        Ended::new(&["git", line], output).code(0).stdout
    }

    /// Reads a result file in this directory.
    pub fn document(&self, name: &str) -> Document {
        Document::parse(&fs::read(self.join(name)).unwrap()).unwrap()
    }

    /// Runs lsmeter without privileges: as nobody if root runs the tests. Opens the directory to
    /// everybody.
    pub fn run_unprivileged(&self, arguments: &[&str]) -> Ended {
        if !rustix::process::getuid().is_root() {
            return self.run(arguments);
        }
        let open =
            |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
        open(self.path());
        for name in names(self.path()) {
            open(&self.join(&name));
        }
        // Other users may not be able to enter the build directory. cp makes the copy: if this
        // process made it, a child that another test starts at the same time would inherit the
        // writable descriptor, and exec would fail.
        let program = self.join("lsmeter");
        let mut copy = Command::new("cp");
        let copied = copy.arg(env!("CARGO_BIN_EXE_lsmeter")).arg(&program);
        assert!(copied.status().unwrap().success());
        let template = self.command(arguments);
        let mut command = Command::new("setpriv");
        command
            .args([
                "--reuid",
                "65534",
                "--regid",
                "65534",
                "--clear-groups",
                "--",
            ])
            .arg(&program)
            .args(arguments)
            .current_dir(self.path())
            .env("HOME", self.path());
        for (name, value) in template.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        Ended::new(arguments, command.output().unwrap())
    }
}

pub fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Links the user's cache except measurements, which tests share until lsmeter is rebuilt.
fn link_cache(place: &Path) {
    let user = match std::env::var_os("XDG_CACHE_HOME") {
        Some(cache) => PathBuf::from(cache),
        None => PathBuf::from(std::env::var_os("HOME").expect("HOME is not set")).join(".cache"),
    };
    let (user, place) = (user.join("lsmeter"), place.join("lsmeter"));
    let built = fs::metadata(env!("CARGO_BIN_EXE_lsmeter")).unwrap();
    let (bytes, built) = (built.len(), built.modified().unwrap());
    let built = built.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let own = format!("tests-{bytes}-{}", built.as_nanos());
    for made in ["policies", "symbols", &own] {
        fs::create_dir_all(user.join(made)).unwrap();
    }
    fs::create_dir(&place).unwrap();
    for name in names(&user) {
        match (name == own, name.starts_with("tests-")) {
            (true, _) => link(user.join(name), place.join("measurements")).unwrap(),
            // The directory is of an earlier build. Another test may remove it at the same time.
            (_, true) => drop(fs::remove_dir_all(user.join(name))),
            _ if name == "measurements" => {}
            _ => link(user.join(&name), place.join(name)).unwrap(),
        }
    }
}

pub fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Formats 12345 as in tables: 12,345.
pub fn grouped(figure: u64) -> String {
    let digits = figure.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Exit status and output of a command.
#[derive(Debug)]
pub struct Ended {
    pub what: String,
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    pub fn new(arguments: &[&str], output: Output) -> Ended {
        Ended {
            what: arguments.join(" "),
            code: output.status.code(),
            signal: output.status.signal(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub fn code(self, code: i32) -> Ended {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Asserts an exit code, an error, a hint or none, and no other output.
    #[track_caller]
    pub fn refused(self, code: i32, error: &str, hint: Option<&str>) {
        let ended = self.code(code);
        assert_eq!(ended.stdout, "", "{ended:#?}");
        let lines: Vec<&str> = ended.stderr.lines().collect();
        let found = lines.iter().find_map(|line| line.strip_prefix("error: "));
        assert!(
            found.is_some_and(|found| found.contains(error)),
            "{ended:#?}"
        );
        let hinted = lines.iter().find_map(|line| line.strip_prefix("hint: "));
        match hint {
            Some(hint) => assert!(
                hinted.is_some_and(|found| found.contains(hint)),
                "{ended:#?}"
            ),
            None => assert_eq!(hinted, None, "{ended:#?}"),
        }
        assert!(!ended.stderr.contains("panicked"), "{ended:#?}");
    }

    #[track_caller]
    pub fn json(self) -> serde_json::Value {
        let ended = self.code(0);
        serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:#?}"))
    }
}

pub fn children(parent: u32) -> Vec<u32> {
    let mut children = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        if stat(pid).is_some_and(|(state, parent_pid)| parent_pid == parent && state != "Z") {
            children.push(pid);
        }
    }
    children
}

/// State and parent of a process; None if it has ended.
fn stat(pid: u32) -> Option<(String, u32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before the parenthesis may contain spaces and parentheses.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?))
}

pub fn runs(pid: u32) -> bool {
    stat(pid).is_some_and(|(state, _)| state != "Z")
}

pub fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// Calls `ready` until it returns something; fails after far longer than it can take.
#[track_caller]
pub fn wait_for<T>(what: &str, mut ready: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(600);
    loop {
        if let Some(found) = ready() {
            return found;
        }
        assert!(Instant::now() < deadline, "no {what} within 600 s");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A running command, killed if the test fails.
pub struct Running {
    child: Option<Child>,
    what: String,
}

impl Running {
    pub fn start(place: &Place, arguments: &[&str]) -> Running {
        Running::start_command(place.command(arguments), arguments)
    }

    pub fn start_command(mut command: Command, arguments: &[&str]) -> Running {
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Running {
            child: Some(child),
            what: arguments.join(" "),
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.as_mut().unwrap().try_wait().unwrap().is_some()
    }

    pub fn wait(mut self) -> Ended {
        let output = self.child.take().unwrap().wait_with_output().unwrap();
        Ended::new(&[&self.what], output)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
