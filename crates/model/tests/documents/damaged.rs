// SPDX-License-Identifier: GPL-2.0-or-later
//! Damage to result files, and contradictions in them, are reported with their position.

use serde_json::Value;

use crate::any::rewritten;
use crate::common::{self, golden};
use model::{Document, Fault, Kind, PlacementDocument, Stored};

/// A golden result file, the path to replace, the JSON to put there (`-`: remove it), and the
/// message.
const DAMAGE: &str = r#"
run | /measurements/0/key/metric | "\u001bjoules" | measurements[0].key.metric
run | /measurements/0/key/metric | "time"
  | run result file: at measurements[0]: the evidence does not match the metric time
run | /measurements/0/status | "failed" | the status is failed, but there is evidence
run | /measurements/0/evidence/counted/estimate/median | "x\u001b[31m"
  | run result file: at measurements[0].evidence.counted.estimate.median (line
run | /measurements/0/evidence/counted/estimate/min | 4980.0
  | run result file: at measurements[0]: the median is not between min and max
run | /experiment/baseline | 3
  | run result file: at experiment.baseline: 3, but there are 3 configurations
run | /experiment/configurations/0/stack | "CAP" | experiment.configurations[0].stack
run | /experiment | - | run result file: at the top: `experiment` is missing
run | /warnings/0/measurements | [8,99] | run result file: at warnings[0]: there is no measurement 99
profile | /measurements/0/key/stack | [] | profile result file: at measurements[0]: the stack is empty
profile | /measurements/0/evidence/counted/hooked/hooked | 1041
  | at measurements[0]: 1041 instructions are in hooks, but their sum is 1040
profile | /measurements/0/evidence/counted/hooked/total | 1039
  | at measurements[0]: 1040 of 1039 instructions are in hooks
profile | /measurements/0/evidence/counted/hooked/regions | 65
  | at measurements[0]: 65 of 64 measured regions took the
profile | /measurements/0/evidence/counted/hooked/hooks/0/dispatch | 141
  | security_file_alloc_security: dispatch is 141, inclusive 140
profile | /measurements/0/evidence/counted/hooked/hooks/0/calls | "x\u001b[31m"
  | at measurements[0].evidence.counted.hooked.hooks[0].calls (line
profile | /measurements/0/evidence/counted/hooked/hooks/0/calls | -1
  | at measurements[0].evidence.counted.hooked.hooks[0].calls (line
profile | /measurements/1/evidence/counted/hooked | -
  | profile result file: at measurements[1]: a residual without hooks
profile | /measurements/1/evidence/counted/residual/path/hooked | 31
  | at measurements[1]: in the baseline: 31 instructions are in hooks, but their sum is 30
profile | /measurements/1/evidence/counted/residual/instructions | -7
  | at measurements[1]: the residual is -7, but outside hooks the totals differ by 7
profile | /measurements/1/evidence/counted/residual/functions/0/difference | 8
  | at measurements[1]: the residual is 7, but its functions add up to 6
profile | /warnings/0/measurements | [0,3] | profile result file: at warnings[0]: there is no measurement 3
sensitivity | /measurements/0/evidence/checks/per_operation | null
  | measurements[0].evidence.checks.per_operation
sensitivity | /measurements/0/key/delay/module | "ebpf" | measurements[0].key
sensitivity | /measurements/0/key/delay/caches | "hot" | measurements[0].key
sensitivity | /measurements/0/evidence/checks/points/1/delay_ns | -1 | points[1].delay_ns
sensitivity | /measurements/0/evidence/checks/points/1/delay_ns | 5e9 | points[1].delay_ns
sensitivity | /measurements/0/evidence/checks/points/1/n | 18446744073709551615 | measurements[0]
sensitivity | /measurements/0/evidence/checks/n | 13
  | sensitivity result file: at measurements[0]: n is 13, but its points add up to 12
sensitivity | /measurements/1/evidence/checks/points | [] | measurements[1]: a slope without points
sensitivity | /measurements/1/key/delay | - | measurements[1]: a slope without a delay
sensitivity | /sweep/rules/0/depths/0 | -1 | rules[0].depths[0]
sensitivity | /sweep/repeated/0/times | 2.5 | repeated[0].times
sensitivity | /sweep/predictions/0/decision | - | predictions[0]
sensitivity | /warnings/0/measurements | [4]
  | sensitivity result file: at warnings[0]: there is no measurement 4
monitor | /measurements/0/evidence/calls/hooks/0/count | 6
  | recording: at measurements[0]: security_inode_permission was called 6 times in total, but 5 times in system calls
monitor | /measurements/1/evidence/calls/seconds | -1.0
  | recording: at measurements[1]: its duration is not positive
monitor | /monitor | - | recording: at the top: `monitor` is missing
comparison | /compared/3/verdict | "worse"
  | comparison result file: at compared[3]: the verdict is worse
comparison | /compared/1/p | 1.5 | comparison result file: at compared[1]: p is not between 0 and 1
comparison | /explanations/0/residual | 4
  | comparison result file: at explanations[0]: its parts add up to 9, not 8
comparison | /explanations/0/measurement | 4
  | comparison result file: at explanations[0]: there is no measurement 4
placement | /modules/1/unconditional | 4
  | placement result file: at modules[1]: 4 of 3 hooks of ima are unconditional
placement | /syscalls/0/hooks/2/upper_bound | "6D"
  | at syscalls[0]: inode_permission is called D+S+1 times on the success path, but its upper bound is 6D
placement | /syscalls/0/hooks/2/success_path | "D*S" | invalid count `D*S`
placement | /syscalls/0/hooks/0 | -
  | at syscalls[0]: the trace contains current_getsecid_subj, which it cannot reach
placement | /unbounded/1 | -
  | at syscalls[0]: a cause of a?[31m|?<b> is not among the 1 in `unbounded`
placement-diff | /changes/0/hooks/0/change | "fewer"
  | placement difference: at changes[0]: the change does not match the counts of new_hook
"#;

/// The result file with the value at `pointer` replaced by a JSON text, or removed by `-`.
fn damaged(name: &str, pointer: &str, json: &str) -> Vec<u8> {
    let mut document: Value = serde_json::from_slice(&golden(name)).unwrap();
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    let parent = document.pointer_mut(parent).unwrap();
    match (parent, json) {
        (Value::Object(fields), "-") => _ = fields.remove(last).unwrap(),
        (Value::Object(fields), json) => {
            fields.insert(last.to_owned(), serde_json::from_str(json).unwrap());
        }
        (Value::Array(values), "-") => _ = values.remove(last.parse().unwrap()),
        (values, json) => {
            values[last.parse::<usize>().unwrap()] = serde_json::from_str(json).unwrap();
        }
    }
    document.to_string().into_bytes()
}

#[test]
fn damage_is_named_with_its_place() {
    for row in common::rows(DAMAGE) {
        let [name, pointer, json, message] = &row[..] else {
            panic!("{row:?}")
        };
        let error = rewritten(&damaged(name, pointer, json)).unwrap_err();
        let error = error.to_string();
        assert!(error.contains(message), "{row:?}\n{error}");
        assert!(!error.contains('\u{1b}'), "{error}");
    }
    // A number that is valid JSON, but no valid value.
    let text = String::from_utf8(golden("sensitivity")).unwrap();
    let text = text.replacen(":3.0004", ":1e999", 1);
    let error = rewritten(text.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("invalid JSON at line "), "{error}");
}

#[test]
fn what_is_no_document_is_named() {
    let ended = "the file was not written completely; profile again";
    let wrote = "give a result file that `lsmeter profile --output FILE` wrote";
    let number = "not a valid run result file: its schema_version is not a positive number";
    let other = "written by another lsmeter version (schema version 7; this one reads 3)";
    for (kind, text, message, hint) in [
        (Kind::Run, "", "run result file: empty", ""),
        (Kind::Run, " \n", "run result file: empty", ""),
        (
            Kind::Run,
            "{}",
            "not a valid run result file: it has no schema_version",
            "",
        ),
        (Kind::Run, "{\"schema_version\": \"1\"}", number, ""),
        (Kind::Run, "{\"schema_version\": 0}", number, ""),
        (
            Kind::Run,
            "[1]",
            "not a valid run result file: it is JSON, but not an object",
            "",
        ),
        (
            Kind::Run,
            "{\"schema_version\": 3} x",
            "trailing characters",
            "",
        ),
        (
            Kind::Run,
            "{\"schema_version\": 3, \"kind\": \"run\"}",
            "missing field",
            "",
        ),
        (Kind::Run, &"[".repeat(100_000), "truncated after", ""),
        (Kind::Profile, "", "profile result file: empty", ended),
        (
            Kind::Profile,
            &"[".repeat(100_000),
            "truncated after",
            ended,
        ),
        (
            Kind::Profile,
            "{}",
            "not a valid profile result file: it has no schema_version",
            wrote,
        ),
        (
            Kind::Profile,
            "{\"schema_version\": 7}",
            other,
            "use the lsmeter version that wrote the file",
        ),
        (
            Kind::Profile,
            "hook,calls\n",
            "profile result file: invalid JSON at line 1, column 1: expected value",
            "",
        ),
    ] {
        let error = Document::parse_as(kind, text.as_bytes()).unwrap_err();
        assert!(error.to_string().contains(message), "{message}: {error}");
        let given = error.hint().unwrap_or_default();
        assert!(hint.is_empty() || given == hint, "{message}: {given}");
    }
    let deep = format!("{{\"schema_version\": {}", "[".repeat(100_000));
    let error = Document::parse_as(Kind::Run, deep.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("recursion limit"), "{error}");
    let error = PlacementDocument::parse(b"{").unwrap_err();
    assert!(error.hint().unwrap().contains("analyse the tree again"));
}

/// As written by a newer version: unknown keys and kinds of warnings.
#[test]
fn a_newer_writer_of_the_same_schema_is_read() {
    for name in ["run", "profile", "sensitivity", "monitor"] {
        let known = common::document(name);
        let mut newer: Value = serde_json::from_slice(&golden(name)).unwrap();
        newer["mood"] = serde_json::json!({"deep": [1, 2]});
        newer["measurements"][0]["joules"] = 0.5.into();
        newer["measurements"][0]["key"]["moon"] = "full".into();
        newer["warnings"][0]["kind"] = "sunspots".into();
        let read = Document::parse(newer.to_string().as_bytes()).unwrap();
        assert_eq!(read.cells, known.cells, "{name}");
        assert_eq!(read.warnings[0].kind, model::WarningKind::Other, "{name}");
    }
    let newer = damaged("placement", "/invented", "[{\"hook\": 1}]");
    let known = PlacementDocument::parse(&golden("placement")).unwrap();
    assert_eq!(PlacementDocument::parse(&newer).unwrap(), known);
}

/// Sums in a malicious file exceed every integer type.
#[test]
fn figures_at_their_limits_are_read_or_refused() {
    let mut document = common::document("profile");
    let compared = document.cells[1].counted_mut().unwrap();
    let path = compared.hooked.as_mut().unwrap();
    for hook in &mut path.hooks {
        (hook.inclusive, hook.outermost) = (u64::MAX, u64::MAX);
    }
    let residual = compared.residual.as_mut().unwrap();
    residual.instructions = i64::MIN;
    for function in &mut residual.functions {
        function.difference = i64::MIN;
    }
    assert!(Document::parse(common::written(&document).as_bytes()).is_err());
    let compared = document.cells[1].counted_mut().unwrap();
    let path = compared.hooked.as_mut().unwrap();
    (path.total, path.hooked) = (u64::MAX, u64::MAX);
    path.hooks.truncate(1);
    assert!(Document::parse(common::written(&document).as_bytes()).is_err());
}
