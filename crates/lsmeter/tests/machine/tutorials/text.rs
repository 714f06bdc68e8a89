// SPDX-License-Identifier: GPL-2.0-or-later
//! Commands of a tutorial and their expected output.

use std::fmt::Write;

/// Kinds of fenced blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Block {
    /// Commands with output.
    Console,
    /// Commands that are not run.
    Sh,
    Other,
}

/// A command and its expected output.
#[derive(Debug, PartialEq)]
pub struct Shown {
    /// Several lines if they end in `\`.
    pub line: String,
    pub output: String,
}

#[derive(Debug)]
enum Part {
    Text(String),
    Command(Shown),
}

#[derive(Debug)]
pub struct Tutorial {
    parts: Vec<Part>,
    blocks: Vec<Block>,
    files: Vec<(String, String)>,
}

impl Tutorial {
    /// Panics if a block does not end, or has output before a command.
    pub fn parse(text: &str) -> Tutorial {
        let mut tutorial = Tutorial {
            parts: Vec::new(),
            blocks: Vec::new(),
            files: Vec::new(),
        };
        let mut within = None;
        let mut in_file = false;
        let mut continued = false;
        for line in text.lines() {
            if let Some(language) = line.strip_prefix("```") {
                let file = language.split_once(' ').map(|(_, file)| file.to_owned());
                in_file = within.is_none() && file.is_some();
                tutorial
                    .files
                    .extend(file.map(|file| (file, String::new())));
                within = match within {
                    Some(_) => None,
                    None => Some(match language {
                        "console" => Block::Console,
                        "sh" => Block::Sh,
                        _ => Block::Other,
                    }),
                };
                tutorial.blocks.extend(within);
                tutorial.text(line);
            } else if within != Some(Block::Console) {
                tutorial.text(line);
                if let Some((_, content)) = tutorial.files.last_mut().filter(|_| in_file) {
                    writeln!(content, "{line}").unwrap();
                }
            } else if let Some(command) = line.strip_prefix("$ ") {
                continued = command.ends_with('\\');
                tutorial.parts.push(Part::Command(Shown {
                    line: command.to_owned(),
                    output: String::new(),
                }));
            } else {
                let Some(Part::Command(command)) = tutorial.parts.last_mut() else {
                    panic!("output of no command: {line}");
                };
                if continued {
                    continued = line.ends_with('\\');
                    write!(command.line, "\n{line}").unwrap();
                } else {
                    writeln!(command.output, "{line}").unwrap();
                }
            }
        }
        assert_eq!(within, None, "a block does not end");
        tutorial
    }

    fn text(&mut self, line: &str) {
        match self.parts.last_mut() {
            Some(Part::Text(text)) => writeln!(text, "{line}").unwrap(),
            _ => self.parts.push(Part::Text(format!("{line}\n"))),
        }
    }

    pub fn commands(&self) -> impl Iterator<Item = &Shown> {
        self.parts.iter().filter_map(|part| match part {
            Part::Command(command) => Some(command),
            Part::Text(_) => None,
        })
    }

    /// Files that blocks with a language and a name contain.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.files.iter();
        files.map(|(name, content)| (name.as_str(), content.as_str()))
    }

    /// Number of blocks of this kind.
    pub fn blocks(&self, kind: Block) -> usize {
        self.blocks.iter().filter(|block| **block == kind).count()
    }

    /// The text with `printed` as the commands' output.
    pub fn with_output(&self, printed: &[String]) -> String {
        let mut text = String::new();
        let mut printed = printed.iter();
        for part in &self.parts {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Command(command) => {
                    let printed = printed.next().unwrap_or(&command.output);
                    write!(text, "$ {}\n{printed}", command.line).unwrap();
                }
            }
        }
        text
    }
}

/// Whether `printed` matches `expected`.
pub fn matches(expected: &str, printed: &str) -> bool {
    let expected: Vec<String> = lines(expected);
    let printed: Vec<String> = lines(printed);
    lines_match(&expected, &printed)
}

/// Without figures, and without the differences that other figures make to a table.
fn lines(text: &str) -> Vec<String> {
    text.trim_end().lines().map(without_figures).collect()
}

fn without_figures(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in line.split_whitespace() {
        let mut kept = String::new();
        let mut letters = word.chars().peekable();
        while let Some(letter) = letters.next() {
            if letter.is_ascii_digit() {
                // 1,234.5 and 2e-10.
                while let Some(next) =
                    letters.next_if(|next| next.is_ascii_digit() || ".,e".contains(*next))
                {
                    if next == 'e' {
                        letters.next_if_eq(&'-');
                    }
                }
                // A sign belongs to the figure.
                kept.truncate(kept.trim_end_matches(['+', '-', '~', '±']).len());
                kept.push('0');
            } else {
                kept.push(letter);
            }
        }
        if kept.chars().all(|letter| letter == '-') {
            "---".clone_into(&mut kept);
        }
        // A figure matches with an interval, without one, and if it is missing.
        let is_figure = |word: &str| ["0", "---"].contains(&word);
        if !(is_figure(&kept) && words.last().is_some_and(|last| is_figure(last))) {
            words.push(kept);
        }
    }
    words.join(" ")
}

fn lines_match(expected: &[String], printed: &[String]) -> bool {
    match expected.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first == "…" => {
            (0..=printed.len()).any(|left_out| lines_match(rest, &printed[left_out..]))
        }
        Some((first, rest)) => printed
            .split_first()
            .is_some_and(|(line, others)| line_matches(first, line) && lines_match(rest, others)),
    }
}

fn line_matches(expected: &str, line: &str) -> bool {
    let mut parts = expected.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[test]
fn commands_are_found_and_compared() {
    let tutorial = Tutorial::parse(
        "A text.\n\n```toml a.toml\nx = 1\n```\n```console\n$ one \\\n  two\n12 lines\n…\nend\n$ three\n```\n\n```sh\nfour\n```\n",
    );
    assert_eq!(
        tutorial.files().collect::<Vec<_>>(),
        [("a.toml", "x = 1\n")]
    );
    let commands: Vec<&Shown> = tutorial.commands().collect();
    assert_eq!(commands[0].line, "one \\\n  two");
    assert_eq!(commands[0].output, "12 lines\n…\nend\n");
    assert_eq!(
        (commands[1].line.as_str(), commands[1].output.as_str()),
        ("three", "")
    );
    assert_eq!((tutorial.blocks(Block::Sh), commands.len()), (1, 2));

    assert!(matches("12 lines\n…\nend\n", "9,137 lines\nend\n"));
    assert!(matches("12 lines\n…\nend\n", "9 lines\nmore\nend"));
    assert!(!matches("12 lines\n…\nend\n", "9 lines\nmore\nend\nmore"));
    assert!(!matches("12 lines\n", "12 rows\n"));
    assert!(!matches("", "error\n"));
    assert!(matches(
        "a  +19.4 %   5,468\n------\n",
        "a ~-2.0 % 1\n---------\n"
    ));
    assert!(!matches("a  +19.4 %\n", "a missing %\n"));
    assert!(matches("as … of …\n", "as one of two\n"));
    assert!(!matches("as … of …\n", "as one on two\n"));
    assert!(matches("open  4,578 ±1e-5  5\n", "open  4,578  5\n"));
}
