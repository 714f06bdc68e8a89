// SPDX-License-Identifier: GPL-2.0-or-later
//! What a tree's Kconfig files say of its options: which there are, and what
//! each depends on. Enough to explain why an option is not as it was asked for;
//! what `.config` becomes, the kernel's own `conf` decides.

use super::expression;
use super::fragment::{Author, Config, Wishes, is_name};
use crate::error::Error;
use crate::files;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

const FILE_LIMIT: u64 = 1 << 20;
/// A tree of 6.12 has some 1,100 for x86, nested seven deep.
const MOST_FILES: usize = 10_000;
const DEEPEST: usize = 32;

/// An option, as far as the files were understood.
#[derive(Debug, Default, Clone)]
struct Symbol {
    /// Expressions that must hold. An option may be declared in several places,
    /// each with its own.
    depends: Vec<Vec<String>>,
    /// The choice that it is a part of.
    choice: Option<usize>,
}

/// The options of a tree.
#[derive(Debug, Default)]
pub(super) struct Options {
    /// `$(SRCARCH)`.
    source: &'static str,
    symbols: BTreeMap<String, Symbol>,
    choices: usize,
    files: usize,
}

/// What came of the wishes.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// One line for each option that is not as it was asked for.
    pub problems: Vec<String>,
    /// Options of the flavour that the tree does not know.
    pub unknown: Vec<String>,
    /// Options of the base that fall with what the flavour takes away.
    pub fallen: Vec<String>,
}

impl Options {
    /// Reads the Kconfig files of the tree at `dir`, for the architecture whose own lie in
    /// `arch/SOURCE`.
    ///
    /// # Errors
    /// [`Error::Io`] if the first one cannot be read; others are passed over.
    pub fn read(dir: &Path, source: &'static str) -> Result<Options, Error> {
        let mut options = Options {
            source,
            ..Options::default()
        };
        let text = read(&dir.join("Kconfig"))?;
        options.read_text(&text, dir, Path::new(""), &[], 0);
        Ok(options)
    }

    fn read_text(&mut self, text: &str, top: &Path, below: &Path, outer: &[String], depth: usize) {
        self.files += 1;
        let mut parser = Parser {
            below: below.to_path_buf(),
            outer: outer.to_vec(),
            ..Parser::default()
        };
        for line in logical_lines(text) {
            let Some(path) = parser.line(&line, self) else {
                continue;
            };
            let inside = |c: Component<'_>| matches!(c, Component::Normal(_));
            let is_read = depth < DEEPEST && self.files < MOST_FILES;
            if is_read
                && path.components().all(inside)
                && let Ok(text) = read(&top.join(&path))
            {
                let below = path.parent().unwrap_or(Path::new(""));
                let conditions = parser.conditions();
                self.read_text(&text, top, below, &conditions, depth + 1);
            }
        }
        parser.close(self);
    }

    /// Compares what was asked for with what `conf` made of it.
    pub fn judge(&self, wishes: &Wishes, config: &Config) -> Verdict {
        let mut verdict = Verdict::default();
        for (name, wish) in wishes.iter() {
            let got = config.value(name);
            if got == wish.value {
                continue;
            }
            let asked = format!("CONFIG_{name}={} ({})", wish.value, wish.place);
            let Some(symbol) = self.symbols.get(name) else {
                if wish.value == "n" && got == "n" {
                    continue;
                }
                if wish.author == Author::User {
                    let near = experiment::nearest(name, self.symbols.keys().map(String::as_str));
                    let meant = near.map_or(String::new(), |n| format!("; CONFIG_{n} is one"));
                    verdict
                        .problems
                        .push(format!("{asked}: this kernel has no such option{meant}"));
                } else if wish.author == Author::Flavour {
                    verdict.unknown.push(format!("CONFIG_{name}"));
                }
                continue;
            };
            // The user chose otherwise, which is no contradiction.
            if wish.author != Author::User && self.is_other_choice(symbol, wishes) {
                continue;
            }
            if wish.author == Author::Base && self.falls_with_flavour(symbol, wishes, config) {
                verdict.fallen.push(format!("CONFIG_{name}"));
                continue;
            }
            let reason = if wish.value == "n" {
                "something that is set selects it".to_owned()
            } else {
                self.lacks(symbol, wishes, config)
            };
            verdict.problems.push(format!("{asked}: {reason}"));
        }
        verdict
    }

