// SPDX-License-Identifier: GPL-2.0-or-later
//! A private apt, with its own sources, lists and cache in a directory of lsmeter's. apt checks
//! Debian's signatures. The system's apt is not changed, its proxy settings apply, and root is not
//! needed.

use crate::arch::Arch;
use crate::error::Error;
use crate::files;
use crate::mirrors::{Mirrors, without_password};
use crate::store::FetchEvent;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const SUITES: [&str; 8] = [
    "bullseye",
    "bullseye-security",
    "bookworm",
    "bookworm-security",
    "trixie",
    "trixie-security",
    "forky",
    "sid",
];
const INDEX_AGE: Duration = Duration::from_secs(24 * 3600);
const KEYRINGS: [&str; 2] = [
    "/usr/share/keyrings/debian-archive-keyring.gpg",
    "/usr/share/keyrings/debian-archive-keyring.pgp",
];
const OUTPUT_LIMIT: u64 = 64 << 20;
const STDERR_LIMIT: u64 = 256 << 10;

pub(crate) struct Apt {
    arch: &'static Arch,
    dir: PathBuf,
    config: PathBuf,
}

struct Outcome {
    stdout: String,
    complaints: Vec<String>,
    success: bool,
}

impl Apt {
    /// Returns [`Error::Environment`] if Debian's keyring is missing, or if `dir` cannot be quoted
    /// in apt's configuration.
    pub fn prepare(dir: &Path, mirrors: &Mirrors, arch: &'static Arch) -> Result<Apt, Error> {
        let keyring = KEYRINGS.iter().map(Path::new).find(|path| path.exists());
        let keyring = keyring.ok_or_else(|| Error::Environment {
            what: "Debian's archive keyring is not on this machine".into(),
            hint: "install the package debian-archive-keyring".into(),
        })?;
        let name = dir.to_str().filter(|name| {
            name.starts_with('/')
                && !name
                    .chars()
                    .any(|c| c.is_control() || "\"\\{};".contains(c))
        });
        let Some(name) = name else {
            return Err(Error::Environment {
                what: format!("apt cannot work in {}", dir.display()),
                hint: "set XDG_CACHE_HOME to an absolute path without quotes, backslashes, braces \
                       and semicolons"
                    .into(),
            });
        };
        for part in ["lists/partial", "cache/archives/partial"] {
            files::create_dir(&dir.join(part))?;
        }
        // Apt rebuilds its cache if a list is newer.
        let sources = dir.join("sources.list");
        let text = mirrors.sources_list(keyring, &SUITES, arch);
        if fs::read_to_string(&sources).ok().as_ref() != Some(&text) {
            // The lists of other mirrors do not count.
            let _ = fs::remove_file(dir.join("updated"));
            write_private(&sources, text.as_bytes())?;
        }
        let status = dir.join("status");
        if fs::metadata(&status).map_or(true, |m| m.len() != 0) {
            files::write(&status, b"")?;
        }
        let config = dir.join("apt.conf");
        files::write(&config, configuration(name, arch).as_bytes())?;
        Ok(Apt {
            arch,
            dir: dir.to_path_buf(),
            config,
        })
    }

    pub fn is_stale(&self) -> bool {
        let age = fs::metadata(self.dir.join("updated"))
            .and_then(|m| m.modified())
            .ok()
            .and_then(|at| at.elapsed().ok());
        age.is_none_or(|age| age > INDEX_AGE)
    }

    pub fn update(&self, events: &mut dyn FnMut(FetchEvent)) -> Result<(), Error> {
        let outcome = self.run("apt-get", &["update"], None, &mut |percent| {
            events(FetchEvent::Progress {
                what: "package index".into(),
                percent,
            });
        })?;
        if self.lists()? == 0 {
            return Err(Error::Environment {
                what: format!(
                    "could not fetch the package index: {}",
                    reason(&outcome.complaints)
                ),
                hint: "check that the mirror is reachable, or name another one in the \
                       configuration file (`mirror`, `security_mirror`)"
                    .into(),
            });
        }
        // A suite that was removed for good must not cause an update at every fetch.
        if outcome.success || outcome.complaints.len() < SUITES.len() {
            files::write(&self.dir.join("updated"), b"")?;
        }
        for line in outcome.complaints {
            events(FetchEvent::Warning(line));
        }
        Ok(())
    }

