// SPDX-License-Identifier: GPL-2.0-or-later
//! Builds the agent, gets its list of benchmarks, and embeds both. Does the same for other
//! architectures whose compilers are installed.

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
    let plugin = Path::new("../counts/plugin/markers.h");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", guest.display());
    println!("cargo::rerun-if-changed={}", plugin.display());

    let arch = arch_folder(guest, "TARGET", "target")?;
    let here = arch_folder(guest, "HOST", "build machine")?;
    check_markers(&guest.join("bench.h"), plugin)?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let triple = env::var("TARGET").unwrap_or_default();
    let compiled = compile(&triple, guest, &arch, &out)?;
    // Tests link agents in which one of these files is replaced.
    let lines = compiled
        .values()
        .map(|object| format!("{}\n", object.display()));
    write(&out.join("objects.txt"), &lines.collect::<String>())?;
    let (of_here, list) = match here == arch {
        true => (compiled, list(&out.join("agent"))?),
        false => {
            let none = Objects::new();
            let list = list_of_other(guest, &here, &arch, &out, &none)?;
            (none, list)
        }
    };
    check_list(&list)?;
    write(&out.join("benchmarks.tsv"), &list)?;

    let mut others = String::new();
    for other in others_than(&arch)? {
        let triple = cross_compiler(&other)?;
        watch_for_compiler(&other, triple.is_some());
        let Some(triple) = triple else {
            continue;
        };
        let own = out.join(name_of(&other));
        fs::create_dir_all(&own).map_err(|e| format!("creating {}: {e}", own.display()))?;
        compile(&triple, guest, &other, &own)?;
        let list = list_of_other(guest, &here, &other, &own, &of_here)?;
        check_list(&list)?;
        write(&own.join("benchmarks.tsv"), &list)?;
        others += &format!("    (\"{}\", Embedded {{\n", name_of(&other));
        let include = |kind: &str, name: &str| {
            format!(
                "{kind}!(concat!(env!(\"OUT_DIR\"), \"/{}/{name}\"))",
                name_of(&other)
            )
        };
        others += &format!(
            "        agent: {},\n        list: {},\n    }}),\n",
            include("include_bytes", "agent"),
            include("include_str", "benchmarks.tsv")
        );
    }
    write(&out.join("others.rs"), &format!("&[\n{others}]\n"))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|e| format!("writing {}: {e}", path.display()))
}

fn name_of(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The directories of all other architectures.
fn others_than(arch: &Path) -> Result<Vec<PathBuf>, String> {
    let all = arch.parent().unwrap_or(arch);
    let failed = |e| format!("listing {}: {e}", all.display());
    let mut others = Vec::new();
    for entry in fs::read_dir(all).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() && path != arch {
            others.push(path);
        }
    }
    others.sort();
    Ok(others)
}

/// Reruns this script when an architecture's compiler or headers appear or disappear. A missing
/// file would cause a rerun each time, so this watches dpkg's package state or the directories of
/// programs.
fn watch_for_compiler(arch: &Path, is_here: bool) {
    let triple = format!("{}-linux-gnu", name_of(arch));
    println!("cargo::rerun-if-env-changed=PATH");
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let packages = PathBuf::from("/var/lib/dpkg/status");
    let watched = match is_here {
        true => {
            let mut files: Vec<PathBuf> = folders
                .iter()
                .map(|folder| folder.join(format!("{triple}-gcc")))
                .collect();
            files.push(Path::new("/usr").join(&triple).join("include/stdio.h"));
            files
        }
        false if packages.is_file() => vec![packages],
        false => folders,
    };
    for path in watched.iter().filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

/// The compiler's target for another architecture's agent. None if the compiler is missing: lsmeter
/// is then built without that agent, and reports this when the agent is needed.
fn cross_compiler(arch: &Path) -> Result<Option<String>, String> {
    let name = name_of(arch);
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let triple = format!("{name}-unknown-linux-gnu");
    let compiler = plain(&triple).try_get_compiler();
    // The kernel's headers are in a separate package, and one of them includes a header of the C
    // library.
    let trial = out.join(format!("trial-{name}.c"));
    write(&trial, "#include <linux/shm.h>\n#include <asm/unistd.h>\n")?;
    let works = compiler.as_ref().is_ok_and(|compiler| {
        let mut command = compiler.to_command();
        command
            .args(["-ffreestanding", "-fsyntax-only"])
            .arg(&trial);
        command.output().is_ok_and(|output| output.status.success())
    });
    Ok(works.then_some(triple))
}

/// The benchmark list of another architecture's agent, which cannot run here. It is printed by an
/// agent for this machine that has the other architecture's benchmarks and forms of calls. Objects
/// compiled for this machine are reused.
fn list_of_other(
    guest: &Path,
    here: &Path,
    other: &Path,
    own: &Path,
    of_here: &Objects,
) -> Result<String, String> {
    let lister = own.join("lister");
    let triple = env::var("HOST").unwrap_or_default();
    let mut build = of_agent(&triple, guest, here)?;
    // This agent only lists benchmarks, and measures nothing.
    build.flag("-O0");
    if read(&other.join("arch.h"))?.contains("at-forms.h") {
        build.flag("-include").flag(guest.join("arch/at-forms.h"));
    }
    let (mut taken, mut files) = (Vec::new(), Vec::new());
    for file in agent_files([here, other], guest)? {
        match of_here.get(&file) {
            Some(object) if !asks_for(&file, "AT_FORMS", [guest, here])? => {
                taken.push(object.clone());
            }
            _ => files.push(file),
        }
    }
    taken.extend(objects(&mut build, &files, &own.join("lister-objects"))?.into_values());
    link(&triple, [guest, here], &lister, &taken)?;
    list(&lister)
}

/// The agent's source directory for the architecture of this target triple variable of cargo.
fn arch_folder(guest: &Path, variable: &str, what: &str) -> Result<PathBuf, String> {
    let triple = env::var(variable).unwrap_or_default();
    let name = triple.split('-').next().unwrap_or_default();
    let folder = guest.join("arch").join(name);
    if name.is_empty() || !folder.is_dir() || !triple.contains("linux") {
        return Err(format!(
            "the agent is built for, and on, Linux on an architecture of {} only; the {what} is \
             {triple}",
            guest.join("arch").display()
        ));
    }
    Ok(folder)
}

/// Flags for every architecture and for this one: one per line, with `#` comments. The tests build
/// agents with the same flags.
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

/// The C files of a directory, sorted by name, so that builds are reproducible.
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

/// Benchmarks of calls that other architectures do not have.
fn of_the_architecture(arch: &Path) -> Result<Vec<PathBuf>, String> {
    let folder = arch.join("bench");
    if folder.is_dir() {
        sources(&folder)
    } else {
        Ok(Vec::new())
    }
}

/// C files and their objects.
type Objects = BTreeMap<PathBuf, PathBuf>;

/// Links an architecture's agent into `out`; returns its objects.
fn compile(triple: &str, guest: &Path, arch: &Path, out: &Path) -> Result<Objects, String> {
    let files = agent_files([arch, arch], guest)?;
    let mut build = of_agent(triple, guest, arch)?;
    let all = objects(&mut build, &files, &out.join("objects"))?;
    let in_order: Vec<&PathBuf> = files.iter().map(|file| &all[file]).collect();
    link(triple, [guest, arch], &out.join("agent"), &in_order)?;
    Ok(all)
}

/// Whether a C file, or one of lsmeter's files that it includes, contains this word.
fn asks_for(file: &Path, word: &str, folders: [&Path; 2]) -> Result<bool, String> {
    let (mut pending, mut seen) = (vec![file.to_owned()], BTreeSet::new());
    while let Some(file) = pending.pop() {
        let text = read(&file)?;
        if text.contains(word) {
            return Ok(true);
        }
        let included = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("#include \"")?.split('"').next());
        for name in included {
            let beside = file.parent().map(|folder| folder.join(name));
            let all = folders.iter().map(|folder| folder.join(name));
            let mut here = beside.into_iter().chain(all);
            let found = here.find(|path| path.is_file());
            pending.extend(found.filter(|path| seen.insert(path.clone())));
        }
    }
    Ok(false)
}

