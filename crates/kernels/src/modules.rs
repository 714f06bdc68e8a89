// SPDX-License-Identifier: GPL-2.0-or-later
//! A kernel's modules and their dependencies.
//!
//! Debian's packages have no `modules.dep`, which is made at installation; dependencies are then
//! read from the modules.

use crate::arch::Arch;
use crate::decompress::{self, Format};
use crate::error::Error;
use crate::{files, modinfo};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

const LIST_LIMIT: u64 = 32 << 20;
/// In bytes; a module with debugging information can have 100 MiB.
const MODULE_LIMIT: usize = 192 << 20;
/// The largest number of dependencies of a module; it is limited because their numbers in the
/// initramfs have two digits.
const MOST_NEEDED: usize = 90;
const DEPTH_LIMIT: usize = 32;

#[derive(Debug)]
pub struct ModuleTree {
    arch: &'static Arch,
    dir: PathBuf,
    builtin: BTreeSet<String>,
    files: BTreeMap<String, ModuleFile>,
    dependencies: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Clone)]
struct ModuleFile {
    path: PathBuf,
    installed: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// The name, in which `_` replaces `-`.
    pub name: String,
    pub elf: Vec<u8>,
}

impl ModuleTree {
    /// Reads the lists in `dir`, or searches it for modules.
    pub fn open(dir: &Path, arch: &'static Arch) -> Result<ModuleTree, Error> {
        let list = |name: &str| -> Result<Option<String>, Error> {
            let path = dir.join(name);
            if !path.is_file() {
                return Ok(None);
            }
            let text = files::read(&path, LIST_LIMIT)?;
            Ok(Some(String::from_utf8_lossy(&text).into_owned()))
        };
        let builtin = list("modules.builtin")?.unwrap_or_default();
        let mut tree = ModuleTree {
            arch,
            dir: dir.to_path_buf(),
            builtin: builtin.lines().map(name_of).collect(),
            files: BTreeMap::new(),
            dependencies: BTreeMap::new(),
        };
        // Source trees have a directory `kernel` too.
        if dir.join("include/config").is_dir() {
            for line in list("modules.order")?.unwrap_or_default().lines() {
                tree.add_built(line.trim());
            }
        } else if dir.join("kernel").is_dir() {
            for path in files::walk(&dir.join("kernel"))? {
                if let Some(installed) = path.strip_prefix(dir).ok().and_then(Path::to_str) {
                    tree.add(path.clone(), installed);
                }
            }
        }
        for line in list("modules.dep")?.unwrap_or_default().lines() {
            if let Some((module, needed)) = line.split_once(':') {
                // Each line lists all dependencies, the most dependent first.
                let needed = needed.split_whitespace().rev().map(name_of).collect();
                tree.dependencies.insert(name_of(module), needed);
            }
        }
        Ok(tree)
    }

    pub fn is_builtin(&self, name: &str) -> bool {
        self.builtin.contains(&normal(name))
    }

    pub fn contains(&self, name: &str) -> bool {
        self.files.contains_key(&normal(name))
    }

    pub fn files(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.files
            .values()
            .map(|file| (file.path.as_path(), file.installed.as_str()))
    }

    /// The modules to load, dependencies first, without built-in ones. Soft dependencies (`softdep:
    /// pre`) are followed if they exist.
    pub fn load_order(&self, names: &[&str]) -> Result<Vec<Module>, Error> {
        let mut order = Order {
            tree: self,
            seen: BTreeSet::new(),
            modules: Vec::new(),
        };
        for name in names {
            order.add(&normal(name), None, 0)?;
        }
        Ok(order.modules)
    }

    fn add(&mut self, path: PathBuf, installed: &str) {
        if is_module(installed) {
            let file = ModuleFile {
                path,
                installed: installed.to_string(),
            };
            self.files.entry(name_of(installed)).or_insert(file);
        }
    }

    /// A line of `modules.order`. It begins with `kernel/`; from 6.2 on it names an object.
    fn add_built(&mut self, line: &str) {
        let path = line.strip_prefix("kernel/").map_or(line, |rest| {
            if self.dir.join(rest.replace(".o", ".ko")).is_file() {
                rest
            } else {
                line
            }
        });
        let path = match path.strip_suffix(".o") {
            Some(stem) => format!("{stem}.ko"),
            None => path.to_string(),
        };
        let relative = Path::new(&path);
        let is_inside = relative
            .components()
            .all(|c| matches!(c, Component::Normal(_)));
        let full = self.dir.join(relative);
        if is_inside && !path.is_empty() && full.is_file() {
            self.add(full, &format!("kernel/{path}"));
        }
    }

