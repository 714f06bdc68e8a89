// SPDX-License-Identifier: GPL-2.0-or-later
//! Adds the Tunable Security Module to a kernel tree. Decisions depend on files, never on versions.

use super::overlay::{edited, text_of, unfit};
use crate::error::Error;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const DIRECTORY: &str = "security/tunable";
const KCONFIG: &str = "security/Kconfig";
const MAKEFILE: &str = "security/Makefile";
/// From 6.12 on: the number of static calls per hook.
const COUNT: &str = "include/linux/lsm_count.h";

const WITHOUT: &str = "build without the module: give --config FILE with `# \
                       CONFIG_SECURITY_TUNABLE is not set`";

macro_rules! module_files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"), "/../sensitivity/kernel/", $name
        )))),*]
    };
}

const FILES: [(&str, &str); 11] = module_files![
    "Kconfig",
    "Makefile",
    "asked.c",
    "asked.h",
    "asked_file.c",
    "control.c",
    "hook_args.awk",
    "label.c",
    "points.h",
    "tunable.c",
    "tunable.h",
];

/// Contains `COUNT_ARGS`, which counts up to a literal number.
const ARGS: &str = "include/linux/args.h";

/// Lists all hooks with their arguments.
const HOOKS: &str = "include/linux/lsm_hook_defs.h";

/// Whether hooks take a mount's id mapping, as the module's functions do.
pub(super) fn is_possible(tree: &Path) -> bool {
    let has = |text: String| {
        ["mnt_userns", "mnt_idmap"]
            .iter()
            .any(|mapping| text.contains(mapping))
    };
    text_of(tree, HOOKS).is_ok_and(has)
}

/// Changed files by path; none for a tree with its own `security/tunable`.
pub(super) fn changes(tree: &Path) -> Result<BTreeMap<PathBuf, String>, Error> {
    let mut changed = BTreeMap::new();
    if tree.join(DIRECTORY).join("Kconfig").exists() {
        return Ok(changed);
    }
    if !is_possible(tree) {
        let reason =
            "the Tunable Security Module needs the hooks of Linux 5.12 or later".to_owned();
        return Err(unfit(tree, HOOKS, reason, WITHOUT));
    }
    let mut change = |path: &str, edit: fn(&str) -> Option<String>, anchor: &str| {
        let reason = format!("the Tunable Security Module does not fit: the file has no {anchor}");
        let text = edited(tree, path, edit, &reason, WITHOUT)?;
        changed.insert(PathBuf::from(path), text);
        Ok(())
    };
    change(
        KCONFIG,
        edit_kconfig,
        "line `source \"security/…/Kconfig\"`",
    )?;
    change(
        MAKEFILE,
        edit_makefile,
        "line `obj-$(CONFIG_SECURITY_…) += …/`",
    )?;
    if tree.join(COUNT).exists() {
        change(COUNT, edit_count, "list `MAX_LSM_COUNT` of modules")?;
        let modules = changed.get(Path::new(COUNT)).map_or(0, |text| listed(text));
        let most = text_of(tree, ARGS).ok().and_then(|text| counts_to(&text));
        if let Some(most) = most.filter(|most| modules > *most) {
            let reason = format!(
                "COUNT_ARGS counts only to {most}, but with the Tunable Security Module there are \
                 {modules} modules"
            );
            return Err(unfit(tree, ARGS, reason, WITHOUT));
        }
    }
    for (name, text) in FILES {
        changed.insert(Path::new(DIRECTORY).join(name), text.to_owned());
    }
    Ok(changed)
}

fn edit_kconfig(text: &str) -> Option<String> {
    let is_module = |line: &str| {
        let path = line.strip_prefix("source \"security/");
        path.is_some_and(|p| p.ends_with("/Kconfig\""))
    };
    insert_after_last(text, &is_module, "source \"security/tunable/Kconfig\"")
}

fn edit_makefile(text: &str) -> Option<String> {
    let is_module =
        |line: &str| line.starts_with("obj-$(CONFIG_SECURITY_") && line.trim_end().ends_with('/');
    let line = "obj-$(CONFIG_SECURITY_TUNABLE)\t\t+= tunable/";
    insert_after_last(text, &is_module, line)
}

/// Adds the module's term to the end of the list, and its definition before the list.
fn edit_count(text: &str) -> Option<String> {
    const DEFINITION: &str = "#if IS_ENABLED(CONFIG_SECURITY_TUNABLE)\n\
        #define TUNABLE_ENABLED 1,\n#else\n#define TUNABLE_ENABLED\n#endif\n\n";
    let list = text
        .match_indices("#define MAX_LSM_COUNT")
        .map(|(at, _)| at)
        .find(|&at| {
            let line = text[at..].lines().next().unwrap_or("");
            line.trim_end().ends_with('\\')
        })?;
    let end = list + text[list..].find("_ENABLED)")? + "_ENABLED".len();
    let between = &text[list..end];
    // The list must be one macro, so every line except the last must be continued.
    if !between.lines().rev().skip(1).all(|l| l.ends_with('\\')) {
        return None;
    }
    let (head, tail) = (&text[..list], &text[end..]);
    Some(format!(
        "{head}{DEFINITION}{between}\t\t\\\n\t\tTUNABLE_ENABLED{tail}"
    ))
}

fn listed(text: &str) -> usize {
    let list = text
        .split_once("COUNT_LSMS(\t")
        .or(text.split_once("COUNT_LSMS( "));
    let list = list.and_then(|(_, rest)| rest.split_once(')'));
    list.map_or(0, |(list, _)| list.matches("_ENABLED").count())
}

