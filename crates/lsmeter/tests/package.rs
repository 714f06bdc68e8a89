// SPDX-License-Identifier: GPL-2.0-or-later
//! The Debian package: its files, and that builds are reproducible.
//!
//! Needs dpkg-dev and strip, which `make test` installs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use testing::succeed;

/// Packs the tests' binary, with 2026-01-01 as the date of the last commit.
fn pack(into: &Path) -> PathBuf {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/deb");
    let mut deb = Command::new(script);
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    deb.args([env!("CARGO_BIN_EXE_lsmeter"), docs]).arg(into);
    deb.env("SOURCE_DATE_EPOCH", "1767225600")
        .env("XZ_LEVEL", "0");
    let path = succeed(&mut deb);
    PathBuf::from(path.trim_end())
}

fn field(package: &Path, name: &str) -> String {
    let mut field = Command::new("dpkg-deb");
    succeed(field.arg("--field").arg(package).arg(name))
}

#[test]
fn it_has_all_files_and_is_reproducible() {
    let place = tempfile::tempdir().unwrap();
    let [one, other] = ["one", "other"].map(|name| pack(&place.path().join(name)));
    assert_eq!(fs::read(&one).unwrap(), fs::read(&other).unwrap());

    let root = place.path().join("root");
    let mut extract = Command::new("dpkg-deb");
    succeed(extract.arg("--extract").args([&one, &root]));
    let version = succeed(Command::new(root.join("usr/bin/lsmeter")).arg("--version"));
    let version = version.trim().strip_prefix("lsmeter ").unwrap();
    assert_eq!(field(&one, "Version").trim(), format!("{version}-1"));
    assert!(field(&one, "Depends").contains("libc6 (>= "));
    assert!(field(&one, "Recommends").contains("qemu-system-x86"));
    for path in [
        "man/man1/lsmeter.1.gz",
        "man/man1/lsmeter-run.1.gz",
        "bash-completion/completions/lsmeter",
        "zsh/vendor-completions/_lsmeter",
        "fish/vendor_completions.d/lsmeter.fish",
        "lsmeter/ci/gate.sh",
        "doc/lsmeter/copyright",
        "doc/lsmeter/html/install.md",
        "doc/lsmeter/html/images/run.png",
    ] {
        let path = root.join("usr/share").join(path);
        let size = fs::metadata(&path).unwrap().len();
        assert!(size > 100, "{}", path.display());
    }
    let listed = succeed(Command::new("dpkg-deb").arg("--contents").arg(&one));
    for line in listed.lines() {
        assert!(line.contains(" root/root "), "{line}");
        assert!(line.contains(" 2026-01-01 00:00 "), "{line}");
    }
}