    pub fn names(&self) -> Result<Vec<String>, Error> {
        let outcome = self.run("apt-cache", &["pkgnames", "linux-"], None, &mut |_| {})?;
        if !outcome.success {
            return Err(Error::Environment {
                what: format!("apt-cache failed: {}", reason(&outcome.complaints)),
                hint: format!("remove {} and try again", self.dir.display()),
            });
        }
        Ok(outcome.stdout.lines().map(str::to_string).collect())
    }

    /// apt checks the files against the signed index. If it
    /// fails, the error is [`Error::NoPackage`] with a single reason.
    pub fn download(
        &self,
        packages: &[String],
        into: &Path,
        events: &mut dyn FnMut(FetchEvent),
    ) -> Result<Vec<PathBuf>, Error> {
        let failed = |reason| Error::NoPackage {
            name: packages.join(", "),
            reasons: vec![reason],
            hint: String::new(),
        };
        let mut arguments = vec!["download"];
        arguments.extend(packages.iter().map(String::as_str));
        let outcome = self.run("apt-get", &arguments, Some(into), &mut |percent| {
            events(FetchEvent::Progress {
                what: packages.join(", "),
                percent,
            });
        })?;
        if !outcome.success {
            return Err(failed(reason(&outcome.complaints)));
        }
        let mut debs: Vec<PathBuf> = fs::read_dir(into)
            .map_err(Error::io("list", into))?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|e| e == "deb"))
            .collect();
        debs.sort();
        if debs.len() != packages.len() {
            return Err(failed("apt-get downloaded too few packages".into()));
        }
        Ok(debs)
    }

    fn lists(&self) -> Result<usize, Error> {
        let dir = self.dir.join("lists");
        let entries = fs::read_dir(&dir).map_err(Error::io("list", &dir))?;
        let is_list = |e: &fs::DirEntry| e.file_name().to_string_lossy().contains("_Packages");
        Ok(entries.flatten().filter(is_list).count())
    }

    fn run(
        &self,
        program: &str,
        arguments: &[&str],
        directory: Option<&Path>,
        progress: &mut dyn FnMut(u8),
    ) -> Result<Outcome, Error> {
        let failed = || Error::io("keep the messages of", Path::new(program));
        let mut errors = tempfile::tempfile().map_err(failed())?;
        let mut command = Command::new(program);
        command
            .arg("-c")
            .arg(&self.config)
            .args(arguments)
            .current_dir(directory.unwrap_or(&self.dir))
            .env("LC_ALL", "C.UTF-8")
            .env_remove("APT_CONFIG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(errors.try_clone().map_err(failed())?);
        let hint = format!(
            "fetching needs apt; on other systems, download a linux-image-*{} package from Debian \
             and run `lsmeter kernel add FILE.deb`",
            self.arch.debian.flavour
        );
        let child = command.spawn();
        let mut child = child.map_err(Error::run(Path::new(program), hint))?;
        let mut stdout = String::new();
        if let Some(pipe) = child.stdout.take() {
            let mut lines = BufReader::new(pipe.take(OUTPUT_LIMIT));
            let mut line = Vec::new();
            while lines.read_until(b'\n', &mut line).unwrap_or(0) > 0 {
                let text = String::from_utf8_lossy(&line);
                match percent(&text) {
                    Some(percent) => progress(percent),
                    None => stdout += &text,
                }
                line.clear();
            }
        }
        let ended = child.wait();
        let status = ended.map_err(Error::io("wait for", Path::new(program)))?;
        let mut printed = Vec::new();
        let read = errors
            .rewind()
            .and_then(|()| (&errors).take(STDERR_LIMIT).read_to_end(&mut printed));
        read.map_err(failed())?;
        Ok(Outcome {
            stdout,
            complaints: complaints(&String::from_utf8_lossy(&printed)),
            success: status.success(),
        })
    }
}

