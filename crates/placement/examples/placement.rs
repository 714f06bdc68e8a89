// SPDX-License-Identifier: GPL-2.0-or-later
//! Prints what a kernel tree's system calls can reach, or compares that with profiles.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Parser;
use comfy_table::Table;
use experiment::ProfileDocument;
use placement::{Agreement, PlacementDocument, Request, Tree, analyse, compare};

#[derive(Parser)]
#[command(about = "Which LSM hooks each system call can reach, from a kernel tree alone")]
struct Arguments {
    /// Top of a kernel tree, a linux-source tarball, or a git repository with --rev.
    tree: PathBuf,
    /// Revision in a git repository.
    #[arg(long)]
    rev: Option<String>,
    /// System call; may be given several times. All for files if there is none.
    #[arg(long)]
    syscall: Vec<String>,
    /// Every system call that the tree defines.
    #[arg(long)]
    all: bool,
    /// File system; may be given several times.
    #[arg(long, default_value = "ext4")]
    fs: Vec<String>,
    /// A kernel's .config; everything on if there is none.
    #[arg(long)]
    config: Option<PathBuf>,
    /// Directory for the cache.
    #[arg(long)]
    cache: Option<PathBuf>,
    /// Also hooks that are not on the nominal path.
    #[arg(long)]
    reach: bool,
    /// Also the ordered trace of each system call.
    #[arg(long)]
    trace: bool,
    /// Also decisions that nothing made, functions that call themselves, stale facts.
    #[arg(long)]
    explain: bool,
    /// Print the document as JSON.
    #[arg(long)]
    json: bool,
    /// Compare with the profiles in a file written by `lsmeter profile --output`.
    #[arg(long)]
    profile: Option<PathBuf>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let tree = match &arguments.rev {
        Some(revision) => Tree::open_revision(&arguments.tree, revision),
        None => Tree::open(&arguments.tree),
    };
    let tree = tree.map_err(|error| anyhow::anyhow!("{error}\nhint: {}", error.hint()))?;
    let profiles = match &arguments.profile {
        Some(path) => Some(ProfileDocument::read(
            File::open(path).with_context(|| path.display().to_string())?,
        )?),
        None => None,
    };
    let mut syscalls = arguments.syscall.clone();
    if let Some(profiles) = &profiles {
        let measured: BTreeSet<&String> = profiles
            .profiles
            .iter()
            .flat_map(|profile| &profile.syscalls)
            .collect();
        syscalls.extend(measured.into_iter().cloned());
    }
    let config = arguments
        .config
        .as_ref()
        .map(|path| std::fs::read_to_string(path).with_context(|| path.display().to_string()));
    let request = Request {
        syscalls,
        all: arguments.all,
        fs: arguments.fs.clone(),
        config: config.transpose()?,
        cache: arguments.cache.clone(),
        explain: arguments.explain,
    };
    let document = analyse(&tree, &request)
        .map_err(|error| anyhow::anyhow!("{error}\nhint: {}", error.hint()))?;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        serde_json::to_writer(&mut out, &document)?;
        writeln!(out)?;
        return Ok(());
    }
    if let Some(profiles) = &profiles {
        return compared(&mut out, profiles, &document);
    }
    modules(&mut out, &document)?;
    syscalls_table(&mut out, &document, &arguments)?;
    if arguments.explain {
        explained(&mut out, &document)?;
    }
    writeln!(
        out,
        "\n{:?}, milliseconds: {:?}",
        document.coverage, document.timing
    )?;
    Ok(())
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.set_header(header.iter().copied());
    table
}

fn modules(out: &mut impl Write, document: &PlacementDocument) -> Result<()> {
    let framework = &document.framework;
    writeln!(
        out,
        "Linux {}: {} hooks, {} outside #if, {} lines in security/",
        document.version, framework.hooks, framework.unconditional, framework.loc
    )?;
    let mut rows = table(&[
        "module",
        "hooks",
        "general",
        "loc",
        "loc/hook",
        "file",
        "categories",
    ]);
    for module in &document.modules {
        let categories: Vec<_> = module
            .categories
            .iter()
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        rows.add_row([
            module.module.clone() + if module.direct { " (direct)" } else { "" },
            module.hooks.to_string(),
            module.unconditional.to_string(),
            module.loc.to_string(),
            module.loc_per_hook.to_string(),
            module.file_accessing.to_string(),
            categories.join(", "),
        ]);
    }
    Ok(writeln!(out, "{rows}")?)
}

