// SPDX-License-Identifier: GPL-2.0-or-later
//! Result files of `docs/results` with something changed or missing. A test of lsmeter's compares
//! what is printed of the whole files with the pages there.

use std::path::Path;

use model::{Architecture, Cell, Counted, Document, PolicyPart, Program, layout};
use published::{Content, State, beside, publication, published, sources};
use report::published::{beside_report, publication_report};
use report::{Options, markdown, report};

fn result(name: &str) -> Document {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    let packed = std::fs::read(results.join(format!("{name}.json.xz"))).unwrap();
    Document::parse(&testing::unpack(&packed)).unwrap()
}

fn text(document: &Document, details: bool) -> String {
    let options = Options {
        details,
        ..Options::default()
    };
    markdown(&report(document, &options))
}

/// Changes what was counted of each cell.
fn recount(document: &mut Document, change: impl Fn(&mut Counted)) {
    let counted = document.cells.iter_mut().filter_map(Cell::counted_mut);
    counted.for_each(change);
}

#[test]
fn calls_that_differ_between_architectures_are_told_with_their_reason() {
    let mut document = result("architectures");
    // One version is enough.
    (document.cells).retain(|cell| cell.key.kernel.starts_with("debian:6.12"));
    assert!(!text(&document, false).contains("not explained"));
    // One that no fact speaks of.
    let open = document
        .cells
        .iter_mut()
        .find(|cell| cell.key.architecture == Architecture::Aarch64 && cell.title() == "open:AA");
    let counted = open.unwrap().counted_mut().unwrap();
    let hooks = &mut counted.hooked.as_mut().unwrap().hooks;
    let file_open = hooks.iter_mut().find(|hook| hook.hook == "file_open");
    file_open.unwrap().calls = 2;
    let told = text(&document, false);
    assert!(told.contains("543 of 548 operations"), "{told}");
    let row = "| debian:6.12 | open:AA | file\\_open | 1 x86\\_64, 2 aarch64 | 1 | not explained |";
    assert!(told.contains(row), "{told}");
    let cells = &mut document.cells;
    cells.retain(|cell| cell.key.architecture == Architecture::X86_64);
    assert!(!text(&document, false).contains("on each architecture"));
}

#[test]
fn misses_of_the_access_vector_cache_are_the_kernels_own_count() {
    let mut run = result("avc");
    let told = |run: &Document| text(run, false).contains("**What a miss of SELinux");
    assert!(told(&run));
    for setup in &mut run.setups {
        setup.cache = None;
    }
    assert!(!told(&run));
}

#[test]
fn loading_of_policies_is_told_where_it_is_asked_for_and_exact() {
    let told = |document: &Document, details| {
        text(document, details).contains("What bringing policies into force takes")
    };
    assert!(told(&result("memory-policies"), false));
    let mut document = result("debian-policies");
    for setup in &mut document.setups {
        setup.took.clear();
    }
    assert!(!told(&document, true), "nothing is known");
    document.setups[0].took.push(PolicyPart {
        module: "selinux".to_owned(),
        part: "loading".to_owned(),
        busy_ns: 1234,
    });
    assert!(told(&document, true) && !told(&document, false));
    document.environment.kvm = true;
    assert!(!told(&document, true));
}

#[test]
fn residuals_of_programs_tell_what_is_explained() {
    let make = result("make-noop");
    let told = |change: &dyn Fn(&mut Program)| {
        let mut document = make.clone();
        recount(&mut document, |counted| {
            counted.program.as_mut().map(change);
        });
        text(&document, true)
    };
    // The functions that hold the most are in a footnote, with what explains them.
    let program = make.cells.iter().find_map(|cell| {
        let program = cell.counted()?.program.as_ref()?;
        program.residual.as_ref()
    });
    let name = program.unwrap().functions[0].function.replace('_', "\\_");
    let whole = told(&|_| {});
    assert!(
        whole.contains("| explained |") && whole.contains(&name),
        "{whole}"
    );
    // Compared with something else it is not told, nor in documents that do not have it.
    let other = told(&|program| {
        if let Some(residual) = &mut program.residual {
            residual.instructions += 1;
        }
    });
    let unknown = told(&|program| program.residual = None);
    for text in [other, unknown] {
        assert!(text.contains("| residual |"), "{text}");
        assert!(!text.contains("explained |"), "{text}");
    }
}

