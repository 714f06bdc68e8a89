// SPDX-License-Identifier: GPL-2.0-or-later
//! Progress on standard error: a live line on a terminal, or otherwise a line every 30 seconds.

use std::fmt;
use std::io::IsTerminal as _;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use kernels::FetchEvent;
use model::{Event, Status};

use crate::notes;

const PERIOD: Duration = Duration::from_secs(30);

pub struct Line {
    bar: ProgressBar,
    failed: u64,
    /// Empty if there is nothing to log.
    logged: Arc<Mutex<String>>,
    /// Dropping it ends the log that is written if there is no terminal.
    _log: Option<Sender<()>>,
}

impl Line {
    pub fn new(quiet: bool) -> Line {
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(style("{spinner} {wide_msg}"));
        bar.enable_steady_tick(Duration::from_millis(120));
        let logs = !quiet && !std::io::stderr().is_terminal();
        let logged = Arc::<Mutex<String>>::default();
        Line {
            failed: 0,
            _log: logs.then(|| log(bar.clone(), Arc::clone(&logged), PERIOD, notes::print)),
            logged,
            bar,
        }
    }

    pub fn say(&self, text: impl AsRef<str>) {
        let text = report::printable(text.as_ref(), 400);
        self.bar.set_message(text.clone());
        self.log(text);
    }

    pub fn idle(&self, text: &str) {
        self.bar.set_message(report::printable(text, 400));
        self.log(String::new());
    }

    fn log(&self, text: String) {
        *self.logged.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    pub fn keep(&self, text: &str) {
        self.bar.suspend(|| note!("{text}"));
    }

    pub fn follow(&mut self, event: Event<'_>) {
        match event {
            Event::Stage { kernel, what } => self.say(format!("{kernel}: {what}")),
            Event::Planned { cells } => {
                self.bar.set_length(cells as u64);
                self.bar.set_position(0);
                self.bar.reset_eta();
                self.bar.set_style(style(
                    "{spinner} {pos}/{len} measurements {elapsed}{left} {bar:20} {wide_msg}",
                ));
            }
            Event::Boot {
                kernel,
                configuration,
            } => {
                self.say(format!("{kernel} under {}: booting", configuration.title()));
            }
            Event::Begin(key) => {
                let stack = key.stack.join(",");
                self.say(format!("{} under {stack}: {}", key.kernel, key.title()));
            }
            Event::Cell(cell) => {
                self.bar.inc(1);
                if cell.status() == Status::Failed {
                    self.failed += 1;
                    // The result file contains all failures.
                    if self.failed <= 3 {
                        let reason = cell.reason().unwrap_or_default();
                        let reason = report::printable(reason.lines().next().unwrap_or(""), 400);
                        let under = cell.configuration_title();
                        self.keep(&format!("failed: {} under {under}: {reason}", cell.title()));
                    }
                }
            }
        }
    }

    pub fn follow_fetch(&self, kernel: &str, event: &FetchEvent) {
        match event {
            FetchEvent::Waiting => self.say(format!("{kernel}: another lsmeter is fetching")),
            FetchEvent::Updating => self.say(format!("{kernel}: fetching the package index")),
            FetchEvent::Progress { what, percent } => {
                self.say(format!("{kernel}: {percent} % {what}"));
            }
            FetchEvent::Warning(text) => self.keep(&format!("warning: {text}")),
            FetchEvent::Downloading(packages) => {
                self.say(format!("{kernel}: downloading {}", packages.join(", ")));
            }
            FetchEvent::Skipped { packages, reason } => {
                self.keep(&format!("skipped: {}: {reason}", packages.join(", ")));
            }
            FetchEvent::Unpacking => self.say(format!("{kernel}: unpacking")),
            FetchEvent::Cached(name) => self.say(format!("{kernel}: {name} is in the cache")),
            _ => {}
        }
    }

    pub fn done(&self) {
        self.log(String::new());
        self.bar.finish_and_clear();
    }
}

/// Prints the text every `period` until the sender is dropped, unless it is empty.
fn log(
    bar: ProgressBar,
    logged: Arc<Mutex<String>>,
    period: Duration,
    print: fn(&str),
) -> Sender<()> {
    let (keep, dropped) = channel::<()>();
    let began = Instant::now();
    std::thread::spawn(move || {
        while dropped.recv_timeout(period) == Err(RecvTimeoutError::Timeout) {
            let message = logged
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            if !message.is_empty() {
                print(&status(&bar, began.elapsed(), &message));
            }
        }
    });
    keep
}

fn status(bar: &ProgressBar, elapsed: Duration, message: &str) -> String {
    let elapsed = HumanDuration(elapsed);
    match bar.length() {
        Some(length) => format!(
            "{}/{length} measurements, {elapsed}: {message}",
            bar.position()
        ),
        None => format!("{elapsed}: {message}"),
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("left", |state: &ProgressState, to: &mut dyn fmt::Write| {
        // Unreliable before the first cell, and 0 after the last.
        let left = state.eta().as_secs();
        if state.pos() > 0 && left > 0 {
            let _ = write!(to, ", {} left", HumanDuration(Duration::from_secs(left)));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    static PRINTED: Mutex<Vec<String>> = Mutex::new(Vec::new());

    #[test]
    fn a_log_prints_a_line_per_period() {
        let bar = ProgressBar::hidden();
        let elapsed = Duration::from_secs(40);
        assert_eq!(status(&bar, elapsed, "booting"), "40 seconds: booting");
        bar.set_length(8);
        bar.set_position(3);
        let expected = "3/8 measurements, 40 seconds: open";
        assert_eq!(status(&bar, elapsed, "open"), expected);
        let print = |line: &str| PRINTED.lock().unwrap().push(line.to_owned());
        let logged = Arc::new(Mutex::new(String::new()));
        let keep = log(bar, Arc::clone(&logged), Duration::from_millis(1), print);
        std::thread::sleep(Duration::from_millis(20));
        assert!(PRINTED.lock().unwrap().is_empty());
        "open".clone_into(&mut logged.lock().unwrap());
        while PRINTED.lock().unwrap().len() < 2 {
            std::thread::yield_now();
        }
        drop(keep);
        assert!(PRINTED.lock().unwrap()[1].ends_with(": open"));
    }
}
