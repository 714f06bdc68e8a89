// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter plan`: a run in parts, as jobs for who starts jobs.

use anyhow::Result;
use clap::Parser;
use cluster::{JobPlan, github, gitlab, kubernetes, slurm};
use diagnostics::Exit;
use experiment::{Experiment, Shard};
use lab::plan::Plan;

use super::kernel;
use super::measure::read_spec;
use super::programs;
use super::run::flags;
use crate::cli::{PlanArgs, PlanFormat, RunArgs};
use crate::commands::given;
use crate::failure::usage;
use crate::output;

/// Most jobs, if nobody says how many.
const SHARDS: u32 = 16;

/// `lsmeter run`, as its flags are checked here.
#[derive(Parser)]
#[command(name = "lsmeter run")]
struct Checked {
    #[command(flatten)]
    run: RunArgs,
}

/// Writes the jobs.
///
/// # Errors
/// If what they should run makes no sense, or it cannot be written.
pub fn plan(args: &PlanArgs) -> Result<Exit> {
    output::check(&args.output)?;
    let (name, spec) = read_spec(&args.spec)?;
    let words = ["lsmeter run", args.spec.as_str()]
        .into_iter()
        .map(str::to_owned);
    let run = Checked::try_parse_from(words.chain(args.flags.iter().cloned()))
        .map_err(|error| {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            let what = first.strip_prefix("error: ").unwrap_or(first);
            usage(format!("lsmeter run: {what}"), "see `lsmeter help run`")
        })?
        .run;
    check_flags(&run)?;
    let spec = spec.merge(flags(&run));
    let spec = spec.merge(given::flags(&run.given, &run.cells)?);
    let spec = spec.merge(programs::flags(&run.programs)?);
    let experiment = kernel::expand(spec)?.resolve()?;
    programs::no_parts(&experiment)?;
    let most = most_shards(&experiment)?;
    let shards = args.shards.unwrap_or_else(|| most.min(SHARDS));
    if shards > most {
        anstream::eprintln!(
            "warning: {} of {shards} shards will have no cell: there are {most} parts",
            shards - most
        );
    }
    let (limit, whose, written): (u32, &str, fn(&JobPlan) -> String) = match args.format {
        PlanFormat::Gitlab => (200, "GitLab's `parallel`", gitlab),
        PlanFormat::Github => (256, "GitHub's matrix", github),
        PlanFormat::Slurm => (Shard::COUNT_LIMIT, "lsmeter", slurm),
        PlanFormat::Kubernetes => (Shard::COUNT_LIMIT, "lsmeter", kubernetes),
    };
    if shards > limit {
        return Err(usage(
            format!("{whose} takes at most {limit} jobs"),
            format!("--shards {limit}"),
        ));
    }
    let jobs = JobPlan {
        name,
        shards,
        program: args.program.clone(),
        arguments: [std::slice::from_ref(&args.spec), &args.flags].concat(),
        image: args.image.clone(),
        exclusive: is_timed(&experiment),
    };
    output::write(&args.output, |to| {
        Ok(to.write_all(written(&jobs).as_bytes())?)
    })?;
    Ok(Exit::Fine)
}

/// Does the experiment take times? Then nothing may run beside it.
pub fn is_timed(experiment: &Experiment) -> bool {
    let metrics = &experiment.metrics;
    metrics.iter().any(|metric| metric.is_timed())
}

/// How many shards have something to measure, at most.
///
/// # Errors
/// If the experiment selects nothing.
pub fn most_shards(experiment: &Experiment) -> Result<u32> {
    let plan = Plan::new(experiment).map_err(lab::LabError::from)?;
    let most = plan
        .shards_at_most(experiment)
        .min(Shard::COUNT_LIMIT as usize);
    Ok(most as u32)
}

/// What each job sets by itself, or what makes no sense in it.
fn check_flags(run: &RunArgs) -> Result<()> {
    let flags = [
        ("--shard", run.parts.shard.is_some()),
        ("--slurm", run.parts.slurm),
        ("--output", run.out.output.is_some()),
        ("--resume", run.resume.is_some()),
        ("--aa", run.aa.is_some()),
        ("--check", run.check.is_some()),
        ("--quiet", run.quiet),
    ];
    match flags.into_iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(usage(
            format!("a job of a plan takes no {flag}"),
            "leave it out: jobs are given what they need",
        )),
        None => Ok(()),
    }
}
