// SPDX-License-Identifier: GPL-2.0-or-later
//! Small profiles as every kind of table, and contradictory result files.

use crate::hooked::{self, implementation};
use model::{
    Cell, Configuration, Counted, Document, Environment, Events, Evidence, FunctionDifference,
    HookCost, HookedPath, Integrity, Key, Kind, Metric, Outcome, PathCount, Paths, Policy,
    Residual, Status, Subject, Warning, WarningKind,
};
use proptest::prelude::*;
use report::{
    Layout, ProfileView, coverage_report, markdown, profile_records, profile_report, terminal,
};

fn document(cells: Vec<Cell>) -> Document {
    Document {
        cells,
        ..Document::new(Kind::Profile, Environment::default())
    }
}

/// The counts, and the path whose hooks are listed.
fn counted(cell: &mut Cell) -> &mut Counted {
    cell.counted_mut().unwrap()
}

fn path(cell: &mut Cell) -> &mut HookedPath {
    counted(cell).hooked.as_mut().unwrap()
}

/// A hook whose modules' functions are given as module, function, inclusive.
fn hook(name: &str, calls: u64, own: u64, behind: &[(&str, &str, u64)]) -> HookCost {
    let modules: u64 = behind.iter().map(|(_, _, cost)| cost).sum();
    HookCost {
        hook: name.to_owned(),
        function: format!("security_{name}"),
        calls,
        inclusive: own + modules,
        exclusive: own,
        dispatch: own,
        outermost: own + modules,
        implementations: behind
            .iter()
            .map(|(module, function, cost)| implementation(module, function, calls, *cost))
            .collect(),
        ..HookCost::default()
    }
}

const OUTSIDE: u64 = 4_700;

fn profile(kernel: &str, modules: &[&str], (benchmark, variant): (&str, &str)) -> Cell {
    let mut hooks = Vec::new();
    let mut called = |name, calls, own, behind: &[(&'static str, &'static str, u64)]| {
        let mut behind = behind.to_vec();
        behind.retain(|(module, ..)| modules.contains(module));
        hooks.push(hook(name, calls, own, &behind));
    };
    if benchmark == "open" {
        let both = [
            ("selinux", "selinux_file_open", 290),
            ("apparmor", "apparmor_file_open", 210),
        ];
        called("file_open", 1, 33, &both);
        let apparmor = ("apparmor", "apparmor_file_alloc_security", 77);
        called("file_alloc", 1, 61, &[apparmor]);
    }
    let selinux = ("selinux", "selinux_inode_permission", 1_100);
    called("inode_permission", 3, 84, &[selinux]);
    if modules.contains(&"selinux") {
        let behind = [("landlock", "hook_getsecid", 5)];
        hooks.push(hook("current_getsecid_subj", 1, 20, &behind));
    }
    let hooked = hooks.iter().map(|hook| hook.outermost).sum::<u64>();
    let path = HookedPath {
        total: OUTSIDE + hooked,
        rep_iterations: Some(4_324),
        regions: 61,
        ..hooked::path(hooks)
    };
    let counted = Counted {
        paths: Some(Paths {
            dominant: PathCount {
                instructions: path.total,
                rep_iterations: 4_324,
                lines: None,
                regions: 61,
            },
            others: Vec::new(),
            regions: 64,
            dirty: 3,
            path_hash: None,
        }),
        hooked: Some(path),
        ..Counted::default()
    };
    let stack = modules.join(",").parse().unwrap();
    let key = Key::new(
        kernel,
        &Configuration::of_stack(stack),
        "tmpfs",
        Subject::benchmark(benchmark, variant),
        Metric::Instructions,
    );
    Cell {
        release: format!("{}.0-cloud-amd64", kernel.trim_start_matches("debian:")),
        active_lsms: modules.iter().map(|m| (*m).to_owned()).collect(),
        syscalls: vec![benchmark.to_owned()],
        outcome: Evidence::from(counted).into(),
        ..Cell::unmeasured(key)
    }
}

const OPEN: (&str, &str) = ("open", "AA/BB");
const STAT: (&str, &str) = ("stat", "");
const CAPABILITY: &[&str] = &["capability"];
const SELINUX: &[&str] = &["capability", "selinux"];
const APPARMOR: &[&str] = &["capability", "apparmor"];

fn failed(profile: Cell) -> Cell {
    let why = "the guest stopped: \u{1b}[31mKernel panic";
    Cell {
        outcome: Outcome::without(Status::Failed, why),
        ..profile
    }
}

fn against(mut profile: Cell, baseline: &Cell, more: i64) -> Cell {
    let total = &mut path(&mut profile).total;
    *total = total.saturating_add_signed(more);
    let base = baseline.counted().unwrap();
    counted(&mut profile).residual = Some(Residual {
        stack: baseline.key.stack.clone(),
        path: base.hooked.clone().unwrap(),
        regions: base.regions(),
        instructions: more,
        functions: Vec::new(),
    });
    profile
}

/// The functions that account for a profile's residual.
fn held_by(profile: &mut Cell, functions: Vec<FunctionDifference>) {
    counted(profile).residual.as_mut().unwrap().functions = functions;
}

