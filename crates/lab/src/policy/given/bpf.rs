// SPDX-License-Identifier: GPL-2.0-or-later
//! BPF objects with LSM programs for the guest.
//!
//! The guest has no libbpf. libbpf makes a loader program of each object here (as `bpftool gen
//! skeleton -L` does): in the guest's kernel, it creates the maps, relocates against that kernel's
//! types, and loads the programs.

use std::sync::{Mutex, PoisonError};

use libbpf_rs::{AsRawLibbpf as _, ObjectBuilder, OpenObject, ProgramType};
use model::CustomPolicy;

use super::super::{PolicyError, Prepared, tools};
use super::{GivenFile, files, prepared};

const MAGIC: &[u8; 4] = b"LSMB";
const PROGRAMS_LIMIT: usize = 256;
/// Programs for control groups: not supported, since nothing attaches them here.
const OF_CONTROL_GROUPS: &str = "lsm_cgroup/";

pub(in super::super) fn prepare(of: &CustomPolicy) -> Result<Prepared, PolicyError> {
    let sources = files(of)?;
    let mut found: Vec<String> = Vec::new();
    let mut bytes = Vec::new();
    let mut loaded = Vec::new();
    for source in &sources {
        let made = loader(source, &of.programs).map_err(|why| {
            tools::failed(
                format!("{}: {why}", source.name.display()),
                "give an object file with LSM programs (SEC(\"lsm/file_open\")), compiled by clang \
                 -target bpf -g",
            )
        })?;
        found.extend(made.all);
        loaded.extend(made.loaded.iter().cloned());
        if !made.loaded.is_empty() {
            write_loader(
                &mut bytes,
                &made.loaded,
                made.maps,
                &made.data,
                &made.instructions,
            );
        }
    }
    if let Some(wanted) = of.programs.iter().find(|name| !found.contains(name)) {
        let names: Vec<&str> = found.iter().map(String::as_str).collect();
        return Err(tools::failed(
            format!("no LSM program {wanted} in {}", of.files.join(", ")),
            tools::suggestion(wanted, &names),
        ));
    }
    let mut prepared = prepared(of);
    prepared.files.push(("loader".to_owned(), bytes));
    prepared.steps.push(format!(
        "bpf: libbpf made loaders from {} for {}",
        of.files.join(" "),
        loaded.join(", ")
    ));
    Ok(prepared)
}

#[derive(Debug, Default)]
struct Loader {
    all: Vec<String>,
    loaded: Vec<String>,
    maps: u32,
    data: Vec<u8>,
    instructions: Vec<u8>,
}

/// The guest's format: numbers little endian, texts and code padded to eight bytes.
fn write_loader(out: &mut Vec<u8>, programs: &[String], maps: u32, data: &[u8], code: &[u8]) {
    out.extend_from_slice(MAGIC);
    let numbers = [programs.len(), maps as usize, data.len(), code.len()];
    for number in numbers {
        out.extend_from_slice(&(number as u32).to_le_bytes());
    }
    out.extend_from_slice(&[0; 4]);
    for name in programs {
        // A function's name; longer than BPF_OBJ_NAME_LEN.
        let mut field = [0; 64];
        let name = &name.as_bytes()[..name.len().min(63)];
        field[..name.len()].copy_from_slice(name);
        out.extend_from_slice(&field);
    }
    for part in [data, code] {
        out.extend_from_slice(part);
        out.resize(out.len().next_multiple_of(8), 0);
    }
}

fn loader(source: &GivenFile, wanted: &[String]) -> Result<Loader, String> {
    /// libbpf's messages are global: one object at a time.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    model::take_libbpf_warnings();
    // SAFETY: the function has the type that libbpf calls, in which a `va_list` is a pointer. Not
    // libbpf_rs::set_print, whose callback panics on bytes that are not UTF-8.
    let before = unsafe {
        let collect = model::collect_libbpf_warning as *const ();
        libbpf_sys::libbpf_set_print(std::mem::transmute::<
            *const (),
            libbpf_sys::libbpf_print_fn_t,
        >(collect))
    };
    let made = generate(source, wanted);
    // SAFETY: the previous value.
    unsafe { libbpf_sys::libbpf_set_print(before) };
    made.map_err(|why| match model::take_libbpf_warnings() {
        said if said.is_empty() => why,
        said => format!("{why}: {said}"),
    })
}

