// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter monitor`: LSM hooks on a live machine.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use lab::environment;
use model::{Document, Exit, Interval, Kind, MonitorMode};
use monitor::live::{Replay, Request, Session, Subject, Textfile};
use monitor::{Options, Progress, Selection};

use super::documents::read_kind;
use super::measure::end_signals;
use super::recording;
use crate::cli::MonitorArgs;
use crate::deliver::{Delivery, StdoutTaken};
use crate::output;
use crate::progress::Line;

const TICK: Duration = Duration::from_millis(50);
const INTERVAL: Duration = Duration::from_secs(1);

pub fn monitor(args: &MonitorArgs) -> Result<Exit> {
    let stdout = args
        .out
        .check(&[&args.textfile], usize::from(args.json_lines))?;
    let live_view = !args.plain
        && args.out.is_for_readers(stdout)
        && args.command.is_empty()
        && args.rows.is_none()
        && std::io::stdout().is_terminal()
        && has_terminal();
    match &args.replay {
        Some(path) => show_recording(args, path, stdout, live_view)?,
        None => watch(args, stdout, live_view)?,
    }
    Ok(Exit::Fine)
}

/// Whether keys can be read from the terminal. In the background they cannot: setting up the
/// terminal would stop lsmeter.
fn has_terminal() -> bool {
    match rustix::termios::tcgetpgrp(std::io::stdout()) {
        Ok(group) => group == rustix::process::getpgrp(),
        Err(_) => std::io::stdin().is_terminal(),
    }
}

