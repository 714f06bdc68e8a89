// SPDX-License-Identifier: GPL-2.0-or-later
//! From what the kernel learned to what enforces it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::Serialize;

use super::patterns::generalise;
use crate::policy::{LEARNING_DOMAIN, LEARNING_PROFILE};

/// The profile that learned domains get: the one that enforces.
const ENFORCING_PROFILE: u32 = 3;
/// Most that is done with one path; kernels know some twenty ways.
const DONE_LIMIT: usize = 64;
/// What the kernel says of a domain that has learned all it may.
const FULL: &str = "quota_exceeded";

/// Entries of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KindCount {
    /// `file`, `network`, `misc` …
    pub kind: String,
    /// As the kernel learned them.
    pub learned: usize,
    /// With patterns in place of names, each once.
    pub written: usize,
}

/// A policy that was learned and enforces, as `tomoyo-savepolicy` writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearnedPolicy {
    /// `profile.conf`
    pub profile: String,
    /// `exception_policy.conf`
    pub exception_policy: String,
    /// `domain_policy.conf`
    pub domain_policy: String,
    /// Entries of the domains that learned, by kind.
    pub kinds: Vec<KindCount>,
    /// The kernel stopped learning before the end.
    pub is_full: bool,
}

impl LearnedPolicy {
    /// What the kernel's files say, with patterns in place of names in `work_dir`, and all domains
    /// that learned under the profile that enforces. None if none did.
    pub(super) fn new(
        profile: String,
        exception_policy: String,
        domains: &str,
        work_dir: &str,
    ) -> Option<LearnedPolicy> {
        let mut of = LearnedPolicy {
            profile,
            exception_policy,
            domain_policy: String::new(),
            kinds: Vec::new(),
            is_full: false,
        };
        let learned = format!("use_profile {LEARNING_PROFILE}");
        let mut kinds = BTreeMap::new();
        let mut any = false;
        for (name, lines) in domains_in(domains) {
            let is_ours = name.strip_prefix(LEARNING_DOMAIN);
            let is_ours = is_ours.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
            let (head, entries): (Vec<&str>, Vec<&str>) =
                lines.into_iter().partition(|line| is_head(line));
            let mut head: Vec<String> = head.into_iter().map(str::to_owned).collect();
            let mut entries: Vec<String> = entries.into_iter().map(str::to_owned).collect();
            if is_ours && head.contains(&learned) {
                any |= name == LEARNING_DOMAIN;
                of.is_full |= head.iter().any(|line| line == FULL);
                head.retain(|line| line != FULL);
                for line in head.iter_mut().filter(|line| **line == learned) {
                    *line = format!("use_profile {ENFORCING_PROFILE}");
                }
                entries = enforced(&entries, work_dir, &mut kinds);
            }
            for line in [name].into_iter().chain(head.iter().map(String::as_str)) {
                of.domain_policy += &format!("{line}\n");
            }
            of.domain_policy.push('\n');
            for line in &entries {
                of.domain_policy += &format!("{line}\n");
            }
            of.domain_policy.push('\n');
        }
        of.kinds = kinds.into_values().collect();
        any.then_some(of)
    }
}

/// The entries of a domain that learned, with patterns; counted by their kinds.
fn enforced(
    learned: &[String],
    work_dir: &str,
    kinds: &mut BTreeMap<String, KindCount>,
) -> Vec<String> {
    let mut entries = Entries::default();
    for line in learned {
        count(line, kinds).learned += 1;
        entries.add(&generalise(line, work_dir));
    }
    let entries = entries.lines();
    for line in &entries {
        count(line, kinds).written += 1;
    }
    entries
}

fn count<'a>(line: &str, kinds: &'a mut BTreeMap<String, KindCount>) -> &'a mut KindCount {
    let kind = line.split(' ').next().unwrap_or_default();
    kinds.entry(kind.to_owned()).or_insert_with(|| KindCount {
        kind: kind.to_owned(),
        learned: 0,
        written: 0,
    })
}

/// Domains by their names, each with its lines.
fn domains_in(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut domains: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        if line.starts_with('<') {
            domains.push((line, Vec::new()));
        } else if let Some((_, lines)) = domains.last_mut() {
            lines.push(line);
        }
    }
    domains
}

