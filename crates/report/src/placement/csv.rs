// SPDX-License-Identifier: GPL-2.0-or-later
//! A placement as CSV (RFC 4180): rows for modules and for hooks of system calls.

use std::io::Write;

use experiment::PlacementDocument;
use experiment::placement::{Comparison, HookPlacement, ModulePlacement, Reach, SyscallPlacement};

use super::agreement::word;
use crate::csv::{CsvError, text};

/// The columns, in order. A later version may append some; it keeps these.
///
/// - `version`: of the kernel.
/// - `level`: what the row is about: the `framework`, a `module`, a `category` of a module's
///   hooks, a `hook` of a system call, or `nested`: such a hook called from inside others.
/// - `module`: of modules and categories; of `nested` the modules that make the call,
///   joined by `+`; of hooks those that implement it, joined by commas.
/// - `category`: of hooks, in rows of that level.
/// - `hooks`, `unconditional`, `file_accessing`, `loc`, `loc_per_hook`: numbers of hooks, of
///   them outside every `#if` and in categories of files; lines of code.
/// - `syscall`, `case`, `fs`, `hook`: which.
/// - `nominal`, `max`, `teardown_nominal`, `teardown_max`: counts such as `2D+S+1`.
pub const PLACEMENT_CSV_COLUMNS: [&str; 17] = [
    "version",
    "level",
    "module",
    "category",
    "hooks",
    "unconditional",
    "file_accessing",
    "loc",
    "loc_per_hook",
    "syscall",
    "case",
    "fs",
    "hook",
    "nominal",
    "max",
    "teardown_nominal",
    "teardown_max",
];

/// Where a system call's columns begin.
const SYSCALL: usize = 9;

/// Writes a heading line, one for the framework, one for each module and each category of
/// its hooks, then one for each hook of each system call and file system.
///
/// # Errors
/// [`CsvError`] when the writer fails. Flushes at the end.
pub fn placement_csv(document: &PlacementDocument, writer: impl Write) -> Result<(), CsvError> {
    let mut out = ::csv::Writer::from_writer(writer);
    out.write_record(PLACEMENT_CSV_COLUMNS)?;
    let version = text(&document.version);
    let record = |level: &str| {
        let mut record: [String; 17] = Default::default();
        record[0].clone_from(&version);
        record[1] = level.to_owned();
        record
    };
    let mut framework = record("framework");
    framework[4] = document.framework.hooks.to_string();
    framework[5] = document.framework.unconditional.to_string();
    framework[7] = document.framework.loc.to_string();
    out.write_record(&framework)?;
    for module in &document.modules {
        out.write_record(of_module(record("module"), module))?;
        for (category, hooks) in &module.categories {
            let mut row = record("category");
            row[2] = text(&module.module);
            row[3] = text(category);
            row[4] = hooks.to_string();
            out.write_record(&row)?;
        }
    }
    for call in &document.syscalls {
        for hook in &call.hooks {
            let mut row = of_hook(record("hook"), call, hook);
            row[2] = text(&hook.modules.join(","));
            counts(
                &mut row,
                [
                    Reach {
                        nominal: hook.nominal,
                        max: hook.max,
                    },
                    hook.teardown,
                ],
            );
            out.write_record(&row)?;
            for (modules, reach) in &hook.nested {
                let mut row = of_hook(record("nested"), call, hook);
                row[2] = text(modules);
                counts(&mut row, [*reach]);
                out.write_record(&row)?;
            }
        }
    }
    out.flush()?;
    Ok(())
}

fn of_module(mut row: [String; 17], module: &ModulePlacement) -> [String; 17] {
    row[2] = text(&module.module);
    row[4] = module.hooks.to_string();
    row[5] = module.unconditional.to_string();
    row[6] = module.file_accessing.to_string();
    row[7] = module.loc.to_string();
    row[8] = module.loc_per_hook.to_string();
    row
}

fn of_hook(mut row: [String; 17], call: &SyscallPlacement, hook: &HookPlacement) -> [String; 17] {
    let names = [&call.syscall, &call.case, &call.fs, &hook.hook];
    for (field, name) in row[SYSCALL..].iter_mut().zip(names) {
        *field = text(name);
    }
    row
}

fn counts<const N: usize>(row: &mut [String; 17], reaches: [Reach; N]) {
    let counts = reaches.iter().flat_map(|reach| [reach.nominal, reach.max]);
    for (field, count) in row[SYSCALL + 4..].iter_mut().zip(counts) {
        *field = count.to_string();
    }
}

/// The columns of an agreement, in order: the operation (`benchmark:variant`), its file
/// system and hook, calls measured, nominally and at most (empty without a bound), and how
/// they agree. A later version may append some; it keeps these.
pub const AGREEMENT_CSV_COLUMNS: [&str; 7] = [
    "operation",
    "fs",
    "hook",
    "measured",
    "nominal",
    "max",
    "agreement",
];

/// Writes a heading line, then one for each hook of each operation.
///
/// # Errors
/// [`CsvError`] when the writer fails. Flushes at the end.
pub fn agreement_csv(comparison: &Comparison, writer: impl Write) -> Result<(), CsvError> {
    let mut out = ::csv::Writer::from_writer(writer);
    out.write_record(AGREEMENT_CSV_COLUMNS)?;
    for hook in &comparison.hooks {
        let bound = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
        out.write_record([
            text(&hook.operation),
            text(&hook.fs),
            text(&hook.hook),
            hook.measured.to_string(),
            bound((hook.nominal < u64::MAX).then_some(hook.nominal)),
            bound(hook.max),
            word(hook.agreement).to_owned(),
        ])?;
    }
    out.flush()?;
    Ok(())
}