#[test]
fn hooks_that_do_not_differ_between_runs_of_a_program_are_not_told() {
    let mut document = result("unixbench");
    let title = "Hooks that runs differ in: ";
    assert!(text(&document, true).contains(title));
    recount(&mut document, |counted| {
        let program = counted.program.as_mut().unwrap();
        (program.same_hooks, program.differing) = (true, Vec::new());
    });
    assert!(!text(&document, true).contains(title));
}

#[test]
fn layouts_of_other_numbers_are_compared_each_with_each() {
    let mut run = result("nanoseconds-6.12");
    let open = |run: &Document| {
        let all = beside(run);
        let mut found = all.comparisons.iter().filter(|of| {
            of.figure.id == "paper:table1.current-selinux.open" && of.benchmark == "open:AA"
        });
        let only = found.next().unwrap().clone();
        assert!(found.next().is_none(), "it stands there twice");
        only
    };
    let up_to = |run: &mut Document, most: u32| {
        let is_left_out = |(base, number): (&str, u32)| base == "build:um-dac" && number > most;
        run.cells
            .retain(|cell| !layout(&cell.key.kernel).is_some_and(is_left_out));
    };
    let whole = open(&run);
    // The last two layouts without modules were not made.
    up_to(&mut run, 6);
    let part = open(&run);
    assert!(whole.layouts.unwrap().is_paired && !part.layouts.unwrap().is_paired);
    assert!((whole.ours - part.ours).abs() < 0.1);
    let text = markdown(&beside_report(&beside(&run)));
    assert!(text.contains("each is compared with each"), "{text}");
    // Three are too few for any interval of one kernel, but not beside eight.
    up_to(&mut run, 3);
    assert!(!beside(&run).comparisons.is_empty());
    // With none there is nothing to compare with.
    run.cells.retain(|cell| cell.key.stack != ["none"]);
    let others = beside(&run).comparisons;
    assert!(others.iter().all(|c| !c.figure.id.starts_with("paper:")));
}

#[test]
fn every_published_figure_has_a_row_and_one_state() {
    for source in sources() {
        let whole = publication(source, &[]);
        let figures = published().iter().filter(|of| of.source == source.id);
        let summaries = whole.summaries();
        assert_eq!(summaries[0].figures(), figures.clone().count());
        let places: usize = summaries[1..].iter().map(published::Summary::figures).sum();
        assert_eq!(places, summaries[0].figures());
        for figure in figures {
            let mut rows = whole.rows.iter();
            assert!(rows.any(|row| row.figure == figure), "{}", figure.id);
        }
        let nothing = [State::CannotBeHad, State::NotMeasured];
        assert!(whole.rows.iter().all(|row| nothing.contains(&row.state())));
        assert!(whole.alternatives.is_empty());
        assert!(!markdown(&publication_report(&whole)).is_empty());
    }
}

/// Under no rules is openat as theirs: that rules explain it is struck off.
#[test]
fn an_explanation_that_was_tried_without_effect_is_struck_off() {
    let run = result("audit");
    let paper = sources().iter().find(|source| source.id == "paper");
    let whole = publication(paper.unwrap(), &[Content::Measured(&run)]);
    let rows = whole.rows.iter();
    let openat = rows.filter(|row| row.figure.id == "paper:figure2.selinux.openat");
    let states: Vec<State> = openat.map(published::Row::state).collect();
    assert_eq!(states, [State::Unexplained]);
}
