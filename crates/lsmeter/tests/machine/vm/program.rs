// SPDX-License-Identifier: GPL-2.0-or-later
//! Programs of this machine for a guest, with their shared libraries.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Finds `name` in PATH or in directories of system programs.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    dirs.extend(["/usr/sbin".into(), "/sbin".into()]);
    let mut places = dirs.into_iter().map(|dir| dir.join(name));
    places.find(|path| path.is_file())
}

/// lsmeter, stripped if possible: a guest unpacks all of it.
pub fn lsmeter() -> &'static [u8] {
    static STRIPPED: OnceLock<Vec<u8>> = OnceLock::new();
    STRIPPED.get_or_init(|| {
        let program = Path::new(env!("CARGO_BIN_EXE_lsmeter"));
        let dir = tempfile::tempdir().unwrap();
        let stripped = dir.path().join("lsmeter");
        let done = Command::new("strip")
            .arg("-o")
            .args([&stripped, program])
            .status();
        let stripped = done
            .is_ok_and(|status| status.success())
            .then_some(stripped);
        fs::read(stripped.as_deref().unwrap_or(program)).unwrap()
    })
}

/// Paths of the shared libraries and the loader of a program. Empty for static programs and scripts.
#[track_caller]
pub fn libraries(program: &Path) -> Vec<PathBuf> {
    let done = Command::new("ldd")
        .arg(program)
        .output()
        .expect("tests in a VM need ldd: apt-get install libc-bin");
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(
        !text.contains("not found"),
        "{} does not work here:\n{text}",
        program.display()
    );
    // "libc.so.6 => /lib/libc.so.6 (0x1234)", "/lib64/ld-linux.so.2 (0x1234)".
    let paths = text.lines().filter_map(|line| {
        let (path, _) = line.rsplit_once(" (0x")?;
        let path = path.rsplit_once("=> ").map_or(path, |(_, path)| path);
        Some(path.trim()).filter(|path| path.starts_with('/'))
    });
    paths.map(PathBuf::from).collect()
}
