// SPDX-License-Identifier: GPL-2.0-or-later
//! lsmeter itself as a guest's first process: its executable, and the shared libraries that
//! it is linked with.

use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, c_int, c_void};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use arch::Arch;

/// Largest program of another architecture that a guest is given.
const PROGRAM_LIMIT_BYTES: u64 = 512 << 20;

/// lsmeter, for a guest.
pub struct Program {
    /// Its executable, as far as it is loaded.
    pub executable: Vec<u8>,
    /// Its libraries and their loader: path without a leading `/`, and content.
    pub libraries: Vec<(String, Vec<u8>)>,
    /// Where they are in the guest.
    pub directories: Vec<String>,
}

impl Program {
    /// For guests of an architecture: this process, or where that is of another one the program that
    /// lies beside it. The reason if there is none that could be taken.
    ///
    /// # Errors
    /// If a file that it runs from cannot be read.
    pub fn of(arch: &Arch) -> Result<Result<Program, String>> {
        if arch.is_native() {
            return Program::own().map(Ok);
        }
        let own = std::env::current_exe().context("where lsmeter is")?;
        let path = own.with_file_name(format!("lsmeter-{}", arch.name));
        let shown = path.display();
        if !path.is_file() {
            return Ok(Err(format!(
                "in a guest of {arch} it takes an lsmeter built for that, and there is none as \
                 {shown}: `make lsmeter-{}` builds it",
                arch.name
            )));
        }
        let size = fs::metadata(&path).map(|of| of.len());
        if size.is_ok_and(|bytes| bytes > PROGRAM_LIMIT_BYTES) {
            return Ok(Err(format!("{shown} is too large for a guest")));
        }
        let mut executable = fs::read(&path).with_context(|| path.display().to_string())?;
        let machine = executable.get(18..20).map(|at| [at[0], at[1]]);
        let Some(length) = loaded(&executable)
            .filter(|_| machine.map(u16::from_le_bytes) == Some(arch.elf_machine))
        else {
            return Ok(Err(format!("{shown} is no program for {arch}")));
        };
        executable.truncate(length);
        Ok(Ok(Program {
            executable,
            libraries: Vec::new(),
            directories: Vec::new(),
        }))
    }

    /// Of this process.
    ///
    /// # Errors
    /// If a file that it runs from cannot be read.
    pub fn own() -> Result<Program> {
        let path = std::env::current_exe().context("where lsmeter is")?;
        let read = |path: &Path| fs::read(path).with_context(|| path.display().to_string());
        let mut executable = read(&path)?;
        executable.truncate(loaded(&executable).unwrap_or(executable.len()));
        let mut libraries = BTreeMap::new();
        let mut directories = Vec::new();
        for library in linked() {
            let name = library.to_string_lossy().into_owned();
            let directory = library.parent().unwrap_or(Path::new("/"));
            let directory = directory.to_string_lossy().into_owned();
            // It goes through a kernel's command line, which has no quotes for this.
            let plain = |c: char| c.is_ascii_alphanumeric() || "/._+-".contains(c);
            if directory.chars().all(plain) && !directories.contains(&directory) {
                directories.push(directory);
            }
            libraries.insert(name.trim_start_matches('/').to_owned(), read(&library)?);
        }
        Ok(Program {
            executable,
            libraries: libraries.into_iter().collect(),
            directories,
        })
    }
}

/// What the dynamic loader has loaded into this process, itself included, by the paths at
/// which it found it; nothing if lsmeter is static.
fn linked() -> Vec<PathBuf> {
    unsafe extern "C" fn note(
        info: *mut libc::dl_phdr_info,
        _size: libc::size_t,
        into: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes a valid `info` whose name, if any, ends with a NUL, and
        // the pointer that was given to it below, which nothing else uses meanwhile.
        let (name, into) = unsafe {
            let name = (*info).dlpi_name;
            let name = (!name.is_null()).then(|| CStr::from_ptr(name));
            (name, &mut *into.cast::<Vec<PathBuf>>())
        };
        if let Some(name) = name {
            into.push(PathBuf::from(OsStr::from_bytes(name.to_bytes())));
        }
        0
    }
    let mut found: Vec<PathBuf> = Vec::new();
    // SAFETY: `note` has the type that is asked for, and `found` outlives the call.
    unsafe {
        libc::dl_iterate_phdr(Some(note), (&raw mut found).cast());
    }
    // The executable has no name, the kernel's own code no path.
    found.retain(|path| path.is_absolute() && path.is_file());
    found
}

/// Bytes of a 64-bit ELF executable up to the end of its last segment (System V ABI, "Program
/// Header"): debug information comes after them, and is of no use in a guest.
fn loaded(elf: &[u8]) -> Option<usize> {
    const PT_LOAD: u32 = 1;
    let half = |at: usize| Some(u16::from_le_bytes(elf.get(at..at + 2)?.try_into().ok()?));
    let word = |at: usize| Some(u32::from_le_bytes(elf.get(at..at + 4)?.try_into().ok()?));
    let long = |at: usize| Some(u64::from_le_bytes(elf.get(at..at + 8)?.try_into().ok()?));
    if elf.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let table = usize::try_from(long(32)?).ok()?;
    let (size, number) = (usize::from(half(54)?), usize::from(half(56)?));
    let mut end = table.checked_add(size * number)?;
    for segment in (0..number).map(|index| table + index * size) {
        let (offset, length) = (long(segment + 8)?, long(segment + 32)?);
        if word(segment)? == PT_LOAD {
            end = end.max(usize::try_from(offset.checked_add(length)?).ok()?);
        }
    }
    (end <= elf.len()).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_knows_what_it_is_linked_with() {
        let program = Program::own().unwrap();
        let whole = fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(program.executable.len() <= whole.len());
        assert_eq!(program.executable, whole[..program.executable.len()]);
        let has = |name: &str| {
            program
                .libraries
                .iter()
                .any(|(path, _)| path.contains(name))
        };
        assert_eq!(
            has("libc.so"),
            has("ld-linux"),
            "the loader comes with a libc"
        );
    }

    #[test]
    fn damaged_executables_are_left_alone() {
        let whole = fs::read(std::env::current_exe().unwrap()).unwrap();
        for length in [0, 5, 40, 63, 100] {
            assert_eq!(loaded(&whole[..length]), None);
        }
        let mut wild = whole[..4096].to_vec();
        wild[32..40].fill(0xff);
        assert_eq!(loaded(&wild), None);
    }
}
