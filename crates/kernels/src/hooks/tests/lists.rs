// SPDX-License-Identifier: GPL-2.0-or-later

use proptest::prelude::*;

use testing::btf::Btf;

use super::builder::Image;
use crate::btf::{BtfError, Types};
use crate::hooks::{HookList, HookListError, MAX_HOOKS, bpf_attach_ids, btf};
use crate::symbols::SymbolTable;

fn hooks(btf: &[u8]) -> Result<Vec<String>, HookListError> {
    HookList::from_btf(btf).map(|list| list.iter().map(str::to_owned).collect())
}

fn symbols(names: &[&str]) -> SymbolTable {
    let map: String = names
        .iter()
        .map(|name| match name.strip_prefix('-') {
            Some(name) => format!("10 t {name}\n"),
            None => format!("10 T {name}\n"),
        })
        .collect();
    SymbolTable::from_map(crate::arch::native(), &(map + "20 B _end\n")).expect("symbols")
}

fn kernel() -> Btf {
    let mut btf = Btf::default();
    btf.add(1, "int", 0, 4, &[0x20]);
    btf.add(3, "", 0, 0, &[1, 1, 4]);
    btf.add(6, "colour", 2, 4, &[0, 0, 0, 1]);
    btf.add(19, "wide", 1, 8, &[0, 1, 2]);
    btf.add(14, "variable", 0, 1, &[1]);
    btf.add(15, ".data", 1, 8, &[5, 0, 8]);
    btf.add(17, "tag", 0, 1, &[0]);
    btf.add(16, "float", 0, 4, &[]);
    btf.add(7, "hlist_node", 0, 0, &[]);
    let hook = btf.hook();
    let hidden = btf.add(8, "hook_fn", 0, hook, &[]);
    let data = btf.pointer(0);
    btf.function("security_file_open", hook - 1);
    btf.members(
        5,
        "security_list_options",
        &[
            ("inode_permission", hook),
            ("file_open", hidden),
            ("lsm_func_addr", data),
        ],
    );
    btf
}

fn image(btf: Vec<u8>) -> Image<'static> {
    Image {
        symbols: vec!["start", "_end"],
        btf,
        btf_name: ".BTF",
    }
}

fn from_image(image: &Image<'_>) -> Result<Vec<String>, HookListError> {
    btf(&image.write()).and_then(hooks)
}

#[test]
fn the_section_and_the_header_lead_to_the_same_list() {
    let expected = vec!["file_open".to_owned(), "inode_permission".to_owned()];
    let mut image = image(kernel().write());
    assert_eq!(from_image(&image), Ok(expected.clone()));
    // The BTF is also found by its header, behind similar data.
    image.btf_name = ".rodata";
    let whole = image.btf.clone();
    let mut before = whole[..24].to_vec();
    before[20..24].fill(0xff);
    image.btf = [&before, &whole[..8], &whole].concat();
    assert_eq!(from_image(&image), Ok(expected));
    image.btf = whole;
    image.btf.pop();
    image.btf.push(b'x');
    assert_eq!(from_image(&image), Err(HookListError::NoBtf));
}

#[test]
fn lists_of_older_kernels_serve_where_there_is_no_union() {
    let mut btf = Btf::default();
    let list = btf.members(4, "hlist_head", &[]);
    let int = btf.add(1, "int", 0, 4, &[0x20]);
    let members = [("file_open", list), ("count", int)];
    btf.members(4, "security_hook_heads", &members);
    assert_eq!(hooks(&btf.write()), Ok(vec!["file_open".to_owned()]));
}

#[test]
fn other_files_are_told_apart() {
    for bytes in [&b""[..], b"\x7fELF", &[0; 4096]] {
        let error = btf(bytes).expect_err("no vmlinux");
        assert!(matches!(error, HookListError::NotVmlinux(_)));
    }
    let mut other = image(Vec::new()).write();
    other[5] = 2;
    let error = btf(&other).expect_err("another machine");
    assert!(matches!(error, HookListError::NotVmlinux(_)));
    let no_hooks = hooks(&Btf::default().write()).expect_err("no types at all");
    assert!(matches!(no_hooks, HookListError::NoHooks(_)));
}

