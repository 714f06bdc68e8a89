// SPDX-License-Identifier: GPL-2.0-or-later
//! Finds the options in a tree's Kconfig files, and requested options missing from `.config`.

use super::fragment::{Author, Config, Wishes, is_name};
use crate::files;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

const FILE_LIMIT: u64 = 1 << 20;
/// A tree of 6.12 has about 1,100 for x86.
const MOST_FILES: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct Options(BTreeMap<String, Option<usize>>);

#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub problems: Vec<String>,
    /// Options of the flavour that the tree does not have.
    pub unknown: Vec<String>,
    /// Base options that are unset because of what the flavour leaves out.
    pub fallen: Vec<String>,
}

impl Options {
    /// Reads the Kconfig files of `top` for `arch/SOURCE`; unreadable files are skipped.
    pub fn read(top: &Path, source: &str) -> Options {
        let mut options = Options::default();
        let mut pending = vec![PathBuf::from("Kconfig")];
        let mut seen = BTreeSet::new();
        let mut choices = 0;
        while let Some(path) = pending.pop() {
            let is_inside = |c: Component<'_>| matches!(c, Component::Normal(_));
            if seen.len() == MOST_FILES || !path.components().all(is_inside) {
                continue;
            }
            let Ok(text) = files::read(&top.join(&path), FILE_LIMIT) else {
                continue;
            };
            if !seen.insert(path) {
                continue;
            }
            let mut choice = None;
            for line in String::from_utf8_lossy(&text).lines() {
                let line = line.trim();
                let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
                let rest = rest.trim();
                match word {
                    "config" | "menuconfig" if is_name(rest) => {
                        let known = options.0.entry(rest.to_owned()).or_default();
                        *known = known.or(choice);
                    }
                    "choice" if rest.is_empty() => {
                        choices += 1;
                        choice = Some(choices);
                    }
                    "endchoice" => choice = None,
                    "source" => {
                        let path = rest.trim_matches('"').replace("$(SRCARCH)", source);
                        // A UML kernel uses parts of the host architecture.
                        let path =
                            path.replace("$(HEADER_ARCH)", crate::arch::native().source.name);
                        pending.push(path.replace("$SRCARCH", source).into());
                    }
                    _ => {}
                }
            }
        }
        options
    }

    pub fn judge(&self, wishes: &Wishes, config: &Config) -> Verdict {
        let mut verdict = Verdict::default();
        let leaves_out = wishes
            .iter()
            .any(|(_, wish)| wish.author == Author::Flavour && wish.value == "n");
        for (name, wish) in wishes.iter() {
            let got = config.value(name);
            if got == wish.value {
                continue;
            }
            let got = if got == "n" { "not set" } else { got };
            let problem = format!("CONFIG_{name}={} ({}) is {got}", wish.value, wish.place);
            match (self.0.get(name), wish.author) {
                (None, Author::Base) => {}
                (None, Author::Flavour) => verdict.unknown.push(format!("CONFIG_{name}")),
                (None, Author::User) => {
                    let near = model::nearest(name, self.0.keys().map(String::as_str));
                    let meant =
                        near.map_or(String::new(), |n| format!("; did you mean CONFIG_{n}?"));
                    let problem = format!("{problem}: this kernel has no such option{meant}");
                    verdict.problems.push(problem);
                }
                (Some(Some(choice)), Author::Base | Author::Flavour)
                    if self.user_chose(*choice, wishes) => {}
                (Some(_), Author::Base) if leaves_out && wish.value != "n" => {
                    verdict.fallen.push(format!("CONFIG_{name}"));
                }
                (Some(_), _) => verdict.problems.push(problem),
            }
        }
        verdict
    }

    fn user_chose(&self, choice: usize, wishes: &Wishes) -> bool {
        wishes.iter().any(|(name, wish)| {
            wish.author == Author::User
                && wish.value == "y"
                && self.0.get(name) == Some(&Some(choice))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::put;

    const TOP: &str = "config A\n\tbool \"a\"\nmenu \"m\"\nmenuconfig B\n\tdepends on C\nendmenu\n\
        choice\n\tprompt \"p\"\nconfig P\n\tbool \"p\"\nconfig Q\n\tbool \"q\"\nendchoice\n\
        source \"arch/$(SRCARCH)/Kconfig\"\nsource \"../../etc/passwd\"\nsource \"Kconfig\"\n";

    fn options() -> Options {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "Kconfig", TOP);
        put(dir.path(), "arch/um/Kconfig", "config E\n\tbool \"e\"\n");
        Options::read(dir.path(), "um")
    }

    #[test]
    fn options_that_a_tree_declares() {
        let names: Vec<String> = options().0.into_keys().collect();
        assert_eq!(names, ["A", "B", "E", "P", "Q"]);
    }

    /// Base, flavour, user's fragment, `.config`; problems, unknown, and fallen: depends on an option
    /// that the flavour leaves out.
    #[test]
    fn options_that_were_not_honoured() {
        let options = options();
        let table = "\
            A=y | E=y | B=y | A=y E=y B=y | | |
            B=y | | | | CONFIG_B=y (base:1) is not set | |
            | E=y | | | CONFIG_E=y (flavour:1) is not set | |
            | | A=n | A=y | CONFIG_A=n (user:1) is y | |
            | | A=7 | A=8 | CONFIG_A=7 (user:1) is 8 | |
            OLD=y | LATER=y | | | | CONFIG_LATER |
            | | AA=y | | CONFIG_AA=y (user:1) is not set: this kernel has no such option; \
            did you mean CONFIG_A? | |
            | | GONE=n | | | |
            B=y | A=n | | | | | CONFIG_B
            P=y | | Q=y | Q=y | | |
            P=y | | | Q=y | CONFIG_P=y (base:1) is not set | |";
        for row in table.lines() {
            let fields: Vec<&str> = row.split('|').map(str::trim).collect();
            let [base, flavour, user, config, problems, unknown, fallen] = fields[..] else {
                panic!("{row}");
            };
            let text = |words: &str| -> String {
                let words = words.split_whitespace();
                words.map(|word| format!("CONFIG_{word}\n")).collect()
            };
            let mut wishes = Wishes::default();
            for (name, words, author) in [
                ("base", base, Author::Base),
                ("flavour", flavour, Author::Flavour),
                ("user", user, Author::User),
            ] {
                wishes.add(name, &text(words), author).unwrap();
            }
            let verdict = options.judge(&wishes, &Config::parse(&text(config)));
            let got = [verdict.problems, verdict.unknown, verdict.fallen];
            let got = got.map(|lines| lines.join("; "));
            assert_eq!(got, [problems, unknown, fallen]);
        }
    }
}
