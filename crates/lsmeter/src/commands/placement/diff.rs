// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter placement diff`: hook calls that a patch or release changes.

use std::path::Path;

use anyhow::Result;
use model::{Exit, Stored as _, placement::PlacementDifference};
use placement::Tree;
use report::DifferenceOptions;

use super::input::{Input, cache, like, request};
use crate::cli::DiffArgs;
use crate::deliver::Delivery;
use crate::failure::usage;
use crate::progress::Line;

pub fn diff(args: &DiffArgs) -> Result<Exit> {
    let stdout = args.table.out.check(&[], 0)?;
    let line = Line::new(args.table.quiet);
    let [before, after] = [
        open(args, &args.before, &line)?,
        open(args, &args.after, &line)?,
    ];
    let mut asked = request(&args.scope)?;
    asked.lenient = true;
    for input in [&before, &after] {
        if let Input::Document(document) = input {
            asked = like(asked, document);
        }
    }
    let analysed = |input: Input, path: &Path| {
        line.say(format!("analysing {}", path.display()));
        input.placement(&asked)
    };
    let before = analysed(before, &args.before)?;
    let after = analysed(after, &args.after)?;
    line.done();
    let difference = PlacementDifference::between(&before, &after);
    let options = DifferenceOptions {
        reach: args.reach,
        trace: args.trace,
    };
    let found = Delivery {
        document: &|to| Ok(difference.write(to)?),
        tables: &|| report::difference_report(&difference, &options),
        records: &|| report::difference_records(&difference),
    };
    args.table.out.deliver(stdout, &found)?;
    Ok(verdict(args, &difference))
}

fn open(args: &DiffArgs, path: &Path, line: &Line) -> Result<Input> {
    let Some(repository) = &args.repo else {
        return Input::open(path, cache(&args.scope), line);
    };
    let Some(revision) = path.to_str() else {
        return Err(usage(
            format!("{} is not a revision", path.display()),
            "give tags, branches or commits: --repo ~/linux v6.11 v6.12",
        ));
    };
    Ok(Input::Tree(Tree::open_revision(repository, revision)?))
}

fn verdict(args: &DiffArgs, difference: &PlacementDifference) -> Exit {
    if !args.fail_on_gain {
        Exit::Fine
    } else if difference.compared == 0 {
        note!("inconclusive: A and B have no system call in common");
        Exit::Inconclusive
    } else if difference.asking_more().next().is_some() {
        Exit::Regression
    } else {
        Exit::Fine
    }
}
