// SPDX-License-Identifier: GPL-2.0-or-later
//! Layouts of a kernel beside what others published: the document of `docs/results`.

use std::collections::HashMap;
use std::path::Path;

use model::{Document, layout};
use published::{Answer, Beside, Content, Verdict, beside, publication, sources};
use report::markdown;
use report::published::{beside_report, publication_report};

fn document() -> Document {
    let path = "../../docs/results/nanoseconds-6.12.json.xz";
    let packed = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    Document::parse(&testing::unpack(&packed)).unwrap()
}

fn of<'a>(all: &'a Beside, figure: &str, benchmark: &str) -> &'a published::Comparison {
    let fits = |c: &&published::Comparison| {
        c.figure.id == format!("paper:{figure}") && c.benchmark.starts_with(benchmark)
    };
    let mut found = all.comparisons.iter().filter(fits);
    let only = found
        .next()
        .unwrap_or_else(|| panic!("{figure} {benchmark}"));
    assert!(
        found.next().is_none(),
        "{figure} {benchmark} stands there twice"
    );
    only
}

#[test]
fn one_comparison_a_figure_with_its_interval() {
    let run = document();
    let all = beside(&run);
    let mut seen: HashMap<(&str, &str), usize> = HashMap::new();
    for c in &all.comparisons {
        *seen.entry((&c.figure.id, &c.benchmark)).or_default() += 1;
        assert_eq!(c.kernel, "build:um");
        // The paper is about a kernel without modules, others are about one with capability.
        let baseline = match c.figure.id.starts_with("paper:") {
            true => "none on build:um-dac",
            false => "capability",
        };
        assert_eq!(c.baseline.as_deref(), Some(baseline), "{c:?}");
        let layouts = c.layouts.as_ref().unwrap();
        let [low, high] = layouts.ci95;
        assert!(low <= c.ours && c.ours <= high, "{c:?}");
        assert!(layouts.is_paired && layouts.count == 8);
        assert_eq!(c.unclear, low <= 0.0 && high >= 0.0, "{c:?}");
        let agrees = Verdict::of(c.ours, c.theirs) == Verdict::Agrees;
        assert_eq!(c.verdict == Verdict::Agrees, agrees);
    }
    assert!(
        seen.len() > 30 && seen.values().all(|n| *n == 1),
        "{seen:?}"
    );
    for (figure, benchmark) in [
        ("table1.current-lsm.open", "open:AA"),
        ("table1.current-selinux.stat", "stat:AA"),
        ("figure2.selinux.chmod", "chmod:depth1"),
    ] {
        let c = of(&all, figure, benchmark);
        let added = c.layouts.as_ref().unwrap().added_ns.unwrap();
        // What it adds, as a part of what the baseline takes.
        let base = run
            .cells
            .iter()
            .filter(|cell| cell.key.stack == ["none"] && cell.key.title() == c.benchmark);
        let base: Vec<f64> = base
            .filter_map(|cell| Some(compare::judge::quiet(cell.timed()?)))
            .collect();
        let base = stats::centre(&base).unwrap().value;
        assert!((added.value / base - c.ours).abs() < 0.02, "{c:?}");
    }
    let text = markdown(&beside_report(&all));
    assert!(
        text.contains("over 8 layouts of our kernel: of each layout"),
        "{text}"
    );
}

#[test]
fn layouts_of_other_numbers_are_compared_each_with_each() {
    let mut run = document();
    let whole = beside(&run);
    // The last two layouts without modules were not made.
    run.cells.retain(|cell| {
        let of = layout(&cell.key.kernel);
        !of.is_some_and(|(base, number)| base == "build:um-dac" && number > 6)
    });
    let part = beside(&run);
    let (a, b) = (
        of(&whole, "table1.current-selinux.open", "open:AA"),
        of(&part, "table1.current-selinux.open", "open:AA"),
    );
    assert!(!b.layouts.as_ref().unwrap().is_paired);
    assert!((a.ours - b.ours).abs() < 0.1, "{a:?} {b:?}");
    let text = markdown(&beside_report(&part));
    assert!(text.contains("each is compared with each"), "{text}");
    // Three are too few for any interval of one kernel, but not beside eight.
    run.cells.retain(|cell| {
        let of = layout(&cell.key.kernel);
        !of.is_some_and(|(base, number)| base == "build:um-dac" && number > 3)
    });
    assert!(!beside(&run).comparisons.is_empty());
    // With none there is nothing to compare with.
    run.cells.retain(|cell| cell.key.stack != ["none"]);
    let others = beside(&run).comparisons;
    assert!(others.iter().all(|c| !c.figure.id.starts_with("paper:")));
}

#[test]
fn published_times_have_nanoseconds_beside_them() {
    let run = document();
    let paper = sources()
        .iter()
        .find(|source| source.id == "paper")
        .unwrap();
    let all = publication(paper, &[Content::Measured(&run)]);
    let beside = |id: &str| {
        let mut rows = all.rows.iter().filter(|row| row.figure.id == id);
        match rows.next().map(|row| &row.answer) {
            Some(Answer::Beside { ours, of, .. }) => (ours.as_str(), of.as_str()),
            other => panic!("{id}: {other:?}"),
        }
    };
    let (ours, of) = beside("paper:table1.current-lsm.latency.open");
    assert!(ours.contains(" ns ["), "{ours}");
    assert_eq!(of, "open:AA, capability");
    let (ours, of) = beside("paper:section6.added.capability.open");
    assert!(ours.contains(" ns ["), "{ours}");
    assert_eq!(of, "open:AA, capability vs none on build:um-dac");
    let (_, of) = beside("paper:table1.current-selinux.latency.open");
    assert!(of.ends_with(", without audit's rules"), "{of}");
    assert!(markdown(&publication_report(&all)).contains("| ours, ns |"));
}
