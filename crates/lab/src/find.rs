// SPDX-License-Identifier: GPL-2.0-or-later
//! Programs of this machine.

use std::path::PathBuf;

pub fn find_program(program: &str) -> Option<PathBuf> {
    // An ordinary user's PATH often misses /sbin.
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute())
        .chain(["/sbin".into(), "/usr/sbin".into()])
        .map(|dir| dir.join(program))
        .find(|path| path.is_file())
}
