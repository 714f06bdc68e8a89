// SPDX-License-Identifier: GPL-2.0-or-later
//! Checks that a kernel build's tools are installed, before it starts.

use super::fragment::Wishes;
use super::make::output;
use crate::error::Error;
use std::env;
use std::path::Path;
use std::process::Command;

/// (program or header, Debian's package, options): needed if one of the options is requested, or
/// always if the list is empty.
type Need = (&'static str, &'static str, &'static [&'static str]);

const PROGRAMS: [Need; 17] = [
    ("make", "make", &[]),
    ("gcc", "gcc", &[]),
    ("ld", "binutils", &[]),
    ("flex", "flex", &[]),
    ("bison", "bison", &[]),
    ("bc", "bc", &[]),
    ("perl", "perl", &[]),
    ("awk", "mawk", &[]),
    ("find", "findutils", &[]),
    ("pahole", "pahole", &["DEBUG_INFO_BTF"]),
    // For libbpf's list of helpers, used to build resolve_btfids.
    ("python3", "python3-minimal", &["DEBUG_INFO_BTF"]),
    ("lz4", "lz4", &["KERNEL_LZ4"]),
    ("zstd", "zstd", &["KERNEL_ZSTD", "RD_ZSTD"]),
    ("xz", "xz-utils", &["KERNEL_XZ"]),
    ("openssl", "openssl", &["MODULE_SIG"]),
    ("depmod", "kmod", &["MODULE_SIG"]),
    ("cpio", "cpio", &["IKHEADERS"]),
];

const UNPACKERS: [Need; 2] = [("tar", "tar", &[]), ("xz", "xz-utils", &[])];

const HEADERS: [Need; 3] = [
    ("stdlib.h", "libc6-dev", &[]),
    (
        "gelf.h",
        "libelf-dev",
        &["UNWINDER_ORC", "MITIGATION_RETPOLINE", "RETPOLINE"],
    ),
    (
        "openssl/opensslv.h",
        "libssl-dev",
        &[
            "SECURITY_IPE",
            "INTEGRITY_SIGNATURE",
            "SYSTEM_TRUSTED_KEYRING",
            "MODULE_SIG",
        ],
    ),
];

/// Checks for everything that a build of `wishes` needs. `unpacks`: the source is in a package.
/// `compiler`: the compiler's programs and their packages.
pub(super) fn probe(
    wishes: &Wishes,
    unpacks: bool,
    compiler: &[(String, String)],
) -> Result<(), Error> {
    let is_needed = |(_, _, options): &&Need| {
        options.is_empty() || options.iter().any(|option| wishes.has(option))
    };
    let unpackers = if unpacks { &UNPACKERS[..] } else { &[] };
    let mut missing: Vec<&Need> = unpackers
        .iter()
        .chain(&PROGRAMS)
        .filter(is_needed)
        .filter(|(what, ..)| !is_program(what))
        .collect();
    // Only the compiler knows where headers are; without it, all headers count as missing.
    let headers = HEADERS.iter().filter(is_needed);
    missing.extend(headers.filter(|(what, ..)| !is_header(what)));
    let mut missing: Vec<(String, String)> = missing
        .into_iter()
        .map(|(what, package, _)| ((*what).to_owned(), (*package).to_owned()))
        .collect();
    let own = compiler.iter().filter(|(what, _)| !is_program(what));
    missing.extend(own.cloned());
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = missing.iter().map(|(what, _)| &**what).collect();
    let mut packages: Vec<&str> = missing.iter().map(|(_, package)| &**package).collect();
    packages.sort_unstable();
    packages.dedup();
    Err(Error::Environment {
        what: format!("cannot build this kernel: missing {}", names.join(", ")),
        hint: format!("apt-get install {}", packages.join(" ")),
    })
}

pub(super) fn is_program(name: &str) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let is_executable = |path: &Path| {
        path.metadata()
            .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    let path = env::var_os("PATH").unwrap_or_default();
    // Directories of administrators' programs are not in everyone's PATH.
    env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin"].map(Into::into))
        .any(|dir| is_executable(&dir.join(name)))
}

fn is_header(name: &str) -> bool {
    let mut command = Command::new("gcc");
    command.args(["-E", "-x", "c", "-include", name, "/dev/null"]);
    command.stdout(std::process::Stdio::null());
    output(&mut command).is_some()
}
