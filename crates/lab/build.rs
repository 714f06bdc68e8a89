// SPDX-License-Identifier: GPL-2.0-or-later
//! Builds the agent, asks it which benchmarks it holds and embeds both.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const COLUMNS: usize = 15;

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), String> {
    let guest = Path::new("guest");
    let plugin = Path::new("../instructions/plugin/markers.h");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", guest.display());
    println!("cargo::rerun-if-changed={}", plugin.display());

    let arch = arch_folder(guest)?;
    check_markers(&guest.join("bench.h"), plugin)?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let agent = out.join("agent");
    let [programs, settings] = [
        ("-DPROGRAMS", guest.join("program")),
        ("-DSETTINGS", guest.join("settings")),
    ];
    let both = [programs.clone(), settings.clone()];
    compile(guest, &arch, &agent, &[])?;
    for (name, more) in [
        ("agent-of-programs", std::slice::from_ref(&programs)),
        ("agent-of-settings", std::slice::from_ref(&settings)),
        ("agent-of-both", &both),
    ] {
        compile(guest, &arch, &out.join(name), more)?;
    }
    let list = list(&agent)?;
    check_list(&list)?;
    let file = out.join("benchmarks.tsv");
    fs::write(&file, list).map_err(|e| format!("writing {}: {e}", file.display()))
}

/// What of the agent is of the architecture that it is built for, and run on: here too.
fn arch_folder(guest: &Path) -> Result<PathBuf, String> {
    let target = env::var("TARGET").unwrap_or_default();
    let host = env::var("HOST").unwrap_or_default();
    let arch = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    let folder = guest.join("arch").join(&arch);
    for (what, triple) in [("target", &target), ("build machine", &host)] {
        if !folder.is_dir() || !triple.starts_with(&arch) || !triple.contains("linux") {
            return Err(format!(
                "the agent is built for, and run on, Linux on an architecture of {} only; the \
                 {what} is {triple}",
                guest.join("arch").display()
            ));
        }
    }
    Ok(folder)
}

/// A flag a line, and `#` comments, of every architecture and of this one. The tests build
/// agents by them too.
fn flags(folders: [&Path; 2]) -> Result<Vec<String>, String> {
    let mut flags = Vec::new();
    for folder in folders {
        let text = read(&folder.join("flags.txt"))?;
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        flags.extend(lines.map(str::to_owned));
    }
    Ok(flags)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("reading {}: {e}", path.display()))
}

/// `#define MARKER_NAME value`, value decimal or hexadecimal.
fn markers(path: &Path) -> Result<BTreeMap<String, u32>, String> {
    let mut found = BTreeMap::new();
    for line in read(path)?.lines() {
        let mut words = line.split_whitespace();
        let (Some("#define"), Some(name), Some(value)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        if !name.starts_with("MARKER_") {
            continue;
        }
        let number = match value.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => value.parse(),
        };
        let number =
            number.map_err(|_| format!("{}: {name} is not a number: {value}", path.display()))?;
        found.insert(name.to_owned(), number);
    }
    if found.is_empty() {
        return Err(format!("{}: no MARKER_ definitions", path.display()));
    }
    Ok(found)
}

fn check_markers(agent: &Path, plugin: &Path) -> Result<(), String> {
    let (ours, theirs) = (markers(agent)?, markers(plugin)?);
    for name in ours.keys().chain(theirs.keys()).collect::<BTreeSet<_>>() {
        if ours.get(name) != theirs.get(name) {
            return Err(format!(
                "{name} is {:?} in {} and {:?} in {}: the agent and the plugin must agree",
                ours.get(name),
                agent.display(),
                theirs.get(name),
                plugin.display()
            ));
        }
    }
    Ok(())
}

/// The C files of a directory, in the order of their names, so that builds are
/// reproducible.
fn sources(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |e| format!("listing {}: {e}", dir.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|e| e == "c") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Benchmarks of calls that other architectures have not.
fn of_the_architecture(arch: &Path) -> Result<Vec<PathBuf>, String> {
    let folder = arch.join("bench");
    if folder.is_dir() {
        sources(&folder)
    } else {
        Ok(Vec::new())
    }
}

/// With `more`, agents that can do more (run whole programs, other settings of modules): folders,
/// and what is defined for them. What others count may depend on an agent's size.
fn compile(
    guest: &Path,
    arch: &Path,
    agent: &Path,
    more: &[(&str, PathBuf)],
) -> Result<(), String> {
    let compiler = cc::Build::new()
        .no_default_flags(true)
        .cargo_metadata(false)
        .try_get_compiler()
        .map_err(|e| {
            format!("no C compiler: {e}\nhint: install gcc (Debian: apt install gcc libc6-dev)")
        })?;
    let mut command: Command = compiler.to_command();
    command
        .args(flags([guest, arch])?)
        .arg("-s")
        .arg("-I")
        .arg(guest)
        .arg("-I")
        .arg(arch)
        .arg("-o")
        .arg(agent);
    command
        .args(sources(guest)?)
        // Beside main.c: the pages that a start touches are in the count of execve.
        .args(sources(arch)?)
        .args(sources(&guest.join("bench"))?)
        .args(of_the_architecture(arch)?)
        .args(sources(&guest.join("policy"))?)
        .args(sources(&guest.join("delays"))?);
    for (define, folder) in more {
        command.arg(define).args(sources(folder)?);
    }
    let status = command.status().map_err(|e| {
        format!(
            "running the C compiler {}: {e}\nhint: install gcc (Debian: apt install gcc libc6-dev)",
            compiler.path().display()
        )
    })?;
    if !status.success() {
        return Err(format!(
            "compiling the agent with {}: {status}",
            compiler.path().display()
        ));
    }
    Ok(())
}

fn list(agent: &Path) -> Result<String, String> {
    let output = Command::new(agent)
        .arg("--list")
        .output()
        .map_err(|e| format!("running {} --list: {e}", agent.display()))?;
    if !output.status.success() {
        return Err(format!("{} --list: {}", agent.display(), output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| "the agent's list is not UTF-8".to_owned())
}

/// What the rest of the program relies on when it reads the list.
fn check_list(list: &str) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for line in list.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        if fields.len() != COLUMNS || fields.iter().any(|f| f.is_empty()) {
            return Err(format!(
                "the agent lists a benchmark with {} fields instead of {COLUMNS}, or with an empty one: {line:?}",
                fields.len()
            ));
        }
        let (name, variant) = (fields[2], fields[3]);
        if name.contains([' ', ':']) || variant.contains([' ', ':']) {
            return Err(format!(
                "{name}:{variant}: names must not hold blanks or ':'"
            ));
        }
        if name.contains(['*', '?']) || variant.contains(['*', '?']) {
            return Err(format!("{name}:{variant}: names must not hold '*' or '?'"));
        }
        if fields[5] == "0" {
            return Err(format!("{name}:{variant}: measures nothing"));
        }
        if !seen.insert((name, variant)) {
            return Err(format!("two benchmarks are called {name}:{variant}"));
        }
    }
    if seen.is_empty() {
        return Err("the agent holds no benchmark".to_owned());
    }
    Ok(())
}
