// SPDX-License-Identifier: GPL-2.0-or-later
//! Pages of results: Markdown in which commands of lsmeter stand, each with a table of what it
//! prints.
//!
//! Between a line `<!-- table N of lsmeter ARGUMENTS -->` and a line `<!-- end -->` stands the Nth
//! table, counted from 1, of what `lsmeter ARGUMENTS` prints in Markdown; below `<!-- all of lsmeter
//! ARGUMENTS -->` all of it, titles and notes too. Everything else is prose and stays as it is.

use diagnostics::{Exit, Fault};

const BEGIN: [&str; 2] = ["<!-- table ", "<!-- all of lsmeter "];
const OF: &str = " of lsmeter ";
const CLOSE: &str = " -->";
const END: &str = "<!-- end -->\n";
/// Most characters of a command that a fault shows.
const SHOWN: usize = 200;

/// What is wrong with a page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageFault {
    /// A line that begins like a command and goes on otherwise.
    #[error(
        "`{0}` is neither `<!-- table N of lsmeter ARGUMENTS -->` nor \
         `<!-- all of lsmeter ARGUMENTS -->`"
    )]
    Command(String),
    /// A command without its end.
    #[error("`{0}` has no `<!-- end -->` below it")]
    Endless(String),
    /// Its command prints fewer tables.
    #[error("{command} prints {tables} tables, and the page asks for table {number}")]
    Table {
        /// The command.
        command: String,
        /// Which one is asked for.
        number: usize,
        /// How many it prints.
        tables: usize,
    },
}

impl Fault for PageFault {
    fn exit(&self) -> Exit {
        Exit::Usage
    }

    fn hint(&self) -> Option<String> {
        Some("mend that line of the page".to_owned())
    }
}

/// A page with its tables made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The page.
    pub text: String,
    /// How many commands stand in it.
    pub commands: usize,
}

/// The arguments of the commands that stand in a page, as they do there. What only looks like one is
/// left out: [`made_anew`] tells it.
pub fn commands(page: &str) -> impl Iterator<Item = &str> {
    let commands = page.lines().filter_map(|line| command(line).ok());
    commands.map(|(_, arguments)| arguments)
}

/// Makes the tables of a page again. `print` gives what a command prints, from its arguments as
/// they stand in the page.
///
/// # Errors
/// [`PageFault`] as an `E`, and whatever `print` fails with.
pub fn made_anew<E: From<PageFault>>(
    page: &str,
    mut print: impl FnMut(&str) -> Result<String, E>,
) -> Result<Made, E> {
    let mut made = Made {
        text: String::new(),
        commands: 0,
    };
    let mut rest = page;
    while let Some(at) = begin(rest) {
        let (before, block) = rest.split_at(at);
        let (first, below) = block.split_once('\n').unwrap_or((block, ""));
        let (which, arguments) = command(first)?;
        let Some((old, after)) = below.split_once(END) else {
            return Err(PageFault::Endless(shown(first)).into());
        };
        // The next command's end is not this one's.
        if begin(old).is_some() {
            return Err(PageFault::Endless(shown(first)).into());
        }
        let printed = print(arguments)?;
        let wanted = match which {
            Which::All => printed.trim_end().to_owned(),
            Which::Table(number) => {
                let tables = tables(&printed);
                let table = number.checked_sub(1).and_then(|nth| tables.get(nth));
                let fault = || PageFault::Table {
                    command: shown(&format!("lsmeter {arguments}")),
                    number,
                    tables: tables.len(),
                };
                table.ok_or_else(fault)?.join("\n")
            }
        };
        made.text += &format!("{before}{first}\n\n{wanted}\n\n{END}");
        made.commands += 1;
        rest = after;
    }
    made.text += rest;
    Ok(made)
}

/// Where the first line is that begins a command.
fn begin(text: &str) -> Option<usize> {
    let begins = |line: &str| BEGIN.iter().any(|begin| line.starts_with(begin));
    if begins(text) {
        return Some(0);
    }
    let mut lines = text.match_indices('\n').map(|(at, _)| at + 1);
    lines.find(|&at| begins(&text[at..]))
}

