// SPDX-License-Identifier: GPL-2.0-or-later
//! Adds the agent to a UML kernel (`ARCH=um`), which then times its own system calls.
//!
//! `um/` has `driver.c` (starts the agent in process 1), `call.c` (calls system call functions),
//! `text-patch.c` with two headers (jump labels and static calls, missing in this architecture),
//! and `arch.h` (for the agent). The agent's own files are used unchanged. See `docs/time.md`.

mod edits;
mod layout;
mod with;

pub use with::With;

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use crate::build::overlay::{text_of, unfit};
use crate::error::Error;
use edits::{CHANGES, Form};

const HINT: &str = "build it from linux-source-6.1, linux-source-6.12 or linux-source-7.2";

const DIRECTORY: &str = "arch/um/lsmeter";
const HEADERS: &str = "arch/um/include/asm";

static AGENT: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/agent.rs"));
const FLAGS: &str = include_str!(concat!(env!("OUT_DIR"), "/flags.txt"));

macro_rules! kernel_files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../um/", $name)))),*]
    };
}

const FILES: [(&str, &str); 8] = kernel_files![
    "Kconfig",
    "Makefile",
    "arch.h",
    "call.c",
    "driver.c",
    "start.h",
    "start_user.c",
    "text-patch.c",
];

const OWN_HEADERS: [(&str, &str); 3] = kernel_files!["jump_label.h", "lsmeter.h", "static_call.h"];

/// Changed files by path in a tree of `ARCH=um`. `number` seeds the link order of functions.
pub fn changes(
    tree: &Path,
    layout: Option<NonZeroU32>,
) -> Result<BTreeMap<PathBuf, String>, Error> {
    changes_by(tree, |path| text_of(tree, path), layout)
}

fn changes_by(
    tree: &Path,
    read: impl Fn(&str) -> Result<String, Error>,
    layout: Option<NonZeroU32>,
) -> Result<BTreeMap<PathBuf, String>, Error> {
    let mut changed = BTreeMap::new();
    for forms in CHANGES {
        let read = |path: &str| match changed.get(Path::new(path)) {
            Some(text) => Ok(String::clone(text)),
            None => read(path),
        };
        let mut tried = forms.iter().map(|form| changed_in(tree, form, &read));
        let fits = match tried.next() {
            // The first error is the one to report.
            Some(Err(error)) => tried.find_map(Result::ok).ok_or(error)?,
            fits => fits.transpose()?.unwrap_or_default(),
        };
        changed.extend(fits);
    }
    let directory = Path::new(DIRECTORY);
    let mut add = |path: PathBuf, text: &str| changed.insert(path, text.to_owned());
    for (name, text) in FILES {
        add(directory.join(name), text);
    }
    for (name, text) in OWN_HEADERS {
        add(Path::new(HEADERS).join(name), text);
    }
    add(
        Path::new(HEADERS).join("lsmeter-layout.h"),
        &layout::header(layout),
    );
    let agent = directory.join("agent");
    for (name, text) in AGENT {
        add(agent.join(name), text);
    }
    add(agent.join("flags.txt"), FLAGS);
    Ok(changed)
}

fn changed_in(
    tree: &Path,
    form: &Form,
    read: &impl Fn(&str) -> Result<String, Error>,
) -> Result<Vec<(PathBuf, String)>, Error> {
    let files = form.iter().map(|(path, edits)| {
        let mut text = read(path)?;
        for edit in *edits {
            text = edit.apply(&text).ok_or_else(|| {
                let reason = format!(
                    "the agent does not fit this UML kernel: no line `{}`",
                    edit.line()
                );
                unfit(tree, path, reason, HINT)
            })?;
        }
        Ok((PathBuf::from(path), text))
    });
    files.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn tree(path: &str) -> String {
        tree_of(path, 0)
    }

    fn tree_of(path: &str, number: usize) -> String {
        let files = CHANGES
            .iter()
            .flat_map(|forms| forms[number.min(forms.len() - 1)]);
        let edits = files.filter(|(changed, _)| *changed == path);
        let anchors = edits.flat_map(|(_, edits)| edits.iter().map(|edit| edit.anchor));
        anchors
            .map(|anchor| format!("before\n{anchor}after\n"))
            .collect()
    }

    /// Benchmarks in the kernel include only the embedded headers of the agent.
    #[test]
    fn what_benchmarks_include_is_in_the_tree() {
        let is_there = |name: &str| AGENT.iter().any(|(path, _)| *path == name);
        let mut included = 0;
        for (path, text) in AGENT.iter().filter(|(path, _)| path.starts_with("bench/")) {
            let lines = text
                .lines()
                .filter_map(|line| line.strip_prefix("#include \""));
            for name in lines.filter_map(|line| line.strip_suffix('"')) {
                let beside = format!("bench/{name}");
                let below = name.trim_start_matches("../");
                assert!(
                    is_there(&beside) || is_there(below),
                    "{path} includes {name}"
                );
                included += 1;
            }
        }
        assert!(included > 60, "{included}");
    }

    #[test]
    fn the_agent_is_in_the_tree_as_it_is() {
        let changed = changes_by(Path::new(""), |path| Ok(tree(path)), None).unwrap();
        let text = |path: &str| changed[Path::new(path)].as_str();
        assert_eq!(
            text("arch/um/lsmeter/agent/bench/open.c"),
            include_str!("../../../lab/guest/bench/open.c")
        );
        assert!(text("arch/um/lsmeter/agent/sys.h").contains("raw_syscall"));
        assert!(!changed.contains_key(Path::new("arch/um/lsmeter/agent/arch.h")));
        let flags = text("arch/um/lsmeter/agent/flags.txt");
        assert!(flags.contains("-Werror\n") && !flags.contains("-Wl,") && !flags.contains('#'));
        let kconfig = text("arch/um/Kconfig");
        assert!(kconfig.contains("\tselect HAVE_STATIC_CALL\n"), "{kconfig}");
        assert!(kconfig.starts_with("before\n") && kconfig.ends_with("after\n"));
    }

    #[test]
    fn a_tree_without_a_place_for_a_change_is_told() {
        let read = |path: &str| {
            Ok(match path {
                "arch/um/Kbuild" => "obj-y += other/\n".to_owned(),
                _ => tree(path),
            })
        };
        let error = changes_by(Path::new("linux"), read, None)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("arch/um/Kbuild of linux: "), "{error}");
        assert!(error.ends_with("no line `obj-y += kernel/`"), "{error}");
    }

    #[test]
    fn trees_of_other_times_have_other_places() {
        let made =
            |number| changes_by(Path::new(""), |path| Ok(tree_of(path, number)), None).unwrap();
        let process = Path::new(edits::PROCESS);
        let (oldest, newest) = (made(1), made(2));
        assert!(oldest[process].contains("\tprctl(PR_SET_PDEATHSIG, SIGKILL);\n"));
        assert_eq!(
            oldest[Path::new("arch/um/Kbuild")]
                .matches("lsmeter/")
                .count(),
            1
        );
        assert!(newest[process].contains(".lsmeter_kernel_pid = "));
        let stub = Path::new("arch/um/kernel/skas/stub_exe.c");
        assert!(newest.contains_key(stub) && !oldest.contains_key(stub));
    }

    #[test]
    fn no_file_of_the_kernels_is_left_behind() {
        let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/um");
        let mut names: Vec<String> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let mut known: Vec<&str> = FILES.iter().chain(&OWN_HEADERS).map(|(n, _)| *n).collect();
        known.sort_unstable();
        assert_eq!(names, known);
    }
}