    fn is_other_choice(&self, symbol: &Symbol, wishes: &Wishes) -> bool {
        let Some(choice) = symbol.choice else {
            return false;
        };
        wishes.iter().any(|(name, wish)| {
            let same = |other: &Symbol| other.choice == Some(choice);
            wish.author == Author::User
                && wish.value == "y"
                && self.symbols.get(name).is_some_and(same)
        })
    }

    /// Whether all that an option lacks is what the flavour wants off: in 6.1,
    /// permission events of fanotify depend on `SECURITY`.
    fn falls_with_flavour(&self, symbol: &Symbol, wishes: &Wishes, config: &Config) -> bool {
        let lacking = Self::lacking(symbol, config);
        let is_off = |name: &String| {
            let wish = wishes.get(name);
            wish.is_some_and(|wish| wish.author == Author::Flavour && wish.value == "n")
        };
        let falls = |text: &String| expression::symbols(text).iter().any(is_off);
        !lacking.is_empty() && lacking.iter().all(falls)
    }

    /// The dependencies that do not hold; of several declarations of an option, those
    /// of the one that lacks least.
    fn lacking(symbol: &Symbol, config: &Config) -> Vec<String> {
        let value = |name: &str| config.value(name).to_owned();
        let lacking = |depends: &Vec<String>| -> Vec<String> {
            let fails = |text: &&String| expression::evaluate(text, &value) != Some(true);
            depends.iter().filter(fails).cloned().collect()
        };
        let least = symbol.depends.iter().map(lacking).min_by_key(Vec::len);
        let mut lacking = least.unwrap_or_default();
        lacking.dedup();
        lacking
    }

    /// Why an option is not set.
    fn lacks(&self, symbol: &Symbol, wishes: &Wishes, config: &Config) -> String {
        let lacking = Self::lacking(symbol, config);
        if lacking.is_empty() {
            return "it cannot be set here; perhaps it is part of a choice that is made \
                    otherwise, or the compiler cannot do it"
                .into();
        }
        let mut told = format!("it depends on {}", lacking.join(" and on "));
        let mut named = BTreeSet::new();
        for text in &lacking {
            named.extend(expression::symbols(text));
        }
        let states: Vec<String> = named
            .iter()
            .filter(|name| is_name(name))
            .map(|name| {
                let place = wishes.get(name).filter(|w| w.author == Author::User);
                let place = place.map_or(String::new(), |wish| format!(", {}", wish.place));
                match config.value(name) {
                    "n" if !self.symbols.contains_key(name) => {
                        format!("{name} is unknown here{place}")
                    }
                    "n" => format!("{name} is not set{place}"),
                    value => format!("{name}={value}{place}"),
                }
            })
            .collect();
        if !states.is_empty() {
            told += &format!(" ({})", states.join("; "));
        }
        told
    }
}

fn read(path: &Path) -> Result<String, Error> {
    Ok(String::from_utf8_lossy(&files::read(path, FILE_LIMIT)?).into_owned())
}

/// Lines with those that a backslash continues put together.
fn logical_lines(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut pending = String::new();
    for line in text.lines() {
        match line.strip_suffix('\\') {
            Some(part) if pending.len() < FILE_LIMIT as usize => pending += part,
            _ => {
                pending += line;
                out.push(std::mem::take(&mut pending));
            }
        }
    }
    if !pending.is_empty() {
        out.push(pending);
    }
    out
}

/// What a block (`if`, `menu`, `choice`) lays on all that is in it.
#[derive(Debug, Default)]
struct Block {
    conditions: Vec<String>,
    choice: Option<usize>,
}

/// Where a file's reading has come to.
#[derive(Debug, Default)]
struct Parser {
    /// The directory of the file, from the top.
    below: PathBuf,
    outer: Vec<String>,
    blocks: Vec<Block>,
    /// The option that attributes belong to now.
    current: Option<(String, Vec<String>)>,
    /// Attributes belong to the block that was opened last.
    in_head: bool,
    /// The indentation of a help text's keyword.
    help: Option<usize>,
}

