// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter kernel build`.

use std::num::NonZeroU32;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::Result;
use kernels::{BuildEvent, Built, Error, Flavour, Recipe, Store};
use model::Exit;
use report::printable;

use crate::cli::BuildArgs;
use crate::commands::measure::cancel_on_signals;
use crate::config::{Config, cache_dir};
use crate::failure::usage;
use crate::progress::Line;

pub fn build(args: &BuildArgs) -> Result<Exit> {
    let config = Config::read()?;
    let store = Store::open(&cache_dir())?;
    let flavour = args.configuration.flavour;
    let of_processes = [
        ("--layouts", args.layouts.is_some()),
        ("--with", !args.with.is_empty()),
    ];
    if let Some((flag, _)) = { of_processes.iter() }.find(|(_, set)| *set && !flavour.is_process())
    {
        return Err(usage(
            format!("{flag} needs flavour um or um-nolsm"),
            format!("add --flavour um, or leave out {flag}"),
        ));
    }
    if args.any_order && !flavour.has_modules() {
        return Err(usage(
            "--any-order needs a flavour with security modules",
            "leave out --any-order",
        ));
    }
    let arch = args
        .arch
        .and_then(|arch| kernels::arch::by_name(arch.as_str()));
    let arch = arch.unwrap_or_else(kernels::arch::native);
    if flavour.is_process() && arch != kernels::arch::native() {
        return Err(usage(
            format!("UML kernels cannot be built for {arch} on this machine"),
            "leave out --arch, or add --flavour all",
        ));
    }
    if flavour == Flavour::AllNoSmp && !arch.source.uniprocessor {
        return Err(usage(
            format!("flavour all-nosmp does not exist for {arch}: its kernels are always SMP"),
            "add --flavour all",
        ));
    }
    let mut recipe = Recipe {
        name: args.name.clone(),
        source: args.source.clone(),
        flavour,
        arch,
        compiler: args.configuration.compiler,
        fragments: args.configuration.config.clone(),
        jobs: args.jobs,
        refresh: args.refresh,
        any_order: args.any_order,
        with: args.with.clone(),
        layout: None,
    };
    let cancel = cancel_on_signals()?;
    let numbers: Vec<Option<NonZeroU32>> = match args.layouts {
        None => vec![None],
        Some(last) => (1..=last).map(NonZeroU32::new).collect(),
    };
    for layout in numbers {
        recipe.layout = layout;
        let exit = build_one(&store, &config, &recipe, args.quiet, &cancel)?;
        if exit != Exit::Fine {
            return Ok(exit);
        }
        // Refresh only once.
        recipe.refresh = false;
    }
    Ok(Exit::Fine)
}

fn build_one(
    store: &Store,
    config: &Config,
    recipe: &Recipe,
    quiet: bool,
    cancel: &AtomicBool,
) -> Result<Exit> {
    let line = Line::new(quiet);
    let started = Instant::now();
    let built = made(store, config, recipe, &line, true, cancel);
    line.done();
    let built = match built {
        Err(Error::Interrupted { .. }) => {
            note!("interrupted: the kernel is not cached; run the same command again to continue");
            return Ok(Exit::CellsFailed);
        }
        Err(Error::Build { ref lines, .. }) => {
            for line in lines {
                note!("{}", printable(line, 300));
            }
            built?
        }
        built => built?,
    };
    let release = printable(&built.kernel.release, 80);
    let how = match built.compiled {
        None => "already built".to_owned(),
        Some(compiled) => format!(
            "{compiled} objects compiled, {}",
            in_words(started.elapsed())
        ),
    };
    note!(
        "{} is in the cache: Linux {release} ({how})",
        built.kernel.name
    );
    Ok(Exit::Fine)
}

pub fn made(
    store: &Store,
    config: &Config,
    recipe: &Recipe,
    line: &Line,
    notes: bool,
    cancel: &AtomicBool,
) -> Result<Built, Error> {
    let name = format!("build:{}", recipe.title());
    store.build(recipe, &|| config.mirrors(), cancel, &mut |event| {
        let is_note = matches!(event, BuildEvent::Unknown(_) | BuildEvent::Fallen(_));
        if notes || !is_note {
            follow(&name, line, &event);
        }
    })
}

fn follow(name: &str, line: &Line, event: &BuildEvent) {
    match event {
        BuildEvent::Waiting => line.say(format!("{name}: another lsmeter is building")),
        BuildEvent::Fetch(event) => line.follow_fetch(name, event),
        BuildEvent::Unpacking => line.say(format!("{name}: unpacking the source")),
        BuildEvent::Configuring => line.say(format!("{name}: configuring")),
        BuildEvent::Unknown(options) => line.keep(&format!(
            "{name}: this source has no {}",
            options.join(", ")
        )),
        BuildEvent::Fallen(options) => line.keep(&format!(
            "{name}: the flavour also leaves out {}",
            options.join(", ")
        )),
        BuildEvent::Compiling { done, what } => {
            let what = printable(what, 120);
            line.say(format!("{name}: {done} objects: {what}"));
        }
        BuildEvent::Finishing(what) => line.say(format!("{name}: {what}")),
        BuildEvent::Installing => line.say(format!("{name}: storing it in the cache")),
        _ => {}
    }
}

/// `99 s`, `3 min`.
pub fn in_words(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=99 => format!("{seconds} s"),
        seconds => format!("{} min", (seconds + 30) / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_words() {
        assert_eq!(in_words(Duration::from_secs(99)), "99 s");
        assert_eq!(in_words(Duration::from_secs(150)), "3 min");
    }
}
