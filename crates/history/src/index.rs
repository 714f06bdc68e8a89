// SPDX-License-Identifier: GPL-2.0-or-later
//! The index: a SQLite database of what the documents hold.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use experiment::{AnyDocument, Metric, Run};
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use sha2::{Digest, Sha256};

use crate::{HistoryError, LeftOut, hexadecimal};

/// The index's file.
const FILE: &str = "index.sqlite";
/// Of the tables below, as `PRAGMA user_version`. Another one's index is made anew.
const VERSION: i32 = 1;
/// How long another process may write.
const BUSY: Duration = Duration::from_secs(10);

const TABLES: &str = "
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        file TEXT NOT NULL UNIQUE,
        bytes INTEGER NOT NULL,
        modified_ns INTEGER NOT NULL,
        digest TEXT NOT NULL,
        started TEXT NOT NULL,
        left_out TEXT
    );
    CREATE INDEX runs_by_digest ON runs (digest);
    CREATE TABLE cells (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        kernel TEXT NOT NULL,
        release TEXT NOT NULL,
        configuration TEXT NOT NULL,
        filesystem TEXT NOT NULL,
        benchmark TEXT NOT NULL,
        variant TEXT NOT NULL,
        metric TEXT NOT NULL,
        machine TEXT NOT NULL,
        figure REAL NOT NULL,
        low REAL,
        high REAL,
        exact INTEGER NOT NULL,
        position INTEGER NOT NULL
    );
    CREATE INDEX cells_by_run ON cells (run);
";

/// What tells that a file has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp {
    bytes: i64,
    modified_ns: i64,
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Stamp {
        let modified = metadata.modified().ok();
        let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Stamp {
            bytes: i64::try_from(metadata.len()).unwrap_or(i64::MAX),
            modified_ns: since
                .and_then(|since| i64::try_from(since.as_nanos()).ok())
                .unwrap_or(0),
        }
    }
}

/// A cell that has a figure, with its run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Indexed {
    pub(crate) file: String,
    pub(crate) started: String,
    pub(crate) kernel: String,
    pub(crate) release: String,
    pub(crate) configuration: String,
    pub(crate) filesystem: String,
    pub(crate) benchmark: String,
    pub(crate) variant: String,
    pub(crate) metric: Metric,
    pub(crate) machine: String,
    pub(crate) figure: f64,
    pub(crate) interval: Option<[f64; 2]>,
    pub(crate) exact: bool,
}

/// An open index.
#[derive(Debug)]
pub(crate) struct Index {
    path: PathBuf,
    connection: Connection,
}

impl Index {
    /// Opens the index in a directory, or makes a new one where there is none that can be
    /// used. Where none can be written it is kept in memory.
    pub(crate) fn open(directory: &Path) -> Result<Index, HistoryError> {
        let path = directory.join(FILE);
        let open = |connection: rusqlite::Result<Connection>| {
            let connection = connection?;
            connection.busy_timeout(BUSY)?;
            connection.pragma_update(None, "foreign_keys", true)?;
            let found: i32 =
                connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
            Ok((connection, found))
        };
        let connection = match open(Connection::open(&path)) {
            Ok((connection, VERSION)) if is_sound(&connection) => Some(connection),
            Err(rusqlite::Error::SqliteFailure(error, _))
                if error.code == rusqlite::ErrorCode::DatabaseBusy =>
            {
                let source = rusqlite::Error::SqliteFailure(error, None);
                return Err(HistoryError::Index { path, source });
            }
            Ok(_) | Err(_) => {
                for end in ["", "-journal", "-wal", "-shm"] {
                    let _ = fs::remove_file(directory.join(format!("{FILE}{end}")));
                }
                let made = open(Connection::open(&path))
                    .and_then(|(connection, _)| create(&connection).map(|()| connection));
                made.ok()
            }
        };
        let in_memory = || {
            let (connection, _) = open(Connection::open_in_memory())?;
            create(&connection)?;
            Ok(connection)
        };
        let connection = match connection {
            Some(connection) => Ok(connection),
            None => in_memory(),
        };
        match connection {
            Ok(connection) => Ok(Index { path, connection }),
            Err(source) => Err(HistoryError::Index { path, source }),
        }
    }

    /// The file whose content has this SHA-256.
    pub(crate) fn file_of(&self, digest: &str) -> Result<Option<String>, HistoryError> {
        let query = "SELECT file FROM runs WHERE digest = ?1 AND left_out IS NULL";
        let found = self
            .connection
            .query_row(query, [digest], |row| row.get(0))
            .optional();
        found.map_err(|source| self.failed(source))
    }

    /// Makes the index one of these files; `load` reads one. What is in no series is told.
    pub(crate) fn follow(
        &mut self,
        files: &[(String, Stamp)],
        load: &dyn Fn(&str) -> Result<Vec<u8>, HistoryError>,
    ) -> Result<Vec<LeftOut>, HistoryError> {
        let path = self.path.clone();
        let failed = |source| HistoryError::Index { path, source };
        follow(&mut self.connection, files, load).map_err(failed)
    }

