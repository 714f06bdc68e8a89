// SPDX-License-Identifier: GPL-2.0-or-later
//! The watched processes, if not all are watched.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use model::Failure;

use crate::error::MonitorError;

/// `PROC_PID_INIT_INO`: the initial namespace, whose numbers BPF programs see.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

pub fn check_namespace() -> Result<(), Failure> {
    match fs::read_link("/proc/self/ns/pid") {
        Ok(namespace) if namespace.as_os_str() == FIRST_NAMESPACE => Ok(()),
        _ => Err(Failure::environment(
            "processes cannot be followed from inside a PID namespace: eBPF programs see the \
             kernel's process numbers",
            "watch a control group instead, or run lsmeter outside the container",
        )),
    }
}

/// Index of the word, and the process's bit in it.
fn bit(process: u32) -> (usize, u64) {
    ((process / 64) as usize, 1 << (process % 64))
}

pub fn add(targets: &[AtomicU64], process: u32) -> Result<(), MonitorError> {
    let (word, bit) = bit(process);
    let word = targets
        .get(word)
        .filter(|_| process > 0)
        .ok_or(MonitorError::NoProcess(process))?;
    word.fetch_or(bit, Ordering::Relaxed);
    Ok(())
}

pub fn remove(targets: &[AtomicU64], process: u32) {
    let (word, bit) = bit(process);
    if let Some(word) = targets.get(word) {
        word.fetch_and(!bit, Ordering::Relaxed);
    }
}

/// Watches a process and all its descendants. Forks are already followed, so children that are
/// created during this call are not missed.
pub fn add_with_descendants(targets: &[AtomicU64], process: u32) -> Result<(), MonitorError> {
    if !fs::exists(format!("/proc/{process}")).unwrap_or(false) {
        return Err(MonitorError::NoProcess(process));
    }
    add(targets, process)?;
    let parents = parents();
    let mut found = BTreeSet::from([process]);
    loop {
        let more: Vec<u32> = parents
            .iter()
            .filter(|(child, parent)| found.contains(parent) && !found.contains(child))
            .map(|(&child, _)| child)
            .collect();
        if more.is_empty() {
            return Ok(());
        }
        for child in more {
            add(targets, child)?;
            found.insert(child);
        }
    }
}

fn parents() -> BTreeMap<u32, u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| {
            let process = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            Some((process, parent_in(&stat)?))
        })
        .collect()
}

/// The fourth field of `/proc/PID/stat`; the second, a name, may contain blanks and brackets.
fn parent_in(stat: &str) -> Option<u32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_parent_behind_a_strange_name() {
        assert_eq!(parent_in("12 (a) b (c) S 7 12 12 0 -1"), Some(7));
        assert_eq!(parent_in("12 (sh"), None);
        assert_eq!(parent_in(""), None);
    }

    #[test]
    fn marks_processes_up_to_the_kernels_limit() {
        let targets: Vec<AtomicU64> = (0..2).map(|_| AtomicU64::new(0)).collect();
        add(&targets, 65).unwrap();
        add(&targets, 127).unwrap();
        remove(&targets, 127);
        assert_eq!(targets[1].load(Ordering::Relaxed), 2);
        assert!(add(&targets, 128).is_err());
        assert!(add(&targets, 0).is_err());
    }
}
