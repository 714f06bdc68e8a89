// SPDX-License-Identifier: GPL-2.0-or-later
//! Compiles the eBPF programs, which the library carries inside itself.

use std::path::PathBuf;
use std::{env, fs};

use libbpf_cargo::SkeletonBuilder;

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo:rerun-if-changed=bpf");
    let mut arguments = vec!["-Wall", "-Wextra", "-Werror", "-mcpu=v3", "-std=gnu11"]
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    // With -target bpf, clang does not look where Debian keeps <asm/types.h>.
    let multiarch = format!(
        "/usr/include/{}-linux-gnu",
        env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets CARGO_CFG_TARGET_ARCH")
    );
    if fs::exists(&multiarch).unwrap_or(false) {
        arguments.extend(["-isystem".to_owned(), multiarch]);
    }
    // Line information names files. Where they lay when it was built is nobody's business, and
    // would make each directory's lsmeter another one.
    let here = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    arguments.push(format!("-ffile-prefix-map={here}=monitor"));
    SkeletonBuilder::new()
        .source("bpf/monitor.bpf.c")
        .obj(out.join("monitor.bpf.o"))
        .clang_args(arguments)
        .build()
        .unwrap_or_else(|error| panic!("the eBPF programs do not compile: {error:?}"));
}
