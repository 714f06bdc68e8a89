// SPDX-License-Identifier: GPL-2.0-or-later
//! Parses every source of a kernel tree, including drivers and other architectures. Checks that
//! the parser ends, and prints constructs that it does not understand, time and memory. An analysis
//! reads less than a tenth of the files and parses one function in eighty.
//!
//! cargo bench -p placement --bench whole_tree -- TREE

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use placement::{ParsedSource, SourceParser};
use rayon::prelude::*;

/// Number of examples printed.
const TOLD: usize = 15;

/// Sources below a directory; links are not followed.
fn sources(directory: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let (kind, path) = (entry.file_type()?, entry.path());
        let is_source = path.extension().is_some_and(|end| end == "c" || end == "h");
        if kind.is_dir() {
            sources(&path, found)?;
        } else if kind.is_file() && is_source {
            found.push(path);
        }
    }
    Ok(())
}

struct One {
    path: PathBuf,
    bytes: u64,
    seconds: f64,
    parsed: ParsedSource,
}

fn one(parser: &mut SourceParser, path: PathBuf) -> std::io::Result<One> {
    let source = std::fs::read(&path)?;
    let start = Instant::now();
    let parsed = parser.parse(&source);
    Ok(One {
        path,
        bytes: source.len() as u64,
        seconds: start.elapsed().as_secs_f64(),
        parsed,
    })
}

/// Peak memory of this process, in MiB.
fn most_memory_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0) / 1024
}

fn tell(top: &Path, all: &mut [One], wall: f64) {
    let sum = |of: &dyn Fn(&One) -> usize| all.iter().map(of).sum::<usize>();
    let bytes: u64 = all.iter().map(|one| one.bytes).sum();
    let wrong = |one: &One, macros: bool| {
        let wrong = one.parsed.partly_parsed.iter();
        wrong.filter(|it| it.is_macro == macros).count()
    };
    let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    let (functions, macros) = (
        sum(&|one| one.parsed.functions),
        sum(&|one| one.parsed.macros),
    );
    let (of_functions, of_macros) = (sum(&|one| wrong(one, false)), sum(&|one| wrong(one, true)));
    let cpu: f64 = all.iter().map(|one| one.seconds).sum();
    println!("{} files, {} MiB", all.len(), bytes >> 20);
    println!(
        "{functions} functions, {of_functions} not understood in full ({:.2} %)",
        share(of_functions, functions)
    );
    println!(
        "{macros} macros, {of_macros} not understood in full ({:.2} %)",
        share(of_macros, macros)
    );
    println!("{} nodes", sum(&|one| one.parsed.nodes));
    println!(
        "{wall:.1} s, {cpu:.1} s of all threads, at most {} MiB",
        most_memory_mib()
    );
    let name = |one: &One| {
        one.path
            .strip_prefix(top)
            .unwrap_or(&one.path)
            .display()
            .to_string()
    };
    all.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    println!("\nfiles that took longest, s");
    for one in all.iter().take(5) {
        println!(
            "{:8.2}  {:6} KiB  {}",
            one.seconds,
            one.bytes >> 10,
            name(one)
        );
    }
    all.sort_by_key(|one| std::cmp::Reverse(wrong(one, false)));
    println!("\nfunctions not understood in full, by file");
    for one in all.iter().take(TOLD) {
        let first = one.parsed.partly_parsed.iter().find(|it| !it.is_macro);
        let first = first.map(|it| format!("{} at line {}: {}", it.name, it.line, it.reason));
        println!(
            "{:8}  {}  {}",
            wrong(one, false),
            name(one),
            first.unwrap_or_default()
        );
    }
}

fn main() -> ExitCode {
    let tree = std::env::args_os()
        .skip(1)
        .find(|argument| argument != "--bench");
    let Some(top) = tree.map(PathBuf::from) else {
        eprintln!("usage: cargo bench -p placement --bench whole_tree -- TREE");
        return ExitCode::from(2);
    };
    let mut paths = Vec::new();
    if let Err(error) = sources(&top, &mut paths) {
        eprintln!("{}: {error}", top.display());
        return ExitCode::from(3);
    }
    let start = Instant::now();
    let all = paths
        .into_par_iter()
        .map_init(SourceParser::new, |parser, path| {
            let parser = parser
                .as_mut()
                .map_err(|error| std::io::Error::other(error.to_string()))?;
            one(parser, path)
        })
        .collect::<std::io::Result<Vec<_>>>();
    match all {
        Ok(mut all) => {
            tell(&top, &mut all, start.elapsed().as_secs_f64());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}: {error}", top.display());
            ExitCode::from(3)
        }
    }
}