fn generate(source: &GivenFile, wanted: &[String]) -> Result<Loader, String> {
    if !source.bytes.starts_with(b"\x7fELF") {
        return Err("not an ELF object".to_owned());
    }
    let mut object = ObjectBuilder::default()
        .open_memory(&source.bytes)
        .map_err(|error| format!("libbpf cannot read it ({error})"))?;
    let mut made = choose(&mut object, wanted)?;
    if made.loaded.is_empty() {
        return Ok(made);
    }
    made.maps = object.maps().count() as u32;
    let mut options = libbpf_sys::gen_loader_opts {
        sz: size_of::<libbpf_sys::gen_loader_opts>() as libbpf_sys::size_t,
        ..Default::default()
    };
    let pointer = object.as_libbpf_object().as_ptr();
    // SAFETY: the object is open and not loaded yet, and outlives the options, which libbpf fills
    // when it "loads" the object: they point into the object's memory.
    let result = unsafe {
        match libbpf_sys::bpf_object__gen_loader(pointer, &raw mut options) {
            0 => libbpf_sys::bpf_object__load(pointer),
            error => error,
        }
    };
    if result != 0 {
        let error = std::io::Error::from_raw_os_error(-result);
        return Err(format!("libbpf cannot make a loader from it ({error})"));
    }
    // SAFETY: both have the lengths given by libbpf, and live until the object is closed.
    unsafe {
        made.data = copied(options.data, options.data_sz);
        made.instructions = copied(options.insns, options.insns_sz);
    }
    drop(object);
    Ok(made)
}

/// # Safety
/// `from` must point to that many bytes, or be null.
unsafe fn copied(from: *const std::ffi::c_char, len: u32) -> Vec<u8> {
    if from.is_null() {
        return Vec::new();
    }
    // SAFETY: by the caller's contract.
    unsafe { std::slice::from_raw_parts(from.cast::<u8>(), len as usize) }.to_vec()
}

fn choose(object: &mut OpenObject, wanted: &[String]) -> Result<Loader, String> {
    let mut made = Loader::default();
    for mut program in object.progs_mut() {
        let name = program.name().to_string_lossy().into_owned();
        let section = program.section().to_string_lossy().into_owned();
        let is_ours =
            program.prog_type() == ProgramType::Lsm && !section.starts_with(OF_CONTROL_GROUPS);
        let chosen = is_ours && (wanted.is_empty() || wanted.contains(&name));
        program.set_autoload(chosen);
        if is_ours {
            made.all.push(name.clone());
        }
        if chosen {
            made.loaded.push(name);
        }
    }
    if made.all.is_empty() {
        return Err("it has no LSM program".to_owned());
    }
    if made.all.len() > PROGRAMS_LIMIT {
        return Err(format!("it has more than {PROGRAMS_LIMIT} LSM programs"));
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(bytes: &[u8]) -> Result<Loader, String> {
        let name = "x.o".into();
        let bytes = bytes.to_vec();
        loader(&GivenFile { name, bytes }, &[])
    }

    #[test]
    fn what_is_no_object_is_told_of() {
        assert_eq!(of(b"").unwrap_err(), "not an ELF object");
        let error = of(b"\x7fELF and nothing of one").unwrap_err();
        assert!(error.starts_with("libbpf cannot read it"), "{error}");
    }

    #[test]
    fn loaders_are_written_in_eights() {
        let mut out = Vec::new();
        write_loader(&mut out, &["a".to_owned()], 2, b"123", b"12345678");
        assert_eq!(out.len(), 24 + 64 + 8 + 8);
        assert_eq!(out[4..12], [1, 0, 0, 0, 2, 0, 0, 0]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let object = [b"\x7fELF\x02\x01\x01".as_slice(), &bytes].concat();
            prop_assert!(of(&object).is_err());
        }
    }
}
