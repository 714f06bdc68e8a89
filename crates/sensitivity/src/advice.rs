// SPDX-License-Identifier: GPL-2.0-or-later
//! Finds checks that an operation repeats for one object, which are redundant or cacheable.

use std::collections::BTreeMap;

use counts::profile::PathProfile;
use model::{Key, RepeatedQuestion};

/// In characters.
const OBJECT_LIMIT: usize = 400;
/// The agent's own write, which comes last in the list.
const LAST_WRITE: (&str, &str) = ("file_permission", "mask=2");

type Question<'a> = (&'a str, &'a str, &'a str);

fn question(line: &str) -> Option<Question<'_>> {
    let mut words = line.split_whitespace();
    let question = (words.next()?, words.next()?, words.next()?);
    words.next().is_none().then_some(question)
}

/// Excludes empty objects, and the process itself, which is not an object of file operations.
fn is_object(object: &str) -> bool {
    object.starts_with("inode:") || object.starts_with("sb:")
}

/// Repeated requests, in order of their first occurrence. `lines` are from the Tunable Security
/// Module's `asked` file, `path` is the dominant path with its call tree.
pub fn repeated(key: &Key, lines: &[String], path: Option<&PathProfile>) -> Vec<RepeatedQuestion> {
    let mut questions: Vec<Question<'_>> = lines.iter().filter_map(|l| question(l)).collect();
    if let Some(&(hook, notes, detail)) = questions.last()
        && (hook, detail) == LAST_WRITE
    {
        while questions
            .pop_if(|(_, object, _)| *object == notes)
            .is_some()
        {}
    }
    let mut nth: BTreeMap<&str, usize> = BTreeMap::new();
    let mut times: BTreeMap<Question<'_>, Vec<usize>> = BTreeMap::new();
    let mut order = Vec::new();
    for &asked in &questions {
        let n = nth.entry(asked.0).or_default();
        let seen = times.entry(asked).or_default();
        if seen.is_empty() {
            order.push(asked);
        }
        seen.push(*n);
        *n += 1;
    }
    order
        .into_iter()
        .filter(|(_, object, _)| is_object(object))
        .filter_map(|asked| {
            let seen = times.get(&asked).filter(|seen| seen.len() > 1)?;
            let (hook, object, detail) = asked;
            let chains = chains(path, hook, nth.get(hook).copied().unwrap_or(0));
            let object: String = format!("{object} {detail}")
                .chars()
                .take(OBJECT_LIMIT)
                .collect();
            Some(RepeatedQuestion {
                kernel: key.kernel.clone(),
                benchmark: key.benchmark().to_owned(),
                variant: key.variant().to_owned(),
                hook: hook.to_owned(),
                object,
                times: seen.len() as u64,
                chains: seen
                    .iter()
                    .filter_map(|&n| chains.get(n).cloned())
                    .collect(),
            })
        })
        .collect()
}

/// Callers of each call of a hook, outermost first, if the trace has as many calls as requests.
fn chains(path: Option<&PathProfile>, hook: &str, asked: usize) -> Vec<Vec<String>> {
    let found = path.and_then(|path| {
        let cost = path.hooks.iter().find(|cost| cost.hook == hook)?;
        Some((path.tree.as_ref()?, cost.function.as_str()))
    });
    let Some((tree, function)) = found else {
        return Vec::new();
    };
    let nodes = tree.nodes();
    let calls = tree
        .sequence
        .iter()
        .filter(|&&at| nodes[at].function == function);
    let chains = calls.map(|&at| {
        let callers = tree.callers(at).into_iter();
        callers.map(|at| nodes[at].function.clone()).collect()
    });
    let chains: Vec<Vec<String>> = chains.collect();
    if chains.len() == asked {
        chains
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Configuration, Metric, Subject};

    fn key() -> Key {
        let configuration = Configuration::of_stack("capability,tunable".parse().unwrap());
        let subject = Subject::benchmark("rename", "depth2");
        Key::new(
            "build:6.12",
            &configuration,
            "tmpfs",
            subject,
            Metric::Instructions,
        )
    }

    #[test]
    fn equal_lines_are_one_question_asked_again() {
        let lines = [
            "inode_permission inode:0:16:1 mask=1",
            "inode_permission inode:0:16:2 mask=1",
            "inode_permission inode:0:16:2 mask=3",
            "inode_permission inode:0:16:2 mask=3",
            "cred_prepare cred:self gfp=3264",
            "cred_prepare cred:self gfp=3264",
            "inode_permission inode:0:16:1 mask=1",
            "garbage",
            "file_permission inode:0:11:9 mask=2",
        ]
        .map(str::to_owned);
        let found = repeated(&key(), &lines, None);
        let brief: Vec<(&str, u64)> = found.iter().map(|q| (q.object.as_str(), q.times)).collect();
        assert_eq!(
            brief,
            [("inode:0:16:1 mask=1", 2), ("inode:0:16:2 mask=3", 2)]
        );
    }

    #[test]
    fn the_write_that_ends_the_notes_is_none_of_the_operations() {
        let lines = [
            "file_permission inode:0:11:9 mask=2",
            "file_permission inode:0:11:9 mask=2",
        ]
        .map(str::to_owned);
        assert_eq!(repeated(&key(), &lines, None), []);
        assert_eq!(repeated(&key(), &[], None), []);
    }
}
