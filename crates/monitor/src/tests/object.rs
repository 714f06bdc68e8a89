// SPDX-License-Identifier: GPL-2.0-or-later
//! The compiled programs; opening them needs no privilege.

use std::collections::BTreeSet;

use crate::layout::{Layout, patch};
use crate::object::{Constants, patched, templates};

const RETURN_OFFSET: i16 = patch::RESULT;

fn marks(program: &[libbpf_rs::libbpf_sys::bpf_insn]) -> BTreeSet<i32> {
    program
        .iter()
        .map(|instruction| instruction.imm)
        .filter(|imm| imm >> 16 == patch::MARK)
        .collect()
}

#[test]
fn every_program_has_its_constants_where_they_can_be_replaced() {
    let rows = [
        patch::INDEX,
        patch::STRIDE,
        patch::END,
        patch::LAST,
        patch::ROW,
        patch::REST,
    ];
    let times = [patch::WINDOW, patch::OUTSIDE, patch::PART, patch::ERRORS];
    let templates = templates();
    assert_eq!(templates.len(), 16);
    for (name, program) in templates {
        let wanted: BTreeSet<i32> = match name.split_once('_') {
            Some(("count", _)) => rows.into_iter().chain([patch::OWN_TGID]).collect(),
            Some(("enter", _)) => BTreeSet::from([patch::OWN_TGID]),
            Some(("begin", _)) => BTreeSet::from([patch::OWN_TGID]),
            Some(("end", _)) => BTreeSet::from([patch::WHOLES]),
            Some(("leave", _)) => rows.into_iter().chain(times).collect(),
            _ => BTreeSet::new(),
        };
        assert_eq!(marks(&program), wanted, "{name}");
        let results = program.iter().filter(|i| i.off == RETURN_OFFSET).count();
        assert_eq!(results > 0, name.starts_with("leave_"), "{name}");

        let layout = Layout::new(10, 4, 100, 45, true).unwrap();
        let mut constants = Constants::new(&layout, 3, 77).with(patch::WINDOW, 123);
        constants.result_at = Some(5);
        let copy = patched(&program, &constants);
        assert_eq!(marks(&copy), BTreeSet::new(), "{name}");
        assert!(copy.iter().all(|i| i.off != RETURN_OFFSET), "{name}");
        assert_eq!(copy.len(), program.len());
        constants.result_at = None;
        let copy = patched(&program, &constants);
        assert!(copy.iter().all(|i| i.off != RETURN_OFFSET), "{name}");
    }
}
