// SPDX-License-Identifier: GPL-2.0-or-later
//! Whole programs, as flags name them.

use std::path::Path;

use anyhow::Result;
use experiment::{Experiment, RootSpec, Spec, Workload};

use crate::cli::ProgramArgs;
use crate::failure::usage;

/// Longest name that a command gets.
const NAME_LIMIT: usize = 40;

/// What the flags say of programs, to be put over the preset or file.
///
/// # Errors
/// If a command that prepares is none.
pub fn flags(args: &ProgramArgs) -> Result<Spec> {
    let absolute = |path: &Path| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        path.to_string_lossy().into_owned()
    };
    let root = (args.root.is_some() || !args.programs.is_empty()).then(|| RootSpec {
        path: args.root.as_deref().map(absolute),
        programs: args.programs.clone(),
        tree: args.tree.as_deref().map(absolute),
    });
    let prepare = args.prepare.iter().map(|text| words(text));
    let prepare = prepare.collect::<Result<Vec<_>>>()?;
    let workload = || Workload {
        name: name_of(&args.command),
        argv: args.command.clone(),
        prepare,
        repeat: args.repeat,
        cold: args.cold,
        ..Workload::default()
    };
    Ok(Spec {
        root,
        workloads: (!args.command.is_empty()).then(|| vec![workload()]),
        ..Spec::default()
    })
}

/// Refuses parts of an experiment of whole programs: a part's machine has not got their root.
///
/// # Errors
/// If it has any.
pub fn no_parts(experiment: &Experiment) -> Result<()> {
    if experiment.programs.is_none() {
        return Ok(());
    }
    Err(usage(
        "workloads are not measured in parts",
        "run them on one machine, or select benchmarks",
    ))
}

/// A command's words, as a shell would take them.
fn words(text: &str) -> Result<Vec<String>> {
    let words = shlex::split(text).filter(|words| !words.is_empty());
    words.ok_or_else(|| {
        usage(
            format!("`{text}` is no command: a quote is not closed, or nothing is there"),
            "write it as in a shell; pipes need a shell of the root: --prepare \"sh -c 'a | b'\"",
        )
    })
}

/// What its cells are called: `git status` is `git-status`.
fn name_of(command: &[String]) -> String {
    let mut name = String::new();
    for word in command {
        let word = word.rsplit('/').next().unwrap_or(word);
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
        if word.is_empty() || !word.chars().all(fits) {
            break;
        }
        let more = word.len() + usize::from(!name.is_empty());
        if name.len() + more > NAME_LIMIT {
            break;
        }
        if !name.is_empty() {
            name.push('-');
        }
        name.push_str(word);
    }
    if name.is_empty() {
        name.push_str("program");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_called_by_its_words() {
        let name = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            name_of(&words)
        };
        assert_eq!(name(&["git", "status"]), "git-status");
        assert_eq!(
            name(&["/usr/bin/tar", "-cf", "/dev/null", "."]),
            "tar--cf-null-."
        );
        assert_eq!(name(&["sh", "-c", "a | b"]), "sh--c");
        assert_eq!(name(&["ä"]), "program");
    }
}