fn counts_to(text: &str) -> Option<usize> {
    let (_, rest) = text.split_once("__COUNT_ARGS(, ##X, ")?;
    rest.split(',').next()?.trim().parse().ok()
}

fn insert_after_last(text: &str, is_anchor: &dyn Fn(&str) -> bool, line: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.iter().rposition(|line| is_anchor(line))?;
    let mut out = String::with_capacity(text.len() + line.len() + 1);
    for (at, old) in lines.iter().enumerate() {
        out += old;
        out.push('\n');
        if at == last {
            out += line;
            out.push('\n');
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::put;
    use std::fs;

    const COUNT_TEXT: &str = "#define IPE_ENABLED 1,\n#define MAX_LSM_COUNT\t\\\n\
        \tCOUNT_LSMS(\t\\\n\t\tEVM_ENABLED\t\\\n\t\tIPE_ENABLED)\n#else\n\
        #define MAX_LSM_COUNT 0\n#endif\n";

    fn tree(count: Option<&str>) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let put = |path, text| put(dir.path(), path, text);
        put(
            KCONFIG,
            "menu \"x\"\nsource \"security/yama/Kconfig\"\nendmenu\n",
        );
        put(
            MAKEFILE,
            "obj-$(CONFIG_SECURITY_YAMA)\t+= yama/\nobj-$(CONFIG_SECURITY)\t+= a.o\n",
        );
        put(
            HOOKS,
            "LSM_HOOK(int, 0, inode_removexattr, struct mnt_idmap *idmap)\n",
        );
        if let Some(text) = count {
            put(COUNT, text);
        }
        dir
    }

    #[test]
    fn it_is_put_into_a_tree_that_counts_modules() {
        let dir = tree(Some(COUNT_TEXT));
        let changed = changes(dir.path()).unwrap();
        let text = |path: &str| changed[Path::new(path)].as_str();
        assert!(text(KCONFIG).contains("yama/Kconfig\"\nsource \"security/tunable/Kconfig\"\nend"));
        assert!(text(MAKEFILE).contains("yama/\nobj-$(CONFIG_SECURITY_TUNABLE)\t\t+= tunable/\n"));
        let count = text(COUNT);
        assert!(
            count.contains("IPE_ENABLED\t\t\\\n\t\tTUNABLE_ENABLED)\n#else"),
            "{count}"
        );
        let definition = count.find("#define TUNABLE_ENABLED 1,").unwrap();
        assert!(definition < count.find("#define MAX_LSM_COUNT").unwrap());
        assert!(text("security/tunable/Kconfig").contains("config SECURITY_TUNABLE"));
        assert_eq!(changed.len(), 3 + FILES.len());
    }

    #[test]
    fn no_file_of_the_module_is_left_behind() {
        let module = concat!(env!("CARGO_MANIFEST_DIR"), "/../sensitivity/kernel");
        let mut names: Vec<_> = fs::read_dir(module)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "README.md")
            .collect();
        names.sort();
        assert_eq!(names, FILES.map(|(name, _)| name));
    }

    #[test]
    fn a_tree_whose_macro_counts_less_far_is_refused() {
        let dir = tree(Some(COUNT_TEXT));
        let args = dir.path().join(ARGS);
        let text = |most| format!("#define COUNT_ARGS(X...) __COUNT_ARGS(, ##X, {most}, 1, 0)\n");
        fs::write(&args, text(3)).unwrap();
        changes(dir.path()).unwrap();
        fs::write(&args, text(2)).unwrap();
        let error = changes(dir.path()).unwrap_err();
        assert!(error.to_string().contains("counts only to 2"), "{error}");
        assert!(error.to_string().contains("3 modules"), "{error}");
    }

    #[test]
    fn a_tree_without_a_place_for_it_is_refused() {
        for (path, text) in [
            (KCONFIG, "menu \"x\"\n"),
            (MAKEFILE, "obj-y += a.o\n"),
            (COUNT, "#define MAX_LSM_COUNT 12\n"),
            (
                COUNT,
                "#define MAX_LSM_COUNT \\\n 3\n#define X(A_ENABLED)\n",
            ),
        ] {
            let dir = tree(Some(COUNT_TEXT));
            fs::write(dir.path().join(path), text).unwrap();
            let error = changes(dir.path()).unwrap_err();
            assert!(error.to_string().contains(path), "{error}");
            assert!(error.hint().unwrap().contains("SECURITY_TUNABLE"));
        }
    }

    #[test]
    fn a_tree_with_older_hooks_is_refused() {
        let dir = tree(None);
        let hooks = dir.path().join(HOOKS);
        assert!(is_possible(dir.path()));
        fs::write(
            &hooks,
            "LSM_HOOK(int, 0, inode_removexattr, struct dentry *dentry)",
        )
        .unwrap();
        assert!(!is_possible(dir.path()));
        fs::remove_file(&hooks).unwrap();
        assert!(!is_possible(dir.path()));
        let error = changes(dir.path()).unwrap_err();
        assert!(error.to_string().contains("Linux 5.12 or later"), "{error}");
    }

    #[test]
    fn a_tree_that_has_it_stays_as_it_is() {
        let dir = tree(None);
        put(&dir.path().join(DIRECTORY), "Kconfig", "");
        assert!(changes(dir.path()).unwrap().is_empty());
    }
}
