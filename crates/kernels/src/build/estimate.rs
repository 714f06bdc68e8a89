// SPDX-License-Identifier: GPL-2.0-or-later
//! How many objects a configuration compiles, as the makefiles say.

use super::fragment::Config;
use crate::files;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const FILE_LIMIT: u64 = 1 << 20;
const MOST_DIRECTORIES: usize = 10_000;
const DEEPEST: usize = 24;

/// Counts the objects of the tree at `top`: names that lists like
/// `obj-$(CONFIG_X) += a.o dir/` and `a-y := b.o` hold. An estimate: what
/// makefiles compute is not seen, and it errs by some per cent. `arch` is the directory
/// below `arch` that is built.
pub(super) fn objects(top: &Path, arch: &str, config: &Config) -> u64 {
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    // The directories that the top makefile links; those of the architecture, below,
    // and, from 6.1 on, the ones that Kbuild lists.
    for dir in [
        "init", "usr", "kernel", "certs", "mm", "fs", "ipc", "security", "crypto", "block",
        "io_uring", "lib", "drivers", "sound", "net", "virt",
    ] {
        visit(top, Path::new(dir), config, 0, &mut seen, &mut found);
    }
    let own = Path::new("arch").join(arch);
    for dir in ["", "lib", "boot"] {
        visit(top, &own.join(dir), config, 0, &mut seen, &mut found);
    }
    found.len() as u64
}

fn visit(
    top: &Path,
    dir: &Path,
    config: &Config,
    depth: usize,
    seen: &mut BTreeSet<PathBuf>,
    found: &mut BTreeSet<PathBuf>,
) {
    if depth > DEEPEST || seen.len() >= MOST_DIRECTORIES || !seen.insert(dir.to_path_buf()) {
        return;
    }
    let read = |name: &str| files::read(&top.join(dir).join(name), FILE_LIMIT).ok();
    let Some(text) = read("Kbuild").or_else(|| read("Makefile")) else {
        return;
    };
    let text = String::from_utf8_lossy(&text).replace("\\\n", " ");
    for word in text.lines().flat_map(|line| listed(line, config)) {
        let path = Path::new(word);
        if path.is_absolute() || word.contains("..") || word.contains('$') {
            continue;
        }
        if word.ends_with('/') {
            visit(top, &dir.join(path), config, depth + 1, seen, found);
        } else if word.ends_with(".o") {
            let object = dir.join(path);
            let source = top.join(&object);
            // A composite object has no source of its own.
            if ["c", "S"].iter().any(|e| source.with_extension(e).exists()) {
                found.insert(object);
            }
        }
    }
}

/// The words of a line that adds to a list which is built in.
fn listed<'a>(line: &'a str, config: &Config) -> Vec<&'a str> {
    let line = line.split('#').next().unwrap_or("");
    let Some((name, words)) = line.split_once('=') else {
        return Vec::new();
    };
    let name = name.trim_end_matches(['+', ':', '?']).trim();
    let is_in = |(_, state): (&str, &str)| match state.strip_prefix("$(CONFIG_") {
        Some(option) => config.value(option.trim_end_matches(')')) == "y",
        None => matches!(state, "y" | "objs"),
    };
    if name.rsplit_once('-').is_some_and(is_in) {
        words.split_whitespace().collect()
    } else {
        Vec::new()
    }
}

/// How many objects are in a directory of objects already.
pub(super) fn existing(objects: &Path) -> u64 {
    let is_object = |path: &&PathBuf| {
        path.extension().is_some_and(|e| e == "o")
            && !path.starts_with(objects.join("scripts"))
            && !path.starts_with(objects.join("tools"))
    };
    let found = files::walk(objects).unwrap_or_default();
    found.iter().filter(is_object).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::put;

    #[test]
    fn lists_are_followed() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| put(dir.path(), path, text);
        put(
            "fs/Makefile",
            "obj-y := open.o \\\n\tread.o # old.o\nobj-$(CONFIG_A) += a/\nobj-$(CONFIG_B) += b.o\n\
             obj-y += ../x.o /etc/passwd.o fs/\n",
        );
        put(
            "fs/a/Makefile",
            "obj-$(CONFIG_A) += whole.o\nwhole-y := part.o asm.o\n",
        );
        for source in ["open.c", "read.c", "b.c", "a/part.c", "a/asm.S"] {
            put(&format!("fs/{source}"), "");
        }
        let config = Config::parse("CONFIG_A=y\n");
        assert_eq!(objects(dir.path(), "any", &config), 4);
        assert_eq!(
            objects(dir.path(), "any", &Config::parse("CONFIG_B=y\n")),
            3
        );
        put("obj/a.o", "");
        put("obj/scripts/b.o", "");
        put("obj/fs/c.o", "");
        assert_eq!(existing(&dir.path().join("obj")), 2);
        assert_eq!(existing(&dir.path().join("none")), 0);
    }
}
