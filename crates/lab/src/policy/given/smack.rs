// SPDX-License-Identifier: GPL-2.0-or-later
//! Custom Smack policies: rules as in `/etc/smack/accesses` and for smackload(8), and the labels of
//! the measured process and of files.

use std::collections::HashMap;
use std::fmt::Write as _;

use model::{CustomPolicy, excerpt, is_smack_label};

use super::super::smack::check_state;
use super::super::{PolicyError, Prepared, Request, tools};
use super::{GivenFile, files, prepared, start};

/// Other files in `/etc/smack`: labels of packets, hosts and users.
const NO_RULES: [&str; 7] = [
    "ambient",
    "cipso",
    "cipso.d",
    "netlabel",
    "netlabel.d",
    "relabel-self",
    "user",
];
const RIGHTS: &[u8] = b"rwxatlb";
/// The number of pairs of labels. For each, the kernel walks all rules of the subject.
const RULES_LIMIT: usize = 1_000_000;
/// The agent's label: the agent creates the benchmarks' files and is not confined.
const AGENT: &str = "lsmeter-agent";

pub(in super::super) fn prepare(
    request: &Request<'_>,
    of: &CustomPolicy,
) -> Result<Prepared, PolicyError> {
    let sources = files(of)?;
    let (of_rules, others): (Vec<_>, Vec<_>) = sources.iter().partition(|file| has_rules(file));
    let mut rules = Rules::default();
    for file in &of_rules {
        rules.read(file).map_err(file.refused(
            "write one rule per line: SUBJECT OBJECT ACCESS, or SUBJECT OBJECT ALLOW DENY, \
             with the access letters rwxatl",
        ))?;
    }
    let label = of.label.as_deref().unwrap_or_default();
    if rules.order.is_empty() {
        return Err(tools::failed(
            format!("no rules in {}", of.files.join(", ")),
            "name a directory such as /etc/smack that contains accesses or accesses.d, or files \
             with rules",
        ));
    }
    check_state(request)?;
    let work = of.files_label.as_deref().unwrap_or(label);
    let mut text = rules.text();
    let _ = writeln!(text, "{AGENT} {work} rwxatl");
    // The guest rejects an empty file.
    let mut labels = "\n".to_owned();
    for (path, label) in &of.labels {
        let _ = writeln!(labels, "{label} {path}");
    }
    let mut prepared = prepared(of);
    prepared.file("rules", text);
    prepared.file("label", format!("{label}\n"));
    prepared.file("files-label", format!("{work}\n"));
    prepared.file("labels", labels);
    start(
        request,
        &mut prepared,
        label,
        of.starts_in.as_deref().or(Some(label)),
    );
    prepared.steps.push(format!(
        "smack: {} rules from {}",
        rules.order.len(),
        of.files.join(" ")
    ));
    prepared.steps.extend(left_out(&others));
    Ok(prepared)
}

/// Excludes editors' backups, and files with labels for packets.
fn has_rules(file: &GivenFile) -> bool {
    let first = file.name.iter().next().unwrap_or_default();
    let name = file.name.file_name().unwrap_or_default().to_string_lossy();
    let is_other = NO_RULES.iter().any(|other| first == *other);
    !is_other && !name.starts_with('.') && !name.ends_with('~')
}

fn left_out(others: &[&GivenFile]) -> Option<String> {
    let names: Vec<String> = others
        .iter()
        .take(8)
        .map(|file| file.name.display().to_string())
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "smack: skipped files without rules: {} files ({})",
            others.len(),
            names.join(" ")
        )
    })
}

/// Rules, one per pair of labels: the kernel's state after all lines were applied in order.
#[derive(Debug, Default)]
struct Rules {
    order: Vec<(String, String)>,
    rights: HashMap<(String, String), u8>,
}

impl Rules {
    fn read(&mut self, file: &GivenFile) -> Result<(), String> {
        let text = std::str::from_utf8(&file.bytes).map_err(|_| "not a text file".to_owned())?;
        for (number, line) in text.lines().enumerate() {
            self.add(line)
                .map_err(|why| format!("line {}: {why}", number + 1))?;
        }
        Ok(())
    }

