// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter run --slurm`: what the flags have Slurm do.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Result;
use cluster::Order;
use experiment::{Experiment, Spec};

use super::plan::{is_timed, most_shards};
use crate::cli::RunArgs;

/// Shards, if nobody says how many.
const SHARDS: u32 = 16;

/// What Slurm is to do. `spec` is what was asked for, flags included, `experiment` that,
/// decided; the shards' files go to `directory`.
///
/// # Errors
/// If the experiment selects nothing, or this program's path is unknown.
pub fn order<'a>(
    args: &RunArgs,
    name: &'a str,
    spec: &'a Spec,
    experiment: &Experiment,
    directory: &'a Path,
) -> Result<Order<'a>> {
    let most = most_shards(experiment)?;
    let parts = &args.parts;
    let flags = [
        ("--keep-samples", args.keep_samples),
        ("--with-hooks", args.counts_hooks()),
        ("--events", args.events),
        ("--offline", args.lab.offline),
    ];
    let flags = flags.iter().filter(|of| of.1).map(|of| of.0.to_owned());
    let mut flags: Vec<String> = flags.collect();
    if let Some(qemu) = &args.lab.qemu {
        flags.extend(["--qemu".to_owned(), qemu.to_string_lossy().into_owned()]);
    }
    let program = match &parts.node_program {
        Some(program) => program.clone(),
        None => std::env::current_exe()?,
    };
    let partition = parts.partition.as_ref();
    let partition = partition.map(|partition| format!("--partition={partition}").into());
    let others = parts.sbatch_args.iter().map(OsString::from);
    Ok(Order {
        name,
        spec,
        shards: parts.shards.unwrap_or_else(|| most.min(SHARDS)),
        directory,
        resume: args.resume.is_some(),
        program: program.to_string_lossy().into_owned(),
        flags,
        exclusive: is_timed(experiment),
        sbatch: partition.into_iter().chain(others).collect(),
        doubts: &lab::doubts,
    })
}
