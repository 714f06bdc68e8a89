// SPDX-License-Identifier: GPL-2.0-or-later

use crate::error::Error;
use crate::files;
use std::collections::BTreeMap;
use std::path::Path;

/// In bytes; a distribution's complete configuration has 300 KiB.
const FRAGMENT_LIMIT: u64 = 2 << 20;
const LONGEST_VALUE: usize = 4096;
const NOT_SET: &str = " is not set";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Author {
    /// Used for several series, in which the same option may have different names.
    Base,
    /// A series may not have all of its options; the missing ones are reported.
    Flavour,
    User,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wish {
    /// As in `.config`; `n` for an option that must be unset.
    pub value: String,
    /// `FILE:LINE`.
    pub place: String,
    pub author: Author,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Wishes {
    options: BTreeMap<String, Wish>,
}

impl Wishes {
    pub fn add_file(&mut self, path: &Path) -> Result<(), Error> {
        let name = path.display().to_string();
        let text = files::read(path, FRAGMENT_LIMIT)?;
        let text = String::from_utf8(text)
            .map_err(|_| Error::config(&[format!("{name} is not a text file")], HINT))?;
        self.add(&name, &text, Author::User)
    }

    pub fn add(&mut self, name: &str, text: &str, author: Author) -> Result<(), Error> {
        let mut own: BTreeMap<String, Wish> = BTreeMap::new();
        let mut problems = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let place = format!("{name}:{}", number + 1);
            match parse(line) {
                Ok(None) => {}
                Ok(Some((option, value))) => {
                    let wish = Wish {
                        value,
                        place,
                        author,
                    };
                    if let Some(old) = own.get(&option).filter(|old| old.value != wish.value) {
                        problems.push(format!(
                            "{}: CONFIG_{option}={} contradicts CONFIG_{option}={} in {}",
                            wish.place, wish.value, old.value, old.place
                        ));
                    }
                    own.insert(option, wish);
                }
                Err(reason) => problems.push(format!("{place}: {reason}")),
            }
        }
        if !problems.is_empty() {
            problems.truncate(10);
            return Err(Error::config(&problems, HINT));
        }
        self.options.extend(own);
        Ok(())
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Wish)> {
        self.options
            .iter()
            .map(|(name, wish)| (name.as_str(), wish))
    }

    pub fn get(&self, option: &str) -> Option<&Wish> {
        self.options.get(option)
    }

    pub fn has(&self, option: &str) -> bool {
        self.get(option).is_some_and(|wish| wish.value == "y")
    }

    pub fn text(&self) -> String {
        let line = |(name, wish): (&str, &Wish)| match wish.value.as_str() {
            "n" => format!("# CONFIG_{name}{NOT_SET}\n"),
            value => format!("CONFIG_{name}={value}\n"),
        };
        self.iter().map(line).collect()
    }
}

const HINT: &str = "write lines as in a kernel's .config: CONFIG_NAME=y, CONFIG_NAME=\"text\", # \
                    CONFIG_NAME is not set";

/// `None` for a comment or an empty line.
fn parse(line: &str) -> Result<Option<(String, String)>, String> {
    let line = line.trim();
    if let Some(comment) = line.strip_prefix('#') {
        let option = comment
            .trim_start()
            .strip_prefix("CONFIG_")
            .and_then(|rest| rest.strip_suffix(NOT_SET))
            .filter(|name| is_name(name));
        return Ok(option.map(|name| (name.to_owned(), "n".to_owned())));
    }
    if line.is_empty() {
        return Ok(None);
    }
    let shown: String = line.chars().take(80).collect();
    let option = line
        .strip_prefix("CONFIG_")
        .and_then(|rest| rest.split_once('='))
        .filter(|(name, _)| is_name(name));
    let Some((name, value)) = option else {
        return Err(format!("`{shown}` is not an option"));
    };
    match value {
        "m" => Err(format!(
            "`{shown}`: a kernel built here has no modules; build it in with `=y`"
        )),
        _ if is_value(value) => Ok(Some((name.to_owned(), value.to_owned()))),
        _ => Err(format!("`{shown}` has an invalid value")),
    }
}

pub(super) fn is_name(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    (1..=128).contains(&name.len()) && name.bytes().all(allowed)
}

/// The kernel's `conf` decides which values are valid; [`super::kconfig`] reports refusals.
fn is_value(value: &str) -> bool {
    (1..=LONGEST_VALUE).contains(&value.len()) && !value.chars().any(char::is_control)
}

#[derive(Debug, Default)]
pub(super) struct Config(BTreeMap<String, String>);

impl Config {
    pub fn read(path: &Path) -> Result<Config, Error> {
        let text = files::read(path, FRAGMENT_LIMIT)?;
        Ok(Config::parse(&String::from_utf8_lossy(&text)))
    }

    pub fn parse(text: &str) -> Config {
        let option = |line: &str| {
            let (name, value) = line.strip_prefix("CONFIG_")?.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        };
        Config(text.lines().filter_map(option).collect())
    }

    /// `n` if the option is not set.
    pub fn value(&self, option: &str) -> &str {
        self.0.get(option).map_or("n", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wishes(text: &str) -> Result<Wishes, Error> {
        let mut wishes = Wishes::default();
        wishes.add("f", text, Author::User)?;
        Ok(wishes)
    }

    #[test]
    fn lines_as_a_config_has_them() {
        let text = "# words\n\nCONFIG_A=y\n  CONFIG_B=0x10 \n# CONFIG_C is not set\n\
                    CONFIG_D=\"a \\\"b\\\"\"\nCONFIG_E=-3\nCONFIG_F=n\n#CONFIG_G=y\n";
        let wishes = wishes(text).unwrap();
        let got: Vec<(&str, &str)> = wishes.iter().map(|(n, w)| (n, &*w.value)).collect();
        let expected = [
            ("A", "y"),
            ("B", "0x10"),
            ("C", "n"),
            ("D", "\"a \\\"b\\\"\""),
            ("E", "-3"),
            ("F", "n"),
        ];
        assert_eq!(got, expected);
        assert_eq!(wishes.get("B").unwrap().place, "f:4");
        assert!(wishes.text().contains("# CONFIG_F is not set\n"));
    }

    #[test]
    fn what_is_no_option_is_told_by_its_line() {
        for (text, expected) in [
            (
                "CONFIG_A=y\nSELINUX=y\n",
                "f:2: `SELINUX=y` is not an option",
            ),
            ("CONFIG_A=m", "no modules"),
            ("CONFIG_A=", "invalid value"),
            ("CONFIG_A-B=y", "is not an option"),
            ("CONFIG_A=y\nCONFIG_A=n\n", "contradicts CONFIG_A=y in f:1"),
        ] {
            let error = wishes(text).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
    }

    #[test]
    fn a_later_fragment_overrules() {
        let mut wishes = Wishes::default();
        wishes
            .add("base", "CONFIG_A=y\nCONFIG_B=y\n", Author::Base)
            .unwrap();
        wishes.add("mine", "CONFIG_B=n\n", Author::User).unwrap();
        assert!(wishes.has("A") && !wishes.has("B"));
        assert_eq!(wishes.get("B").unwrap().author, Author::User);
    }

    #[test]
    fn our_own_fragments_can_be_read() {
        use super::super::{Flavour, own_wishes};
        for flavour in Flavour::ALL {
            for arch in crate::arch::ALL {
                let wishes = own_wishes(flavour, arch).unwrap();
                let is_alone = flavour.is_process() || flavour == Flavour::AllNoSmp;
                assert_eq!(wishes.has("SMP"), !is_alone);
                assert_eq!(wishes.has("SECURITY"), flavour.has_modules());
                // A UML kernel has none of the options of the architecture's machines.
                let options = arch
                    .config
                    .lines()
                    .filter_map(|line| line.strip_suffix("=y"));
                let mut options = options.filter_map(|option| option.strip_prefix("CONFIG_"));
                let has_machine = options.any(|option| wishes.has(option));
                assert_eq!(has_machine, !flavour.is_process(), "{flavour}, {arch}");
            }
            assert_eq!(flavour.to_string().parse(), Ok(flavour));
        }
        let own = |flavour| own_wishes(flavour, crate::arch::native()).unwrap();
        // The `nolsm` flavour requests the options of its twin, except those that it removes.
        let (with, without) = (own(Flavour::Um), own(Flavour::UmNoLsm));
        let other = without.iter().filter(|(name, wish)| {
            let there = with.get(name).map(|there| &there.value);
            there != Some(&wish.value)
        });
        let names: Vec<&str> = other.map(|(name, _)| name).collect();
        assert_eq!(names, ["INTEGRITY", "SECURITY", "SECURITYFS"]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(CONFIG_|[A-Z=#\"\\\\ \n])*") {
            if let Ok(first) = wishes(&text) {
                let second = wishes(&first.text()).unwrap();
                prop_assert_eq!(first.text(), second.text());
            }
        }
    }
}
