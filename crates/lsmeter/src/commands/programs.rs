// SPDX-License-Identifier: GPL-2.0-or-later
//! Whole programs, from flags.

use std::path::Path;

use anyhow::Result;
use lab::root::{Making, Root, Watch};
use model::{Experiment, RootSpec, Spec, Workload};

use crate::cli::ProgramArgs;
use crate::commands::measure::Signals;
use crate::failure::usage;
use crate::progress::Line;

pub fn flags(args: &ProgramArgs) -> Result<Spec> {
    let absolute = |path: &Path| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        path.to_string_lossy().into_owned()
    };
    let is_made = !(args.programs.is_empty() && args.files.is_empty());
    let root = (args.root.is_some() || is_made).then(|| RootSpec {
        path: args.root.as_deref().map(absolute),
        programs: args.programs.clone(),
        files: args.files.clone(),
        packages: Vec::new(),
        tree: args.tree.as_deref().map(absolute),
    });
    let prepare = args.prepare.iter().map(|text| words(text));
    let prepare = prepare.collect::<Result<Vec<_>>>()?;
    let workload = || Workload {
        name: match args.command.as_slice() {
            [] => String::new(),
            command => Workload::name_of(command),
        },
        argv: args.command.clone(),
        prepare,
        repeat: args.repeat,
        ..Workload::default()
    };
    let is_command = !args.command.is_empty();
    let described = !args.prepare.is_empty() || args.repeat.is_some();
    if described && !is_command && args.root.is_none() {
        return Err(usage(
            "--prepare and --repeat need a command to measure",
            "add a command at the end: -- git status",
        ));
    }
    Ok(Spec {
        workloads: (is_command || described).then(|| vec![workload()]),
        root,
        // The command runs regardless of which benchmarks the preset or file selects.
        benchmarks: is_command.then(|| vec!["*".to_owned()]),
        ..Spec::default()
    })
}

/// The root of an experiment's programs, built if necessary; None without programs.
pub fn root(experiment: &mut Experiment, signals: &Signals, quiet: bool) -> Result<Option<Root>> {
    let line = Line::new(quiet);
    let mut report = |making: Making| {
        let Making { what, files, bytes } = making;
        line.say(format!("{what}: {files} files, {} MiB", bytes >> 20));
    };
    let mut watch = Watch::new(&signals.cancel, &mut report);
    let filesystem = experiment.filesystem;
    let root = Root::prepare_for(experiment.programs.as_mut(), &mut watch).and_then(|mut root| {
        if let (Some(root), Some(filesystem)) = (&mut root, filesystem) {
            root.make_image(filesystem, &mut watch)?;
        }
        Ok(root)
    });
    line.done();
    Ok(root?)
}

/// Refuses `--shard` for whole programs, because other machines may have another root.
pub fn no_parts(experiment: &Experiment) -> Result<()> {
    if experiment.programs.is_none() {
        return Ok(());
    }
    Err(usage(
        "--shard cannot split runs of whole programs",
        "leave out --shard",
    ))
}

/// Splits a command into words, as a shell does.
fn words(text: &str) -> Result<Vec<String>> {
    let words = shlex::split(text).filter(|words| !words.is_empty());
    words.ok_or_else(|| {
        usage(
            format!("--prepare `{text}` is not a command: it is empty, or a quote is not closed"),
            "quote as in a shell: --prepare \"sh -c 'a | b'\"",
        )
    })
}
