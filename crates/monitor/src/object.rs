// SPDX-License-Identifier: GPL-2.0-or-later
//! The compiled programs: their maps, sized as needed, and their instructions, copied for each hook
//! with its own constants.

use std::ffi::{CStr, CString, c_int};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use libbpf_rs::libbpf_sys as sys;
use libbpf_rs::{AsRawLibbpf, ObjectBuilder, OpenObject};

use crate::error::{MonitorError, Refused};
use crate::layout::{Layout, SHARED_TABLE, SHARED_WORDS, bucket_of, patch, shared};

static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/monitor.bpf.o"));

/// Keeps libbpf's warnings. `libbpf_rs::set_print` panics on bytes that are not UTF-8.
fn listen() {
    // SAFETY: the function has the type that libbpf calls, in which a `va_list` is a pointer.
    unsafe {
        let collect = model::collect_libbpf_warning as *const ();
        sys::libbpf_set_print(std::mem::transmute::<*const (), sys::libbpf_print_fn_t>(
            collect,
        ));
    }
}

pub struct Object {
    // Its drop unmaps and closes the maps.
    object: OpenObject,
}

#[derive(Debug, Clone)]
pub struct Constants {
    values: Vec<(i32, usize)>,
    /// Index of the return value among the arguments; None if it is not read.
    pub result_at: Option<u16>,
}

impl Constants {
    pub fn new(layout: &Layout, probe: usize, own_tgid: u32) -> Constants {
        let values = vec![
            (patch::INDEX, probe * crate::layout::KEYS * 4),
            (patch::ERRORS, probe * crate::layout::ERRNOS * 8),
            (patch::OWN_TGID, own_tgid as usize),
            (patch::STRIDE, layout.stride / 8),
            (patch::LAST, (layout.rows - 1) * layout.row_words),
            (patch::END, layout.last_row()),
            (patch::ROW, layout.row_words),
            (patch::REST, (1 + probe) * layout.row_words),
            (patch::WINDOW, 0),
            (patch::OUTSIDE, 0),
            (patch::PART, 0),
            (patch::WHOLES, layout.last_whole()),
        ];
        Constants {
            values,
            result_at: None,
        }
    }

    pub fn with(mut self, which: i32, value: usize) -> Constants {
        for entry in self.values.iter_mut().filter(|entry| entry.0 == which) {
            entry.1 = value;
        }
        self
    }
}

const MOVE_IMMEDIATE: u8 = 0xb7;
const LOAD_WORD: u8 = 0x79;

/// Whether an instruction uses its immediate value for arithmetic or a comparison: class `BPF_ALU`,
/// `BPF_ALU64`, `BPF_JMP` or `BPF_JMP32`, without `BPF_X`.
fn takes_immediate(code: u8) -> bool {
    matches!(code & 0x07, 4..=7) && code & 0x08 == 0
}

pub(crate) fn patched(template: &[sys::bpf_insn], constants: &Constants) -> Vec<sys::bpf_insn> {
    let mut copy = template.to_vec();
    for instruction in &mut copy {
        if takes_immediate(instruction.code) && instruction.imm >> 16 == patch::MARK {
            let mut values = constants.values.iter();
            let value = values.find(|(which, _)| *which == instruction.imm);
            let (_, value) = value.expect("the compiler has left the constants alone");
            instruction.imm = i32::try_from(*value).expect("Layout bounds all offsets");
        } else if instruction.code == LOAD_WORD && instruction.off == patch::RESULT {
            match constants.result_at {
                Some(words) => instruction.off = (words * 8).cast_signed(),
                None => {
                    instruction.code = MOVE_IMMEDIATE;
                    instruction.off = 0;
                    instruction.imm = 0;
                    instruction.set_src_reg(0);
                }
            }
        }
    }
    copy
}

impl Object {
    /// Creates the maps and relocates the programs for the running kernel; does not load them.
    pub fn new(layout: &Layout) -> Result<Object, MonitorError> {
        listen();
        let failed = |action: &str, source| {
            let log = match model::take_libbpf_warnings() {
                warnings if warnings.is_empty() => warnings,
                warnings => format!("; {warnings}"),
            };
            MonitorError::kernel(action)(Refused { source, log })
        };
        let mut object = ObjectBuilder::default()
            .open_memory(OBJECT)
            .map_err(|error| failed("read lsmeter's own eBPF programs", io::Error::other(error)))?;
        for mut map in object.maps_mut() {
            let sized = layout
                .maps()
                .into_iter()
                .find(|(name, _)| map.name() == *name);
            let Some((_, bytes)) = sized else {
                continue;
            };
            let bytes = u32::try_from(bytes).expect("Layout bounds all sizes");
            map.set_value_size(bytes)
                .map_err(|error| failed("size a map", io::Error::other(error)))?;
        }
        // SAFETY: the object is open, and was not prepared yet.
        let result = unsafe { sys::bpf_object__prepare(object.as_libbpf_object().as_ptr()) };
        if result < 0 {
            let source = io::Error::from_raw_os_error(-result);
            return Err(failed("make the maps of lsmeter's eBPF programs", source));
        }
        model::take_libbpf_warnings();
        let object = Object { object };
        object.shared()[shared::NEXT_ROW].store(layout.probes as u64 + 1, Ordering::Relaxed);
        for (ns, bucket) in (0..).zip(object.shared_table()) {
            bucket.store(bucket_of(ns) as u8, Ordering::Relaxed);
        }
        Ok(object)
    }

