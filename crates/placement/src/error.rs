// SPDX-License-Identifier: GPL-2.0-or-later

use std::fmt::Display;
use std::io::{Error, ErrorKind};
use std::path::Path;

use model::Failure;

pub(crate) fn unreadable(path: &Path) -> impl Fn(Error) -> Failure {
    move |source| {
        let what = format!("{}: cannot be read: {source}", path.display());
        let hint = "check the path and its permissions";
        match source.kind() {
            ErrorKind::NotFound => Failure::usage(what, hint),
            _ => Failure::environment(what, hint),
        }
    }
}

pub(crate) fn not_a_tree(path: &Path, reason: impl Display) -> Failure {
    Failure::usage(
        format!("{} is not a kernel tree: {reason}", path.display()),
        "give the top of a Linux source tree (with Makefile, fs and security), a linux-source \
         tarball, or a git repository with a revision",
    )
}

pub(crate) fn bad_archive(path: &Path, reason: impl Display) -> Failure {
    Failure::usage(
        format!("{}: cannot be unpacked: {reason}", path.display()),
        "give a .tar.xz with kernel sources; fetch it again if it is cut off",
    )
}

pub(crate) fn too_large(path: &Path, what: &str, limit: u64) -> Failure {
    Failure::usage(
        format!("{}: {what} exceeds the limit of {limit}", path.display()),
        "check that it is a kernel tree",
    )
}

pub(crate) fn git(path: &Path, command: &str, reason: impl Display) -> Failure {
    let hint = "check that this is a git repository and that git is installed";
    Failure::environment(
        format!("git {command} failed in {}: {reason}", path.display()),
        kernels::git::hint(path).unwrap_or_else(|| hint.to_owned()),
    )
}

pub(crate) fn unknown(what: String, near: Option<&str>, hint: &str) -> Failure {
    let near = near.map(|near| format!("did you mean {near}?"));
    Failure::usage(what, near.as_deref().unwrap_or(hint))
}
