// SPDX-License-Identifier: GPL-2.0-or-later
//! Tools to make policies: the kernel's configuration, external programs, a cache.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use kernels::scratch::Scratch;
use model::{Failure, listed, nearest};
use sha2::{Digest, Sha256};

use crate::find::find_program;

use super::{FILE_LIMIT_BYTES, PolicyError, Request};

const COMPLAINT_LINES: usize = 6;
const LISTED: usize = 32;

/// An option of the kernel's configuration: `y`, `m` or a value; empty if it is not set. None if
/// the configuration is unknown.
pub(super) fn option(request: &Request<'_>, option: &str) -> Option<String> {
    let path = request.kernel?.config.as_ref()?;
    let config = fs::read_to_string(path).ok()?;
    Some(option_in(&config, option).to_owned())
}

pub(super) fn option_in<'a>(config: &'a str, option: &str) -> &'a str {
    config
        .lines()
        .find_map(|line| line.strip_prefix(option)?.strip_prefix('='))
        .unwrap_or("")
}

/// Refuses a kernel without the built-in `option`. A kernel with unknown configuration passes: the
/// guest reports what is missing.
pub(super) fn need(request: &Request<'_>, what: &str, name: &str) -> Result<(), PolicyError> {
    let (Some(kernel), Some(value)) = (request.kernel, option(request, name)) else {
        return Ok(());
    };
    if value == "y" {
        return Ok(());
    }
    Err(PolicyError::Unsupported(format!(
        "{} has no {what}: {name} is not built in",
        kernel.name
    )))
}

/// Refuses the host, because the policy would apply to the complete system.
pub(super) fn vm_only(request: &Request<'_>, what: &str) -> Result<(), PolicyError> {
    match request.kernel {
        Some(_) => Ok(()),
        None => Err(PolicyError::Unsupported(format!(
            "{what} can be set up only in virtual machines: here it would apply to the whole \
             machine"
        ))),
    }
}

/// Adds `integrity` to `lsm=`: before 6.4, IMA and EVM keep inode data there; later kernels ignore
/// the name. It has no hooks, and `/sys/kernel/security/lsm` does not list it.
pub(super) fn integrity_argument(request: &Request<'_>) -> Option<String> {
    let list = request.configuration.stack.lsm_parameter()?;
    let named = list.split(',').any(|name| name == "integrity");
    (!named).then(|| format!("lsm={list},integrity"))
}

pub(super) fn find(program: &str, package: &str) -> Result<PathBuf, PolicyError> {
    find_program(program).ok_or_else(|| missing(program, package))
}

pub(super) fn missing(what: &str, package: &str) -> PolicyError {
    failed(
        format!("{what} is not on this machine"),
        format!("install the package {package}"),
    )
}

pub(super) fn failed(what: impl ToString, hint: impl ToString) -> PolicyError {
    Failure::environment(what, hint).into()
}

const BOUNDS: [&str; 6] = [
    "timeout",
    "--kill-after=5",
    "300",
    "prlimit",
    "--as=8589934592",
    "--fsize=268435456",
];
/// Exit status of timeout(1) on time-out.
const OUT_OF_TIME: i32 = 124;

/// A program that reads untrusted input, with limits on time, memory and file sizes.
pub(super) fn bounded(program: &Path) -> Command {
    let mut command = Command::new(BOUNDS[0]);
    command.args(&BOUNDS[1..]).arg(program);
    command
}

