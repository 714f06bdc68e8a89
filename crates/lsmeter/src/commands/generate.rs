// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter generate`: writes completions and manual pages, made from the definitions of the flags.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context, Result};
use clap::{ArgAction, Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use model::Exit;
use roff::{Inline, Roff, bold, italic, roman};

use crate::cli::Cli;

const FILES: [(&str, &str); 2] = [
    (
        "$XDG_CONFIG_HOME/lsmeter/config.toml",
        "mirror, security_mirror: Debian's mirrors; qemu: the QEMU to run. All keys are optional.",
    ),
    (
        "$XDG_CACHE_HOME/lsmeter",
        "Kernels, counts and policies, all of which can be fetched, built or measured again.",
    ),
];

const ENVIRONMENT: [(&str, &str); 3] = [
    (
        "LSMETER_CACHE_SIZE",
        "Maximum size of the cached counts, in bytes or with K, M, G or T [default: 5G]",
    ),
    (
        "TMPDIR",
        "Where virtual machines keep their files [default: /tmp]",
    ),
    ("NO_COLOR", "If set, tables have no colours."),
];

pub fn generate(directory: &Path) -> Result<Exit> {
    write(directory).with_context(|| format!("cannot write into {}", directory.display()))?;
    Ok(Exit::Fine)
}

fn write(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut Cli::command(), "lsmeter", directory)?;
    }
    let mut lsmeter = Cli::command().disable_help_subcommand(true);
    lsmeter.build();
    let mut all = Vec::new();
    collect(&lsmeter, &mut all);
    all.iter()
        .try_for_each(|command| page(command, &all, directory))
}

fn collect<'a>(command: &'a Command, all: &mut Vec<&'a Command>) {
    all.push(command);
    let subcommands = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    subcommands.for_each(|sub| collect(sub, all));
}

fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or(command.get_name())
}

fn page(command: &Command, all: &[&Command], directory: &Path) -> io::Result<()> {
    let man = Man::new(command.clone());
    let mut file = File::create(directory.join(man.get_filename()))?;
    man.render_title(&mut file)?;
    man.render_name_section(&mut file)?;
    synopsis(command).to_writer(&mut file)?;
    man.render_description_section(&mut file)?;
    man.render_options_section(&mut file)?;
    let mut rest = Roff::new();
    let subcommands = || command.get_subcommands().filter(|sub| !sub.is_hide_set());
    if subcommands().next().is_some() {
        rest.control("SH", ["COMMANDS"]);
        for sub in subcommands() {
            let about = sub.get_about().map(ToString::to_string);
            entry(
                &mut rest,
                &format!("{}(1)", name(sub)),
                &about.unwrap_or_default(),
            );
        }
    }
    if let Some(more) = command.get_after_long_help().or(command.get_after_help()) {
        let more = more.to_string();
        rest.control("SH", ["EXAMPLES"]);
        rest.control("nf", []);
        for line in more.strip_prefix("Examples:\n").unwrap_or(&more).lines() {
            rest.text([roman(line)]);
        }
        rest.control("fi", []);
    }
    for (title, entries) in [("FILES", &FILES[..]), ("ENVIRONMENT", &ENVIRONMENT)] {
        rest.control("SH", [title]);
        entries
            .iter()
            .for_each(|(name, text)| entry(&mut rest, name, text));
    }
    rest.control("SH", ["SEE ALSO"]);
    let others = all.iter().filter(|other| name(other) != name(command));
    let others: Vec<String> = others.map(|other| format!("{}(1)", name(other))).collect();
    rest.text([roman(others.join(", "))]);
    rest.to_writer(&mut file)?;
    file.flush()
}

fn entry(page: &mut Roff, name: &str, text: &str) {
    page.control("TP", []);
    page.text([bold(name)]);
    page.text([roman(text)]);
}

fn flags(command: &Command) -> impl Iterator<Item = &clap::Arg> {
    let arguments = command.get_arguments();
    arguments.filter(|argument| !argument.is_positional() && !argument.is_hide_set())
}

/// Flags, in the same groups as in the help.
fn synopsis(command: &Command) -> Roff {
    let mut page = Roff::new();
    page.control("SH", ["SYNOPSIS"]);
    let mut usage = vec![bold(name(command).replace('-', " ")), roman(" [OPTIONS]")];
    for positional in command.get_positionals() {
        let value = positional.get_value_names().unwrap_or_default().join(" ");
        let value = match positional.is_required_set() {
            true => format!(" <{value}>"),
            false => format!(" [{value}]"),
        };
        usage.push(roman(value));
    }
    page.text(usage);
    let mut groups: Vec<(&str, Vec<Inline>)> = Vec::new();
    for argument in flags(command) {
        let Some(long) = argument.get_long() else {
            continue;
        };
        let heading = argument.get_help_heading().unwrap_or("Options");
        let at = groups.iter().position(|(known, _)| *known == heading);
        let at = at.unwrap_or_else(|| {
            groups.push((heading, Vec::new()));
            groups.len() - 1
        });
        let flags = &mut groups[at].1;
        let gap = if flags.is_empty() { "[" } else { " [" };
        flags.push(roman(gap));
        flags.push(bold(format!("--{long}")));
        let takes_value = !matches!(argument.get_action(), ArgAction::SetTrue | ArgAction::Count);
        if let Some(value) = argument.get_value_names().filter(|_| takes_value) {
            flags.push(roman(" "));
            flags.push(italic(value.join(" ")));
        }
        flags.push(roman("]"));
    }
    for (heading, flags) in groups {
        page.control("TP", []);
        page.text([roman(format!("{heading}:"))]);
        page.text(flags);
    }
    page
}
