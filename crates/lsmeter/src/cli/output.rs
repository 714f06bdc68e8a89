// SPDX-License-Identifier: GPL-2.0-or-later
//! Output flags that all commands share.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};

/// Formats of every command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Common {
    /// Tables for a terminal or an e-mail
    Table,
    /// The same tables in GitHub-flavored Markdown
    Markdown,
    /// Every value, one per row
    Csv,
    /// The result file
    Json,
}

/// A format that every command has, or one of a single command's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format<F> {
    Common(Common),
    Own(F),
}

/// For commands without their own formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoOther {}

impl ValueEnum for NoOther {
    fn value_variants<'a>() -> &'a [Self] {
        &[]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match *self {}
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs<F: ValueEnum + Send + Sync + 'static = NoOther> {
    /// Print in this format
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = formats::<F>())]
    pub format: Format<F>,
    /// Print the result file, as --format json does
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Save the result file (JSON); - is standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

fn formats<F>() -> impl TypedValueParser<Value = Format<F>>
where
    F: ValueEnum + Send + Sync + 'static,
{
    let common = Common::value_variants().iter();
    let common = common.filter_map(ValueEnum::to_possible_value);
    let own = F::value_variants().iter();
    let own = own.filter_map(ValueEnum::to_possible_value);
    PossibleValuesParser::new(common.chain(own)).try_map(|name| {
        let own = || F::from_str(&name, false).map(Format::Own);
        Common::from_str(&name, false).map_or_else(|_| own(), |format| Ok(Format::Common(format)))
    })
}