    fn read(&self, file: &ModuleFile) -> Result<Vec<u8>, Error> {
        let data = files::read(&file.path, MODULE_LIMIT as u64)?;
        let elf = match Format::detect(&data) {
            Some(format) => decompress::decompress(format, &data, MODULE_LIMIT)
                .map_err(|e| Error::damaged(file.path.display(), e))?,
            None => data,
        };
        if !crate::elf::File::parse(&elf).is_ok_and(|file| file.arch == self.arch) {
            let reason = format!("it is not a module for {}", self.arch.title);
            return Err(Error::damaged(file.path.display(), reason));
        }
        Ok(elf)
    }

    /// A module with the name or alias `target`, as in a soft dependency (`crypto-crc32c`,
    /// `sha256`). The generic module is preferred because it loads on any processor.
    fn find_alias(&self, target: &str) -> Option<String> {
        let plain = normal(target.strip_prefix("crypto-").unwrap_or(target));
        if self.files.contains_key(&plain) || self.builtin.contains(&plain) {
            return Some(plain);
        }
        // A built-in module is enough; a faster one may refuse the processor.
        let generic = format!("{plain}_generic");
        if self.builtin.contains(&generic) {
            return Some(generic);
        }
        let stem = plain.split('_').next().unwrap_or(&plain);
        let stem = stem.trim_end_matches(|c: char| c.is_ascii_digit());
        if stem.is_empty() {
            return None;
        }
        let mut found: Vec<&String> = self
            .files
            .iter()
            .filter(|(name, file)| name.starts_with(stem) && file.installed.contains("crypto/"))
            .filter(|(_, file)| {
                self.read(file).is_ok_and(|elf| {
                    let aliases = modinfo::values(&elf, "alias");
                    aliases.iter().any(|alias| {
                        normal(alias.strip_prefix("crypto-").unwrap_or(alias)) == plain
                    })
                })
            })
            .map(|(name, _)| name)
            .collect();
        found.sort_by_key(|name| !name.ends_with("_generic"));
        found.first().map(|name| name.to_string())
    }
}

struct Order<'a> {
    tree: &'a ModuleTree,
    seen: BTreeSet<String>,
    modules: Vec<Module>,
}

impl Order<'_> {
    fn add(&mut self, name: &str, needed_by: Option<&str>, depth: usize) -> Result<(), Error> {
        if self.tree.is_builtin(name) || !self.seen.insert(name.to_string()) {
            return Ok(());
        }
        let what = self.tree.dir.display();
        let Some(file) = self.tree.files.get(name) else {
            let reason = match needed_by {
                Some(other) => format!("the module {name}, which {other} needs, is missing"),
                None => format!("the module {name} is missing"),
            };
            return Err(Error::unsupported(what, reason));
        };
        if depth > DEPTH_LIMIT || self.seen.len() > MOST_NEEDED {
            let reason = format!("{name} needs too many modules");
            return Err(Error::damaged(what, reason));
        }
        let elf = self.tree.read(file)?;
        for target in modinfo::values(&elf, "softdep") {
            let mut words = target.split_whitespace();
            if words.next() != Some("pre:") {
                continue;
            }
            for word in words.take_while(|word| *word != "post:") {
                if let Some(found) = self.tree.find_alias(word) {
                    self.add(&found, Some(name), depth + 1)?;
                }
            }
        }
        let needed = match self.tree.dependencies.get(name) {
            Some(needed) => needed.clone(),
            None => modinfo::values(&elf, "depends")
                .iter()
                .flat_map(|list| list.split(','))
                .filter(|needed| !needed.is_empty())
                .map(normal)
                .collect(),
        };
        for needed in needed {
            self.add(&needed, Some(name), depth + 1)?;
        }
        self.modules.push(Module {
            name: name.to_string(),
            elf,
        });
        Ok(())
    }
}

pub(crate) fn is_module(path: &str) -> bool {
    let mut ends = [".ko", ".ko.xz", ".ko.zst", ".ko.gz"].iter();
    ends.any(|end| path.ends_with(end))
}

fn name_of(path: &str) -> String {
    let file = path.trim().rsplit('/').next().unwrap_or("");
    normal(file.split(".ko").next().unwrap_or(file))
}