/// A flag that signals set. Until this is called, when there is work to finish, a signal ends
/// lsmeter immediately.
fn stop_on_signals() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in end_signals() {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

fn show_recording(
    args: &MonitorArgs,
    path: &Path,
    stdout: StdoutTaken,
    live_view: bool,
) -> Result<()> {
    let hint = "give a recording made with `lsmeter monitor --record FILE`";
    let document = read_kind(path, Kind::Recording, hint)?;
    let watched = document
        .monitor
        .as_ref()
        .context("the recording does not describe what was monitored")?;
    if args.json_lines {
        document.intervals().try_for_each(print_line)?;
    }
    let stop = stop_on_signals()?;
    if let Some(mut textfile) = args.textfile.clone().map(Textfile::new) {
        textfile.write(watched, &document.all_intervals())?;
        while !stop.load(Ordering::Relaxed) {
            thread::sleep(TICK);
        }
        return Ok(());
    }
    if live_view {
        let mut replay = Replay::new(document.intervals().cloned().collect());
        let pace = replay.pace();
        monitor::live::show(watched, &mut replay, pace, output::has_colour(), &stop)?;
        return export(args, &document);
    }
    deliver(args, stdout, &document, &document.all_intervals())
}

fn request(args: &MonitorArgs) -> Request {
    let words = |words: &[String]| -> Vec<String> {
        let words = words.iter().map(|word| word.trim().to_owned());
        words.filter(|word| !word.is_empty()).collect()
    };
    Request {
        subject: match (&args.cgroup, args.processes.as_slice()) {
            _ if !args.command.is_empty() => Subject::Command(args.command.clone()),
            (Some(directory), _) => Subject::Cgroup(directory.clone()),
            (None, []) => Subject::Machine,
            (None, processes) => Subject::Processes(processes.to_vec()),
        },
        options: Options {
            mode: match (args.count, args.histogram) {
                (true, _) => MonitorMode::Count,
                (false, true) => MonitorMode::Histogram,
                (false, false) => MonitorMode::Time,
            },
            selection: Selection {
                hooks: words(&args.hooks),
                implementations: words(&args.functions),
            },
            pairs: args.pairs as usize,
            system_calls: args.system_calls,
            ..Options::default()
        },
        duration: args.duration,
        active_lsms: environment::host_lsms().unwrap_or_default(),
        environment: environment::here(),
        now: environment::now,
    }
}

fn watch(args: &MonitorArgs, stdout: StdoutTaken, live_view: bool) -> Result<()> {
    let line = Line::new(args.quiet);
    let textfile = args.textfile.clone().map(Textfile::new);
    line.say("examining the kernel");
    let mut session = Session::start(request(args), textfile, &mut |progress| match progress {
        Progress::Calibrating => line.say("measuring the overhead of watching"),
        Progress::Attaching {
            done,
            total,
            function,
        } => line.say(format!("attaching {}/{total}: {function}", done + 1)),
    })?;
    if let Some(path) = args.out.output.clone().filter(|path| output::is_file(path)) {
        recording::keep(path, &mut session);
    }
    let stop = stop_on_signals()?;
    if !args.command.is_empty() {
        // The command's output must not be mixed with the progress.
        line.done();
    }
    session.begin()?;
    let every = args.interval.unwrap_or(INTERVAL);
    if live_view {
        line.done();
        let watched = session.watched.clone();
        monitor::live::show(&watched, &mut session, every, output::has_colour(), &stop)?;
        session.take()?;
    } else {
        let several = args.interval.is_some()
            || args.json_lines
            || args.out.output.is_some()
            || args.textfile.is_some();
        if args.command.is_empty() {
            line.idle(&format!("watching {}", session.watched.scope));
        }
        let tables = args.interval.is_some() && args.out.is_for_readers(stdout);
        let show = |session: &mut Session| -> Result<()> {
            let interval = session.take()?.clone();
            if args.json_lines {
                return print_line(&interval);
            }
            if tables {
                line.done();
                let report = report::interval_report(
                    &session.watched,
                    &session.left_out,
                    &interval,
                    args.rows,
                );
                return output::print_report(&report);
            }
            Ok(())
        };
        follow(&mut session, several.then_some(every), &stop, &show)?;
    }
    line.done();
    let total = session.total();
    let ended = session.end();
    if let Some(command) = &ended.command {
        note!("{command}");
    }
    let document = ended.recording;
    if live_view {
        export(args, &document)
    } else {
        deliver(args, stdout, &document, &total)
    }
}

fn follow(
    session: &mut Session,
    every: Option<Duration>,
    stop: &AtomicBool,
    show: &dyn Fn(&mut Session) -> Result<()>,
) -> Result<()> {
    let mut next = every.map(|every| Instant::now() + every);
    while !stop.load(Ordering::Relaxed) && !session.is_over() {
        let wake = [next, session.deadline].into_iter().flatten().min();
        let rest = wake.map_or(TICK, |wake| wake.saturating_duration_since(Instant::now()));
        thread::sleep(rest.min(TICK));
        if let (Some(at), Some(every)) = (next, every)
            && Instant::now() >= at
        {
            // After a suspend, or if the reader is slow, intervals are longer.
            next = Some((at + every).max(Instant::now()));
            show(session)?;
        }
    }
    show(session)
}

fn print_line(interval: &Interval) -> Result<()> {
    let mut text = serde_json::to_string(interval)?;
    text.push('\n');
    output::print_as_it_is(&text)
}

fn deliver(
    args: &MonitorArgs,
    stdout: StdoutTaken,
    document: &Document,
    total: &Interval,
) -> Result<()> {
    let mut report = report::monitor_report(document, args.rows);
    if let Some(watched) = &document.monitor {
        // The total attributes more calls to system calls than the intervals do.
        report.tables =
            report::interval_report(watched, &document.left_out, total, args.rows).tables;
    }
    let for_readers = args.out.is_for_readers(stdout);
    let had_tables = for_readers && args.interval.is_some() && args.replay.is_none();
    if had_tables || !for_readers {
        for warning in &report.warnings {
            note!("warning: {warning}");
        }
    }
    if !had_tables {
        let found = Delivery {
            document: &|to| Ok(document.write(to)?),
            tables: &|| report.clone(),
            records: &|| report::monitor_records(document),
        };
        args.out.print(stdout, &found)?;
    }
    export(args, document)
}

fn export(args: &MonitorArgs, document: &Document) -> Result<()> {
    let found = Delivery {
        document: &|to| Ok(document.write(to)?),
        tables: &|| report::monitor_report(document, args.rows),
        records: &|| report::monitor_records(document),
    };
    args.out.save(&found)
}
