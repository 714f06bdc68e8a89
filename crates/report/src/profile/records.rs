// SPDX-License-Identifier: GPL-2.0-or-later
//! Profiles for programs, one row for each hook and each module's function.

use experiment::{Counted, Document, HookCost, HookedPath, Implementation, Residual};

use super::{Profile, profiles};
use crate::column::{Columns, Records};

/// What a row is about: the operation, a hook of it, or a module's function behind one.
#[derive(Clone, Copy)]
struct Line<'a> {
    profile: Profile<'a>,
    hook: Option<&'a HookCost>,
    behind: Option<&'a Implementation>,
}

impl<'a> Line<'a> {
    fn level(self) -> &'static str {
        match (self.hook, self.behind) {
            (None, _) => "operation",
            (_, None) => "hook",
            (_, Some(_)) => "implementation",
        }
    }

    /// If the row is about a hook itself.
    fn own(self) -> Option<&'a HookCost> {
        self.hook.filter(|_| self.behind.is_none())
    }

    /// If it is about an operation with figures.
    fn operation(self) -> Option<(&'a Counted, &'a HookedPath)> {
        self.profile.figures.filter(|_| self.hook.is_none())
    }

    fn baseline(self) -> Option<&'a Residual> {
        self.operation()?.0.residual.as_ref()
    }

    fn function(self) -> Option<&'a String> {
        let behind = self.behind.map(|behind| &behind.function);
        behind.or(self.hook.map(|hook| &hook.function))
    }

    fn calls(self) -> Option<u64> {
        let behind = self.behind.map(|behind| behind.calls);
        behind.or(self.hook.map(|hook| hook.calls))
    }

    fn inclusive(self) -> Option<u64> {
        let behind = self.behind.map(|behind| behind.inclusive);
        behind.or(self.hook.map(|hook| hook.inclusive))
    }
}

/// For each profile, in the document's order, a row for the operation, one for each hook and
/// one for each implementation behind it. A later version may append columns; it keeps these.
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
/// - `reason`: why there are no figures, or no `residual` though one was asked for.
pub fn profile_records(document: &Document) -> Records<'_> {
    Columns::new()
        .column("kernel", |line: Line<'_>| line.profile.kernel())
        .column("release", |line| &line.profile.cell.release)
        .column("stack", |line| line.profile.stack().join(","))
        .column("active_lsms", |line| {
            line.profile.cell.active_lsms.join(",")
        })
        .column("filesystem", |line| line.profile.filesystem())
        .column("benchmark", |line| line.profile.operation().0)
        .column("variant", |line| line.profile.operation().1)
        .column("status", |line| line.profile.cell.status().to_string())
        .column("level", Line::level)
        .column("hook", |line| line.hook.map(|hook| &hook.hook))
        .column("function", Line::function)
        .column("module", |line| line.behind.map(|behind| &behind.module))
        .column("calls", Line::calls)
        .column("inclusive", Line::inclusive)
        .column("exclusive", |line| line.own().map(|hook| hook.exclusive))
        .column("dispatch", |line| line.own().map(|hook| hook.dispatch))
        .column("outermost", |line| line.own().map(|hook| hook.outermost))
        .column("total", |line| line.operation().map(|(_, of)| of.total))
        .column("rep_iterations", |line| {
            line.operation()
                .map(|(_, of)| of.rep_iterations.unwrap_or_default())
        })
        .column("hooked", |line| line.operation().map(|(_, of)| of.hooked))
        .column("residual", |line| line.baseline().map(|of| of.instructions))
        .column("windows", |line| {
            line.operation().map(|(of, _)| of.windows())
        })
        .column("path_windows", |line| {
            line.operation().map(|(_, of)| of.windows)
        })
        .column("dirty", |line| line.operation().map(|(of, _)| of.dirty()))
        .column("baseline_stack", |line| {
            line.baseline().map(|of| of.stack.join(","))
        })
        .column("baseline_total", |line| {
            line.baseline().map(|of| of.path.total)
        })
        .column("baseline_hooked", |line| {
            line.baseline().map(|of| of.path.hooked)
        })
        .column("reason", |line| {
            let not_compared = || line.operation()?.0.not_compared.as_deref();
            let without = line.profile.cell.reason().filter(|_| line.hook.is_none());
            without.or_else(not_compared)
        })
        .records(profiles(document).into_iter().flat_map(lines))
}

fn lines(profile: Profile<'_>) -> impl Iterator<Item = Line<'_>> {
    let line = move |hook, behind| Line {
        profile,
        hook,
        behind,
    };
    let hooks = profile.hooks().iter().flat_map(move |hook| {
        let behind = hook.implementations.iter();
        let behind = behind.map(move |behind| line(Some(hook), Some(behind)));
        std::iter::once(line(Some(hook), None)).chain(behind)
    });
    std::iter::once(line(None, None)).chain(hooks)
}