fn complaints(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for line in text.lines() {
        if let Some(line) = line
            .strip_prefix("E: ")
            .or_else(|| line.strip_prefix("W: "))
        {
            let line: String = without_password(line).chars().take(400).collect();
            if !out.contains(&line) {
                out.push(line);
            }
        }
    }
    out
}

/// The first complaint contains the cause; the last only reports the failure.
fn reason(complaints: &[String]) -> String {
    let first = complaints.first().map(String::as_str);
    first.unwrap_or("apt printed no message").to_owned()
}

/// From a line of `APT::Status-Fd`: `dlstatus:1:42.5:text`.
fn percent(line: &str) -> Option<u8> {
    let rest = line.strip_prefix("dlstatus:")?;
    let value: f64 = rest.split(':').nth(1)?.parse().ok()?;
    Some(value.clamp(0.0, 100.0) as u8)
}

/// Mirror URIs may contain a password.
fn write_private(path: &Path, data: &[u8]) -> Result<(), Error> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(path).map_err(Error::io("create", path))?;
    file.set_permissions(fs::Permissions::from_mode(0o600))
        .and_then(|()| io::Write::write_all(&mut file, data))
        .map_err(Error::io("write", path))
}

/// A configuration that is read after the system's own. It clears hooks that act outside `dir`, and
/// sets the required options.
fn configuration(dir: &str, arch: &Arch) -> String {
    let arch = arch.debian.name;
    format!(
        r#"#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear APT::Architectures;
#clear Acquire::Languages;
#clear DPkg::Pre-Invoke;
#clear DPkg::Post-Invoke;
Dir::Etc::SourceList "{dir}/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Dir::State "{dir}";
Dir::State::Lists "{dir}/lists";
Dir::State::status "{dir}/status";
Dir::State::extended_states "{dir}/extended_states";
Dir::Cache "{dir}/cache";
Dir::Cache::Archives "{dir}/cache/archives";
Dir::Cache::pkgcache "{dir}/cache/pkgcache.bin";
Dir::Cache::srcpkgcache "";
APT::Architecture "{arch}";
APT::Architectures {{ "{arch}"; }};
APT::Sandbox::User "root";
APT::Status-Fd "1";
APT::Get::AllowUnauthenticated "false";
Acquire::Languages {{ "none"; }};
Acquire::GzipIndexes "true";
Acquire::AllowInsecureRepositories "false";
Acquire::AllowWeakRepositories "false";
Acquire::AllowDowngradeToInsecureRepositories "false";
Acquire::AllowReleaseInfoChange "true";
Acquire::Retries "2";
quiet "2";
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_lines_are_told_from_data() {
        assert_eq!(
            percent("dlstatus:1:42.9:Retrieving file 1 of 1\n"),
            Some(42)
        );
        assert_eq!(percent("dlstatus:1:999:x"), Some(100));
        assert_eq!(percent("linux-image-6.1.0-56-cloud-amd64\n"), None);
        assert_eq!(percent("dlstatus:"), None);
    }

    #[test]
    fn complaints_lose_their_passwords() {
        let text = "N: note\nW: slow http://u:p@m.example/x\nE: gone\nE: gone\n";
        let lines = complaints(text);
        assert_eq!(lines, ["slow http://m.example/x", "gone"]);
    }

    #[test]
    fn odd_directories_are_refused() {
        let mirrors = Mirrors::new("http://m.example/debian", None).unwrap();
        for dir in ["relative", "/a\"b", "/a;b"] {
            assert!(Apt::prepare(Path::new(dir), &mirrors, crate::arch::native()).is_err());
        }
    }
}
