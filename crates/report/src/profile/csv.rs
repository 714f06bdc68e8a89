// SPDX-License-Identifier: GPL-2.0-or-later
//! Profiles as CSV (RFC 4180), one row for each hook and each module's function.

use std::io::Write;

use experiment::{Profile, ProfileDocument};

use super::has_figures;
use crate::csv::{CsvError, text};

/// The columns, in order. A later version may append some; it keeps these.
///
/// - `kernel`, `release`, `stack`, `active_lsms`, `filesystem`, `benchmark`, `variant`,
///   `status`: of the profile, as in the document; lists are joined by commas.
/// - `level`: what the row is about: `operation`, a `hook` of it, or an
///   `implementation`: a module's function behind a hook.
/// - `hook`, `function`, `module`: the hook; the framework's or the module's function;
///   the module. Empty where the level has none.
/// - `calls`, `inclusive`: of hooks and implementations; `exclusive`, `dispatch`,
///   `outermost`: of hooks. Instructions per operation.
/// - `total`, `rep_iterations`, `hooked`, `residual`, `windows`, `path_windows`,
///   `dirty`: of operations only, so that a sum over a column counts nothing twice.
/// - `baseline_stack`, `baseline_total`, `baseline_hooked`: what `residual` compares
///   with; of operations only.
/// - `reason`: why there are no figures.
pub const PROFILE_CSV_COLUMNS: [&str; 28] = [
    "kernel",
    "release",
    "stack",
    "active_lsms",
    "filesystem",
    "benchmark",
    "variant",
    "status",
    "level",
    "hook",
    "function",
    "module",
    "calls",
    "inclusive",
    "exclusive",
    "dispatch",
    "outermost",
    "total",
    "rep_iterations",
    "hooked",
    "residual",
    "windows",
    "path_windows",
    "dirty",
    "baseline_stack",
    "baseline_total",
    "baseline_hooked",
    "reason",
];

/// Writes a heading line, then for each profile, in the document's order, a line for
/// the operation, one for each hook and one for each implementation behind it.
///
/// # Errors
/// [`CsvError`] when the writer fails. Flushes at the end.
pub fn profile_csv(document: &ProfileDocument, writer: impl Write) -> Result<(), CsvError> {
    let mut out = ::csv::Writer::from_writer(writer);
    out.write_record(PROFILE_CSV_COLUMNS)?;
    for profile in &document.profiles {
        let of_profile = [
            text(&profile.kernel),
            text(&profile.release),
            text(&profile.stack.join(",")),
            text(&profile.active_lsms.join(",")),
            text(&profile.filesystem),
            text(&profile.benchmark),
            text(&profile.variant),
            profile.status.to_string(),
        ];
        let mut write = |of_row: Record| out.write_record(of_profile.iter().chain(&of_row.0));
        write(operation(profile))?;
        if !has_figures(profile) {
            continue;
        }
        for hook in &profile.hooks {
            let mut row = Record::of("hook", &hook.hook, &hook.function, "");
            row.figures([
                hook.calls,
                hook.inclusive,
                hook.exclusive,
                hook.dispatch,
                hook.outermost,
            ]);
            write(row)?;
            for behind in &hook.implementations {
                let mut row = Record::of(
                    "implementation",
                    &hook.hook,
                    &behind.function,
                    &behind.module,
                );
                row.figures([behind.calls, behind.inclusive]);
                write(row)?;
            }
        }
    }
    out.flush()?;
    Ok(())
}

/// What a row has behind the profile's own columns.
struct Record([String; 20]);

/// Where the level's figures begin in a record.
const CALLS: usize = 4;
/// Where the operation's begin.
const TOTAL: usize = 9;

impl Record {
    fn of(level: &str, hook: &str, function: &str, module: &str) -> Record {
        let mut row = Record(Default::default());
        row.0[0] = level.to_owned();
        row.0[1] = text(hook);
        row.0[2] = text(function);
        row.0[3] = text(module);
        row
    }

    fn figures<const N: usize>(&mut self, figures: [u64; N]) {
        for (field, figure) in self.0[CALLS..].iter_mut().zip(figures) {
            *field = figure.to_string();
        }
    }
}

fn operation(profile: &Profile) -> Record {
    let mut row = Record::of("operation", "", "", "");
    let fields = &mut row.0[TOTAL..];
    if has_figures(profile) {
        fields[0] = profile.total.to_string();
        fields[1] = profile.rep_iterations.to_string();
        fields[2] = profile.hooked.to_string();
        fields[3] = profile.residual.map(|r| r.to_string()).unwrap_or_default();
        fields[4] = profile.windows.to_string();
        fields[5] = profile.path_windows.to_string();
        fields[6] = profile.dirty.to_string();
        if let Some(baseline) = &profile.baseline {
            fields[7] = text(&baseline.stack.join(","));
            fields[8] = baseline.total.to_string();
            fields[9] = baseline.hooked.to_string();
        }
    }
    fields[10] = text(profile.reason.as_deref().unwrap_or_default());
    row
}
