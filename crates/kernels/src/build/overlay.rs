// SPDX-License-Identifier: GPL-2.0-or-later
//! A changed view of a source tree, which itself is not written to. The view consists of symbolic
//! links, except for changed files and the directories above them. Edits in the tree take effect at
//! once, and make rebuilds only the files that depend on them.

use crate::error::Error;
use crate::files;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// In bytes.
const FILE_LIMIT: u64 = 1 << 20;

pub(crate) fn text_of(tree: &Path, path: &str) -> Result<String, Error> {
    let text = files::read(&tree.join(path), FILE_LIMIT)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

pub(super) fn edited(
    tree: &Path,
    path: &str,
    edit: impl Fn(&str) -> Option<String>,
    reason: &str,
    hint: &str,
) -> Result<String, Error> {
    edit(&text_of(tree, path)?).ok_or_else(|| unfit(tree, path, reason.to_owned(), hint))
}

pub(crate) fn unfit(tree: &Path, path: &str, reason: String, hint: &str) -> Error {
    Error::Unsupported {
        what: format!("{path} of {}", tree.display()),
        reason,
        hint: Some(hint.to_owned()),
    }
}

/// Directory of objects in the view. It is directly below the top, so that makefiles name sources
/// as `../fs/open.c`, and ccache finds objects wherever the view is.
pub(super) const OBJECTS: &str = "obj";

/// Makes or updates the view. `changed`: path relative to the tree → text.
pub(super) fn update(
    tree: &Path,
    view: &Path,
    changed: &BTreeMap<PathBuf, String>,
) -> Result<(), Error> {
    let above = changed.keys().flat_map(|path| path.ancestors().skip(1));
    // The set is sorted, so a directory comes before its contents.
    let real: BTreeSet<&Path> = above.chain([Path::new("")]).collect();
    for dir in &real {
        update_directory(tree, view, dir, changed, &real)?;
    }
    Ok(())
}

fn update_directory(
    tree: &Path,
    view: &Path,
    dir: &Path,
    changed: &BTreeMap<PathBuf, String>,
    real: &BTreeSet<&Path>,
) -> Result<(), Error> {
    let target = view.join(dir);
    let is_top = dir.as_os_str().is_empty();
    if fs::symlink_metadata(&target).is_ok_and(|m| !m.is_dir()) {
        fs::remove_file(&target).map_err(Error::io("remove", &target))?;
    }
    files::create_dir(&target)?;
    let mut kept: BTreeSet<OsString> = BTreeSet::new();
    for name in names(&tree.join(dir))? {
        let path = dir.join(&name);
        // Files of git and editors are not source; a version string made from `.git` would change
        // with every commit.
        let hidden = is_top && (name.as_encoded_bytes().starts_with(b".") || name == OBJECTS);
        if hidden || changed.contains_key(&path) || real.contains(path.as_path()) {
            continue;
        }
        link(&tree.join(&path), &view.join(&path))?;
        kept.insert(name);
    }
    for (path, text) in changed.iter().filter(|(p, _)| p.parent() == Some(dir)) {
        write(&view.join(path), text)?;
        kept.extend(path.file_name().map(OsString::from));
    }
    let below = real.iter().filter(|p| p.parent() == Some(dir));
    kept.extend(below.filter_map(|p| p.file_name().map(OsString::from)));
    if is_top {
        kept.insert(OBJECTS.into());
    }
    for name in names(&target)? {
        if !kept.contains(&name) {
            remove(&target.join(&name))?;
        }
    }
    Ok(())
}

fn names(dir: &Path) -> Result<Vec<OsString>, Error> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(Error::io("list", dir)(e)),
    };
    entries
        .map(|entry| entry.map(|e| e.file_name()))
        .collect::<io::Result<Vec<OsString>>>()
        .map_err(Error::io("list", dir))
}

fn link(to: &Path, at: &Path) -> Result<(), Error> {
    match fs::read_link(at) {
        Ok(old) if old == to => return Ok(()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        _ => remove(at)?,
    }
    symlink(to, at).map_err(Error::io("create", at))
}

/// Writes only if there is a difference, because an unchanged file causes no rebuild.
fn write(path: &Path, text: &str) -> Result<(), Error> {
    let is_file = fs::symlink_metadata(path).map(|m| m.is_file());
    match is_file {
        Ok(true) if fs::read(path).is_ok_and(|old| old == text.as_bytes()) => return Ok(()),
        Ok(true) | Err(_) => {}
        Ok(false) => remove(path)?,
    }
    files::write(path, text.as_bytes())
}

fn remove(path: &Path) -> Result<(), Error> {
    let is_dir = fs::symlink_metadata(path).is_ok_and(|m| m.is_dir());
    let removed = if is_dir {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    removed.map_err(Error::io("remove", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::put;

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("tree/Makefile", "top"),
            ("tree/fs/open.c", "open"),
            ("tree/security/Kconfig", "old"),
            ("tree/security/smack/a.c", "a"),
            ("tree/.git/HEAD", "x"),
        ] {
            put(dir.path(), path, text);
        }
        dir
    }

    fn changes() -> BTreeMap<PathBuf, String> {
        BTreeMap::from([
            ("security/Kconfig".into(), "new".into()),
            ("security/tunable/Makefile".into(), "obj-y".into()),
        ])
    }

    #[test]
    fn a_view_shows_the_tree_and_the_changes() {
        let dir = tree();
        let (tree, view) = (dir.path().join("tree"), dir.path().join("view"));
        update(&tree, &view, &changes()).unwrap();
        let text = |path: &str| fs::read_to_string(view.join(path)).unwrap();
        assert_eq!(text("fs/open.c"), "open");
        assert_eq!(text("security/Kconfig"), "new");
        assert_eq!(text("security/tunable/Makefile"), "obj-y");
        assert_eq!(text("security/smack/a.c"), "a");
        assert!(!view.join(".git").exists());
        assert_eq!(
            fs::read_to_string(tree.join("security/Kconfig")).unwrap(),
            "old"
        );
        assert!(!tree.join("security/tunable").exists());
        assert!(!tree.join(OBJECTS).exists());
    }

    #[test]
    fn an_update_touches_only_what_changed() {
        let dir = tree();
        let (tree, view) = (dir.path().join("tree"), dir.path().join("view"));
        update(&tree, &view, &changes()).unwrap();
        put(&view, "obj/a.o", "object");
        let modified = |path: &str| fs::metadata(view.join(path)).unwrap().modified().unwrap();
        let before = modified("security/Kconfig");
        fs::write(tree.join("security/new.c"), "c").unwrap();
        fs::remove_file(tree.join("Makefile")).unwrap();
        update(&tree, &view, &changes()).unwrap();
        assert_eq!(modified("security/Kconfig"), before);
        assert!(view.join("security/new.c").exists());
        assert!(fs::symlink_metadata(view.join("Makefile")).is_err());
        assert!(view.join("obj/a.o").exists());
        update(&tree, &view, &BTreeMap::new()).unwrap();
        assert!(
            fs::symlink_metadata(view.join("security"))
                .unwrap()
                .is_symlink()
        );
        assert_eq!(
            fs::read_to_string(view.join("security/Kconfig")).unwrap(),
            "old"
        );
        assert!(view.join("obj/a.o").exists());
        assert!(tree.join("security/smack/a.c").exists());
    }
}
