// SPDX-License-Identifier: GPL-2.0-or-later
//! Tries the library: monitors while a command runs, and prints what was seen.
//!
//! `monitor_probe [--mode count|time|histogram] [--hooks GLOB] [--implementations GLOB]
//! [--machine|--cgroup DIR] [--keep-capabilities] [-- COMMAND...]`

use std::error::Error;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

use monitor::{Filter, Mode, Monitor, Options, Owner, Progress};

fn main() {
    if let Err(error) = run() {
        eprintln!("monitor_probe: {error}");
        if let Some(hint) = error
            .downcast_ref::<monitor::MonitorError>()
            .and_then(monitor::MonitorError::hint)
        {
            eprintln!("hint: {hint}");
        }
        std::process::exit(1);
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut options = Options::default();
    let mut machine = false;
    let mut keep = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} wants a value"));
        match argument.as_str() {
            "--mode" => {
                options.mode = match value()?.as_str() {
                    "count" => Mode::Count,
                    "time" => Mode::Time,
                    _ => Mode::Histogram,
                }
            }
            "--hooks" => options.selection.hooks = vec![value()?],
            "--implementations" => options.selection.implementations = vec![value()?],
            "--pairs" => options.pairs = value()?.parse()?,
            "--machine" => machine = true,
            "--keep-capabilities" => keep = true,
            "--cgroup" => options.filter = Filter::Cgroup(value()?.into()),
            "--" => break,
            _ => return Err(format!("what is {argument}?").into()),
        }
    }
    let command: Vec<String> = arguments.collect();
    // Waits for a line before it becomes the command: nothing of it is missed.
    let mut child = Command::new("/bin/sh")
        .args(["-c", "read go && exec \"$@\"", "sh"])
        .args(&command)
        .stdin(Stdio::piped())
        .spawn()?;
    if !machine && !command.is_empty() && options.filter == Filter::Machine {
        options.filter = Filter::Processes(vec![child.id()]);
    }

    let start = Instant::now();
    let monitor = Monitor::start(&options, &mut |progress| {
        if let Progress::Attaching {
            done,
            total,
            function,
        } = progress
            && done % 20 == 0
        {
            eprintln!("{:?}: {done} of {total}, now {function}", start.elapsed());
        }
    })?;
    println!(
        "attached {} after {:?}; {:?}; {} KiB",
        monitor.probes().count(),
        start.elapsed(),
        monitor.calibration(),
        monitor.memory_bytes() >> 10
    );
    for left_out in monitor.left_out() {
        println!("left out: {}: {}", left_out.name, left_out.reason);
    }
    if !keep {
        monitor.drop_capabilities()?;
    }
    let before = monitor.snapshot();
    let mut go = child.stdin.take().ok_or("no pipe")?;
    go.write_all(b"\n")?;
    drop(go);
    if command.is_empty() {
        println!("go");
        std::io::stdin().read_to_end(&mut Vec::new())?;
    }
    println!("{}", child.wait()?);
    let reading = Instant::now();
    let snapshot = monitor.snapshot().since(&before);
    println!("read in {:?}", reading.elapsed());
    for hook in &snapshot.hooks {
        let whose = match &hook.probe.owner {
            Owner::Framework => "",
            Owner::Module(module) => module,
        };
        let total = hook.total();
        if total.count == 0 {
            continue;
        }
        println!(
            "{} {whose} count {} sum {} mean {:?} min {:?} max {:?} p50 {:?} errors {:?}",
            hook.probe.hook,
            total.count,
            total.sum_ns,
            total.mean_ns(),
            total.min_ns,
            total.max_ns,
            total
                .histogram
                .as_ref()
                .and_then(|all| all.percentile_ns(0.5)),
            hook.errnos
        );
        for (call, figures) in &hook.system_calls {
            println!("    {call:?} {} sum {}", figures.count, figures.sum_ns);
        }
    }
    println!(
        "lost {:?} refused {} missed {:?}",
        snapshot.lost,
        snapshot.pairs_refused,
        monitor.missed()
    );
    let leaving = Instant::now();
    if keep {
        drop(monitor);
        println!("detached in {:?}", leaving.elapsed());
    }
    Ok(())
}