fn reason(bytes: &[u8]) -> &'static str {
    match hooks(bytes) {
        Err(HookListError::BadBtf(BtfError { reason, .. })) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn damage_is_named() {
    let good = kernel().write();
    let outside = "a section lies outside the data (is it cut off?)";
    let union = 24 + kernel().types.len() - 12 - 3 * 12;
    for (at, value, why) in [
        (0, 0x9feb_0100, "it does not begin with the magic number"),
        (0, 0x0001_9feb, "it is big-endian"),
        (0, 0x0002_eb9f, "its version is not 1"),
        (4, 8, "its header is too short"),
        (4, u32::MAX, outside),
        (8, u32::MAX, outside),
        (12, u32::MAX, outside),
        (16, u32::MAX, outside),
        (20, u32::MAX, outside),
        // An unknown kind, with the highest number.
        (24 + 4, 31 << 24, "a type is of an unknown kind"),
        (24 + 4, 4 << 24 | 0xffff, "the last type is cut off"),
        (union, u32::MAX, "a name lies outside the strings"),
        (union + 12, u32::MAX, "a name lies outside the strings"),
        (union + 16, 0, "a member's type does not exist"),
    ] {
        let mut bytes = good.clone();
        bytes[at..at + 4].copy_from_slice(&u32::to_le_bytes(value));
        assert_eq!(reason(&bytes), why, "{at} {value:#x}");
    }
}

#[test]
fn types_that_refer_to_themselves_end() {
    let mut btf = Btf::default();
    // 1 and 2 are typedefs of one another, 3 points to itself.
    btf.add(8, "a", 0, 2, &[]);
    btf.add(8, "b", 0, 1, &[]);
    btf.pointer(3);
    let mut cyclic = btf.clone();
    cyclic.members(5, "security_list_options", &[("x", 1)]);
    assert_eq!(reason(&cyclic.write()), "a member's type does not exist");
    let mut own = btf.clone();
    own.members(5, "security_list_options", &[("x", 3)]);
    assert!(matches!(
        hooks(&own.write()),
        Err(HookListError::NoHooks(_))
    ));
    btf.members(5, "security_list_options", &[("x", 77)]);
    assert_eq!(reason(&btf.write()), "a member's type does not exist");
}

#[test]
fn names_that_are_none_and_too_many_hooks_are_refused() {
    for name in ["in-ode", "", &"x".repeat(300)] {
        let mut btf = Btf::default();
        let hook = btf.hook();
        btf.members(5, "security_list_options", &[(name, hook)]);
        assert_eq!(reason(&btf.write()), "a hook's name is not a C identifier");
    }
    let mut btf = Btf::default();
    let hook = btf.hook();
    let names: Vec<String> = (0..=MAX_HOOKS).map(|at| format!("x{at}")).collect();
    let members: Vec<_> = names.iter().map(|name| (name.as_str(), hook)).collect();
    btf.members(5, "security_list_options", &members);
    assert!(matches!(
        hooks(&btf.write()),
        Err(HookListError::TooMany(_))
    ));
}

#[test]
fn btf_cut_off_anywhere_is_an_error() {
    let good = kernel().write();
    for cut in 0..good.len() {
        assert!(hooks(&good[..cut]).is_err(), "{cut}");
    }
}

#[test]
fn more_functions_of_bpf_than_there_can_be_hooks_are_left_out() {
    let mut btf = kernel();
    let nothing = btf.prototype(0, &[]);
    for at in 0..=MAX_HOOKS {
        btf.function(&format!("bpf_lsm_x{at}"), nothing);
    }
    let ids = bpf_attach_ids(&btf.write()).expect("functions");
    assert_eq!(ids.len(), MAX_HOOKS);
    assert!(!ids.contains_key(&format!("x{MAX_HOOKS}")));
}

#[test]
fn damaged_btf_does_no_harm() {
    testing::damage(&kernel().write(), |bytes| {
        assert!(hooks(bytes).map_or(0, |found| found.len()) <= 3);
        if let Ok(types) = Types::read(bytes) {
            types.functions(|_| true);
            let _ = types.typedef("hook_fn");
        }
    });
    testing::damage(&image(kernel().write()).write(), |bytes| {
        let _ = btf(bytes).and_then(HookList::from_btf);
    });
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "(LSM_HOOK|\\(|\\)|,| |x|\n|/\\*|\\*/|//|#|é|\\\\){0,40}") {
        if let Ok(list) = HookList::from_definitions(&text) {
            prop_assert!(list.iter().len() > 0);
        }
    }
}

