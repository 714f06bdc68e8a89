// SPDX-License-Identifier: GPL-2.0-or-later
//! A git revision, read without a checkout.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};

use super::archive::is_kept;
use super::{Entry, MAX_FILE, MAX_FILES, wanted};
use model::Failure;

use crate::error::git as failed;

#[derive(Debug)]
pub(super) struct Repository {
    path: PathBuf,
    /// (object, size in bytes) by path.
    files: BTreeMap<String, (String, u64)>,
    reader: Mutex<Reader>,
}

#[derive(Debug)]
struct Reader {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        // git ends when its input does, but kill it in any case.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(path: &Path, what: &'static str) -> Result<Command, Failure> {
    let mut command = kernels::git::command(path).map_err(|error| failed(path, what, error))?;
    command.arg(what);
    Ok(command)
}

fn output(path: &Path, what: &'static str, arguments: &[&str]) -> Result<Output, Failure> {
    let output = command(path, what)?.args(arguments).output();
    output.map_err(|error| failed(path, what, error))
}

fn checked(path: &Path, what: &'static str, output: Output) -> Result<Vec<u8>, Failure> {
    if !output.status.success() {
        return Err(failed(path, what, first_line(&output.stderr)));
    }
    Ok(output.stdout)
}

fn resolve(path: &Path, revision: &str) -> Result<String, Failure> {
    let tree = format!("{revision}^{{tree}}");
    let arguments = ["--verify", "--quiet", "--end-of-options", &tree];
    let output = output(path, "rev-parse", &arguments)?;
    // Other errors have a different status, and are reported.
    if output.status.code() == Some(1) {
        let path = path.display();
        return Err(Failure::usage(
            format!("{path} has no revision `{revision}`"),
            format!("give a tag, branch or commit; `git -C {path} tag --list` lists tags"),
        ));
    }
    let tree = checked(path, "rev-parse", output)?;
    Ok(String::from_utf8_lossy(&tree).trim().to_owned())
}

impl Repository {
    pub(super) fn open(path: &Path, revision: &str) -> Result<Self, Failure> {
        let tree = resolve(path, revision)?;
        let listed = output(path, "ls-tree", &["-r", "-z", "-l", &tree])?;
        let listed = checked(path, "ls-tree", listed)?;
        let files = listed.split(|&b| b == 0).filter_map(parse);
        let files = files.filter(|(path, _)| is_kept(path)).take(MAX_FILES);
        let mut child = command(path, "cat-file")?
            .arg("--batch")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| failed(path, "cat-file", error))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let Some((input, output)) = pipes else {
            return Err(failed(path, "cat-file", "it was started without pipes"));
        };
        let output = BufReader::new(output);
        Ok(Self {
            path: path.to_path_buf(),
            files: files.collect(),
            reader: Mutex::new(Reader {
                child,
                input,
                output,
            }),
        })
    }

    pub(super) fn list(&self, paths: &[String]) -> Vec<Entry> {
        let entries = self.files.iter().filter(|(path, _)| wanted(paths, path));
        entries
            .map(|(path, (object, size))| Entry {
                path: path.clone(),
                size: *size,
                stamp: u64::from_str_radix(object.get(..16).unwrap_or_default(), 16).unwrap_or(0),
            })
            .collect()
    }

    pub(super) fn read(&self, path: &str) -> Result<Vec<u8>, Failure> {
        let failed = |reason| failed(&self.path, "cat-file", format!("{path}: {reason}"));
        let Some((object, size)) = self.files.get(path) else {
            return Err(failed("not in the revision".to_owned()));
        };
        if *size > MAX_FILE {
            return Err(failed(format!("too large: {size} bytes")));
        }
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = reader.object(object, *size);
        bytes.map_err(|error| failed(error.to_string()))
    }
}

impl Reader {
    fn object(&mut self, object: &str, size: u64) -> std::io::Result<Vec<u8>> {
        writeln!(self.input, "{object}")?;
        self.input.flush()?;
        let mut header = String::new();
        (&mut self.output).take(256).read_line(&mut header)?;
        if header.split_whitespace().next_back() != Some(&size.to_string()) {
            let what = format!("unexpected output: {}", header.trim());
            return Err(std::io::Error::other(what));
        }
        let mut bytes = Vec::new();
        (&mut self.output).take(size + 1).read_to_end(&mut bytes)?;
        if bytes.pop() != Some(b'\n') {
            return Err(std::io::Error::other("it ended early"));
        }
        Ok(bytes)
    }
}

/// Regular files in `git ls-tree -l`.
fn parse(line: &[u8]) -> Option<(String, (String, u64))> {
    let line = std::str::from_utf8(line).ok()?;
    let (about, path) = line.split_once('\t')?;
    let mut words = about.split_whitespace();
    let (mode, _, object, size) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let plain = mode == "100644" || mode == "100755";
    plain.then_some((path.to_owned(), (object.to_owned(), size.parse().ok()?)))
}

fn first_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().next().unwrap_or("no error message");
    line.chars().take(200).collect()
}
