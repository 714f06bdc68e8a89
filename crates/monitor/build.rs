// SPDX-License-Identifier: GPL-2.0-or-later
//! Compiles the eBPF programs, which are embedded in the library.

#[allow(dead_code, unused_imports)]
#[path = "../kernels/src/arch/mod.rs"]
mod arch;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = "bpf/monitor.bpf.c";

fn main() {
    let of_cargo = |name: &str| env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"));
    println!("cargo:rerun-if-changed=bpf");
    let mut clang = Command::new("clang");
    clang.args(["-Wall", "-Wextra", "-Werror", "-mcpu=v3", "-std=gnu11"]);
    // eBPF has no stack protector, but some distributions' clang enables it.
    clang.args(["-g", "-O2", "-target", "bpf", "-fno-stack-protector"]);
    let name = of_cargo("CARGO_CFG_TARGET_ARCH");
    let arch = arch::by_name(&name).unwrap_or_else(|| panic!("unknown architecture {name}"));
    clang.arg(format!("-D__TARGET_ARCH_{}", arch.source.name));
    // Headers of the libbpf that loads the programs, as built by libbpf-sys.
    clang.args(["-I", &of_cargo("DEP_BPF_INCLUDE")]);
    // With -target bpf, clang does not look where Debian keeps <asm/types.h>.
    if Path::new(arch.debian.include).exists() {
        clang.args(["-isystem", arch.debian.include]);
    }
    // Line information contains file names. Without build paths in them, the program is the same in
    // every directory.
    for (lie, name) in [
        ("CARGO_MANIFEST_DIR", "monitor"),
        ("DEP_BPF_INCLUDE", "libbpf"),
    ] {
        clang.arg(format!("-ffile-prefix-map={}={name}", of_cargo(lie)));
    }
    let object = PathBuf::from(of_cargo("OUT_DIR")).join("monitor.bpf.o");
    clang.args(["-c", SOURCE, "-o"]).arg(object);
    let status = clang.status();
    let status = status.unwrap_or_else(|error| panic!("cannot run clang: {error}"));
    assert!(
        status.success(),
        "the eBPF programs do not compile: {clang:?}: {status}"
    );
}