#[test]
fn definitions_are_read_over_lines_comments_and_conditions() {
    let text = r#"
/* SPDX-License-Identifier: GPL-2.0 */
/* LSM_HOOK(int, 0, in_a_comment, void) */
#define LSM_HOOK(RET, DEFAULT, NAME, ...) \
	LSM_HOOK(RET, DEFAULT, continued, __VA_ARGS__)
LSM_HOOK(int, 0, binder_set_context_mgr, const struct cred *mgr)
LSM_HOOK(int, -EOPNOTSUPP, inode_init_security, struct inode *inode,
	 struct inode *dir, const struct qstr *qstr)
#if defined(CONFIG_SECURITY_NETWORK) // LSM_HOOK(
LSM_HOOK(void, LSM_RET_VOID, sk_free_security /* why, */ , struct sock *sk)
LSM_HOOK (int, f(1, (2), 3),
	multi_line
	)
#endif
MY_LSM_HOOK(int, 0, other_macro, void)
LSM_HOOKS(int, 0, other_name, void)
"#;
    let list = HookList::from_definitions(text).expect("definitions");
    assert_eq!(
        list.iter().collect::<Vec<_>>(),
        [
            "binder_set_context_mgr",
            "inode_init_security",
            "multi_line",
            "sk_free_security"
        ]
    );
    assert!(list.contains("multi_line") && !list.contains("continued"));
}

#[test]
fn broken_definitions_are_refused_by_line() {
    let line = |text: &str| match HookList::from_definitions(text) {
        Err(HookListError::BadDefinitions { line, .. }) => line,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        line("LSM_HOOK(int, 0, a, void)\n\nLSM_HOOK(int, 0, b, void"),
        3
    );
    assert_eq!(line("/*\n\n*/ LSM_HOOK(int, 0)"), 3);
    assert_eq!(line("#define x \\\n y\nLSM_HOOK(int, 0, a b, void)"), 3);
    assert!(matches!(
        HookList::from_definitions("int x;"),
        Err(HookListError::NoHooks(_))
    ));
    let many: String = (0..=MAX_HOOKS)
        .map(|at| format!("LSM_HOOK(int, 0, hook{at}, void)\n"))
        .collect();
    assert!(matches!(
        HookList::from_definitions(&many),
        Err(HookListError::TooMany(_))
    ));
}

#[test]
fn a_kernel_without_the_framework_has_no_hooks() {
    let bare = symbols(&["inode_permission", "cap_inode_need_killpriv"]);
    assert_eq!(
        HookList::of_bare_kernel(&bare).expect("none").iter().len(),
        0
    );
    assert!(HookList::of_bare_kernel(&symbols(&["security_inode_permission"])).is_none());
}

#[test]
fn symbols_name_hooks_that_have_code_of_their_own() {
    let of_bpf = [
        "bpf_lsm_file_open",
        "bpf_lsm_cred_prepare",
        // Helpers are static, or belong to no hook. There is a function security_init.
        "bpf_lsm_verify_prog",
        "-bpf_lsm_init",
        "security_file_open",
        "security_prepare_creds",
        "security_init",
    ];
    let static_calls = [
        "__SCT__lsm_static_call_inode_xattr_skipcap_0",
        "__SCT__lsm_static_call_file_open_0",
        "__SCT__lsm_static_call_file_open_11",
        "__SCT__lsm_static_call_none",
    ];
    for (names, expected) in [
        (&of_bpf[..], Some("cred_prepare file_open")),
        (&static_calls, Some("file_open inode_xattr_skipcap")),
        (&["security_file_open"], None),
    ] {
        let found = HookList::from_symbols(&symbols(names));
        let found = found.map(|list| list.iter().collect::<Vec<_>>().join(" "));
        assert_eq!(found.as_deref(), expected);
    }
}