fn program_of(command: &Command) -> String {
    let words = command.get_args().nth(BOUNDS.len() - 1);
    let is_bounded = command.get_program() == BOUNDS[0];
    let program = words.filter(|_| is_bounded);
    let program = Path::new(program.unwrap_or(command.get_program()));
    let name = program.file_name().unwrap_or(program.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Runs a program to its end, with stdin from `/dev/null` by default, and returns its output.
pub(super) fn run(command: &mut Command) -> Result<String, PolicyError> {
    let program = program_of(command);
    let hint = format!("run {program} by hand for details");
    let output = command
        .env("LC_ALL", "C")
        .output()
        .map_err(|error| failed(format!("running {program}: {error}"), &hint))?;
    if output.status.code() == Some(OUT_OF_TIME) && command.get_program() == BOUNDS[0] {
        let seconds = BOUNDS[2];
        return Err(failed(
            format!("{program} took more than {seconds} s"),
            hint,
        ));
    }
    if !output.status.success() {
        let said = [output.stderr, output.stdout].concat();
        return Err(failed(complaint(&program, &said, output.status), &hint));
    }
    if output.stdout.len() > FILE_LIMIT_BYTES {
        return Err(failed(
            format!("{program} printed more than {FILE_LIMIT_BYTES} bytes"),
            &hint,
        ));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| failed(format!("the output of {program} is not text"), &hint))
}

fn complaint(program: &str, said: &[u8], status: ExitStatus) -> String {
    let said = String::from_utf8_lossy(&said[..said.len().min(64 << 10)]);
    let mut text = format!("{program}: {status}");
    let lines = said.lines().filter(|line| !line.trim().is_empty());
    for line in lines.take(COMPLAINT_LINES) {
        text.push_str("\n  ");
        text.extend(line.chars().take(200));
    }
    text
}

pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), PolicyError> {
    fs::write(path, bytes).map_err(|error| unwritten(path, &error))
}

pub(super) fn unwritten(path: &Path, error: &std::io::Error) -> PolicyError {
    failed(
        format!("writing {}: {error}", path.display()),
        "check free space and the directory's owner",
    )
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, PolicyError> {
    let hint = "check that it is a readable policy file";
    let unreadable =
        |error: std::io::Error| failed(format!("reading {}: {error}", path.display()), hint);
    let bytes = read_limited(path).map_err(unreadable)?;
    if bytes.len() > FILE_LIMIT_BYTES {
        let what = format!("{} has more than {FILE_LIMIT_BYTES} bytes", path.display());
        return Err(failed(what, hint));
    }
    Ok(bytes)
}

pub(super) fn read_limited(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    file.take(FILE_LIMIT_BYTES as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns what `make` writes to its path argument, alone in a directory; from `cache` if `inputs`
/// are unchanged. The cache file is written atomically.
pub(super) fn cached(
    cache: &Path,
    name: &str,
    inputs: &[&[u8]],
    make: &mut dyn FnMut(&Path) -> Result<(), PolicyError>,
) -> Result<Vec<u8>, PolicyError> {
    let kept = cache.join(format!("{name}-{}.sealed", key(inputs)));
    if let Some(made) = kernels::files::read_sealed(&kept, FILE_LIMIT_BYTES as u64) {
        return Ok(made);
    }
    let dir = Scratch::new().map_err(|error| unwritten(&std::env::temp_dir(), &error))?;
    let path = dir.path().join(name);
    make(&path)?;
    let made = read(&path)?;
    // A cache that cannot be written, such as another user's, only costs time.
    let _ = fs::create_dir_all(cache).and_then(|()| kernels::files::write_sealed(&kept, &made));
    Ok(made)
}

pub(super) fn key(inputs: &[&[u8]]) -> String {
    let mut sha = Sha256::new();
    for input in inputs {
        sha.update((input.len() as u64).to_le_bytes());
        sha.update(input);
    }
    kernels::files::hex(&sha.finalize())
}

/// A key made from file contents, for programs that do not print a version.
pub(super) fn digest(paths: &[&Path]) -> Result<String, PolicyError> {
    let contents = paths
        .iter()
        .map(|path| Ok(key(&[&read(path)?])))
        .collect::<Result<Vec<String>, PolicyError>>()?;
    Ok(key(&[contents.concat().as_bytes()]))
}

/// A hint with the name that was probably meant, or with all names.
pub(super) fn suggestion(word: &str, names: &[&str]) -> String {
    match nearest(word, names.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("expected one of {}", listed(names, LISTED, 200)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Fault as _;

    #[test]
    fn only_what_is_built_in_counts() {
        let config = "CONFIG_IMA=y\n# CONFIG_EVM is not set\nCONFIG_ENCRYPTED_KEYS=m\n";
        assert_eq!(option_in(config, "CONFIG_IMA"), "y");
        assert_eq!(option_in(config, "CONFIG_EVM"), "");
        assert_eq!(option_in(config, "CONFIG_ENCRYPTED_KEYS"), "m");
        assert_eq!(option_in(config, "CONFIG_IM"), "");
    }

    #[test]
    fn a_program_that_fails_is_told_of() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out of rules >&2; exit 3"]);
        let error = run(&mut command).unwrap_err();
        assert!(error.to_string().contains("out of rules"), "{error}");
        assert!(error.to_string().contains('3'), "{error}");
        let PolicyError::Environment(lack) = find("no-such-program", "a-package").unwrap_err()
        else {
            panic!("a lack of programs is the machine's");
        };
        assert_eq!(lack.hint().unwrap(), "install the package a-package");
    }

    #[test]
    fn what_was_made_is_kept_and_what_failed_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let make = |inputs: &[&[u8]], bytes: Option<&[u8]>| {
            cached(dir.path(), "a", inputs, &mut |path| match bytes {
                Some(bytes) => write(path, bytes),
                None => Err(failed("no", "no")),
            })
        };
        assert!(make(&[b"x"], None).is_err());
        assert_eq!(make(&[b"x"], Some(b"1")), Ok(b"1".to_vec()));
        assert_eq!(make(&[b"x"], None), Ok(b"1".to_vec()));
        assert!(make(&[b"x", b""], None).is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        let kept = fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap();
        fs::write(kept.path(), b"2").unwrap();
        assert_eq!(make(&[b"x"], Some(b"1")), Ok(b"1".to_vec()));
    }
}
