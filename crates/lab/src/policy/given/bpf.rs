// SPDX-License-Identifier: GPL-2.0-or-later
//! BPF objects with LSM, tracing, tracepoint and kprobe programs for the guest.
//!
//! The guest has no libbpf. libbpf makes a loader program of each object here (as `bpftool gen
//! skeleton -L` does): in the guest's kernel, it creates the maps, relocates against that kernel's
//! types, and loads the programs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use libbpf_rs::{AsRawLibbpf as _, MapType, ObjectBuilder, OpenObject, ProgramType};
use model::{CustomPolicy, excerpt};

use super::super::{FILE_LIMIT_BYTES, PolicyError, Prepared, tools};
use super::{GivenFile, files, prepared};

const MAGIC: &[u8; 4] = b"LSMB";
/// Functions of an object, selected or not: MAX_USED_PROGS of libbpf's gen_loader.c.
const PROGRAMS_LIMIT: usize = 32;
/// Bytes of a program's name and of its target in the guest's format.
const NAME_BYTES: usize = 64;
const TARGET_BYTES: usize = 127;

pub(in super::super) fn prepare(of: &CustomPolicy) -> Result<Prepared, PolicyError> {
    let sources = files(of)?;
    let mut found: Vec<String> = Vec::new();
    let mut bytes = Vec::new();
    let mut loaded = Vec::new();
    let mut filled: BTreeSet<String> = BTreeSet::new();
    for source in &sources {
        let made = loader(source, of).map_err(source.refused(
            "give an object file with LSM programs (SEC(\"lsm/file_open\")), compiled by clang \
             -target bpf -g",
        ))?;
        if !made.loaded.is_empty() {
            write_loader(&mut bytes, &made);
        }
        found.extend(made.all);
        filled.extend(made.filled);
        loaded.extend(made.loaded.into_iter().map(|program| program.name));
    }
    if let Some(map) = of.maps.keys().find(|map| !filled.contains(*map)) {
        return Err(tools::failed(
            format!("no map {map} in {}", of.files.join(", ")),
            "bpftool gen skeleton lists an object's maps",
        ));
    }
    if let Some(wanted) = of.programs.iter().find(|name| !found.contains(name)) {
        let names: Vec<&str> = found.iter().map(String::as_str).collect();
        return Err(tools::failed(
            format!("no program {wanted} in {}", of.files.join(", ")),
            tools::suggestion(wanted, &names),
        ));
    }
    let mut prepared = prepared(of);
    prepared.file("loader", bytes);
    prepared.steps.push(format!(
        "bpf: libbpf made loaders from {} for {}",
        of.files.join(" "),
        loaded.join(", ")
    ));
    Ok(prepared)
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Program {
    name: String,
    /// The kind, as in the guest's `struct program`.
    kind: u8,
    target: String,
}

#[derive(Debug, Default)]
struct Loader {
    all: Vec<String>,
    loaded: Vec<Program>,
    maps: u32,
    filled: Vec<String>,
    /// In the guest's format.
    entries: Vec<u8>,
    data: Vec<u8>,
    instructions: Vec<u8>,
}

/// The guest's format: numbers are little-endian, and texts and code are padded to eight bytes.
fn write_loader(out: &mut Vec<u8>, made: &Loader) {
    out.extend_from_slice(MAGIC);
    let numbers = [made.loaded.len(), made.maps as usize, made.data.len()];
    let numbers = { numbers.into_iter() }.chain([made.instructions.len(), made.entries.len()]);
    for number in numbers {
        out.extend_from_slice(&(number as u32).to_le_bytes());
    }
    let mut field = |text: &str, bytes: usize| {
        let kept = &text.as_bytes()[..text.len().min(bytes - 1)];
        out.extend_from_slice(kept);
        out.resize(out.len() + bytes - kept.len(), 0);
    };
    for program in &made.loaded {
        // The name of the function, which may be longer than BPF_OBJ_NAME_LEN.
        field(&program.name, NAME_BYTES);
        let kind = char::from(program.kind).to_string();
        field(&(kind + &program.target), TARGET_BYTES + 1);
    }
    for part in [&made.data, &made.instructions, &made.entries] {
        out.extend_from_slice(part);
        out.resize(out.len().next_multiple_of(8), 0);
    }
}

fn loader(source: &GivenFile, of: &CustomPolicy) -> Result<Loader, String> {
    /// libbpf's messages are global, so only one object is processed at a time.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    model::take_libbpf_warnings();
    // SAFETY: the function has the type that libbpf calls, in which a `va_list` is a pointer.
    // libbpf_rs::set_print is not used because its callback panics on bytes that are not UTF-8.
    let before = unsafe {
        let collect = model::collect_libbpf_warning as *const ();
        libbpf_sys::libbpf_set_print(std::mem::transmute::<
            *const (),
            libbpf_sys::libbpf_print_fn_t,
        >(collect))
    };
    let made = generate(source, of);
    // SAFETY: this restores the previous function.
    unsafe { libbpf_sys::libbpf_set_print(before) };
    made.map_err(|why| match model::take_libbpf_warnings() {
        said if said.is_empty() => why,
        said => format!("{why}: {said}"),
    })
}

fn generate(source: &GivenFile, of: &CustomPolicy) -> Result<Loader, String> {
    if !source.bytes.starts_with(b"\x7fELF") {
        return Err("not an ELF object".to_owned());
    }
    let mut object = ObjectBuilder::default()
        .open_memory(&source.bytes)
        .map_err(|error| format!("libbpf cannot read it ({error})"))?;
    let mut made = choose(&mut object, &of.programs)?;
    if made.loaded.is_empty() {
        return Ok(made);
    }
    made.maps = object.maps().count() as u32;
    fill(&object, &of.maps, &mut made)?;
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

/// How the guest attaches a program; None for kinds that it cannot attach, such as those of control
/// groups and iterators.
fn target(kind: ProgramType, section: &str) -> Option<(u8, String)> {
    let (how, what) = section.split_once('/').unwrap_or((section, ""));
    let is = |names: &[&str]| names.contains(&how.trim_end_matches(".s"));
    let tracing = ["fentry", "fexit", "fmod_ret", "tp_btf"];
    let kind = match kind {
        ProgramType::Lsm if is(&["lsm"]) => b'b',
        ProgramType::Tracing if is(&tracing) => b'b',
        ProgramType::RawTracepoint => b'r',
        ProgramType::Tracepoint => b't',
        ProgramType::Kprobe if is(&["kprobe"]) => b'k',
        ProgramType::Kprobe if is(&["kretprobe"]) => b'K',
        _ => return None,
    };
    let fits =
        (1..TARGET_BYTES).contains(&what.len()) && what.chars().all(|c| c.is_ascii_graphic());
    let is_path = what.split('/').all(|part| !part.is_empty() && part != "..");
    (fits && is_path).then(|| (kind, what.to_owned()))
}

fn choose(object: &mut OpenObject, wanted: &[String]) -> Result<Loader, String> {
    let mut made = Loader::default();
    let functions = object.progs().count();
    if functions > PROGRAMS_LIMIT {
        return Err(format!(
            "it has {functions} programs; libbpf's loader programs take at most {PROGRAMS_LIMIT}"
        ));
    }
    for mut program in object.progs_mut() {
        let name = program.name().to_string_lossy().into_owned();
        let section = program.section().to_string_lossy().into_owned();
        let target = target(program.prog_type(), &section);
        made.all.extend(target.is_some().then(|| name.clone()));
        let chosen = wanted.is_empty() || wanted.contains(&name);
        let target = target.filter(|_| chosen);
        program.set_autoload(target.is_some());
        made.loaded
            .extend(target.map(|(kind, target)| Program { name, kind, target }));
    }
    if made.all.is_empty() {
        return Err("no LSM program in it".to_owned());
    }
    Ok(made)
}

/// The entries of this object's maps.
fn fill(
    object: &OpenObject,
    wanted: &BTreeMap<String, BTreeMap<String, String>>,
    made: &mut Loader,
) -> Result<(), String> {
    for (position, map) in (0_u32..).zip(object.maps()) {
        let name = map.name().to_string_lossy().into_owned();
        let Some(entries) = wanted.get(&name) else {
            continue;
        };
        let kind = map.map_type();
        let per_cpu = [
            MapType::PercpuHash,
            MapType::PercpuArray,
            MapType::LruPercpuHash,
        ];
        if per_cpu.contains(&kind) {
            return Err(format!("the map {name} is per-CPU, and cannot be filled"));
        }
        let sizes = u64::from(map.key_size()) + u64::from(map.value_size());
        if sizes.saturating_mul(entries.len() as u64) > FILE_LIMIT_BYTES as u64 / 2 {
            return Err(format!("the entries of the map {name} are too large"));
        }
        for (key, value) in entries {
            let encode = |text: &str, bytes: u32| {
                bytes_of(text, bytes as usize)
                    .map_err(|why| format!("map {name}: `{}`: {why}", excerpt(text)))
            };
            let parts = [
                encode(key, map.key_size())?,
                encode(value, map.value_size())?,
            ];
            let numbers = [position, parts[0].len() as u32, parts[1].len() as u32, 0];
            for number in numbers {
                made.entries.extend_from_slice(&number.to_le_bytes());
            }
            for part in parts {
                made.entries.extend_from_slice(&part);
                made.entries
                    .resize(made.entries.len().next_multiple_of(8), 0);
            }
        }
        made.filled.push(name);
    }
    Ok(())
}

/// `2f657463`, or parts such as `u32:40,text:/etc/`, filled up with zeros.
fn bytes_of(text: &str, size: usize) -> Result<Vec<u8>, String> {
    const EXPECTED: &str = "expected hexadecimal digits, or u8:N, u16:N, u32:N, u64:N and text:T";
    let mut bytes = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(text) = rest.strip_prefix("text:") {
            bytes.extend_from_slice(text.as_bytes());
            break;
        }
        let (part, more) = rest.split_once(',').unwrap_or((rest, ""));
        rest = more;
        if let Some((kind, number)) = part.split_once(':') {
            let width = match kind {
                "u8" => 1,
                "u16" => 2,
                "u32" => 4,
                "u64" => 8,
                _ => return Err(EXPECTED.to_owned()),
            };
            let number: u64 = number.parse().map_err(|_| EXPECTED.to_owned())?;
            let all = number.to_le_bytes();
            let (kept, lost) = all.split_at(width);
            if lost.iter().any(|byte| *byte != 0) {
                return Err(format!("{number} does not fit into {kind}"));
            }
            bytes.extend_from_slice(kept);
        } else {
            let digits = part.as_bytes().chunks(2);
            for pair in digits {
                let pair = str::from_utf8(pair).ok().filter(|pair| pair.len() == 2);
                let byte = pair.and_then(|pair| u8::from_str_radix(pair, 16).ok());
                bytes.push(byte.ok_or(EXPECTED)?);
            }
        }
    }
    if bytes.is_empty() || bytes.len() > size {
        return Err(format!("{} bytes for {size}", bytes.len()));
    }
    bytes.resize(size, 0);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Result<Loader, String> {
        let name = "x.o".into();
        let bytes = bytes.to_vec();
        loader(&GivenFile { name, bytes }, &CustomPolicy::default())
    }

    #[test]
    fn other_files_are_refused() {
        assert_eq!(read(b"").unwrap_err(), "not an ELF object");
        let error = read(b"\x7fELF and nothing of one").unwrap_err();
        assert!(error.starts_with("libbpf cannot read it"), "{error}");
    }

    #[test]
    fn loaders_are_written_in_eights() {
        let mut out = Vec::new();
        let program = Program {
            name: "a".to_owned(),
            kind: b'b',
            target: "file_open".to_owned(),
        };
        let made = Loader {
            loaded: vec![program],
            maps: 2,
            data: b"123".to_vec(),
            instructions: b"12345678".to_vec(),
            entries: vec![0; 16],
            ..Loader::default()
        };
        write_loader(&mut out, &made);
        assert_eq!(out.len(), 24 + 64 + 128 + 8 + 8 + 16);
        assert_eq!(out[4..12], [1, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(out[24 + 64..][..10], *b"bfile_open");
    }

    #[test]
    fn programs_have_a_place_to_attach() {
        for (kind, section, expected) in [
            (
                ProgramType::Lsm,
                "lsm.s/file_open",
                Some((b'b', "file_open")),
            ),
            (ProgramType::Lsm, "lsm_cgroup/file_open", None),
            (
                ProgramType::Tracing,
                "fentry/do_unlinkat",
                Some((b'b', "do_unlinkat")),
            ),
            (ProgramType::Tracing, "iter/task", None),
            (
                ProgramType::Kprobe,
                "kretprobe/vfs_read",
                Some((b'K', "vfs_read")),
            ),
            (ProgramType::Kprobe, "uprobe/x", None),
            (ProgramType::Tracepoint, "tp/../../x", None),
            (
                ProgramType::Tracepoint,
                "tracepoint/syscalls/sys_enter_openat",
                Some((b't', "syscalls/sys_enter_openat")),
            ),
            (ProgramType::Xdp, "xdp/x", None),
        ] {
            let found = target(kind, section);
            let found = found.as_ref().map(|(kind, what)| (*kind, what.as_str()));
            assert_eq!(found, expected, "{section}");
        }
    }

    #[test]
    fn entries_are_bytes() {
        assert_eq!(bytes_of("2f65", 4).unwrap(), b"/e\0\0");
        assert_eq!(
            bytes_of("u32:40,text:/etc/,x", 12).unwrap(),
            b"\x28\0\0\0/etc/,x\0"
        );
        assert_eq!(bytes_of("u16:513,ff", 3).unwrap(), [1, 2, 255]);
        for wrong in ["", "2f6", "zz", "u8:256", "u9:1", "2f656400ff"] {
            assert!(bytes_of(wrong, 4).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let object = [b"\x7fELF\x02\x01\x01".as_slice(), &bytes].concat();
            prop_assert!(read(&object).is_err());
        }
    }
}