/// A line that says something of the domain itself: its profile, its groups, a word.
fn is_head(line: &str) -> bool {
    line.starts_with("use_") || !line.contains(' ')
}

/// Entries in the order in which they came, each once: what is done with the same is one entry, as
/// the kernel itself has it (`file read/write PATH`).
#[derive(Debug, Default)]
struct Entries {
    /// What is done, and with what.
    all: Vec<(Vec<String>, String)>,
    at: BTreeMap<String, usize>,
}

impl Entries {
    fn add(&mut self, entry: &str) {
        let (done, with) = match entry.split_once(' ').filter(|(kind, _)| *kind == "file") {
            Some((_, rest)) if !rest.starts_with("mount ") => {
                rest.split_once(' ').unwrap_or((rest, ""))
            }
            _ => ("", entry),
        };
        match self.at.entry(with.to_owned()) {
            Entry::Vacant(vacant) => {
                vacant.insert(self.all.len());
                let done = done.split('/').take(DONE_LIMIT).map(str::to_owned);
                self.all.push((done.collect(), with.to_owned()));
            }
            Entry::Occupied(at) => {
                let known = &mut self.all[*at.get()].0;
                for done in done.split('/') {
                    if known.len() < DONE_LIMIT && !known.iter().any(|of| of == done) {
                        known.push(done.to_owned());
                    }
                }
            }
        }
    }

    fn lines(self) -> Vec<String> {
        let line = |(done, with): (Vec<String>, String)| match done.join("/") {
            done if done.is_empty() => with,
            done => format!("file {done} {with}"),
        };
        self.all.into_iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DOMAINS: &str = "\
<kernel>
use_profile 0
use_group 0

task manual_domain_transition <kernel> /lsmeter

<kernel> /lsmeter
use_profile 1
quota_exceeded
use_group 0

file create /mnt/cell/4635ecb20d6b0f62 0644
file write/unlink /mnt/cell/4635ecb20d6b0f62
file create /mnt/cell/0d6b0f624635ecb2 0644
file read/write /mnt/cell/0d6b0f624635ecb2
file mount none /mnt/ --remount 0x401
misc env PATH

<kernel> /lsmeter /init
use_profile 1
use_group 0

<kernel> /lsmeter2
use_profile 1
use_group 0
";

    fn learned(domains: &str) -> Option<LearnedPolicy> {
        LearnedPolicy::new("0-CONFIG={}\n".to_owned(), String::new(), domains, "/mnt")
    }

    #[test]
    fn what_learned_enforces() {
        let policy = learned(DOMAINS).unwrap();
        assert_eq!(
            policy.domain_policy,
            "<kernel>
use_profile 0
use_group 0

task manual_domain_transition <kernel> /lsmeter

<kernel> /lsmeter
use_profile 3
use_group 0

file create /mnt/cell/\\X 0644
file write/unlink/read /mnt/cell/\\X
file mount none /mnt/ --remount 0x401
misc env PATH

<kernel> /lsmeter /init
use_profile 3
use_group 0


<kernel> /lsmeter2
use_profile 1
use_group 0


"
        );
        assert!(policy.is_full);
        let count = |kind: &str, learned, written| KindCount {
            kind: kind.to_owned(),
            learned,
            written,
        };
        assert_eq!(policy.kinds, [count("file", 5, 3), count("misc", 1, 1)]);
    }

    #[test]
    fn a_kernel_that_learned_nothing_is_told() {
        assert_eq!(learned(""), None);
        assert_eq!(learned("<kernel>\nuse_profile 0\n"), None);
        assert_eq!(learned(&DOMAINS.replace("profile 1", "profile 2")), None);
    }

    #[test]
    fn a_kernel_that_lies_takes_no_time() {
        let mut entries = Entries::default();
        for n in 0..100_000 {
            entries.add(&format!("file op{n}/op{n} /mnt/cell/AA"));
        }
        let lines = entries.lines();
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].matches("op").count(), DONE_LIMIT);
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in "[ -~\n]{0,200}") {
            let _ = learned(&text);
            let _ = learned(&format!("<kernel> /lsmeter\nuse_profile 1\n{text}"));
        }
    }
}