    fn raw(&self) -> NonNull<sys::bpf_object> {
        self.object.as_libbpf_object()
    }

    pub fn program(&self, name: &CStr, constants: &Constants) -> Vec<sys::bpf_insn> {
        // SAFETY: the object is open, and the name ends in 0.
        let program =
            unsafe { sys::bpf_object__find_program_by_name(self.raw().as_ptr(), name.as_ptr()) };
        assert!(!program.is_null(), "monitor.bpf.c has this program");
        // SAFETY: the program belongs to the object. libbpf keeps the reported number of
        // instructions for as long as the object is open.
        let template = unsafe {
            std::slice::from_raw_parts(
                sys::bpf_program__insns(program),
                sys::bpf_program__insn_cnt(program) as usize,
            )
        };
        patched(template, constants)
    }

    fn map(&self, name: &str) -> NonNull<sys::bpf_map> {
        let name = CString::new(name).expect("a name of memory.h");
        // SAFETY: the object is open, and the name ends in 0.
        let map = unsafe { sys::bpf_object__find_map_by_name(self.raw().as_ptr(), name.as_ptr()) };
        NonNull::new(map).expect("memory.h has this map")
    }

    /// Address and size of a map, which programs change concurrently.
    fn memory(&self, name: &str) -> (NonNull<u8>, usize) {
        let mut bytes: sys::size_t = 0;
        // SAFETY: the map is the object's.
        let start = unsafe { sys::bpf_map__initial_value(self.map(name).as_ptr(), &raw mut bytes) };
        let start = NonNull::new(start.cast()).expect("libbpf maps what begins with .bss");
        (start, bytes as usize)
    }

    pub fn words(&self, name: &str) -> &[AtomicU64] {
        let (start, bytes) = self.memory(name);
        // SAFETY: the memory is mapped for as long as the object is open, begins at a page
        // boundary, and is changed by atomic instructions.
        unsafe { std::slice::from_raw_parts(start.as_ptr().cast(), bytes / 8) }
    }

    /// The row of each probe and key, in words; 0 if there is none.
    pub fn row_at(&self) -> &[AtomicU32] {
        let (start, bytes) = self.memory(".bss.row_at");
        // SAFETY: as in `words`.
        unsafe { std::slice::from_raw_parts(start.as_ptr().cast(), bytes / 4) }
    }

    fn shared_table(&self) -> &[AtomicU8] {
        let (start, bytes) = self.memory(".bss.shared");
        assert!(bytes >= SHARED_WORDS * 8 + SHARED_TABLE, "layout.h has it");
        // SAFETY: as in `words`, and within the map.
        unsafe {
            std::slice::from_raw_parts(start.as_ptr().add(SHARED_WORDS * 8).cast(), SHARED_TABLE)
        }
    }

    pub fn shared(&self) -> &[AtomicU64] {
        let shared = self.words(".bss.shared");
        assert!(shared.len() >= SHARED_WORDS, "layout.h has this many");
        shared
    }

    pub fn own_tgid(&self) -> u32 {
        self.shared()[shared::OWN_TGID].load(Ordering::Relaxed) as u32
    }

    pub fn cgroup_map(&self) -> c_int {
        // SAFETY: the map is the object's.
        unsafe { sys::bpf_map__fd(self.map("cgroup").as_ptr()) }
    }
}

/// All compiled programs, by name. Needs no privilege.
#[cfg(test)]
pub(crate) fn templates() -> Vec<(String, Vec<sys::bpf_insn>)> {
    libbpf_rs::set_print(None);
    let object = ObjectBuilder::default()
        .open_memory(OBJECT)
        .expect("what clang compiled");
    object
        .progs()
        .map(|program| {
            let name = program.name().to_str().expect("a name in C").to_owned();
            let raw = program.as_libbpf_object().as_ptr();
            // SAFETY: the program belongs to the object, which is open. libbpf has the reported
            // number of instructions.
            let instructions = unsafe {
                std::slice::from_raw_parts(
                    sys::bpf_program__insns(raw),
                    sys::bpf_program__insn_cnt(raw) as usize,
                )
            };
            (name, instructions.to_vec())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_name_bytes_that_are_not_utf_8() {
        let missing = c"\xff/nothere";
        // Other tests replace libbpf's print function at the same time.
        let is_collected = (0..100).any(|_| {
            listen();
            // SAFETY: the name ends in 0.
            let object = unsafe { sys::bpf_object__open(missing.as_ptr()) };
            assert!(object.is_null());
            model::take_libbpf_warnings().contains("\u{fffd}/nothere")
        });
        assert!(is_collected);
    }

    /// The build must not depend on its directory.
    #[test]
    fn the_programs_do_not_name_their_build_directory() {
        let names = |text: &str| {
            let text = text.as_bytes();
            OBJECT.windows(text.len()).any(|window| window == text)
        };
        assert!(names("monitor/bpf/monitor.bpf.c"), "no line information");
        assert!(!names(env!("CARGO_MANIFEST_DIR")));
    }
}
