// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs git without the programs that a repository names. The configuration of an untrusted
//! repository can name filters, hooks, monitors and transports.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Each setting prevents git from running a program, or from reading something else.
const SETTINGS: [&str; 8] = [
    "advice.detachedHead=false",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=true",
    "gc.auto=0",
    "log.showSignature=false",
    "maintenance.auto=false",
    "submodule.recurse=false",
];

/// Set by git for hooks, aliases and `git bisect run`.
const FOREIGN: [&str; 8] = [
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_WORK_TREE",
];

/// A git command in `dir`, without arguments. Filters of `.gitattributes` are off and nothing is
/// fetched: objects missing in a partial clone are an error.
pub fn command(dir: &Path) -> io::Result<Command> {
    let mut listing = unfiltered(dir);
    // This runs in the same directory, because a configuration can depend on the worktree.
    listing.args(["config", "-z", "--name-only", "--get-regexp", r"^filter\."]);
    let listed = listing.stderr(Stdio::null()).output()?;
    let mut git = unfiltered(dir);
    for filter in filters(&listed.stdout) {
        if filter.contains('=') {
            let reason = format!("the filter `{filter}` contains `=`");
            return Err(io::Error::other(reason));
        }
        for setting in ["clean=", "smudge=", "process=", "required=false"] {
            git.arg("-c").arg(format!("filter.{filter}.{setting}"));
        }
    }
    Ok(git)
}

pub fn hint(dir: &Path) -> Option<String> {
    let mut git = unfiltered(dir);
    git.args(["config", "--get-regexp", r"^remote\..*\.promisor$"]);
    git.output()
        .is_ok_and(|found| found.status.success())
        .then(|| {
            format!(
                "lsmeter does not fetch objects that a partial clone is missing; complete the \
                 clone: git -C {} fetch --refetch --no-filter",
                dir.display()
            )
        })
}

/// A git command in which everything except filters is switched off.
fn unfiltered(dir: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(dir);
    for setting in SETTINGS {
        git.args(["-c", setting]);
    }
    git.env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        // For versions without GIT_NO_LAZY_FETCH; configurations cannot override it.
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    for name in FOREIGN {
        git.env_remove(name);
    }
    git
}

fn filters(listed: &[u8]) -> BTreeSet<String> {
    let names = listed.split(|&byte| byte == 0);
    let names = names.filter_map(|name| std::str::from_utf8(name).ok());
    names
        .filter_map(|name| Some(name.strip_prefix("filter.")?.rsplit_once('.')?.0.to_owned()))
        .collect()
}
