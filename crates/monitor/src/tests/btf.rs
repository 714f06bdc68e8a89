// SPDX-License-Identifier: GPL-2.0-or-later
//! BTF made by hand: functions, hooks, and whatever else may come.

use proptest::prelude::*;

use crate::btf::{Returns, Types};

/// Types as `include/uapi/linux/btf.h` has them.
#[derive(Default)]
pub struct Maker {
    types: Vec<u8>,
    strings: Vec<u8>,
    count: u32,
}

impl Maker {
    pub fn new() -> Maker {
        Maker {
            strings: vec![0],
            ..Maker::default()
        }
    }

    fn name(&mut self, name: &str) -> u32 {
        let at = self.strings.len() as u32;
        self.strings.extend(name.as_bytes());
        self.strings.push(0);
        at
    }

    fn add(&mut self, name: &str, kind: u32, count: u32, value: u32, more: &[u32]) -> u32 {
        let name = if name.is_empty() { 0 } else { self.name(name) };
        for word in [name, (kind << 24) | count, value].iter().chain(more) {
            self.types.extend(word.to_le_bytes());
        }
        self.count += 1;
        self.count
    }

    pub fn int(&mut self, name: &str, bytes: u32, signed: bool) -> u32 {
        let encoding = (u32::from(signed) << 24) | (bytes * 8);
        self.add(name, 1, 0, bytes, &[encoding])
    }

    pub fn pointer(&mut self, to: u32) -> u32 {
        self.add("", 2, 0, to, &[])
    }

    pub fn typedef(&mut self, name: &str, of: u32) -> u32 {
        self.add(name, 8, 0, of, &[])
    }

    pub fn structure(&mut self, name: &str, bytes: u32) -> u32 {
        self.add(name, 4, 0, bytes, &[])
    }

    pub fn prototype(&mut self, result: u32, arguments: &[u32]) -> u32 {
        let words: Vec<u32> = arguments.iter().flat_map(|&number| [0, number]).collect();
        self.add("", 13, arguments.len() as u32, result, &words)
    }

    pub fn function(&mut self, name: &str, prototype: u32) -> u32 {
        self.add(name, 12, 0, prototype, &[])
    }

    pub fn union(&mut self, name: &str, members: &[(&str, u32)]) -> u32 {
        let mut words = Vec::new();
        for (member, number) in members {
            words.extend([self.name(member), *number, 0]);
        }
        self.add(name, 5, members.len() as u32, 8, &words)
    }

    pub fn bytes(&self) -> Vec<u8> {
        let (types, strings) = (self.types.len() as u32, self.strings.len() as u32);
        let mut bytes = vec![0x9f, 0xeb, 1, 0];
        for word in [24, 0, types, types, strings] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(&self.types);
        bytes.extend(&self.strings);
        bytes
    }
}

/// A kernel with three hooks, one without a function, and some other functions.
pub fn kernel() -> Vec<u8> {
    let mut btf = Maker::new();
    let int = btf.int("int", 4, true);
    let pointer = btf.pointer(0);
    let takes_two = btf.prototype(int, &[pointer, int]);
    let takes_none = btf.prototype(0, &[]);
    let to_hook = btf.pointer(takes_two);
    btf.union(
        "security_list_options",
        &[
            ("inode_permission", to_hook),
            ("inode_alloc_security", to_hook),
            ("cred_prepare", to_hook),
            ("inode_getattr", to_hook),
            ("lsm_func_addr", pointer),
        ],
    );
    for name in [
        "security_inode_permission",
        "selinux_inode_permission",
        "hook_inode_permission",
        "security_prepare_creds",
        "security_compute_av",
        "selinux_complete_init",
    ] {
        btf.function(name, takes_two);
    }
    btf.function("security_inode_alloc", takes_two);
    btf.function("security_inode_free", takes_none);
    btf.typedef("btf_trace_sched_process_fork", pointer);
    btf.bytes()
}

#[test]
fn describes_arguments_and_results() {
    let mut btf = Maker::new();
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
        // A variable number of arguments.
        ("e", int, vec![pointer, 0]),
    ] {
        let prototype = btf.prototype(result, &arguments);
        btf.function(name, prototype);
    }
    let bytes = btf.bytes();
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
fn numbers_are_the_kernels() {
    let bytes = kernel();
    let types = Types::read(&bytes).unwrap();
    let function = &types.functions(|name| name == "security_inode_permission")[0];
    assert_eq!(function.id, 7);
    assert_eq!(types.typedef("btf_trace_sched_process_fork"), Some(15));
    assert_eq!(types.typedef("btf_trace_sched_process_exit"), None);
}

#[test]
fn knows_hooks_from_what_only_looks_like_them() {
    let bytes = kernel();
    let mut hooks = Types::read(&bytes).unwrap().hooks();
    hooks.sort();
    assert_eq!(
        hooks,
        [
            "cred_prepare",
            "inode_alloc_security",
            "inode_getattr",
            "inode_permission"
        ]
    );
}

#[test]
fn refuses_what_is_no_btf() {
    for (bytes, reason) in [
        (&b""[..], "its header is cut off"),
        (b"\x7fELF\x02\x01\x01\x00", "it is no BTF of version 1"),
        (b"\x9f\xeb\x01\x00\x18\x00\x00\x00", "its header is cut off"),
    ] {
        assert_eq!(Types::read(bytes).err().unwrap().reason, reason);
    }
    let mut bytes = kernel();
    bytes.truncate(bytes.len() - 1);
    assert!(Types::read(&bytes).is_err());
}

/// The host's, if it shows one.
#[test]
fn reads_a_real_kernels() {
    let Ok(bytes) = std::fs::read("/sys/kernel/btf/vmlinux") else {
        return;
    };
    let types = Types::read(&bytes).unwrap();
    let hooks = types.hooks();
    if !hooks.is_empty() {
        assert!(hooks.iter().any(|hook| hook == "inode_permission"));
        let found = types.functions(|name| name == "security_inode_permission");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].returns, Returns::Int);
        assert_eq!(found[0].argument_words, 2);
    }
}

proptest! {
    #[test]
    fn never_panics(at in 0usize..600, byte: u8, cut in 0usize..600) {
        let mut bytes = kernel();
        let len = bytes.len();
        bytes[at % len] = byte;
        bytes.truncate(len - cut % len);
        if let Ok(types) = Types::read(&bytes) {
            types.functions(|_| true);
            let _ = types.hooks();
            let _ = types.typedef("btf_trace_sched_process_fork");
        }
    }
}