    /// All cells with a figure, runs in the order of their beginning, cells in that of
    /// their document.
    pub(crate) fn cells(&self) -> Result<Vec<Indexed>, HistoryError> {
        let cells = || {
            let mut query = self.connection.prepare(
                "SELECT file, started, kernel, release, configuration, filesystem, benchmark,
                        variant, metric, machine, figure, low, high, exact
                 FROM cells JOIN runs ON cells.run = runs.id
                 ORDER BY started, file, position",
            )?;
            let rows = query.query_map([], |row| {
                let metric: String = row.get(8)?;
                let low: Option<f64> = row.get(11)?;
                Ok(Indexed {
                    file: row.get(0)?,
                    started: row.get(1)?,
                    kernel: row.get(2)?,
                    release: row.get(3)?,
                    configuration: row.get(4)?,
                    filesystem: row.get(5)?,
                    benchmark: row.get(6)?,
                    variant: row.get(7)?,
                    metric: metric
                        .parse()
                        .map_err(|_| rusqlite::Error::InvalidColumnName("metric".to_owned()))?,
                    machine: row.get(9)?,
                    figure: row.get(10)?,
                    interval: low.zip(row.get(12)?).map(|(low, high)| [low, high]),
                    exact: row.get(13)?,
                })
            })?;
            rows.collect::<rusqlite::Result<Vec<Indexed>>>()
        };
        cells().map_err(|source| self.failed(source))
    }

    fn failed(&self, source: rusqlite::Error) -> HistoryError {
        HistoryError::Index {
            path: self.path.clone(),
            source,
        }
    }
}

fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(&format!(
        "BEGIN; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;"
    ))
}

/// Is it readable to its end? A damaged one is made anew.
fn is_sound(connection: &Connection) -> bool {
    let check = connection.pragma_query_value(None, "quick_check", |row| row.get::<_, String>(0));
    check.is_ok_and(|verdict| verdict == "ok")
}

fn follow(
    connection: &mut Connection,
    files: &[(String, Stamp)],
    load: &dyn Fn(&str) -> Result<Vec<u8>, HistoryError>,
) -> rusqlite::Result<Vec<LeftOut>> {
    let transaction = connection.transaction()?;
    let mut known: HashMap<String, Stamp> = HashMap::new();
    {
        let mut query = transaction.prepare("SELECT file, bytes, modified_ns FROM runs")?;
        let rows = query.query_map([], |row| {
            let stamp = Stamp {
                bytes: row.get(1)?,
                modified_ns: row.get(2)?,
            };
            Ok((row.get(0)?, stamp))
        })?;
        for row in rows {
            let (file, stamp) = row?;
            known.insert(file, stamp);
        }
    }
    for (file, stamp) in files {
        match known.remove(file) {
            Some(before) if before == *stamp => continue,
            Some(_) => forget(&transaction, file)?,
            None => {}
        }
        take(&transaction, file, *stamp, load(file))?;
    }
    for file in known.keys() {
        forget(&transaction, file)?;
    }
    let left_out = {
        let mut query = transaction
            .prepare("SELECT file, left_out FROM runs WHERE left_out IS NOT NULL ORDER BY file")?;
        let rows = query.query_map([], |row| {
            Ok(LeftOut {
                file: row.get(0)?,
                why: row.get(1)?,
            })
        })?;
        rows.collect::<rusqlite::Result<Vec<LeftOut>>>()?
    };
    transaction.commit()?;
    Ok(left_out)
}

fn forget(transaction: &Transaction<'_>, file: &str) -> rusqlite::Result<()> {
    transaction
        .execute("DELETE FROM runs WHERE file = ?1", [file])
        .map(|_| ())
}

/// Takes a file into the index: its cells, or why it is left out.
fn take(
    transaction: &Transaction<'_>,
    file: &str,
    stamp: Stamp,
    bytes: Result<Vec<u8>, HistoryError>,
) -> rusqlite::Result<()> {
    let (digest, run) = match bytes {
        Ok(bytes) => {
            let digest = hexadecimal(&Sha256::digest(&bytes));
            let run = match AnyDocument::parse(&bytes) {
                Ok(AnyDocument::Run(run)) => Ok(run),
                Ok(other) => Err(format!("a {}, no run document", other.kind())),
                Err(error) => Err(error.to_string()),
            };
            (digest, run)
        }
        Err(error) => (String::new(), Err(error.to_string())),
    };
    let started = run.as_ref().map_or("", |run| run.started.as_str());
    transaction.execute(
        "INSERT INTO runs (file, bytes, modified_ns, digest, started, left_out)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            file,
            stamp.bytes,
            stamp.modified_ns,
            digest,
            started,
            run.as_ref().err()
        ],
    )?;
    let id = transaction.last_insert_rowid();
    match run {
        Ok(run) => take_cells(transaction, id, &run),
        Err(_) => Ok(()),
    }
}

fn take_cells(transaction: &Transaction<'_>, id: i64, run: &Run) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO cells (run, kernel, release, configuration, filesystem, benchmark, variant,
                            metric, machine, figure, low, high, exact, position)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?;
    for (position, cell) in run.cells.iter().enumerate() {
        let Some(figure) = cell.headline().filter(|figure| figure.is_finite()) else {
            continue;
        };
        let exact = cell.is_exact();
        let interval = cell.ci95.filter(|_| !exact);
        insert.execute(params![
            id,
            cell.kernel,
            cell.release,
            cell.configuration_title(),
            cell.filesystem,
            cell.benchmark,
            cell.variant,
            cell.metric.as_str(),
            run.environment.machine(cell.metric),
            figure,
            interval.map(|[low, _]| low),
            interval.map(|[_, high]| high),
            exact,
            position as i64,
        ])?;
    }
    Ok(())
}
