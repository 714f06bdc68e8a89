// SPDX-License-Identifier: GPL-2.0-or-later
//! Shared helpers of several crates' tests; a dev-dependency only.

pub mod btf;
mod damage;
pub mod elf;
pub mod image;
pub mod schema;
mod skip;

pub use damage::damage;
pub use skip::{has_file, has_program, skip};

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use liblzma::read::XzDecoder;

/// # Panics
/// If it cannot be started. (`make test` installs the programs that tests need.)
#[track_caller]
pub fn output(command: &mut Command) -> Result<String, String> {
    let what = format!("{command:?}");
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("cannot start {what}: {error}; `make test` installs it"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    match output.status.success() {
        true => Ok(stdout),
        false => Err(format!("{what}: {}\n{stdout}{stderr}", output.status)),
    }
}

#[track_caller]
pub fn succeed(command: &mut Command) -> String {
    output(command).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
pub fn unpack(xz: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    XzDecoder::new(xz).read_to_end(&mut bytes).unwrap();
    bytes
}

/// npm modules by package.json and package-lock.json in `tests`, installed to
/// `$XDG_CACHE_HOME/lsmeter/NAME` if missing or outdated.
#[track_caller]
pub fn node_modules(tests: &Path, name: &str) -> PathBuf {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache =
        cache.unwrap_or_else(|| Path::new(&env::var_os("HOME").expect("HOME")).join(".cache"));
    let directory = cache.join("lsmeter").join(name);
    fs::create_dir_all(&directory).unwrap();
    let lock = fs::read(tests.join("package-lock.json")).unwrap();
    let stamp = directory.join("installed");
    if fs::read(&stamp).ok().as_deref() != Some(lock.as_slice()) {
        for file in ["package.json", "package-lock.json"] {
            fs::copy(tests.join(file), directory.join(file)).unwrap();
        }
        // `ci` is not used, because it needs all platforms' bindings in the lock file, and npm
        // skips those that a registry's mirror does not have.
        let npm = ["install", "--ignore-scripts", "--no-audit", "--no-fund"];
        succeed(Command::new("npm").args(npm).current_dir(&directory));
        fs::write(stamp, lock).unwrap();
    }
    directory
}
