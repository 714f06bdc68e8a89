// SPDX-License-Identifier: GPL-2.0-or-later
//! Workloads and their root, checked.

use crate::hint::excerpt;
use crate::program::{Programs, RootSpec, Workload};
use crate::resolve::{list, number, printable};
use crate::select::{SelectError, Selection};
use crate::spec::SpecError;
use crate::words::Suite;

const WORKLOADS_LIMIT: usize = 64;
const WORDS_LIMIT: usize = 1_024;
const WORD_LIMIT: usize = 128 << 10;
const REPEAT_LIMIT: u32 = 1_000;
const GIVE_ROOT: &str =
    "give a directory with --root, or programs from this machine with --programs";

pub(crate) fn resolve(
    root: Option<RootSpec>,
    workloads: Option<Vec<Workload>>,
    selection: &Selection,
) -> Result<Option<Programs>, SpecError> {
    let (root, workloads) = match (root, workloads) {
        (None, None) => return Ok(None),
        (None, Some(workloads)) => (needed(&choose(&workloads, selection)?)?, workloads),
        // A container image names its own command.
        (Some(root), None) if root.path.is_some() => (root, vec![Workload::default()]),
        (Some(_), None) => {
            return Err(SpecError::instead(
                "no workload for the root",
                "give the command after --, or [[workloads]]",
            ));
        }
        (Some(root), Some(workloads)) => (root, workloads),
    };
    let is_made = !(root.programs.is_empty() && root.files.is_empty());
    match (root.path.is_some(), is_made) {
        (true, true) => {
            return Err(SpecError::instead(
                "the root has both `path` (--root) and `programs` or `files` (--programs, --files)",
                "leave out `path`, or `programs` and `files`",
            ));
        }
        (false, false) => {
            return Err(SpecError::instead(
                "the root has neither `path` nor `programs`",
                GIVE_ROOT,
            ));
        }
        _ => {}
    }
    let names: Vec<&str> = workloads
        .iter()
        .map(|workload| workload.name.as_str())
        .collect();
    list("workloads", &names, WORKLOADS_LIMIT)?;
    let of_image = root.path.is_some();
    workloads
        .iter()
        .try_for_each(|workload| check(workload, of_image))?;
    let mut chosen = choose(&workloads, selection)?;
    for workload in &mut chosen {
        workload.needs = None;
    }
    Ok(Some(Programs {
        root,
        digest: String::new(),
        workloads: chosen,
    }))
}

fn needed(workloads: &[Workload]) -> Result<RootSpec, SpecError> {
    let mut root = RootSpec::default();
    let missing = || SpecError::instead("workloads need a root to run in", GIVE_ROOT);
    for workload in workloads {
        root.add(workload.needs.clone().ok_or_else(missing)?);
    }
    Ok(root)
}

/// Workloads that the benchmark patterns select. A workload is matched like a benchmark.
fn choose(workloads: &[Workload], selection: &Selection) -> Result<Vec<Workload>, SpecError> {
    let names: Vec<&str> = workloads
        .iter()
        .map(|workload| workload.name.as_str())
        .collect();
    // Workloads belong to no suite.
    let selection = Selection {
        suites: Suite::ALL.to_vec(),
        ..selection.clone()
    };
    let choices = names.iter().map(|name| (*name, "", Suite::Beyond));
    let chosen = selection.choose(choices).map_err(|error| {
        let what = match error {
            SelectError::NoMatch { pattern, .. } => {
                format!("pattern `{pattern}` matches no workload")
            }
            SelectError::Nothing => "the patterns exclude every workload".to_owned(),
        };
        SpecError::instead(what, format!("the workloads are {}", names.join(", ")))
    })?;
    Ok(chosen.iter().map(|&at| workloads[at].clone()).collect())
}

impl Workload {
    pub fn check(&self) -> Result<(), SpecError> {
        check(self, false)
    }
}

/// `of_image`: the container image may define the command and its name.
fn check(workload: &Workload, of_image: bool) -> Result<(), SpecError> {
    let left_open = of_image && workload.argv.is_empty();
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    let is_named = !workload.name.is_empty() || left_open;
    if !is_named || workload.name.len() > 64 || !workload.name.chars().all(fits) {
        return Err(SpecError::instead(
            format!("invalid workload name `{}`", excerpt(&workload.name)),
            "use up to 64 letters, digits, -, _, . and +",
        ));
    }
    let measured = Some(&workload.argv).filter(|_| !left_open);
    let prepares = workload.setup.iter().chain(&workload.prepare);
    let programs = measured.into_iter().chain(prepares);
    let has_none = |argv: &Vec<String>| argv.first().is_none_or(String::is_empty);
    if programs.clone().any(has_none) {
        return Err(SpecError::instead(
            format!("the workload {} has no program", workload.name),
            "give the program and its arguments: argv = [\"git\", \"status\"]",
        ));
    }
    let words = programs.flatten().chain(workload.env.iter().flatten());
    let is_odd = |word: &String| word.len() > WORD_LIMIT || word.contains('\0');
    if words.clone().count() > WORDS_LIMIT || words.clone().any(is_odd) {
        return Err(SpecError::instead(
            format!(
                "the workload {} has more than {WORDS_LIMIT} words, or a word that is longer \
                 than {WORD_LIMIT} bytes or contains a NUL",
                workload.name
            ),
            "put long arguments into a file in the root",
        ));
    }
    if let Some(variable) = workload
        .env
        .iter()
        .flatten()
        .find(|word| !word.contains('='))
    {
        return Err(SpecError::instead(
            format!(
                "`env` contains `{}`, which is not NAME=value",
                excerpt(variable)
            ),
            "write for example env = [\"LC_ALL=C\"]",
        ));
    }
    for path in [&workload.cwd, &workload.stdin, &workload.stdout]
        .into_iter()
        .flatten()
    {
        printable("workloads", path.clone())?;
        if !path.starts_with('/') {
            return Err(SpecError::instead(
                format!("path `{}` is not absolute", excerpt(path)),
                "give a path that starts with /",
            ));
        }
    }
    if let Some(user) = &workload.user {
        printable("workloads", user.clone())?;
        if user.is_empty() {
            return Err(SpecError::instead(
                "`user` is empty",
                "give a user name or number: user = \"nobody\"",
            ));
        }
    }
    number("repeat", workload.repetitions(), 1..=REPEAT_LIMIT, "")?;
    Ok(())
}
