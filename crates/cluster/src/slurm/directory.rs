// SPDX-License-Identifier: GPL-2.0-or-later
//! The directory that nodes share: the spec, the script, documents, journals and logs.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use diagnostics::{Failure, printable};
use experiment::{Spec, Status};

use super::queue;
use crate::merge::Part;
use crate::{ClusterError, read_part};

/// What is measured.
pub const SPEC: &str = "spec.toml";

/// What a task runs.
const SCRIPT: &str = "job.sh";

/// Numbers of the jobs that were submitted, a line each.
const JOBS: &str = "jobs";

/// Longest end of a log that is repeated, in characters.
const LOG_LIMIT: usize = 300;

/// The directory, prepared.
pub struct Directory {
    path: PathBuf,
}

impl Directory {
    /// Makes it, or goes on with one that holds the same run.
    ///
    /// # Errors
    /// If it holds something else, or cannot be written.
    pub fn prepare(
        path: &Path,
        script: &str,
        spec: &Spec,
        again: bool,
    ) -> Result<Directory, ClusterError> {
        let directory = Directory {
            path: std::path::absolute(path).map_err(ClusterError::io("find", path))?,
        };
        let spec = toml::to_string(spec)?;
        if again {
            directory.check(&spec, script)?;
        } else {
            match fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))
                .and_then(|()| fs::create_dir(path))
            {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    return Err(ClusterError::from(Failure::usage(
                        format!("{} is there already", path.display()),
                        "go on with the run that it holds with --resume, or remove it",
                    )));
                }
                made => made.map_err(ClusterError::io("make", path))?,
            }
        }
        directory.put(SPEC, &spec)?;
        directory.put(SCRIPT, script)?;
        Ok(directory)
    }

    /// Writes a file that appears whole.
    fn put(&self, name: &str, text: &str) -> Result<(), ClusterError> {
        let path = self.path.join(name);
        let new = self.path.join(format!(".{name}"));
        let written = fs::File::create(&new).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, &path)
        });
        written.map_err(ClusterError::io("write", &path))
    }

    /// Does it hold this run? Jobs of it that may still be there are ended.
    fn check(&self, spec: &str, script: &str) -> Result<(), ClusterError> {
        let shown = self.path.display();
        let read = |name| {
            fs::read_to_string(self.path.join(name)).map_err(|error| {
                Failure::usage(
                    format!("{shown} holds no run to go on with: {name}: {error}"),
                    "name its directory with --workdir, or start anew without --resume",
                )
            })
        };
        if read(SPEC)? != spec || read(SCRIPT)? != script {
            return Err(ClusterError::from(Failure::usage(
                format!("{shown} holds another run, or other flags"),
                "resume with the same spec and flags, or start anew without --resume",
            )));
        }
        let jobs = fs::read_to_string(self.path.join(JOBS)).unwrap_or_default();
        for job in jobs.lines().filter_map(|line| line.parse().ok()) {
            queue::cancel(job);
        }
        Ok(())
    }

    /// Keeps a job's number, in case that we are killed.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn note(&self, job: u32) -> Result<(), ClusterError> {
        let path = self.path.join(JOBS);
        let file = fs::OpenOptions::new().create(true).append(true).open(&path);
        file.and_then(|mut file| writeln!(file, "{job}"))
            .map_err(ClusterError::io("write", &path))
    }

    /// Removes it, with all that is in it, as far as possible.
    pub fn remove(&self) {
        let _ = fs::remove_dir_all(&self.path);
    }

    /// The script to submit.
    pub fn script(&self) -> PathBuf {
        self.path.join(SCRIPT)
    }

    /// Where Slurm writes what a task says; %a is its number.
    pub fn log_pattern(&self) -> String {
        // Slurm takes a % for the beginning of a pattern.
        let directory = self.path.to_string_lossy().replace('%', "%%");
        format!("{directory}/shard-%a.log")
    }

    fn document(&self, shard: u32) -> PathBuf {
        self.path.join(format!("shard-{shard}.json"))
    }

    /// Is a shard's document there? It is put in place whole.
    pub fn has(&self, shard: u32) -> bool {
        self.document(shard).is_file()
    }

    /// Where a first document is set aside.
    fn first(&self, shard: u32) -> PathBuf {
        self.path.join(format!("shard-{shard}.first.json"))
    }

    /// Cells of a shard that failed. If there are any, and its document is the first, that is
    /// set aside, so that the shard is measured once more.
    ///
    /// # Errors
    /// If the document cannot be read.
    pub fn set_aside(&self, shard: u32) -> Result<usize, ClusterError> {
        let first = self.first(shard);
        if first.is_file() {
            return Ok(0);
        }
        let failed = failed(&read_part(&self.document(shard))?);
        if failed > 0 {
            let document = self.document(shard);
            fs::rename(&document, &first).map_err(ClusterError::io("rename", &document))?;
        }
        Ok(failed)
    }

    /// A shard's document, of two that in which fewer cells failed; None without any.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(&self, shard: u32) -> Result<Option<Part>, ClusterError> {
        let documents = [self.document(shard), self.first(shard)];
        let parts = documents.iter().filter(|document| document.is_file());
        let parts: Vec<Part> = parts
            .map(|document| read_part(document))
            .collect::<Result<_, _>>()?;
        Ok(parts.into_iter().min_by_key(failed))
    }

    /// The last line of a shard's log.
    pub fn last_line(&self, shard: u32) -> String {
        let log = fs::read(self.path.join(format!("shard-{shard}.log"))).unwrap_or_default();
        let text = String::from_utf8_lossy(&log);
        let line = text.lines().rev().find(|line| !line.trim().is_empty());
        printable(line.unwrap_or("its log is empty"), LOG_LIMIT)
    }
}

/// Cells that were to be measured and were not.
fn failed(part: &Part) -> usize {
    let cells = part.run.cells.iter();
    cells.filter(|cell| cell.status() == Status::Failed).count()
}