/// What of a command's output is wanted.
enum Which {
    Table(usize),
    All,
}

/// What is wanted, and the arguments.
fn command(line: &str) -> Result<(Which, &str), PageFault> {
    let command = || {
        let [table, all] = BEGIN;
        let line = line.strip_suffix(CLOSE)?;
        if let Some(arguments) = line.strip_prefix(all) {
            return Some((Which::All, arguments));
        }
        let (number, arguments) = line.strip_prefix(table)?.split_once(OF)?;
        Some((Which::Table(number.parse().ok()?), arguments))
    };
    command().ok_or_else(|| PageFault::Command(shown(line)))
}

/// The tables of a text in Markdown, each as its lines.
fn tables(text: &str) -> Vec<Vec<&str>> {
    let lines: Vec<&str> = text.lines().collect();
    lines
        .chunk_by(|one, next| one.starts_with('|') == next.starts_with('|'))
        .filter(|lines| lines[0].starts_with('|'))
        .map(<[_]>::to_vec)
        .collect()
}

fn shown(text: &str) -> String {
    crate::printable(text, SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "A.\n\n| a |\n| --- |\n| 1 |\n\nB.\n\n| b |\n| --- |\n| 2 |\n";

    fn made(page: &str) -> Result<Made, PageFault> {
        made_anew(page, |arguments| {
            assert_eq!(arguments, "report a.json");
            Ok(PRINTED.to_owned())
        })
    }

    #[test]
    fn tables_are_put_between_their_lines() {
        let page = "# T\n\n<!-- table 2 of lsmeter report a.json -->\nold\n<!-- end -->\n\nMore.\n";
        let anew = made(page).unwrap();
        let wanted = "# T\n\n<!-- table 2 of lsmeter report a.json -->\n\n| b |\n| --- |\n| 2 |\n\n\
                      <!-- end -->\n\nMore.\n";
        assert_eq!((anew.text.as_str(), anew.commands), (wanted, 1));
        assert_eq!(commands(page).collect::<Vec<_>>(), ["report a.json"]);
        assert_eq!(made(wanted).unwrap().text, wanted);
    }

    #[test]
    fn all_is_put_between_its_lines() {
        let page = "<!-- all of lsmeter report a.json -->\n<!-- end -->\n";
        let wanted = format!("<!-- all of lsmeter report a.json -->\n\n{PRINTED}\n<!-- end -->\n");
        assert_eq!(made(page).unwrap().text, wanted);
        assert_eq!(made(&wanted).unwrap().text, wanted);
    }

    #[test]
    fn pages_without_commands_stay() {
        for page in ["", "a", "In <!-- table 1 of lsmeter x --> a line.\n"] {
            assert_eq!(made(page).unwrap().text, page);
        }
    }

    #[test]
    fn faults_are_told() {
        for (page, told) in [
            (
                "<!-- table x of lsmeter y -->\n<!-- end -->\n",
                "is neither",
            ),
            ("<!-- table 1 of ls -->\n<!-- end -->\n", "is neither"),
            (
                "<!-- table 1 of lsmeter report a.json -->\n",
                "has no `<!-- end -->`",
            ),
            ("<!-- table 1 of lsmeter report a.json -->", "has no"),
            (
                "<!-- table 1 of lsmeter report a.json -->\n\
                 <!-- table 1 of lsmeter report a.json -->\n<!-- end -->\n",
                "has no",
            ),
            (
                "<!-- table 3 of lsmeter report a.json -->\n<!-- end -->\n",
                "prints 2 tables, and the page asks for table 3",
            ),
            (
                "<!-- table 0 of lsmeter report a.json -->\n<!-- end -->\n",
                "prints 2 tables, and the page asks for table 0",
            ),
        ] {
            let fault = made(page).unwrap_err().to_string();
            assert!(commands(page).all(|command| command == "report a.json"));
            assert!(fault.contains(told), "{fault}");
        }
    }
}
