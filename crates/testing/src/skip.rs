// SPDX-License-Identifier: GPL-2.0-or-later
//! Records tests that cannot run on this machine, for the list of `make test`.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::{env, thread};

/// Environment variable with the file that [`skip`] appends to.
const FILE: &str = "LSMETER_SKIPPED_TESTS";

/// Records that the calling test is skipped, with the reason and the command that fixes it. The
/// test must then return.
///
/// # Panics
/// With `CI=true`, where tests must not be skipped.
#[track_caller]
pub fn skip(why: &str, command: &str) {
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
    // Each line is one write, so that lines of parallel tests are not mixed. libtest captures a
    // passing test's print macros, but not writes to standard error.
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
    // PATH may not include directories of administrators' programs.
    let mut directories = env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    let found = directories.any(|directory| directory.join(program).is_file());
    if !found {
        skip(&format!("{program} is not installed"), &install(package));
    }
    found
}

/// Whether this file or directory, which `package` installs, exists. If not, the calling test is
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