    /// Lines that start with `#` or `;` are comments, as in systemd, which also loads such files.
    fn add(&mut self, line: &str) -> Result<(), String> {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            return Ok(());
        }
        let words: Vec<&str> = line.split_ascii_whitespace().take(5).collect();
        let (subject, object, allow, deny) = match words[..] {
            [subject, object, allow] => (subject, object, allow, None),
            [subject, object, allow, deny] => (subject, object, allow, Some(deny)),
            _ => return Err(format!("`{}` is not a rule", excerpt(line))),
        };
        for label in [subject, object] {
            if !is_smack_label(label) {
                return Err(format!("`{}` is not a label", excerpt(label)));
            }
        }
        if subject == AGENT {
            return Err(format!("the label {AGENT} is reserved for lsmeter"));
        }
        let allowed = rights(allow)?;
        // Without a fourth word, all rights that are not allowed are denied.
        let denied = deny.map_or(Ok(!allowed), rights)?;
        let pair = (subject.to_owned(), object.to_owned());
        if self.order.len() == RULES_LIMIT && !self.rights.contains_key(&pair) {
            return Err(format!("more than {RULES_LIMIT} rules"));
        }
        let has = self.rights.entry(pair).or_insert_with_key(|pair| {
            self.order.push(pair.clone());
            0
        });
        *has = (*has | allowed) & !denied;
        Ok(())
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for pair in &self.order {
            let has = self.rights.get(pair).copied().unwrap_or_default();
            let letters = RIGHTS
                .iter()
                .zip(0..)
                .filter(|(_, bit)| has >> bit & 1 == 1);
            let letters: String = letters.map(|(letter, _)| char::from(*letter)).collect();
            let letters = if letters.is_empty() { "-" } else { &letters };
            let _ = writeln!(text, "{} {} {letters}", pair.0, pair.1);
        }
        text
    }
}

/// Refuses unknown letters; the kernel would stop parsing there.
fn rights(letters: &str) -> Result<u8, String> {
    letters.bytes().try_fold(0, |all, letter| {
        let letter = letter.to_ascii_lowercase();
        let bit = RIGHTS.iter().position(|right| *right == letter);
        match bit {
            Some(bit) => Ok(all | 1 << bit),
            None if letter == b'-' => Ok(all),
            None => Err(format!("invalid access `{}`", excerpt(letters))),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &[u8]) -> Result<String, String> {
        let mut rules = Rules::default();
        let file = GivenFile {
            name: "accesses".into(),
            bytes: text.to_vec(),
        };
        rules.read(&file)?;
        Ok(rules.text())
    }

    #[test]
    fn rules_are_those_that_the_kernel_would_have() {
        let text = b"# comment\n; another\n\n  User\tSystem rx \nUser System w r\nUser Other -\n\
                     User App RWX\nUser App ---a--\nUser New rw w\n";
        assert_eq!(
            read(text).unwrap(),
            "User System wx\nUser Other -\nUser App a\nUser New r\n"
        );
        for (text, why) in [
            ("User System\n", "line 1: `User System` is not a rule"),
            ("a b r w x\n", "is not a rule"),
            ("\na b/c r\n", "line 2: `b/c` is not a label"),
            ("-a b r\n", "`-a` is not a label"),
            ("a b rq\n", "invalid access `rq`"),
            ("lsmeter-agent b r\n", "reserved for lsmeter"),
        ] {
            let error = read(text.as_bytes()).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        assert!(read(b"a b \xff\n").is_err());
        assert!(read(format!("{} b r\n", "a".repeat(256)).as_bytes()).is_err());
        assert!(read(format!("{} b r\n", "a".repeat(255)).as_bytes()).is_ok());
    }

    #[test]
    fn only_rules_are_read() {
        let is_read = |name: &str| {
            has_rules(&GivenFile {
                name: name.into(),
                bytes: Vec::new(),
            })
        };
        assert!(["accesses", "accesses.d/cipso", "mine.rules"].map(is_read) == [true; 3]);
        let others = ["cipso", "cipso.d/x", "accesses.d/.x.swp", "accesses.d/x~"];
        assert!(others.map(is_read) == [false; 4]);
    }

    proptest! {
        #[test]
        fn what_was_read_is_read_again(
            lines in proptest::collection::vec("[ab] [ab#] [rwxatl-]{1,3}( [rwxatl-]{1,3})?", 0..12),
        ) {
            let once = read(lines.join("\n").as_bytes()).unwrap();
            prop_assert_eq!(read(once.as_bytes()).unwrap(), once.clone());
            let pairs: std::collections::HashSet<&str> =
                once.lines().filter_map(|line| line.get(..3)).collect();
            prop_assert_eq!(pairs.len(), once.lines().count());
        }
    }
}
