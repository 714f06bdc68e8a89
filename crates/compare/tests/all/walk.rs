// SPDX-License-Identifier: GPL-2.0-or-later
//! Walks through real git repositories, in which a file says whether each commit is good or bad.

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use compare::bisect::{Commit, Found, Repository, Tree, Verdict, walk};
use model::{Exit, Fault as _};

/// A repository, and the cache that holds its worktrees.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let place = Place {
            dir: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(place.repository()).unwrap();
        place.line("init -q -b main");
        place
    }

    /// A repository with one commit for each word, each tagged with its number.
    fn linear(words: &[impl AsRef<str>]) -> Place {
        let place = Place::new();
        for (number, word) in words.iter().enumerate() {
            place.commit(word.as_ref());
            place.git(&["tag", &format!("c{number}")]);
        }
        place
    }

    fn repository(&self) -> PathBuf {
        self.dir.path().join("repository")
    }

    /// Runs git with arguments that contain no spaces.
    fn line(&self, line: &str) -> String {
        self.git(&line.split(' ').collect::<Vec<_>>())
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .arg("-C")
            .arg(self.repository())
            .args(["-c", "user.name=x", "-c", "user.email=x@x.example"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn commit(&self, word: &str) {
        fs::write(self.repository().join("word"), word).unwrap();
        self.git(&["add", "word"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", word]);
    }

    fn open(&self) -> Repository {
        Repository::open(&self.repository()).unwrap()
    }

    /// The result of a walk, and the tested commits in their order.
    fn walk(&self, good: &str, bad: &str) -> (Found, Vec<String>) {
        self.walk_by(good, bad, &|word| match word {
            word if word.starts_with("good") => Some(Verdict::Good),
            word if word.starts_with("bad") => Some(Verdict::Bad),
            word if word.starts_with("end") => None,
            _ => Some(Verdict::Skipped),
        })
    }

    /// Like `walk`, with verdicts from `verdict`.
    fn walk_by(
        &self,
        good: &str,
        bad: &str,
        verdict: &dyn Fn(&str) -> Option<Verdict>,
    ) -> (Found, Vec<String>) {
        let repository = self.open();
        let [good, bad] = [good, bad].map(|name| repository.commit(name).unwrap());
        repository.range(&good, &bad).unwrap();
        let cache = self.dir.path().join("cache");
        let tree = Tree::open(&repository, &cache, &good, &mut || {}).unwrap();
        let tested = RefCell::new(Vec::new());
        let mut test = |commit: &Commit| -> Result<Option<Verdict>, kernels::Error> {
            tree.check_out(commit)?;
            // A file of the side branch takes precedence.
            let side = fs::read_to_string(tree.dir().join("side"));
            let word = side.or_else(|_| fs::read_to_string(tree.dir().join("word")));
            let word = word.unwrap();
            tested.borrow_mut().push(word.clone());
            Ok(verdict(&word))
        };
        let found = walk(&tree, &good, &bad, &mut test).unwrap();
        (found, tested.into_inner())
    }
}

fn first(found: &Found) -> &str {
    match found {
        Found::First(commit) => &commit.subject,
        other => panic!("{other:?}"),
    }
}

/// `good` so many times, then `bad`.
fn history(good: usize, bad: usize) -> Vec<String> {
    let words = (0..good).map(|n| format!("good {n}"));
    words.chain((0..bad).map(|n| format!("bad {n}"))).collect()
}

#[test]
fn the_first_bad_one_of_a_line_is_found_in_few_steps() {
    // Including the good end, this takes at most five builds, or six if only the bad end is bad.
    let words: Vec<String> = (0..=16).map(|number| number.to_string()).collect();
    let place = Place::linear(&words);
    for at in 1..=16 {
        let (found, tested) = place.walk_by("c0", "c16", &|word| {
            let is_good = word.parse::<u32>().unwrap() < at;
            Some(if is_good { Verdict::Good } else { Verdict::Bad })
        });
        assert_eq!(first(&found), at.to_string());
        let most = if at == 16 { 5 } else { 4 };
        assert!(tested.len() <= most, "{at}: {tested:?}");
        let mut once = tested.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), tested.len(), "{tested:?}");
    }
}

#[test]
fn an_end_that_is_known_to_be_bad_is_not_tested_and_equal_ends_hold_nothing() {
    let place = Place::linear(&history(3, 6));
    let (found, tested) = place.walk("c0", "c8");
    assert!(!tested.contains(&"bad 5".to_owned()), "{tested:?}");
    assert_eq!(first(&found), "bad 0");
    assert_eq!(place.walk("c0", "c2").0, Found::Nothing);
}

#[test]
fn what_does_not_build_is_skipped() {
    let words = "good 0,good 1,good 2,broken,bad 0,bad 1,bad 2";
    let place = Place::linear(&words.split(',').collect::<Vec<_>>());
    let (found, tested) = place.walk("c0", "c6");
    assert!(tested.contains(&"broken".to_owned()), "{tested:?}");
    // The commit that does not build may have made the change.
    let Found::OneOf(commits) = found else {
        panic!("{found:?}")
    };
    let mut subjects: Vec<_> = commits.iter().map(|commit| &commit.subject[..]).collect();
    subjects.sort_unstable();
    assert_eq!(subjects, ["bad 0", "broken"]);

    let words = "good 0,good 1,broken,good 2,bad 0,bad 1,bad 2";
    let place = Place::linear(&words.split(',').collect::<Vec<_>>());
    let (found, _) = place.walk("c0", "c6");
    assert_eq!(first(&found), "bad 0");
}

#[test]
fn a_bad_end_that_cannot_be_tested_is_reported() {
    let place = Place::linear(&["good 0", "good 1", "broken"]);
    let end = place.open().commit("c2").unwrap();
    assert_eq!(place.walk("c0", "c2").0, Found::OneOf(vec![end]));
}

#[test]
fn a_merge_is_walked() {
    let place = Place::linear(&["good 0", "good 1"]);
    place.line("checkout -q -b side");
    for word in ["good side 0", "bad side", "bad side 1"] {
        // The files differ from those on the main line, so that the two can be merged.
        fs::write(place.repository().join("side"), word).unwrap();
        place.line("add side");
        place.git(&["commit", "-q", "-m", word]);
    }
    place.line("checkout -q main");
    for word in ["good 2", "good 3"] {
        place.commit(word);
    }
    place.line("merge -q --no-ff -m merge side");
    place.line("tag end");
    let (found, _) = place.walk("c0", "end");
    assert_eq!(first(&found), "bad side");
    let repository = place.open();
    let end = repository.commit("end").unwrap();
    assert_eq!(repository.parents(&end).unwrap().len(), 2);
}

#[test]
fn one_that_was_interrupted_is_walked_again() {
    let place = Place::linear(&["good 0", "good 1", "end", "bad 0", "bad 1"]);
    assert_eq!(place.walk("c0", "c4").0, Found::Cancelled);
    let (found, _) = place.walk("c0", "c3");
    assert_eq!(found, Found::Cancelled);
    let (found, _) = place.walk("c0", "c1");
    assert_eq!(found, Found::Nothing);
}

#[test]
fn checkouts_of_the_user_stay_as_they_are() {
    let place = Place::linear(&history(4, 4));
    let file = place.repository().join("word");
    fs::write(&file, "edited").unwrap();
    fs::write(place.repository().join("new"), "new").unwrap();
    let state = || ["rev-parse HEAD", "status --short"].map(|line| place.line(line));
    let before = state();
    let (found, _) = place.walk("c0", "c7");
    assert_eq!(first(&found), "bad 0");
    assert_eq!(state(), before);
    assert_eq!(fs::read_to_string(&file).unwrap(), "edited");
    // A `git bisect` that the user started in the checkout is left alone.
    place.line("stash -q");
    place.line("bisect start c7 c0");
    let log = place.line("bisect log");
    place.walk("c0", "c7");
    assert_eq!(place.line("bisect log"), log);
}

#[test]
fn files_that_do_not_differ_keep_their_times() {
    let place = Place::linear(&["good 0", "bad 0"]);
    fs::write(place.repository().join("same"), "same").unwrap();
    place.line("add same");
    place.git(&["commit", "-q", "-m", "bad 1"]);
    place.commit("bad 2");
    let repository = place.open();
    let commits = ["main~1", "main"].map(|name| repository.commit(name).unwrap());
    let cache = place.dir.path().join("cache");
    let time = |tree: &Tree, file: &str| {
        let metadata = fs::metadata(tree.dir().join(file));
        metadata.unwrap().modified().unwrap()
    };
    let tree = Tree::open(&repository, &cache, &commits[0], &mut || {}).unwrap();
    let (same, word) = (time(&tree, "same"), time(&tree, "word"));
    std::thread::sleep(std::time::Duration::from_millis(20));
    tree.check_out(&commits[1]).unwrap();
    assert_eq!(time(&tree, "same"), same);
    assert_ne!(time(&tree, "word"), word);
}

/// The worktree is removed at the end. Files that a killed lsmeter left do no harm.
#[test]
fn nothing_is_left_of_the_worktree() {
    let place = Place::linear(&["good 0", "good 1", "bad 0"]);
    let repository = place.open();
    let path = Tree::path(&place.dir.path().join("cache"), &repository);
    let refs = place.line("for-each-ref");
    let is_gone = || {
        assert!(!path.exists());
        assert_eq!(place.line("worktree list").lines().count(), 1);
        assert_eq!(place.line("for-each-ref"), refs);
    };
    assert_eq!(first(&place.walk("c0", "c2").0), "bad 0");
    is_gone();
    // A worktree of which a part was not removed.
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join(".git"), "gitdir: /none").unwrap();
    assert_eq!(first(&place.walk("c0", "c2").0), "bad 0");
    is_gone();
    place.git(&["worktree", "add", "-q", path.to_str().unwrap(), "c1"]);
    place.git(&["worktree", "lock", path.to_str().unwrap()]);
    let refs = place.line("for-each-ref");
    assert_eq!(first(&place.walk("c0", "c2").0), "bad 0");
    assert!(!path.exists());
    assert_eq!(place.line("for-each-ref"), refs);
}

/// The configuration, hooks and attributes each name a program, which would write a file if it ran.
#[test]
fn nothing_that_a_repository_names_is_run() {
    let place = Place::linear(&history(3, 3));
    let canary = place.dir.path().join("canary");
    let program = place.dir.path().join("program");
    let script = format!("#!/bin/sh\necho $0 >>{}\ncat\n", canary.display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let git_dir = place.repository().join(".git");
    fs::create_dir_all(git_dir.join("hooks")).unwrap();
    for hook in [
        "post-checkout",
        "reference-transaction",
        "post-index-change",
    ] {
        fs::copy(&program, git_dir.join("hooks").join(hook)).unwrap();
    }
    let run = program.display();
    let filter = |name: &str| {
        format!("[filter \"{name}\"]\nsmudge = {run}\nclean = {run}\nrequired = true\n")
    };
    // This filter is defined only in lsmeter's worktree.
    let only = place.dir.path().join("only");
    fs::write(&only, filter("there")).unwrap();
    let here = format!(
        "[core]\nfsmonitor = {run}\nsshCommand = {run}\npager = {run}\n\
         [filter \"process\"]\nprocess = {run}\n[includeIf \"gitdir:**/worktrees/**\"]\npath = {}\n{}",
        only.display(),
        filter("a.b")
    );
    let config = fs::read_to_string(git_dir.join("config")).unwrap() + &here;
    let attributes = |name: &str| format!("word filter={name}\n");

    for name in ["a.b", "process", "there"] {
        fs::create_dir_all(git_dir.join("info")).unwrap();
        fs::write(git_dir.join("info/attributes"), attributes(name)).unwrap();
        fs::write(git_dir.join("config"), &config).unwrap();
        let (found, _) = place.walk("c0", "c5");
        assert_eq!(first(&found), "bad 0", "{name}");
        let ran = fs::read_to_string(&canary).unwrap_or_default();
        assert_eq!(ran, "", "{name}");
        let _ = fs::remove_dir_all(place.dir.path().join("cache"));
    }
    // This name cannot be part of a git option.
    fs::write(git_dir.join("config"), filter("a=b")).unwrap();
    let refused = Repository::open(&place.repository()).unwrap_err();
    assert!(refused.to_string().contains("`a=b`"), "{refused}");
}

#[test]
fn objects_that_are_missing_are_not_fetched() {
    let place = Place::linear(&["good 0", "bad 0"]);
    let canary = place.dir.path().join("canary");
    let config = place.repository().join(".git/config");
    let url = format!("ext::touch {}", canary.display());
    let more = format!(
        "[remote \"origin\"]\nurl = {url}\npromisor = true\n[protocol \"ext\"]\n\
         allow = always\n[protocol]\nallow = always\n[extensions]\npartialClone = origin\n\
         [core]\nrepositoryFormatVersion = 1\n"
    );
    let old = fs::read_to_string(&config).unwrap();
    fs::write(&config, old + &more).unwrap();
    let blob = place.line("rev-parse c1:word");
    let object = place.repository().join(".git/objects").join(&blob[..2]);
    fs::remove_file(object.join(&blob[2..])).unwrap();
    let repository = place.open();
    let commit = repository.commit("c1").unwrap();
    let cache = place.dir.path().join("cache");
    let opened = Tree::open(&repository, &cache, &commit, &mut || {});
    let error = opened.unwrap_err();
    assert_eq!(error.exit(), Exit::Environment, "{error}");
    let hint = error.hint().unwrap();
    assert!(hint.contains("partial clone"), "{error}: {hint}");
    assert!(!canary.exists());
}

fn refused(error: kernels::Error) -> (String, String) {
    assert_eq!(error.exit(), Exit::Usage, "{error}");
    (error.to_string(), error.hint().unwrap().to_owned())
}

#[test]
fn what_names_no_commit_is_refused() {
    let place = Place::linear(&["good 0", "bad 0"]);
    let repository = place.open();
    for bad in ["no-such", "", "-n", "c0:word"] {
        let (what, hint) = refused(repository.commit(bad).unwrap_err());
        assert!(what.contains("is not a commit"), "{what}");
        assert!(hint.contains("git log"), "{hint}");
    }
}

#[test]
fn ends_must_be_of_one_line() {
    let place = Place::linear(&["good 0", "good 1", "bad 0"]);
    place.line("checkout -q -b side c1");
    place.line("commit -q --allow-empty -m side");
    let repository = place.open();
    let commit = |name| repository.commit(name).unwrap();
    let side = repository.range(&commit("side"), &commit("c2"));
    let (_, hint) = refused(side.unwrap_err());
    assert!(hint.contains("common ancestor"), "{hint}");
    assert_eq!(repository.range(&commit("c0"), &commit("c2")).unwrap(), 2);
}