fn normal(name: &str) -> String {
    name.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{compress, put};
    use testing::elf::module;

    fn tree(lists: &[(&str, &[u8])], modules: &[(&str, &str)]) -> (tempfile::TempDir, ModuleTree) {
        let dir = tempfile::tempdir().unwrap();
        for (name, data) in lists {
            put(dir.path(), name, data);
        }
        for (name, modinfo) in modules {
            let elf = module(&modinfo.lines().collect::<Vec<_>>());
            let data = match name.rsplit_once(".ko.") {
                Some((_, "xz")) => compress(Format::Xz, &elf),
                Some((_, "gz")) => compress(Format::Gzip, &elf),
                Some(_) => compress(Format::Zstd, &elf),
                None => elf,
            };
            put(dir.path(), name, data);
        }
        let tree = ModuleTree::open(dir.path(), crate::arch::ALL[0]).unwrap();
        (dir, tree)
    }

    fn order(tree: &ModuleTree, names: &[&str]) -> Vec<String> {
        let modules = tree.load_order(names).unwrap();
        modules.into_iter().map(|m| m.name).collect()
    }

    #[test]
    fn dependencies_come_first() {
        let builtin = b"kernel/fs/ext4/ext4.ko\nkernel/lib/libcrc32c.ko\n";
        let (_dir, tree) = tree(
            &[("modules.builtin", builtin)],
            &[
                ("kernel/fs/btrfs/btrfs.ko", "depends=xor,raid6_pq,libcrc32c"),
                ("kernel/lib/raid6/raid6-pq.ko.xz", "depends="),
                ("kernel/crypto/xor.ko.gz", "depends=a"),
                ("kernel/lib/a.ko.zst", "depends="),
                ("kernel/drivers/block/brd.ko", "depends="),
            ],
        );
        assert_eq!(
            order(&tree, &["brd", "btrfs"]),
            ["brd", "a", "xor", "raid6_pq", "btrfs"]
        );
        assert!(tree.load_order(&["ext4"]).unwrap().is_empty());
        assert!(tree.is_builtin("ext4") && tree.contains("raid6-pq"));
    }

    #[test]
    fn modules_dep_counts_where_there_is_one() {
        let dep = b"kernel/fs/a.ko: kernel/fs/b.ko kernel/fs/c.ko\n\
            kernel/fs/b.ko: kernel/fs/c.ko\nkernel/fs/c.ko:\nnonsense\n";
        let (_dir, tree) = tree(
            &[("modules.dep", dep)],
            &[
                ("kernel/fs/a.ko", "depends=wrong"),
                ("kernel/fs/b.ko", ""),
                ("kernel/fs/c.ko", ""),
            ],
        );
        assert_eq!(order(&tree, &["a"]), ["c", "b", "a"]);
    }

    #[test]
    fn soft_dependencies_are_found_by_alias() {
        let several = "softdep=pre: crypto-crc32c sha256 gone post: z";
        let (_dir, tree) = tree(
            &[],
            &[
                ("kernel/fs/f.ko", several),
                (
                    "kernel/crypto/crc32c-fast.ko",
                    "alias=crc32c\nalias=crypto-crc32c",
                ),
                ("kernel/crypto/crc32c_generic.ko", "alias=crypto-crc32c"),
                ("kernel/crypto/sha256_generic.ko", "alias=sha256"),
            ],
        );
        assert_eq!(
            order(&tree, &["f"]),
            ["crc32c_generic", "sha256_generic", "f"]
        );
        let (_dir, tree) = self::tree(
            &[("modules.builtin", b"kernel/crypto/crc32c_generic.ko\n")],
            &[
                ("kernel/fs/f.ko", "softdep=pre: crypto-crc32c"),
                ("kernel/crypto/crc32c-fast.ko", "alias=crc32c"),
            ],
        );
        assert_eq!(order(&tree, &["f"]), ["f"]);
    }

    #[test]
    fn what_lacks_is_named_and_cycles_end() {
        let (_dir, tree) = tree(
            &[
                ("kernel/fs/d.ko.xz", b"\xfd7zXZ\0damaged"),
                ("kernel/fs/e.ko", b"text"),
            ],
            &[
                ("kernel/fs/a.ko", "depends=b"),
                ("kernel/fs/b.ko", "depends=a"),
                ("kernel/fs/c.ko", "depends=gone"),
            ],
        );
        assert_eq!(order(&tree, &["a"]), ["b", "a"]);
        let error = tree.load_order(&["c"]).unwrap_err().to_string();
        assert!(error.contains("gone, which c needs"), "{error}");
        for damaged in ["d", "e"] {
            let error = tree.load_order(&[damaged]).unwrap_err();
            assert!(matches!(error, Error::Damaged { .. }), "{error}");
        }
    }

    #[test]
    fn a_build_directory_lists_its_modules_in_each_way() {
        let listed = b"fs/a.o\nkernel/fs/b.ko\nfs/c.ko\n../../etc/x.ko\nfs/missing.ko\n";
        let (_dir, tree) = tree(
            &[
                ("include/config/kernel.release", b"6.12.0\n"),
                ("kernel/sched/core.c", b""),
                ("modules.order", listed),
            ],
            &[("fs/a.ko", "depends=b"), ("fs/b.ko", ""), ("fs/c.ko", "")],
        );
        assert_eq!(order(&tree, &["a", "c"]), ["b", "a", "c"]);
        let installed: Vec<_> = tree.files().map(|(_, installed)| installed).collect();
        assert_eq!(
            installed,
            ["kernel/fs/a.ko", "kernel/fs/b.ko", "kernel/fs/c.ko"]
        );
    }
}