impl Parser {
    fn conditions(&self) -> Vec<String> {
        let inner = self.blocks.iter().flat_map(|b| b.conditions.iter());
        self.outer.iter().chain(inner).cloned().collect()
    }

    /// Takes one line; a file that it includes is returned, from the top.
    fn line(&mut self, line: &str, options: &mut Options) -> Option<PathBuf> {
        let text = line.trim();
        let indent = width(line);
        if let Some(least) = self.help {
            if text.is_empty() || indent > least {
                return None;
            }
            self.help = None;
        }
        let text = text
            .split_once(" #")
            .map_or(text, |(before, _)| before.trim());
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        match word {
            "config" | "menuconfig" => {
                self.close(options);
                if is_name(rest) {
                    self.current = Some((rest.to_owned(), Vec::new()));
                }
            }
            "if" => self.open(options, vec![rest.to_owned()], None),
            "menu" => self.open(options, Vec::new(), None),
            "choice" => {
                options.choices += 1;
                let number = options.choices;
                self.open(options, Vec::new(), Some(number));
            }
            "endif" | "endmenu" | "endchoice" => {
                self.close(options);
                self.blocks.pop();
            }
            "comment" | "mainmenu" => self.close(options),
            "depends" => {
                let condition = rest.strip_prefix("on").map_or(rest, str::trim).to_owned();
                if let Some((_, depends)) = &mut self.current {
                    depends.push(condition);
                } else if let Some(block) = self.blocks.last_mut().filter(|_| self.in_head) {
                    block.conditions.push(condition);
                }
            }
            "help" | "---help---" => self.help = Some(indent),
            "source" | "rsource" | "osource" | "orsource" => {
                self.close(options);
                let path = rest.trim_matches('"').replace("$(SRCARCH)", options.source);
                // Of a kernel that is a process: what it has of the machine that it runs on.
                let path = path.replace("$(HEADER_ARCH)", arch::native().source.name);
                let path = PathBuf::from(path.replace("$SRCARCH", options.source));
                return Some(match word.contains("rsource") {
                    true => self.below.join(path),
                    false => path,
                });
            }
            _ => {}
        }
        None
    }

    fn open(&mut self, options: &mut Options, conditions: Vec<String>, choice: Option<usize>) {
        self.close(options);
        let choice = choice.or(self.blocks.last().and_then(|b| b.choice));
        self.blocks.push(Block { conditions, choice });
        self.in_head = true;
    }

    /// Ends the option that was being read.
    fn close(&mut self, options: &mut Options) {
        self.in_head = false;
        let Some((name, own)) = self.current.take() else {
            return;
        };
        let mut depends = self.conditions();
        depends.extend(own);
        let symbol = options.symbols.entry(name).or_default();
        symbol.depends.push(depends);
        symbol.choice = symbol.choice.or(self.blocks.last().and_then(|b| b.choice));
    }
}

