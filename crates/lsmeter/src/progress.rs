// SPDX-License-Identifier: GPL-2.0-or-later
//! Progress on standard error, and only on a terminal.

use std::fmt;
use std::time::Duration;

use experiment::{Event, Status};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use kernels::FetchEvent;

/// A live line. Silent when quiet, or where standard error is no terminal.
pub struct Line {
    bar: ProgressBar,
    failed: u64,
}

impl Line {
    /// A line that shows nothing yet.
    pub fn new(quiet: bool) -> Line {
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(style("{spinner} {wide_msg}"));
        bar.enable_steady_tick(Duration::from_millis(120));
        Line { bar, failed: 0 }
    }

    /// Says what is happening, in place of what was said before.
    pub fn say(&self, text: impl Into<String>) {
        self.bar.set_message(text.into());
    }

    /// Prints a line that stays, also where there is no terminal.
    pub fn keep(&self, text: &str) {
        self.bar.suspend(|| anstream::eprintln!("{text}"));
    }

    /// Does something that writes, without the line in its way.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }

    /// Shows how an instrument goes on.
    pub fn follow(&mut self, event: Event<'_>) {
        match event {
            Event::Stage { kernel, what } => self.say(format!("{kernel}: {what}")),
            Event::Planned { cells, finished } => {
                self.bar.set_length(cells as u64);
                self.bar.set_position(finished as u64);
                self.bar.reset_eta();
                self.bar.set_style(style(
                    "{spinner} {pos}/{len} cells {elapsed}{left} {bar:20} {wide_msg}",
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
                    // The first few say what is wrong; the document has them all.
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

    /// Shows how a fetch goes on.
    pub fn follow_fetch(&self, kernel: &str, event: &FetchEvent) {
        match event {
            FetchEvent::Waiting => self.say(format!("{kernel}: another lsmeter is fetching")),
            FetchEvent::Updating => self.say(format!("{kernel}: fetching the package index")),
            FetchEvent::Progress { what, percent } => {
                self.say(format!("{kernel}: {percent} % {what}"));
            }
            FetchEvent::Warning(text) => self.keep(&format!("warning: {text}")),
            FetchEvent::Downloading { packages } => {
                self.say(format!("{kernel}: downloading {}", packages.join(", ")));
            }
            FetchEvent::Skipped { packages, reason } => {
                self.keep(&format!("skipped: {}: {reason}", packages.join(", ")));
            }
            FetchEvent::Unpacking => self.say(format!("{kernel}: unpacking")),
            FetchEvent::Cached { name } => self.say(format!("{kernel}: {name} is here")),
            _ => {}
        }
    }

    /// Takes the line away.
    pub fn done(&self) {
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("left", |state: &ProgressState, to: &mut dyn fmt::Write| {
        // Before the first cell it is a guess, and behind the last it is nothing.
        let left = state.eta().as_secs();
        if state.pos() > 0 && left > 0 {
            let _ = write!(to, ", {} left", HumanDuration(Duration::from_secs(left)));
        }
    })
}