fn held(function: &str, difference: i64, explanation: Option<&str>) -> FunctionDifference {
    FunctionDifference {
        function: function.to_owned(),
        difference,
        explanation: explanation.map(str::to_owned),
    }
}

fn diff(operation: (&str, &str), more: i64) -> Cell {
    let baseline = profile("debian:6.1", CAPABILITY, operation);
    let mut profile = against(profile("debian:6.1", SELINUX, operation), &baseline, more);
    if more != 0 {
        let why = Some("the inode's blob is larger");
        let held = vec![held("kfree", -2, None), held("memset_erms", more + 2, why)];
        held_by(&mut profile, held);
    }
    profile
}

/// Two profiles of one kernel: a hook visible only by a module's function, one that is not in the
/// kernel's list, and hooks that no operation calls, with and without a known reason.
#[test]
fn hooks_that_operations_call() {
    let mut documents = [SELINUX, APPARMOR].map(|stack| {
        let mut open = profile("debian:6.1", stack, OPEN);
        let inlined = [("selinux", "selinux_inode_xattr_skipcap.part.0", 7)];
        path(&mut open)
            .hooks
            .push(hook("inode_setxattr", 2, 9, &inlined));
        document(vec![open, profile("debian:6.1", stack, STAT)])
    });
    let hooks = "binder_transaction file_open ib_pkey_access inode_permission inode_setxattr \
                 inode_xattr_skipcap new_hook task_free";
    for document in &mut documents {
        let hooks = hooks.split(' ').map(str::to_owned).collect();
        document.kernel_hooks.insert("debian:6.1".to_owned(), hooks);
    }
    let report = coverage_report(&documents.each_ref());
    insta::assert_snapshot!(terminal(&report, &Layout::default()));
}

fn shown(document: &Document, by: ProfileView) -> String {
    crate::shown(&profile_report(document, by))
}

fn csv_of(document: &Document) -> String {
    crate::written(profile_records(document))
}

#[test]
fn one_operation() {
    let three = [CAPABILITY, SELINUX, APPARMOR].map(|stack| profile("debian:6.1", stack, OPEN));
    let [capability, selinux, apparmor] = three.clone();
    let mut warned = document(three.into());
    warned.warnings = vec![Warning::new(
        WarningKind::DirtyRegions,
        "3 of 67 measured regions",
    )];
    // Parts that cancel out prove nothing.
    let mut cancelling = against(apparmor, &capability, 0);
    held_by(
        &mut cancelling,
        vec![held("a", 3, None), held("b", -3, None)],
    );
    path(&mut cancelling).hooks[0].calls = 2;
    let with_failed = vec![capability.clone(), failed(selinux.clone())];
    for (name, document) in [
        ("one_stack", document(vec![selinux])),
        ("three_stacks", warned),
        (
            "compared_without_residual",
            document(vec![capability, diff(OPEN, 0)]),
        ),
        ("compared_with_residual", document(vec![diff(OPEN, 14)])),
        (
            "two_stacks_compared",
            document(vec![diff(OPEN, 0), cancelling]),
        ),
        ("a_failed_profile", document(with_failed)),
    ] {
        insta::assert_snapshot!(name, shown(&document, ProfileView::Operation));
    }
    let report = profile_report(&document(vec![diff(OPEN, 14)]), ProfileView::Operation);
    insta::assert_snapshot!("markdown_keeps_the_order_of_levels", markdown(&report));
}

#[test]
fn every_view_names_the_state_of_policies() {
    let one = |operation| {
        let mut profile = profile("debian:6.12", &["selinux"], operation);
        profile.key.policy = Policy::Enforcing;
        profile.key.integrity = vec![Integrity::Audit];
        profile
    };
    let document = document(vec![one(("open", "AA")), one(("stat", "AA"))]);
    for view in [
        ProfileView::Operation,
        ProfileView::Hooks,
        ProfileView::Operations,
    ] {
        let shown = shown(&document, view);
        assert!(shown.contains("selinux +audit (enforcing)"), "{shown}");
    }
}

#[test]
fn many_operations() {
    let rows = vec![
        profile("debian:6.1", SELINUX, OPEN),
        profile("debian:6.1", SELINUX, STAT),
        failed(profile("debian:6.1", SELINUX, ("unlink", "AA"))),
    ];
    let mut stat = profile("debian:6.12", SELINUX, STAT);
    path(&mut stat).hooks[0].inclusive += 100;
    let newer = vec![profile("debian:6.12", SELINUX, OPEN), stat];
    let hooks = document([rows.clone(), newer].concat());
    let baseline = profile("debian:6.1", CAPABILITY, OPEN);
    let apparmor = against(profile("debian:6.1", APPARMOR, OPEN), &baseline, 0);
    let compared = document(vec![diff(OPEN, 14), diff(STAT, 0), apparmor]);
    for (name, view, document) in [
        (
            "hooks_over_operations_and_kernels",
            ProfileView::Hooks,
            hooks,
        ),
        (
            "operations_in_rows",
            ProfileView::Operations,
            document(rows),
        ),
        ("operations_compared", ProfileView::Operations, compared),
    ] {
        insta::assert_snapshot!(name, shown(&document, view));
    }
}

