// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter monitor` on a terminal: a live table of hooks, and the detail of each.
//!
//! The view is pure state (`state`), changed by keys (`keys`) and drawn into a frame (`draw`); only
//! this file uses the terminal.

mod column;
mod detail;
mod draw;
mod figures;
mod keys;
mod state;
#[cfg(test)]
mod tests;
mod units;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossterm::event::{self, Event};
use model::{Interval, Monitoring};
use ratatui::DefaultTerminal;

use self::state::View;
use crate::MonitorError;

/// Longest delay of a signal.
const NAP: Duration = Duration::from_millis(100);
/// Faster figures are not readable.
const INTERVAL_MIN: Duration = Duration::from_millis(50);
/// The maximum number of keys between two frames, for pasted text.
const KEYS_AT_ONCE: usize = 256;

pub trait Source {
    fn read(&mut self) -> Reading;

    /// This is checked before each reading; the reading after the end is the last.
    fn ended(&mut self) -> bool;
}

#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    pub total: Interval,
    pub since_last: Interval,
}

/// Shows a source's figures on standard output's terminal, updated every `interval`, until the user
/// quits or `stop` is set. After the source has ended, its last figures remain visible.
///
/// Restores the terminal on return or panic.
pub fn show(
    monitoring: &Monitoring,
    source: &mut dyn Source,
    interval: Duration,
    colour: bool,
    stop: &AtomicBool,
) -> Result<(), MonitorError> {
    let mut view = View::new(monitoring, colour);
    let unusable =
        MonitorError::doing("cannot use standard output as a terminal for the live view");
    let taken = ratatui::try_init().inspect_err(|_| drop(ratatui::try_restore()));
    let mut terminal = taken.map_err(unusable)?;
    let shown = follow(&mut terminal, &mut view, source, interval, stop);
    let left = ratatui::try_restore();
    shown.and(left.map_err(MonitorError::doing("cannot restore the terminal")))
}

fn follow(
    terminal: &mut DefaultTerminal,
    view: &mut View,
    source: &mut dyn Source,
    interval: Duration,
    stop: &AtomicBool,
) -> Result<(), MonitorError> {
    let interval = interval.max(INTERVAL_MIN);
    let mut next = Instant::now() + interval;
    let mut changed = true;
    while !stop.load(Ordering::Relaxed) {
        if !view.ended && Instant::now() >= next {
            let ended = source.ended();
            view.update(source.read());
            view.ended = ended;
            // Skip missed readings, such as after a suspend.
            next = (next + interval).max(Instant::now());
            changed = true;
        }
        if changed {
            let drawn = terminal.draw(|frame| draw::draw(frame, view));
            drawn.map_err(MonitorError::doing("cannot draw on the terminal"))?;
        }
        let until_next = match view.ended {
            true => NAP,
            false => next.saturating_duration_since(Instant::now()),
        };
        let pressed = take_keys(view, until_next.min(NAP));
        match pressed.map_err(MonitorError::doing("cannot read keys from the terminal"))? {
            Pressed::Nothing => changed = false,
            Pressed::Something => changed = true,
            Pressed::Quit => break,
        }
    }
    Ok(())
}

enum Pressed {
    Nothing,
    Something,
    Quit,
}

fn take_keys(view: &mut View, mut wait: Duration) -> std::io::Result<Pressed> {
    let mut pressed = Pressed::Nothing;
    for _ in 0..KEYS_AT_ONCE {
        if !event::poll(wait)? {
            break;
        }
        wait = Duration::ZERO;
        pressed = Pressed::Something;
        if let Event::Key(key) = event::read()?
            && keys::press(view, key)
        {
            return Ok(Pressed::Quit);
        }
    }
    Ok(pressed)
}
