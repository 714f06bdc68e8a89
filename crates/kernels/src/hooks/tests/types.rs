// SPDX-License-Identifier: GPL-2.0-or-later

use testing::btf::Btf;

use crate::btf::{Returns, Types};

#[test]
fn describes_arguments_and_results() {
    let mut btf = Btf::default();
    let int = btf.int("int", 4, true);
    let unsigned = btf.int("unsigned int", 4, false);
    let long = btf.int("long", 8, true);
    let error = btf.typedef("error_t", int);
    let id = btf.structure("kuid_t", 4);
    let path = btf.structure("path", 16);
    let pointer = btf.pointer(path);
    for (name, result, arguments) in [
        ("a", error, vec![pointer, int]),
        ("b", 0, vec![path, id]),
        ("c", unsigned, vec![]),
        ("d", long, vec![long]),
        ("e", int, vec![pointer, 0]),
    ] {
        let prototype = btf.prototype(result, &arguments);
        btf.function(name, prototype);
    }
    let bytes = btf.write();
    let functions = Types::read(&bytes).unwrap().functions(|_| true);
    let seen: Vec<_> = functions
        .iter()
        .map(|f| (f.name.as_str(), f.argument_words, f.returns))
        .collect();
    assert_eq!(
        seen,
        [
            ("a", 2, Returns::Int),
            ("b", 3, Returns::Void),
            ("c", 0, Returns::Other),
            ("d", 1, Returns::Other),
        ]
    );
}

#[test]
fn fields_are_found_by_their_offsets() {
    let mut btf = Btf::default();
    let int = btf.int("int", 4, true);
    let pointer = btf.pointer(0);
    let mut add = |kind, name: &str, bytes, fields: &[(&str, u32, u32)]| {
        let rest: Vec<u32> = { fields.iter() }
            .flat_map(|&(name, id, offset)| [btf.string(name), id, 8 * offset])
            .collect();
        btf.add(kind, name, fields.len() as u32, bytes, &rest)
    };
    let list = add(
        4,
        "list_head",
        16,
        &[("next", pointer, 0), ("prev", pointer, 8)],
    );
    let union = add(5, "", 8, &[("i_pipe", pointer, 0), ("i_dir_seq", int, 0)]);
    let fields = [("count", int, 0), ("lists", list, 8), ("", union, 24)];
    let label = add(4, "aa_label", 32, &fields);
    add(
        4,
        "aa_profile",
        40,
        &[("base", int, 0), ("label", label, 8)],
    );
    let bytes = btf.write();
    let types = Types::read(&bytes).unwrap();
    for (offset, field) in [
        (0, Some("aa_profile.base")),
        (4, None),
        (8, Some("aa_profile.label.count")),
        (26, Some("aa_profile.label.lists")),
        (32, Some("aa_profile.label.i_pipe|i_dir_seq")),
        (40, None),
    ] {
        assert_eq!(
            types.field_at("aa_profile", offset).as_deref(),
            field,
            "{offset}"
        );
    }
    assert_eq!(types.field_at("aa_ns", 0), None);
    assert_eq!(types.offset_of("aa_profile", "label"), Some(8));
}

#[test]
fn numbers_are_the_kernels() {
    let mut btf = Btf::default();
    let nothing = btf.prototype(0, &[]);
    btf.typedef("other", nothing);
    let function = btf.function("security_inode_permission", nothing);
    let typedef = btf.typedef("btf_trace_sched_process_fork", nothing);
    let bytes = btf.write();
    let types = Types::read(&bytes).unwrap();
    let found = types.functions(|name| name == "security_inode_permission");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].id, function);
    assert_eq!(types.typedef("btf_trace_sched_process_fork"), Some(typedef));
    assert_eq!(types.typedef("btf_trace_sched_process_exit"), None);
}

#[test]
fn absurd_numbers_of_types_and_parameters_are_refused() {
    let mut btf = Btf::default();
    let int = btf.int("int", 4, true);
    for (name, count) in [("most", 127), ("more", 128), ("absurd", 0xffff)] {
        let prototype = btf.prototype(int, &vec![int; count]);
        btf.function(name, prototype);
    }
    let bytes = btf.write();
    let functions = Types::read(&bytes).unwrap().functions(|_| true);
    let names: Vec<_> = functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["most"]);

    let mut btf = Btf::default();
    btf.pointer(0);
    btf.types = btf.types.repeat(1 << 22);
    assert!(Types::read(&btf.write()).is_ok());
    btf.pointer(0);
    let bytes = btf.write();
    let error = Types::read(&bytes).unwrap_err();
    assert_eq!(error.reason, "it has too many types");
}

#[test]
fn prototypes_that_refer_to_themselves_end() {
    let mut btf = Btf::default();
    // 1 and 2 are typedefs of one another, 3 returns and takes itself.
    btf.typedef("a", 2);
    btf.typedef("b", 1);
    let own = btf.prototype(3, &[3]);
    btf.function("own", own);
    let cyclic = btf.prototype(1, &[]);
    btf.function("cyclic", cyclic);
    btf.function("function", 5);
    let bytes = btf.write();
    assert_eq!(Types::read(&bytes).unwrap().functions(|_| true), []);
}