#[test]
fn csv_rows() {
    let mut document = document(vec![
        diff(OPEN, 14),
        failed(profile("debian:6.1", SELINUX, STAT)),
    ]);
    path(&mut document.cells[0]).hooks[0].implementations[0].function = "=HYPERLINK(1)".to_owned();
    insta::assert_snapshot!(csv_of(&document));
}

#[test]
fn csv_says_why_nothing_was_compared() {
    let mut profile = profile("debian:6.1", SELINUX, OPEN);
    let why = "there is no profile of capability";
    counted(&mut profile).not_compared = Some(why.to_owned());
    let csv = csv_of(&document(vec![profile]));
    let has_reason: Vec<bool> = csv.lines().map(|line| line.contains(why)).collect();
    // Of the operation, not of its hooks.
    assert!(has_reason.len() > 2 && has_reason[1], "{csv}");
    assert!(
        has_reason[2..].iter().all(|has_reason| !has_reason),
        "{csv}"
    );
}

#[test]
fn the_view_that_suits() {
    let view = |n: usize| {
        let profiles = (0..n).map(|i| profile("debian:6.1", SELINUX, ("open", &format!("{i}"))));
        ProfileView::suited_to(&document(profiles.collect()))
    };
    assert_eq!(view(0), ProfileView::Operation);
    assert_eq!(view(4), ProfileView::Operation);
    assert_eq!(view(5), ProfileView::Operations);
}

#[test]
fn nothing_profiled_is_no_table() {
    for by in [
        ProfileView::Operation,
        ProfileView::Hooks,
        ProfileView::Operations,
    ] {
        assert_eq!(shown(&document(Vec::new()), by), "");
    }
    assert_eq!(csv_of(&document(Vec::new())).lines().count(), 1);
}

/// Every number and text is wrong.
fn hostile(mut profile: Cell, text: &str, figure: u64) -> Cell {
    let key = &mut profile.key;
    key.kernel = text.to_owned();
    key.filesystem = text.to_owned();
    key.subject = Subject::benchmark(text, text);
    key.stack.push(text.to_owned());
    profile.release = text.to_owned();
    profile.active_lsms = vec![text.to_owned()];
    let path = path(&mut profile);
    (path.total, path.hooked) = (figure, figure / 2);
    for hook in &mut path.hooks {
        hook.hook = text.to_owned();
        (hook.calls, hook.inclusive, hook.dispatch) = (figure, figure, figure);
        for behind in &mut hook.implementations {
            behind.module = text.to_owned();
            behind.function = text.to_owned();
            behind.inclusive = figure;
        }
    }
    if let Some(residual) = &mut counted(&mut profile).residual {
        residual.stack = vec![text.to_owned()];
        residual.path.hooked = figure;
        residual.instructions = i64::MIN;
        residual.functions = vec![held(text, i64::MIN, Some(text)), held(text, 1, None)];
    }
    profile
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_lying_document_cannot_draw(
        text in "\\PC{0,12}|[\\x00-\\x7f|`<]{0,300}|\u{1b}\\[2J.*",
        figure in prop_oneof![Just(0), Just(u64::MAX), any::<u64>()],
        usable: bool,
    ) {
        let mut profiles = vec![
            diff(OPEN, 14),
            diff(STAT, 0),
            profile("debian:6.1", SELINUX, OPEN),
            profile("debian:6.12", APPARMOR, OPEN),
        ];
        for profile in &mut profiles {
            *profile = hostile(profile.clone(), &text, figure);
            if !usable {
                profile.outcome = Outcome::without(Status::Unsupported, text.clone());
            }
        }
        // So that there is more than one kernel.
        profiles[3].key.kernel.push('x');
        let document = document(profiles);
        for by in [ProfileView::Operation, ProfileView::Hooks, ProfileView::Operations] {
            let made = profile_report(&document, by);
            for table in &made.tables {
                for row in &table.rows {
                    prop_assert_eq!(row.values.len(), table.columns.len());
                }
            }
            let layout = Layout { width: Some(80), colour: false };
            for text in [terminal(&made, &layout), markdown(&made)] {
                prop_assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
            }
        }
        let csv = csv_of(&document);
        for record in csv::Reader::from_reader(csv.as_bytes()).records() {
            let record = record.unwrap();
            prop_assert_eq!(record.len(), 28 + Events::KINDS.len());
            for field in &record {
                prop_assert!(!field.starts_with(['=', '@', '+']));
            }
        }
    }

    #[test]
    fn any_width_keeps_every_figure(width in 0usize..200) {
        let document = document(vec![diff(OPEN, 14), profile("debian:6.1", APPARMOR, OPEN)]);
        let made = profile_report(&document, ProfileView::Operation);
        let text = terminal(&made, &Layout { width: Some(width), colour: false });
        for figure in ["1,184", "+1,100", "+14 [1]", "apparmor_file_open", "210"] {
            prop_assert!(text.contains(figure), "{figure}: {text}");
        }
    }
}
