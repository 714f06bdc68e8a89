// SPDX-License-Identifier: GPL-2.0-or-later
//! Checks that instructions added to a module's function are found and attributed to it.
//!
//! ```text
//! cargo bench -p lsmeter --bench detect -- [DIRECTORY OF A KERNEL'S SOURCE]
//! ```
//!
//! Builds a kernel unchanged and with 1, 10 and 100 more instructions in
//! `selinux_inode_permission`, runs the paper's suite on each with hooks, and compares each with
//! the first. Exits with 1 unless every exact count grows by these instructions for each call of
//! the function, and `--explain` attributes them to it. The source is linux-source-6.12, as kept
//! by `lsmeter kernel build`, or any with that function; it is not written to. This takes about 10
//! minutes with ccache and an hour without it, and 2 GiB.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use model::comparison::{Method, Verdict};
use model::{Cell, ComparisonDocument, Document, Stored as _};

const LSMETER: &str = env!("CARGO_BIN_EXE_lsmeter");
const NAME: &str = "detect";
const FILE: &str = "security/selinux/hooks.c";
const HOOK: &str = "inode_permission";
const FUNCTION: &str = "selinux_inode_permission";
/// The function's first statement, on every path through it.
const BEHIND: &str = "\tfrom_access = mask & MAY_ACCESS;\n";
/// With the mitigation for Indirect Target Selection, an indirect branch or return in the lower
/// half of a cache line goes through a thunk: one more instruction (arch/x86/kernel/alternative.c,
/// cpu_wants_indirect_its_thunk_at). A function that grows moves all code after it, which changes
/// other functions' counts.
const UNMOVED: &str = "indirect_target_selection=off";
const MORE: [u64; 3] = [1, 10, 100];

fn main() -> Result<(), Box<dyn Error>> {
    let named = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with("--"));
    let source = named.map_or_else(kept_source, |path| Ok(PathBuf::from(path)))?;
    let work = tempfile::tempdir()?;
    let tree = work.path().join("linux");
    // Links, except for the changed file.
    call(
        "cp",
        &["-rs", text(&fs::canonicalize(&source)?)?, text(&tree)?],
    )?;
    let original = fs::read_to_string(source.join(FILE))?;
    fs::remove_file(tree.join(FILE))?;

    let mut base = None;
    let mut wrong = 0;
    println!(
        "| instructions | measurements with the function | found | attributed | same | no dominant path |"
    );
    println!("|---:|---:|---:|---:|---:|---:|");
    for more in [0].into_iter().chain(MORE) {
        fs::write(tree.join(FILE), patched(&original, more)?)?;
        let begin = Instant::now();
        let build = ["kernel", "build", NAME, "--quiet", "--source", text(&tree)?];
        call(LSMETER, &build)?;
        let built = begin.elapsed();
        let path = work.path().join(format!("{more}.json"));
        call(LSMETER, &run(text(&path)?))?;
        eprintln!(
            "+{more}: built in {:.0} s, measured in {:.0} s",
            built.as_secs_f64(),
            (begin.elapsed() - built).as_secs_f64()
        );
        match &base {
            None => base = Some(path),
            Some(base) => wrong += found(base, &path, more)?,
        }
    }
    call(LSMETER, &["kernel", "remove", &format!("build:{NAME}")])?;
    if wrong > 0 {
        return Err(format!("{wrong} measurements are wrong").into());
    }
    Ok(())
}

fn run(output: &str) -> Vec<&str> {
    let mut arguments = vec![
        "run",
        "paper-suite",
        "--kernel",
        "build:detect",
        "--with-hooks",
    ];
    arguments.extend(["--stack", "capability", "--stack", "capability,selinux"]);
    arguments.extend(["--cmdline", UNMOVED]);
    arguments.extend(["--quiet", "--output", output]);
    arguments
}

/// The newest source unpacked by `lsmeter kernel build`.
fn kept_source() -> Result<PathBuf, Box<dyn Error>> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let sources = cache
        .or_else(home)
        .ok_or("no HOME")?
        .join("lsmeter/sources");
    let kept = fs::read_dir(&sources).map_err(|error| format!("{}: {error}", sources.display()))?;
    let mut kept: Vec<PathBuf> = kept
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    kept.retain(|path| path.join(FILE).exists());
    kept.sort();
    kept.pop()
        .ok_or_else(|| "no source: give a directory".into())
}

