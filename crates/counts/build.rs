// SPDX-License-Identifier: GPL-2.0-or-later
//! Compiles the QEMU plugin, which is embedded in the library.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let plugin = out.join("plugin.so");
    println!("cargo:rerun-if-changed=plugin");

    // One plugin decodes the instructions of every architecture.
    let mut sources = Vec::new();
    let mut folders = vec![PathBuf::from("plugin")];
    folders.extend(entries(Path::new("plugin/arch")));
    for folder in folders {
        sources.extend(
            entries(&folder)
                .into_iter()
                .filter(|path| path.extension().is_some_and(|extension| extension == "c")),
        );
    }
    sources.sort();

    let compiler = cc::Build::new().warnings(false).get_compiler();
    let status = Command::new(compiler.path())
        .args([
            "-shared",
            "-fPIC",
            "-O2",
            "-fvisibility=hidden",
            "-std=gnu11",
        ])
        .args(["-Wall", "-Wextra", "-Werror", "-I", "plugin", "-o"])
        .arg(&plugin)
        .args(&sources)
        .status()
        .unwrap_or_else(|error| {
            panic!(
                "cannot run the C compiler {}: {error}",
                compiler.path().display()
            )
        });
    assert!(
        status.success(),
        "the QEMU plugin does not compile; see the messages above"
    );
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .expect("the plugin's sources are in plugin/")
        .map(|entry| entry.expect("a readable directory entry").path())
        .collect()
}
