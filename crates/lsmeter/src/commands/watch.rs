// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter run --watch`: measures each build of a kernel.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use compare::bisect::{Measured, judge};
use model::Exit;
use report::printable;

use crate::cli::RunArgs;
use crate::commands::counted::{self, Counter};
use crate::commands::measure::Signals;
use crate::config::Config;
use crate::failure::{explain, usage};
use crate::output;
use crate::progress::Line;

const PAUSE: Duration = Duration::from_secs(1);

pub fn watch(args: &RunArgs, dir: &Path) -> Result<Exit> {
    let config = Config::read()?;
    if !dir.is_dir() {
        return Err(usage(
            format!("there is no directory {}", dir.display()),
            "give the build directory of a kernel: --watch ~/linux",
        ));
    }
    let kernel = std::path::absolute(dir)?.to_string_lossy().into_owned();
    let experiment = counted::experiment(&args.spec, &args.cells, &args.lab, &kernel)?;
    let signals = Signals::watch()?;
    let mut watch = Watch {
        image: dir.join(kernels::arch::native().source.image),
        counter: Counter::new(experiment, &args.lab, &config, &signals),
        line: Line::new(args.progress.quiet),
        last: None,
        number: 0,
    };
    watch.follow()?;
    watch.line.done();
    Ok(Exit::Fine)
}

/// Inode, size and modification time (s, ns). They differ after each build.
type Identity = (u64, u64, i64, i64);

fn identity(path: &Path) -> Option<Identity> {
    let file = fs::metadata(path).ok().filter(|file| file.len() > 0)?;
    Some((file.ino(), file.len(), file.mtime(), file.mtime_nsec()))
}

struct Watch<'a> {
    image: PathBuf,
    counter: Counter<'a>,
    line: Line,
    last: Option<Measured>,
    number: u32,
}

impl Watch<'_> {
    fn follow(&mut self) -> Result<()> {
        let mut seen = None;
        if identity(&self.image).is_none() {
            let image = self.image.display();
            self.line
                .keep(&format!("waiting for a kernel image: {image}"));
        }
        while let Some(found) = self.next(seen) {
            seen = Some(found);
            let counted = self.counter.count(&mut self.line);
            if self.counter.cancelled() {
                break;
            }
            // The image changed during the measurement.
            if identity(&self.image) != seen {
                continue;
            }
            let summary = match counted {
                Ok(None) => break,
                Ok(Some(measured)) => self.compared(measured)?,
                Err(error) if explain(&error).0 == Exit::Usage && self.number > 0 => {
                    format!("not measured: {}", printable(&format!("{error:#}"), 300))
                }
                Err(error) => return Err(error),
            };
            self.number += 1;
            let summary = format!("{}: {summary}\n", self.number);
            self.line.aside(|| output::print(&summary))?;
        }
        Ok(())
    }

    /// Waits for an image other than `seen` that stays the same for a while; None if interrupted.
    fn next(&self, seen: Option<Identity>) -> Option<Identity> {
        let mut before = None;
        while !self.counter.cancelled() {
            let found = identity(&self.image).filter(|found| Some(*found) != seen);
            if found.is_some() && found == before {
                return found;
            }
            before = found;
            self.line
                .idle(&format!("waiting for {}", self.image.display()));
            std::thread::sleep(PAUSE);
        }
        None
    }

    fn compared(&mut self, measured: Measured) -> Result<String> {
        let summary = match &self.last {
            None => format!("{} measured", measured.document.cells.len()),
            Some(last) => {
                let sides = (("before", &last.document), ("now", &measured.document));
                report::change_line(&judge(sides.0, sides.1, None)?.comparison)
            }
        };
        self.last = Some(measured);
        Ok(summary)
    }
}
