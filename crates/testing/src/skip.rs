// SPDX-License-Identifier: GPL-2.0-or-later
//! Tests that cannot run on this machine: they say so here, and `make test` lists them.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::{env, thread};

/// Names the file that [`skip`] appends to.
const FILE: &str = "LSMETER_SKIPPED_TESTS";

/// Records that the calling test does not run: why, and the command that would let it run. The
/// test returns then.
///
/// # Panics
/// With `CI=true`, where nothing may be missing.
#[track_caller]
pub fn skip(why: &str, command: &str) {
    // libtest calls the thread of a test as the test.
    let test = format!(
        "{}::{}",
        env::var("CARGO_PKG_NAME").unwrap_or_default(),
        thread::current().name().unwrap_or_default()
    );
    let is_ci = env::var("CI").as_deref() == Ok("true");
    record([&test, why, command], is_ci, env::var_os(FILE));
}

#[track_caller]
fn record([test, why, command]: [&str; 3], is_ci: bool, file: Option<OsString>) {
    assert!(
        !is_ci,
        "{test} may not be skipped with CI=true: {why}. To run it: {command}"
    );
    // A single write each, so that lines of tests that run side by side stay whole. libtest keeps
    // what a passing test prints, but not what is written to standard error itself.
    let (mut to, line): (Box<dyn Write>, _) = match file {
        Some(file) => {
            let file = OpenOptions::new().create(true).append(true).open(file);
            (
                Box::new(file.unwrap()),
                format!("{test}\t{why}\t{command}\n"),
            )
        }
        None => {
            let line = format!("skipped: {test}: {why}. To run it: {command}\n");
            (Box::new(std::io::stderr()), line)
        }
    };
    to.write_all(line.as_bytes()).unwrap();
}

/// Whether `program` is installed. If not, the calling test is recorded as skipped.
#[track_caller]
#[must_use]
pub fn has_program(program: &str, package: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    // Programs for the administrator are not in everyone's PATH.
    let mut directories = env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    let found = directories.any(|directory| directory.join(program).is_file());
    if !found {
        skip(&format!("{program} is not installed"), &install(package));
    }
    found
}

/// Whether there is a file or directory, which `package` installs. If not, the calling test is
/// recorded as skipped.
#[track_caller]
#[must_use]
pub fn has_file(path: &str, package: &str) -> bool {
    let found = Path::new(path).exists();
    if !found {
        skip(&format!("there is no {path}"), &install(package));
    }
    found
}

fn install(package: &str) -> String {
    format!("apt-get install {package}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_tests_are_counted_and_fail_in_ci() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("skipped");
        let to = |is_ci| {
            let file = Some(file.clone().into_os_string());
            std::panic::catch_unwind(|| record(["a::b", "no x", "make x"], is_ci, file))
        };
        assert!(to(false).is_ok() && to(false).is_ok());
        let panic = to(true).unwrap_err();
        let message = panic.downcast_ref::<String>().unwrap();
        assert!(message.contains("no x. To run it: make x"), "{message}");
        let line = "a::b\tno x\tmake x\n";
        assert_eq!(std::fs::read_to_string(&file).unwrap(), line.repeat(2));
    }
}