/// The source with `more` additional instructions.
fn patched(original: &str, more: u64) -> Result<String, Box<dyn Error>> {
    let function = original
        .find(&format!("\nstatic int {FUNCTION}("))
        .ok_or_else(|| format!("{FILE} has no {FUNCTION}"))?;
    let at = original[function..]
        .find(BEHIND)
        .ok_or_else(|| format!("{FUNCTION} is another"))?;
    let at = function + at + BEHIND.len();
    let nops = format!("\tasm volatile(\".rept {more}\\n\\tnop\\n\\t.endr\");\n");
    Ok(format!("{}{nops}{}", &original[..at], &original[at..]))
}

/// Prints what a comparison finds; returns the number of wrong measurements.
fn found(base: &Path, new: &Path, more: u64) -> Result<usize, Box<dyn Error>> {
    let out = new.with_extension("compared");
    let arguments = ["compare", text(base)?, text(new)?, "--explain", "--json"];
    let told = Command::new(LSMETER).args(arguments).output()?;
    if !told.status.success() {
        return Err(String::from_utf8_lossy(&told.stderr).into_owned().into());
    }
    fs::write(&out, &told.stdout)?;
    let document = ComparisonDocument::parse(&told.stdout)?;
    let run = Document::read(File::open(base)?)?;
    let calls: BTreeMap<String, u64> = run
        .cells
        .iter()
        .map(|cell| (title(cell), calls(cell)))
        .collect();
    let (mut with, mut seen, mut laid, mut blurred, mut wrong) = (0, 0, 0, 0, 0);
    for (position, cell) in document.compared.iter().enumerate() {
        let key = format!(
            "{} {}:{}",
            cell.place.configuration, cell.benchmark, cell.variant
        );
        let calls = *calls.get(&key).ok_or_else(|| format!("no cell {key}"))?;
        let difference = cell.difference.unwrap_or(f64::NAN);
        if cell.method != Method::Exact {
            // No single path covers half of the measured regions.
            blurred += 1;
            let told = format!("{}, {difference} more of {}", cell.verdict, calls * more);
            eprintln!("+{more}: {key}: by its measured regions {told}");
            wrong += usize::from(cell.verdict == Verdict::Better);
            continue;
        }
        let expected = (calls * more) as f64;
        let real = cell.verdict == Verdict::Worse;
        let here = document
            .explanations
            .iter()
            .find(|explanation| explanation.cell as usize == position);
        let at_its_door = here
            .and_then(|here| here.hooks.first())
            .is_some_and(|hook| {
                let of = &hook.implementations;
                hook.hook == HOOK && of.first().is_some_and(|first| first.function == FUNCTION)
            });
        let must = calls > 0;
        with += usize::from(must);
        seen += usize::from(real);
        laid += usize::from(real && at_its_door);
        if difference != expected || real != must || at_its_door != must {
            wrong += 1;
            eprintln!("+{more}: {key}: {difference} instructions more, {expected} expected");
        }
    }
    let same = document.count(Verdict::Same);
    println!("| +{more} | {with} | {seen} | {laid} | {same} | {blurred} |");
    Ok(wrong)
}

fn title(cell: &Cell) -> String {
    let (benchmark, variant) = (cell.key.benchmark(), cell.key.variant());
    format!("{} {benchmark}:{variant}", cell.configuration_title())
}

/// Calls of the function in one operation.
fn calls(cell: &Cell) -> u64 {
    let hooks = cell.hooks().unwrap_or_default().iter();
    let implementations = hooks.flat_map(|hook| &hook.implementations);
    implementations
        .filter(|implementation| implementation.function == FUNCTION)
        .map(|implementation| implementation.calls)
        .sum()
}

fn text(path: &Path) -> Result<&str, Box<dyn Error>> {
    path.to_str()
        .ok_or_else(|| format!("{path:?} is no UTF-8").into())
}

fn call(program: &str, arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    let status = Command::new(program)
        .args(arguments)
        .stdout(std::process::Stdio::null())
        .status()?;
    // Some measurements may fail; the others are compared.
    match status.code() {
        Some(0 | 4) => Ok(()),
        _ => Err(format!("{program} {}: {status}", arguments.join(" ")).into()),
    }
}
