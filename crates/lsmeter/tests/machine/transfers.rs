// SPDX-License-Identifier: GPL-2.0-or-later
//! Transfers between processors.
//!
//! Needs QEMU for both architectures and the kernels debian:6.1, debian:6.12 and debian:6.12/aarch64.

use model::{Cell, Document, Metric, Status};

use super::cells::assert_same;
use crate::common::Place;

const BENCH: &str = "getppid,open:AA,stat:AA";

/// Transfers of each benchmark without and with AppArmor, whose profile `unconfined` has one
/// reference count for all open files.
const EXPECTED: [(&str, Metric, u64, u64); 8] = [
    ("getppid", Metric::Transfers, 0, 0),
    ("getppid", Metric::TransfersApart, 0, 0),
    ("stat", Metric::Transfers, 2, 2),
    ("stat", Metric::TransfersSiblings, 0, 0),
    ("stat", Metric::TransfersApart, 0, 0),
    ("open", Metric::Transfers, 3, 4),
    ("open", Metric::TransfersSiblings, 0, 1),
    ("open", Metric::TransfersApart, 0, 1),
];

/// Words that `open` transfers with AppArmor: of the working directory, the file, and the profile.
const WORDS: [(&str, &str, u64); 3] = [
    ("[dentry.d_lockref]", "__legitimize_path", 2),
    ("[kmalloc-", "apparmor_file_alloc_security", 1),
    (
        "[shmem_inode_info.vfs_inode.i_readcount]",
        "do_dentry_open",
        1,
    ),
];

fn line(kernels: &str, output: &str) -> String {
    format!(
        "run --offline {kernels} --fs tmpfs --bench {BENCH} -o {output} \
         --metric transfers,transfers_siblings,transfers_apart \
         --stack capability --stack capability,apparmor"
    )
}

fn cell<'a>(
    run: &'a Document,
    kernel: &str,
    benchmark: &str,
    metric: Metric,
    stack: &str,
) -> &'a Cell {
    let is_it = |cell: &&Cell| {
        let key = &cell.key;
        key.kernel == kernel
            && key.benchmark() == benchmark
            && key.metric == metric
            && key.stack.last().is_some_and(|last| last == stack)
    };
    run.cells.iter().find(is_it).unwrap()
}

fn transfers(cell: &Cell) -> u64 {
    let paths = cell.paths();
    let paths = paths.unwrap_or_else(|| panic!("{cell:#?}"));
    paths.dominant.instructions
}

#[test]
fn shared_memory_is_transferred() {
    let place = Place::with_kernels();
    let kernels = "--arch x86_64 --arch aarch64 --kernel debian:6.12";
    place.line(&line(kernels, "first.json")).code(0);
    // Linux before 6.5 waits for a new processor without a pause.
    place
        .line(&line("--kernel debian:6.1", "older.json"))
        .code(0);
    let (first, older) = (place.document("first.json"), place.document("older.json"));
    for (run, kernel) in [
        (&first, "debian:6.12"),
        (&first, "debian:6.12/aarch64"),
        (&older, "debian:6.1"),
    ] {
        for (benchmark, metric, without, with) in EXPECTED {
            let found = ["capability", "apparmor"]
                .map(|stack| transfers(cell(run, kernel, benchmark, metric, stack)));
            assert_eq!(found, [without, with], "{kernel}: {benchmark}, {metric}");
        }
        let getppid = cell(
            run,
            kernel,
            "getppid",
            Metric::TransfersSiblings,
            "apparmor",
        );
        assert_eq!(getppid.status(), Status::Unsupported);
        let open = cell(run, kernel, "open", Metric::Transfers, "apparmor");
        assert_eq!(open.paths().unwrap().dominant.lines, Some(4), "{kernel}");
        let tree = open.counted().unwrap().tree.as_ref().unwrap();
        let words = tree.words();
        assert_eq!(words.len(), WORDS.len(), "{kernel}: {words:?}");
        for ((&(word, function), &transfers), (expected, by, n)) in words.iter().zip(WORDS) {
            assert!(word.starts_with(expected), "{kernel}: {words:?}");
            assert_eq!((function, transfers), (by, n), "{kernel}");
        }
    }
    // Exit status 70 if a count differs from the cache.
    let again = line(kernels, "again.json --no-cache --jobs 1");
    place.line(&again).code(0);
    assert_same(&place.document("again.json"), &first);

    // The baseline has none, so that there is no percentage.
    let report = place.line("report first.json --format markdown").code(0);
    let added = "open:AA +1 (file\\_alloc\\_security)";
    assert!(report.stdout.contains(added), "{}", report.stdout);

    let explained = place
        .line("compare --across stack first.json --explain")
        .code(0);
    let word = explained
        .stdout
        .lines()
        .find(|line| line.starts_with("[kmalloc-"));
    assert!(
        word.is_some_and(|line| line.contains("0→1")),
        "{}",
        explained.stdout
    );

    let profile = "profile --offline --kernel debian:6.12 --fs tmpfs --metric transfers_apart \
                   --bench open:AA --stack capability,apparmor -o profile.json";
    let ended = place.line(profile).code(0);
    let module = ended.stdout.lines();
    let mut module = module.filter(|line| line.contains("apparmor_file_alloc_security"));
    assert!(module.next().is_some_and(|line| line.ends_with('1')));
    assert_eq!(place.left_over(), [""; 0]);
}

#[test]
fn unlike_counts_are_refused() {
    let place = Place::with_kernel("debian:6.12");
    let run = "run --offline --fs tmpfs --metric transfers --stack capability --samples 4";
    place
        .line(&format!("{run} --bench open:AA -o two.json"))
        .code(0);
    let several = "--bench open:AA,mkdir:9437-names --set processors=4 -o four.json";
    place.line(&format!("{run} {several}")).code(0);
    let four = place.document("four.json");
    let together = four.cells.iter().find(|cell| cell.title() != "open:AA");
    let together = together.unwrap();
    assert_eq!(together.status(), Status::Unsupported);
    assert!(together.reason().unwrap().contains("not in turn"));

    let ended = place.line("compare two.json four.json").code(2);
    place
        .line(&format!(
            "{run} --bench open:AA --set processors=1 -o one.json"
        ))
        .code(0);
    assert_eq!(transfers(&place.document("one.json").cells[0]), 0);
    let error = "two.json has transfers between 2 processors, four.json between 4";
    assert!(ended.stderr.contains(error), "{}", ended.stderr);
    let ended = place.line(&format!("{run} --events")).code(2);
    assert!(
        ended.stderr.contains("leave out --events"),
        "{}",
        ended.stderr
    );
}
