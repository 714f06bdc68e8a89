// SPDX-License-Identifier: GPL-2.0-or-later
//! Saves a recording in progress at intervals, so that little is lost if lsmeter is killed.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use model::{Warning, WarningKind};
use monitor::live::Session;

use crate::output;

const EVERY: Duration = Duration::from_secs(10);
/// Saving takes at most 1 / `PART` of the time.
const PART: u32 = 100;

pub fn keep(path: PathBuf, session: &mut Session) {
    let mut next = Instant::now() + EVERY;
    session.keep(Box::new(move |session| {
        let began = Instant::now();
        if began < next {
            return Ok(());
        }
        let mut recording = session.recording();
        let message = "the recording was saved while in progress; its end is missing";
        let unfinished = Warning::new(WarningKind::Interrupted, message);
        recording.warnings.push(Warning {
            advice: "record again if the missing end matters".to_owned(),
            ..unfinished
        });
        let saved = output::write(&path, |to| Ok(recording.write(to)?));
        next = Instant::now() + EVERY.max(began.elapsed() * PART);
        saved.map_err(|error| format!("{error:#}"))
    }));
}
