// SPDX-License-Identifier: GPL-2.0-or-later
//! Profiles for programs, one row for each hook and each module's function.

use experiment::{BaselineProfile, HookCost, Implementation, Profile, ProfileDocument};

use super::has_figures;
use crate::column::{Columns, Records};

/// What a row is about: the operation, a hook of it, or a module's function behind one.
#[derive(Clone, Copy)]
struct Line<'a> {
    profile: &'a Profile,
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
    fn operation(self) -> Option<&'a Profile> {
        let whole = self.hook.is_none() && has_figures(self.profile);
        whole.then_some(self.profile)
    }

    fn baseline(self) -> Option<&'a BaselineProfile> {
        self.operation()?.baseline.as_ref()
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
/// - `reason`: why there are no figures.
pub fn profile_records(document: &ProfileDocument) -> Records<'_> {
    Columns::new()
        .column("kernel", |line: Line<'_>| &line.profile.kernel)
        .column("release", |line| &line.profile.release)
        .column("stack", |line| line.profile.stack.join(","))
        .column("active_lsms", |line| line.profile.active_lsms.join(","))
        .column("filesystem", |line| &line.profile.filesystem)
        .column("benchmark", |line| &line.profile.benchmark)
        .column("variant", |line| &line.profile.variant)
        .column("status", |line| line.profile.status.to_string())
        .column("level", Line::level)
        .column("hook", |line| line.hook.map(|hook| &hook.hook))
        .column("function", Line::function)
        .column("module", |line| line.behind.map(|behind| &behind.module))
        .column("calls", Line::calls)
        .column("inclusive", Line::inclusive)
        .column("exclusive", |line| line.own().map(|hook| hook.exclusive))
        .column("dispatch", |line| line.own().map(|hook| hook.dispatch))
        .column("outermost", |line| line.own().map(|hook| hook.outermost))
        .column("total", |line| line.operation().map(|of| of.total))
        .column("rep_iterations", |line| {
            line.operation().map(|of| of.rep_iterations)
        })
        .column("hooked", |line| line.operation().map(|of| of.hooked))
        .column("residual", |line| line.operation()?.residual)
        .column("windows", |line| line.operation().map(|of| of.windows))
        .column("path_windows", |line| {
            line.operation().map(|of| of.path_windows)
        })
        .column("dirty", |line| line.operation().map(|of| of.dirty))
        .column("baseline_stack", |line| {
            line.baseline().map(|of| of.stack.join(","))
        })
        .column("baseline_total", |line| line.baseline().map(|of| of.total))
        .column("baseline_hooked", |line| {
            line.baseline().map(|of| of.hooked)
        })
        .column("reason", |line| {
            line.profile.reason.as_ref().filter(|_| line.hook.is_none())
        })
        .records(document.profiles.iter().flat_map(lines))
}

fn lines(profile: &Profile) -> impl Iterator<Item = Line<'_>> {
    let line = move |hook, behind| Line {
        profile,
        hook,
        behind,
    };
    let hooks = profile.hooks.iter().filter(|_| has_figures(profile));
    let hooks = hooks.flat_map(move |hook| {
        let behind = hook.implementations.iter();
        let behind = behind.map(move |behind| line(Some(hook), Some(behind)));
        std::iter::once(line(Some(hook), None)).chain(behind)
    });
    std::iter::once(line(None, None)).chain(hooks)
}