/// The agent's files with an architecture's benchmarks, in link order.
fn agent_files([arch, benches]: [&Path; 2], guest: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = sources(guest)?;
    files.extend(sources(arch)?);
    files.extend(sources(&guest.join("bench"))?);
    files.extend(of_the_architecture(benches)?);
    for folder in ["policy", "delays", "program", "settings"] {
        files.extend(sources(&guest.join(folder))?);
    }
    Ok(files)
}

/// A compiler without any flags from the environment.
fn plain(triple: &str) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .target(triple)
        .no_default_flags(true)
        .cargo_metadata(false);
    build
}

fn of_agent(triple: &str, guest: &Path, arch: &Path) -> Result<cc::Build, String> {
    let mut build = plain(triple);
    for flag in flags([guest, arch])? {
        if !flag.starts_with("-Wl,") {
            build.flag(flag);
        }
    }
    build.include(guest).include(arch);
    Ok(build)
}

/// Compiles the files into a directory, with as many compilers at a time as cargo permits.
fn objects(build: &mut cc::Build, files: &[PathBuf], folder: &Path) -> Result<Objects, String> {
    fs::create_dir_all(folder).map_err(|e| format!("creating {}: {e}", folder.display()))?;
    let built = build
        .out_dir(folder)
        .files(files)
        .try_compile_intermediates();
    let built = built.map_err(|e| {
        format!(
            "compiling the agent: {e}\n\
             hint: it needs gcc and the headers of the kernel (Debian: apt install gcc libc6-dev)"
        )
    })?;
    Ok(files.iter().cloned().zip(built).collect())
}

fn link(
    triple: &str,
    folders: [&Path; 2],
    agent: &Path,
    objects: &[impl AsRef<Path>],
) -> Result<(), String> {
    let compiler = plain(triple).try_get_compiler();
    let mut command = compiler.map_err(|e| e.to_string())?.to_command();
    command.args(flags(folders)?).arg("-s").arg("-o").arg(agent);
    command.args(objects.iter().map(AsRef::as_ref));
    let status = command
        .status()
        .map_err(|e| format!("running the linker: {e}"))?;
    if !status.success() {
        return Err(format!("linking {}: {status}", agent.display()));
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

/// Checks the list's invariants.
fn check_list(list: &str) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for line in list.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        if fields.len() != COLUMNS || fields.iter().any(|f| f.is_empty()) {
            return Err(format!(
                "the agent lists a benchmark with {} fields instead of {COLUMNS}, or with an empty field: {line:?}",
                fields.len()
            ));
        }
        let (name, variant) = (fields[2], fields[3]);
        if name.contains([' ', ':']) || variant.contains([' ', ':']) {
            return Err(format!(
                "{name}:{variant}: names must not contain blanks or ':'"
            ));
        }
        if name.contains(['*', '?']) || variant.contains(['*', '?']) {
            return Err(format!("{name}:{variant}: names must have no '*' or '?'"));
        }
        if fields[5] == "0" {
            return Err(format!("{name}:{variant}: measures nothing"));
        }
        if !seen.insert((name, variant)) {
            return Err(format!("two benchmarks are called {name}:{variant}"));
        }
    }
    if seen.is_empty() {
        return Err("the agent has no benchmarks".to_owned());
    }
    Ok(())
}
