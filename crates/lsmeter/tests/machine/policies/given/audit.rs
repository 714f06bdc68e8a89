// SPDX-License-Identifier: GPL-2.0-or-later
//! Custom audit rules, which this machine's auditctl adds in the guest.

use std::path::Path;

use super::{assert_refused, assert_steps};
use crate::common::Place;
use model::{Cell, Document, Status};

/// The rules of the set `stig`, in files and as that set; a rule that matches, and a wrong one.
const EXPERIMENT: &str = r#"
benchmarks = ["open:AA", "chmod:depth1", "getppid"]
samples = 8
[custom.stig]
module = "audit"
files = ["FOLDER/stig-1.rules", "FOLDER/stig-2.rules", "FOLDER/stig-3.rules", "FOLDER/stig-4.rules"]
[custom.never]
module = "audit"
files = ["never.rules"]
[custom.wrong]
module = "audit"
files = ["wrong.rules"]
[[configurations]]
stack = "capability"
[[configurations]]
stack = "capability"
integrity = "audit"
audit_rules = "stig"
[[configurations]]
stack = "capability"
integrity = "audit"
custom = ["stig"]
[[configurations]]
stack = "capability"
integrity = "audit"
custom = ["never"]
[[configurations]]
stack = "capability"
integrity = "audit"
custom = ["wrong"]
"#;

const RECORDS: &str = r#"
stacks = ["capability"]
[root]
programs = ["cat"]
files = ["/etc/hosts"]
[[workloads]]
name = "reads"
argv = ["cat", "/etc/hosts"]
repeat = 2
[custom.dropped]
module = "audit"
files = ["matching.rules"]
records = "dropped"
[custom.written]
module = "audit"
files = ["matching.rules"]
records = "written"
"#;

fn counts(run: &Document, matches: impl Fn(&Cell) -> bool) -> Vec<(&str, f64)> {
    let cells = run.cells.iter().filter(|cell| matches(cell));
    let cells = cells.map(|cell| (cell.key.benchmark(), cell.estimate().unwrap().median));
    let mut cells: Vec<_> = cells.collect();
    cells.sort_by_key(|(benchmark, _)| *benchmark);
    cells
}

fn custom(cell: &Cell) -> &str {
    let mut custom = cell.key.settings.custom.values();
    custom.next().map_or("", String::as_str)
}

#[test]
fn custom_audit_rules_count_like_the_same_set() {
    if !testing::has_program("auditctl", "auditd") {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/audit");
    let place = Place::with_kernels();
    let folder = folder.canonicalize().unwrap();
    place.write(
        "audit.toml",
        EXPERIMENT.replace("FOLDER", folder.to_str().unwrap()),
    );
    place.write("never.rules", "-D\n-b 100\n-a task,never\n");
    // This path is longer than the report of an error.
    let path = ["x"; 3].map(|name| name.repeat(200)).join("/");
    let wrong = format!("-a always,exit -F path=/{path} -S no_such_call");
    place.write("wrong.rules", format!("-w /etc/passwd -p wa\n{wrong}\n"));
    place.line("run audit.toml --offline -o out.json").code(4);
    let run = place.document("out.json");
    let set = counts(&run, |cell| cell.key.settings.audit_rules.is_some());
    assert_eq!(set.len(), 3);
    assert_eq!(set, counts(&run, |cell| custom(cell) == "stig"));
    let off = counts(&run, |cell| cell.key.integrity.is_empty());
    assert_eq!(off, counts(&run, |cell| custom(cell) == "never"));
    assert_steps(&run, "stig", "auditctl -l: 34 rules");
    assert_steps(
        &run,
        "never",
        "left out 2 lines, because they add no rules: -D; -b 100",
    );
    assert_refused(
        &run,
        "wrong",
        "x...: status 255: Syscall name unknown: no_such_call",
    );

    place.write(
        "matching.rules",
        "-a always,exit -F arch=b64 -S openat -F path=/etc/hosts\n",
    );
    place.write("records.toml", RECORDS);
    place.line("run records.toml --offline -o out.json").code(0);
    let run = place.document("out.json");
    let others = |name: &str| {
        let cell = run.cells.iter().find(|cell| custom(cell) == name).unwrap();
        assert_eq!(cell.status(), Status::Ok, "{:?}", cell.reason());
        let program = cell.counted().unwrap().program.as_ref().unwrap();
        program.runs.iter().map(|run| run.others).min().unwrap()
    };
    // A daemon writes the records.
    assert!(others("written") > 2 * others("dropped"));
    assert_eq!(place.left_over(), [""; 0]);
}
