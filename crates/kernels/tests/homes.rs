// SPDX-License-Identifier: GPL-2.0-or-later
//! Architecture-specific code is only in the architecture's own files.

use std::fs;
use std::path::{Path, PathBuf};

/// Architecture-specific words, in lower case.
const WORDS: [&str; 17] = [
    "x86",
    "x64_",
    "amd64",
    "i386",
    "q35",
    "microvm",
    "ttys0",
    "ttys1",
    "entry_syscall",
    "asm_exc_",
    "__switch_to_asm",
    "retpoline",
    "endbr64",
    "rflags",
    "haswell",
    "aarch64",
    "ttyama",
];

/// The files in which these words belong.
const HOMES: [&str; 3] = [
    "crates/kernels/src/arch/",
    "crates/counts/plugin/arch/",
    "crates/lab/guest/arch/",
];

/// Other sources in which they may occur, and why.
const ALLOWED: [(&str, &str); 11] = [
    (
        "crates/model/src/words.rs",
        "spells architectures as in result files",
    ),
    (
        "crates/counts/plugin/arch.",
        "the list of the plugin's architectures",
    ),
    (
        "crates/counts/facts/",
        "names kernel files that explain counts",
    ),
    (
        "crates/kernels/src/build/tools.rs",
        "kernel options that need a header",
    ),
    (
        "crates/monitor/bpf/",
        "recognises system calls of 32-bit programs",
    ),
    (
        "crates/monitor/src/attach.rs",
        "names kernels with trampolines",
    ),
    (
        "crates/placement/facts/",
        "facts about files and options of a kernel tree",
    ),
    (
        "crates/sensitivity/kernel/tunable.c",
        "compiled into kernels of every architecture",
    ),
    ("crates/kernels/um/", "patches code for one architecture"),
    (
        "crates/kernels/src/um/edits.rs",
        "names the kernel files that it changes",
    ),
    (
        "crates/kernels/src/um/with.rs",
        "compiler options of one architecture",
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            // Tests construct kernels and files for all architectures.
            if !matches!(name.as_str(), "tests" | "vendor" | "target" | "fuzz") {
                files(&path, found);
            }
        } else if ["rs", "c", "h", "toml", "txt", "config"]
            .iter()
            .any(|extension| path.extension().is_some_and(|e| e == *extension))
            && name != "tests.rs"
        {
            found.push(path);
        }
    }
}

/// The lines that are not comments, up to the unit tests of a Rust file.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .take_while(|(_, line)| line.trim() != "#[cfg(test)]")
        .filter(|(_, line)| {
            let line = line.trim_start();
            !["//", "#!", "# ", "/*", "* "]
                .iter()
                .any(|begin| line.starts_with(begin))
        })
        .map(|(at, line)| (at + 1, line))
}

#[test]
fn an_architecture_stands_in_its_homes_only() {
    let root = root().canonicalize().unwrap();
    let mut sources = Vec::new();
    files(&root.join("crates"), &mut sources);
    assert!(sources.len() > 300, "{} sources", sources.len());
    let mut strays = Vec::new();
    let mut needed = Vec::new();
    for source in sources {
        let path = source.strip_prefix(&root).unwrap().display().to_string();
        if HOMES.iter().any(|home| path.starts_with(home)) {
            continue;
        }
        let text = fs::read_to_string(&source).unwrap();
        let allowed = ALLOWED.iter().find(|(begin, _)| path.starts_with(begin));
        for (number, line) in code(&text) {
            let small = line.to_lowercase();
            if let Some(word) = WORDS.iter().find(|word| small.contains(*word)) {
                match allowed {
                    Some((begin, _)) => needed.push(*begin),
                    None => strays.push(format!("{path}:{number}: {word}: {}", line.trim())),
                }
            }
        }
    }
    assert!(
        strays.is_empty(),
        "move architecture-specific code into its own files (CONTRIBUTING.md, \"Adding an \
         architecture\"):\n{}",
        strays.join("\n")
    );
    for (path, why) in ALLOWED {
        assert!(
            needed.contains(&path),
            "{path} ({why}) needs no exception any more"
        );
    }
}

#[test]
fn every_architecture_has_all_its_homes() {
    for arch in kernels::arch::ALL {
        assert_eq!(kernels::arch::by_name(arch.name), Some(*arch));
        assert_eq!(kernels::arch::by_elf_machine(arch.elf_machine), Some(*arch));
        assert_eq!(kernels::arch::by_debian_name(arch.debian.name), Some(*arch));
        for (folder, file) in [
            ("crates/kernels/src/arch", format!("{}.rs", arch.name)),
            ("crates/lab/guest/arch", format!("{}/arch.h", arch.name)),
            ("crates/lab/guest/arch", format!("{}/start.c", arch.name)),
            ("crates/lab/guest/arch", format!("{}/flags.txt", arch.name)),
        ] {
            let path = root().join(folder).join(file);
            assert!(path.is_file(), "{} is missing", path.display());
        }
        let plugin = root().join("crates/counts/plugin/arch").join(arch.name);
        assert!(plugin.is_dir(), "{} is missing", plugin.display());
        // The agent has the same port.
        let agent = root()
            .join("crates/lab/guest/arch")
            .join(arch.name)
            .join("arch.h");
        let agent = fs::read_to_string(agent).unwrap();
        let port = format!("\"{}\"", arch.machine.results_port);
        assert!(
            agent.contains(&port),
            "arch.h of {} does not have {port}",
            arch.name
        );
    }
    assert_eq!(kernels::arch::by_name("pdp11"), None);
    assert_eq!(kernels::arch::by_debian_name("m68k"), None);
    assert_eq!(kernels::arch::native().name, std::env::consts::ARCH);
    assert!(kernels::arch::native().is_native());
}