fn width(line: &str) -> usize {
    let blanks = line.chars().take_while(|c| c.is_whitespace());
    blanks.fold(0, |at, c| if c == '\t' { (at / 8 + 1) * 8 } else { at + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::put;
    use proptest::prelude::*;

    const TOP: &str = "config A\n\tbool \"a\"\n\thelp\n\t  config NOT_ME\n\n\t  more\n\
        menu \"m\"\n\tdepends on A\nconfig B\n\tbool\n\tdepends on C && \\\n\t\t!D\nendmenu\n\
        choice\n\tprompt \"p\"\nconfig P\n\tbool \"p\"\nconfig Q\n\tbool \"q\"\nendchoice\n\
        if A\nsource \"sub/Kconfig\"\nendif\nsource \"../../etc/passwd\"\nconfig D\n\tbool \"d\"\n";

    fn tree() -> (tempfile::TempDir, Options) {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "Kconfig", TOP);
        put(dir.path(), "sub/Kconfig", "config E\n\tbool \"e\"\n");
        let options = Options::read(dir.path(), arch::native().source.name).unwrap();
        (dir, options)
    }

    fn judge(options: &Options, own: &str, user: &str, config: &str) -> Verdict {
        let dir = tempfile::tempdir().unwrap();
        let path = put(dir.path(), "user.config", user);
        let mut wishes = Wishes::default();
        wishes.add("own", own, Author::Flavour).unwrap();
        wishes.add_file(&path).unwrap();
        options.judge(&wishes, &Config::parse(config))
    }

    #[test]
    fn options_and_their_conditions() {
        let (_dir, options) = tree();
        let names: Vec<&String> = options.symbols.keys().collect();
        assert_eq!(names, ["A", "B", "D", "E", "P", "Q"]);
        assert_eq!(options.symbols["B"].depends[0].len(), 2);
        assert_eq!(options.symbols["E"].depends, [["A"]]);
        assert_eq!(options.symbols["P"].choice, options.symbols["Q"].choice);
        assert_eq!(options.symbols["D"].choice, None);
    }

    #[test]
    fn what_lacks_is_told_with_its_dependency() {
        let (_dir, options) = tree();
        let verdict = judge(
            &options,
            "CONFIG_B=y\n",
            "CONFIG_D=y\n",
            "CONFIG_A=y\nCONFIG_D=y\n",
        );
        let [problem] = &verdict.problems[..] else {
            panic!("{verdict:?}");
        };
        assert!(
            problem.starts_with("CONFIG_B=y (own:1): it depends on C && "),
            "{problem}"
        );
        assert!(problem.contains("C is unknown here"), "{problem}");
        assert!(
            problem.contains("D=y, ") && problem.contains("user.config:1"),
            "{problem}"
        );
        assert!(!problem.contains("on A"), "{problem}");
    }

    #[test]
    fn unknown_options_are_ours_to_skip_and_the_users_to_correct() {
        let (_dir, options) = tree();
        let verdict = judge(&options, "CONFIG_OLD=y\n", "CONFIG_AA=y\n", "");
        assert_eq!(verdict.unknown, ["CONFIG_OLD"]);
        assert!(verdict.problems[0].contains("no such option; CONFIG_A is one"));
    }

    #[test]
    fn what_depends_on_what_the_flavour_takes_away_falls_with_it() {
        let (_dir, options) = tree();
        let judge = |base: &str, flavour: &str| {
            let mut wishes = Wishes::default();
            wishes.add("base", base, Author::Base).unwrap();
            wishes.add("flavour", flavour, Author::Flavour).unwrap();
            options.judge(&wishes, &Config::default())
        };
        let verdict = judge("CONFIG_E=y\n", "CONFIG_A=n\n");
        assert_eq!(verdict.fallen, ["CONFIG_E"]);
        assert_eq!(verdict.problems, Vec::<String>::new());
        // It depends on A, and on C too, which no one speaks of.
        let verdict = judge("CONFIG_B=y\n", "CONFIG_A=n\n");
        assert_eq!((verdict.fallen.len(), verdict.problems.len()), (0, 1));
        let verdict = judge("CONFIG_E=y\n", "");
        assert_eq!((verdict.fallen.len(), verdict.problems.len()), (0, 1));
    }

    #[test]
    fn the_users_choice_overrules_ours() {
        let (_dir, options) = tree();
        let verdict = judge(&options, "CONFIG_P=y\n", "CONFIG_Q=y\n", "CONFIG_Q=y\n");
        assert_eq!(verdict.problems, Vec::<String>::new());
        let verdict = judge(&options, "CONFIG_P=y\n", "", "CONFIG_Q=y\n");
        assert_eq!(verdict.problems.len(), 1);
        let verdict = judge(&options, "", "# CONFIG_A is not set\n", "CONFIG_A=y\n");
        assert!(verdict.problems[0].contains("selects it"));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "((end)?(if|menu|choice)|config|depends on|help|[A-Z \n\t\\\\&!()])*") {
            Options::default().read_text(&text, Path::new("/nonexistent"), Path::new(""), &[], 0);
        }
    }
}
