// SPDX-License-Identifier: GPL-2.0-or-later
//! A recording in progress is saved from time to time, so that a killed one loses little.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use model::{Warning, WarningKind};
use monitor::live::Session;

use crate::output;

const EVERY: Duration = Duration::from_secs(10);
/// Saving takes at most this part of the time.
const PART: u32 = 100;

pub fn keep(path: PathBuf, session: &mut Session) {
    let mut next = Instant::now() + EVERY;
    session.keep(Box::new(move |session| {
        let began = Instant::now();
        if began < next {
            return Ok(());
        }
        let mut recording = session.recording();
        let message = "it was saved while it went on, and did not come to its end";
        let unfinished = Warning::new(WarningKind::Interrupted, message);
        recording.warnings.push(Warning {
            advice: "record again if what happened then matters".to_owned(),
            ..unfinished
        });
        let saved = output::write(&path, |to| Ok(recording.write(to)?));
        next = Instant::now() + EVERY.max(began.elapsed() * PART);
        saved.map_err(|error| format!("{error:#}"))
    }));
}