fn syscalls_table(
    out: &mut impl Write,
    document: &PlacementDocument,
    arguments: &Arguments,
) -> Result<()> {
    for call in &document.syscalls {
        let case = if call.case.is_empty() {
            String::new()
        } else {
            format!(" ({})", call.case)
        };
        writeln!(out, "\n{}{case} on {}", call.syscall, call.fs)?;
        let mut rows = table(&[
            "hook",
            "nominal",
            "max",
            "teardown",
            "inside others",
            "implemented by",
        ]);
        for hook in &call.hooks {
            let nested: Vec<_> = hook
                .nested
                .iter()
                .filter(|(_, reach)| arguments.reach || !reach.nominal.is_zero())
                .collect();
            let nominal =
                !hook.nominal.is_zero() || !hook.teardown.nominal.is_zero() || !nested.is_empty();
            if !nominal && !arguments.reach {
                continue;
            }
            let nested: Vec<_> = nested
                .iter()
                .map(|(modules, reach)| format!("{modules} {}/{}", reach.nominal, reach.max))
                .collect();
            rows.add_row([
                hook.hook.clone(),
                hook.nominal.to_string(),
                hook.max.to_string(),
                format!("{}/{}", hook.teardown.nominal, hook.teardown.max),
                nested.join(", "),
                hook.modules.join(", "),
            ]);
        }
        writeln!(out, "{rows}")?;
        for entry in call.trace.iter().filter(|_| arguments.trace) {
            let times = if entry.times.to_string() == "1" {
                String::new()
            } else {
                format!(" × {}", entry.times)
            };
            writeln!(out, "  {}{times}: {}", entry.hook, entry.calls.join(" > "))?;
        }
    }
    Ok(())
}

fn explained(out: &mut impl Write, document: &PlacementDocument) -> Result<()> {
    for circle in &document.circles {
        writeln!(out, "circle of {}: {}", circle.len(), circle.join(" "))?;
    }
    for decision in &document.undecided {
        writeln!(
            out,
            "undecided: {} {}: {}",
            decision.file, decision.function, decision.code
        )?;
    }
    for fact in &document.stale_facts {
        writeln!(
            out,
            "stale: {} `{}`: {}",
            fact.function, fact.code, fact.reason
        )?;
    }
    for function in &document.unparsed {
        writeln!(
            out,
            "unparsed: {}:{} {}: {}",
            function.file, function.line, function.function, function.reason
        )?;
    }
    Ok(())
}

fn compared(
    out: &mut impl Write,
    profiles: &ProfileDocument,
    document: &PlacementDocument,
) -> Result<()> {
    let comparison = compare(profiles, document)?;
    let mut rows = table(&[
        "operation",
        "fs",
        "hook",
        "measured",
        "nominal",
        "max",
        "agreement",
    ]);
    for hook in comparison
        .hooks
        .iter()
        .filter(|hook| hook.agreement != Agreement::Exact)
    {
        rows.add_row([
            hook.operation.clone(),
            hook.fs.clone(),
            hook.hook.clone(),
            hook.measured.to_string(),
            hook.nominal.to_string(),
            hook.max
                .map_or_else(|| "unbounded".to_owned(), |max| max.to_string()),
            format!("{:?}", hook.agreement),
        ]);
    }
    writeln!(out, "{rows}")?;
    for (operation, reason) in &comparison.skipped {
        writeln!(out, "skipped: {operation}: {reason}")?;
    }
    writeln!(
        out,
        "{:?}: exact {:.1} %, false alarms {:.1} %, recall {:.1} %, precision {:.1} %, {}",
        comparison.cells,
        comparison.exact_percent,
        comparison.false_alarm_percent,
        comparison.recall_percent,
        comparison.precision_percent,
        if comparison.is_sound() {
            "sound"
        } else {
            "NOT SOUND"
        }
    )?;
    Ok(())
}
