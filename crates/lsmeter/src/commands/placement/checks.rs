// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter placement checks`: checks that are made twice, or by only some modules.

use anyhow::Result;
use model::{Exit, Stored as _};
use placement::Tree;
use report::ChecksOptions;

use super::input::{Input, cache, request};
use crate::cli::ChecksArgs;
use crate::deliver::Delivery;
use crate::progress::Line;

pub fn checks(args: &ChecksArgs) -> Result<Exit> {
    let stdout = args.table.out.check(&[], 0)?;
    let line = Line::new(args.table.quiet);
    line.say(format!("analysing {}", args.tree.display()));
    let input = match &args.rev {
        Some(revision) => Input::Tree(Tree::open_revision(&args.tree, revision)?),
        None => Input::open(&args.tree, cache(&args.scope), &line)?,
    };
    let document = input.placement(&request(&args.scope)?)?;
    line.done();
    let options = ChecksOptions {
        unknown: args.unknown,
    };
    let found = Delivery {
        document: &|to| Ok(document.write(to)?),
        tables: &|| report::checks_report(&document, &options),
        records: &|| report::checks_records(&document),
    };
    args.table.out.deliver(stdout, &found)?;
    Ok(Exit::Fine)
}
