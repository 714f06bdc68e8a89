// SPDX-License-Identifier: GPL-2.0-or-later
//! Result files of `docs/results`, changed or incomplete. A test in crates/lsmeter compares the
//! output for the whole files with the pages there.

use std::path::Path;

use model::{Architecture, Cell, Counted, Document, PolicyPart, Program};
use report::{markdown, report};

fn result(name: &str) -> Document {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    let packed = std::fs::read(results.join(format!("{name}.json.xz"))).unwrap();
    Document::parse(&testing::unpack(&packed)).unwrap()
}

fn text(document: &Document, details: bool) -> String {
    markdown(&report(document, details))
}

/// Changes the counts of each measurement.
fn recount(document: &mut Document, change: impl Fn(&mut Counted)) {
    let counted = document.cells.iter_mut().filter_map(Cell::counted_mut);
    counted.for_each(change);
}

#[test]
fn calls_that_differ_between_architectures_are_listed() {
    let mut document = result("architectures");
    // One version is enough.
    (document.cells).retain(|cell| cell.key.kernel.starts_with("debian:6.12"));
    let output = text(&document, false);
    assert!(output.contains("540 of 540 operations"), "{output}");
    let open = document
        .cells
        .iter_mut()
        .find(|cell| cell.key.architecture == Architecture::Aarch64 && cell.title() == "open:AA");
    let counted = open.unwrap().counted_mut().unwrap();
    let hooks = &mut counted.hooked.as_mut().unwrap().hooks;
    let file_open = hooks.iter_mut().find(|hook| hook.hook == "file_open");
    file_open.unwrap().calls = 2;
    let output = text(&document, false);
    assert!(output.contains("539 of 540 operations"), "{output}");
    let row = "| debian:6.12 | open:AA | file\\_open | 1 x86\\_64, 2 aarch64 | 1 |";
    assert!(output.contains(row), "{output}");
    let cells = &mut document.cells;
    cells.retain(|cell| cell.key.architecture == Architecture::X86_64);
    assert!(!text(&document, false).contains("on each architecture"));
}

#[test]
fn misses_of_the_access_vector_cache_are_the_kernels_own_count() {
    let mut run = result("avc");
    let is_shown = |run: &Document| text(run, false).contains("**What a miss of SELinux");
    assert!(is_shown(&run));
    for setup in &mut run.setups {
        setup.cache = None;
    }
    assert!(!is_shown(&run));
}

#[test]
fn loading_of_policies_is_shown_where_it_is_asked_for_and_exact() {
    let is_shown =
        |document: &Document, details| text(document, details).contains("Cost of loading policies");
    assert!(is_shown(&result("memory-policies"), false));
    let mut document = result("debian-policies");
    for setup in &mut document.setups {
        setup.took.clear();
    }
    assert!(!is_shown(&document, true), "nothing is known");
    document.setups[0].took.push(PolicyPart {
        module: "selinux".to_owned(),
        part: "loading".to_owned(),
        busy_ns: 1234,
    });
    assert!(is_shown(&document, true) && !is_shown(&document, false));
    document.environment.kvm = true;
    assert!(!is_shown(&document, true));
}

#[test]
fn residuals_of_programs_show_what_is_explained() {
    let make = result("make-noop");
    let text_after = |change: &dyn Fn(&mut Program)| {
        let mut document = make.clone();
        recount(&mut document, |counted| {
            counted.program.as_mut().map(change);
        });
        text(&document, true)
    };
    // The main functions are in a footnote, with their explanation.
    let program = make.cells.iter().find_map(|cell| {
        let program = cell.counted()?.program.as_ref()?;
        program.residual.as_ref()
    });
    let name = program.unwrap().functions[0].function.replace('_', "\\_");
    let whole = text_after(&|_| {});
    assert!(
        whole.contains("| explained |") && whole.contains(&name),
        "{whole}"
    );
    // Without the same baseline there is no residual, nor in result files without one.
    let other = text_after(&|program| {
        if let Some(residual) = &mut program.residual {
            residual.instructions += 1;
        }
    });
    let unknown = text_after(&|program| program.residual = None);
    for text in [other, unknown] {
        assert!(text.contains("| residual |"), "{text}");
        assert!(!text.contains("explained |"), "{text}");
    }
}

#[test]
fn hooks_that_do_not_differ_between_runs_of_a_program_are_not_shown() {
    let mut document = result("../../publications/freenix01/unixbench");
    let title = "Hooks that differ between runs: ";
    assert!(text(&document, true).contains(title));
    recount(&mut document, |counted| {
        let program = counted.program.as_mut().unwrap();
        (program.same_hooks, program.differing) = (true, Vec::new());
    });
    assert!(!text(&document, true).contains(title));
}
