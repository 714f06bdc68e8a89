// SPDX-License-Identifier: GPL-2.0-or-later
//! Embeds all C files of the agent, because a kernel of `ARCH=um` is built with them.

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const GUEST: &str = "../lab/guest";
/// The agent's folders.
const FOLDERS: [&str; 7] = [
    "", "arch", "bench", "policy", "delays", "program", "settings",
];

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
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={GUEST}");
    let guest = Path::new(GUEST)
        .canonicalize()
        .map_err(|e| format!("{GUEST}: {e}"))?;
    let arch = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    let own = guest.join("arch").join(arch);
    let folders = FOLDERS.map(|folder| guest.join(folder));
    let mut table = String::from("&[\n");
    for folder in folders.iter().chain([&own]) {
        for path in sources(folder)? {
            let below = path.strip_prefix(&guest).map_err(|e| e.to_string())?;
            let _ = writeln!(table, "({below:?}, include_str!({path:?})),");
        }
    }
    table.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    write(&out.join("agent.rs"), &table)?;
    write(&out.join("flags.txt"), &flags([&guest, &own])?)
}

/// C files and headers, sorted by name.
fn sources(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |e| format!("listing {}: {e}", dir.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|e| e == "c" || e == "h") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The agent's compiler flags, one per line, without the linker's.
fn flags(folders: [&Path; 2]) -> Result<String, String> {
    const LINKS: [&str; 3] = ["-nostdlib", "-static", "-no-pie"];
    let mut flags = String::new();
    for folder in folders {
        let path = folder.join("flags.txt");
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let compiles = |line: &&str| {
            !line.starts_with('#') && !line.starts_with("-Wl,") && !LINKS.contains(line)
        };
        for line in text.lines().filter(compiles) {
            flags.push_str(line);
            flags.push('\n');
        }
    }
    Ok(flags)
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|e| format!("writing {}: {e}", path.display()))
}
