// SPDX-License-Identifier: GPL-2.0-or-later
//! Gives the crate a hash of its code, so that it does not use a cache written by other code, or
//! made with other facts or another parser.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::{env, fs};

/// Packages that affect what is found in a file, or how it is stored.
const PACKAGES: [&str; 3] = ["postcard", "tree-sitter", "tree-sitter-c"];

fn main() {
    let mut files = BTreeMap::new();
    for directory in ["src", "facts"] {
        read(Path::new(directory), &mut files);
    }
    println!("cargo::rerun-if-changed=build.rs");
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    versions().hash(&mut hasher);
    println!("cargo::rustc-env=PLACEMENT_CODE={}", hasher.finish());
}

/// All files below a directory, by name.
fn read(directory: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    println!("cargo::rerun-if-changed={}", directory.display());
    let entries = fs::read_dir(directory).expect("the crate has its sources");
    for entry in entries {
        let path = entry.expect("they can be read").path();
        if path.is_dir() {
            read(&path, files);
        } else {
            let bytes = fs::read(&path).expect("they can be read");
            files.insert(path.display().to_string(), bytes);
        }
    }
}

/// The lock file's entries for these packages; empty if there is no lock file.
fn versions() -> Vec<String> {
    let manifest = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let above = Path::new(&manifest).ancestors();
    let Some(lock) = above
        .map(|directory| directory.join("Cargo.lock"))
        .find(|path| path.exists())
    else {
        return Vec::new();
    };
    println!("cargo::rerun-if-changed={}", lock.display());
    let text = fs::read_to_string(&lock).unwrap_or_default();
    let packages = text.split("[[package]]");
    let named = |package: &&str| {
        let name = |wanted: &&str| package.contains(&format!("name = \"{wanted}\"\n"));
        PACKAGES.iter().any(name)
    };
    packages.filter(named).map(str::to_owned).collect()
}
