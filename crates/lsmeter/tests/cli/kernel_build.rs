// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter kernel build` as far as nothing is compiled: what it refuses, and what a
//! build leaves behind that is interrupted. The tools are scripts, so that it does not
//! depend on the machine which are there.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use crate::common::{Ended, Place, Running, names, runs, signal, wait_for};

const TOOLS: [&str; 15] = [
    "gcc", "ld", "flex", "bison", "bc", "perl", "awk", "find", "pahole", "python3", "lz4", "git",
    "tar", "tool", "xz",
];
const MARKS: [&str; 4] = [
    "arch/x86/Kconfig",
    "scripts/kconfig/conf.c",
    "init/main.c",
    "fs/open.c",
];

/// A directory to be in, with a directory `bin` of tools that are none.
fn place() -> Place {
    let place = Place::new();
    for tool in TOOLS {
        let path = place.write(
            &format!("bin/{tool}"),
            format!("#!/bin/sh\necho {tool} 1.0\n"),
        );
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for real in [
        "sh", "make", "sleep", "cp", "echo", "false", "mkdir", "touch",
    ] {
        let path = std::env::var_os("PATH").unwrap();
        let found = std::env::split_paths(&path).find(|dir| dir.join(real).exists());
        let found = found.unwrap_or_else(|| panic!("these tests need {real}"));
        symlink(found.join(real), place.join("bin").join(real)).unwrap();
    }
    place
}

/// A tree that looks like a kernel's.
fn tree(place: &Place, makefile: &str, kconfig: &str) {
    for mark in MARKS {
        place.write(&format!("tree/{mark}"), "");
    }
    place.write("tree/Makefile", makefile);
    place.write("tree/Kconfig", kconfig);
    let merge = "make KCONFIG_ALLCONFIG=$4 O=$3 allnoconfig\n";
    place.write("tree/scripts/kconfig/merge_config.sh", merge);
}

fn command(place: &Place, arguments: &[&str]) -> Command {
    let arguments = [&["kernel", "build"], arguments].concat();
    let mut command = place.command(&arguments);
    command.env("PATH", place.join("bin"));
    command
}

fn build(place: &Place, arguments: &[&str]) -> Ended {
    Ended::of(arguments, command(place, arguments).output().unwrap())
}

/// Nothing that could be taken for a kernel.
fn nothing_is_cached(cache: &Path) {
    for part in ["kernels", "names", "tmp"] {
        let left = names(&cache.join("lsmeter").join(part));
        assert_eq!(left, Vec::<String>::new(), "left in {part}");
    }
}

#[test]
fn a_recipe_that_makes_no_sense() {
    let place = place();
    let source = ["x", "--source", "linux-source-6.12"];
    build(&place, &["x"]).code(2);
    build(&place, &["x", "--source", "linux-source-"]).code(2);
    build(&place, &[&source[..], &["--flavour", "most"]].concat()).code(2);
    build(&place, &[&source[..], &["--jobs", "0"]].concat()).code(2);
    build(&place, &[&source[..], &["--layouts", "0"]].concat()).code(2);
    let asked = [&source[..], &["--layouts", "3"]].concat();
    build(&place, &asked).refused(
        2,
        "in kernels of flavours um and um-dac only",
        Some("--flavour um"),
    );
    let asked = [&source[..], &["--flavour", "dac", "--any-order"]].concat();
    build(&place, &asked).refused(2, "has no order of them", Some("--any-order"));
    build(&place, &[&source[..], &["--with", "luck"]].concat()).code(2);
    let asked = [&source[..], &["--with", "lock-prefixes"]].concat();
    build(&place, &asked).refused(2, "by themselves", Some("--flavour um"));
    let asked = [&source[..], &["--flavour", "um", "--arch", "aarch64"]].concat();
    build(&place, &asked).refused(2, "a process of this machine", Some("--arch"));
    let asked = [&source[..], &["--flavour", "all-up", "--arch", "aarch64"]].concat();
    build(&place, &asked).refused(2, "for several processors always", Some("flavour all"));
    build(&place, &["a/b", "--source", "tree"]).refused(2, "a name holds", Some("build:NAME"));
    let asked = ["x", "--source", "not/there"];
    build(&place, &asked).refused(2, "no such directory", Some("linux-source-6.12"));
    fs::create_dir(place.join("empty")).unwrap();
    let asked = ["x", "--source", "empty"];
    let error = "empty: it is no kernel source tree: there is no Makefile";
    build(&place, &asked).refused(2, error, Some("top directory"));
    nothing_is_cached(&place.cache());
}

#[test]
fn a_fragment_that_makes_no_sense() {
    let place = place();
    tree(&place, "", "");
    place.write("mine", "CONFIG_A=y\nCONFIG_B=m\nsense=none\n");
    let asked = ["x", "--source", "tree", "--config", "mine"];
    let ended = build(&place, &asked).code(2);
    assert!(ended.stderr.contains("mine:2: `CONFIG_B=m`"), "{ended:#?}");
    assert!(
        ended.stderr.contains("mine:3: `sense=none` is no option"),
        "{ended:#?}"
    );
    place.write("mine", "CONFIG_A=y\n# CONFIG_A is not set\n");
    build(&place, &asked).refused(2, "mine:2: CONFIG_A=n contradicts", Some("fragment"));
    let asked = ["x", "--source", "tree", "--config", "none"];
    build(&place, &asked).refused(3, "cannot open none", None);
    nothing_is_cached(&place.cache());
}

#[test]
fn what_lacks_is_named_before_anything_is_done() {
    let place = place();
    tree(&place, "", "");
    for tool in ["flex", "pahole"] {
        fs::remove_file(place.join("bin").join(tool)).unwrap();
    }
    // A gcc that finds no header.
    place.write("bin/gcc", "#!/bin/sh\n[ $1 = --version ]\n");
    let asked = ["x", "--source", "linux-source-6.12"];
    build(&place, &asked).refused(
        3,
        "lacks flex, pahole, stdlib.h, gelf.h, openssl/opensslv.h",
        Some("apt-get install flex libc6-dev libelf-dev libssl-dev pahole"),
    );
    let asked = ["x", "--source", "tree", "--flavour", "dac"];
    build(&place, &asked).refused(
        3,
        "lacks flex, stdlib.h, gelf.h",
        Some("flex libc6-dev libelf-dev"),
    );
    assert!(!place.cache().join("lsmeter/build").exists());
}

#[test]
fn a_tree_that_was_built_in() {
    let place = place();
    tree(&place, "", "");
    place.write("tree/.config", "");
    let asked = ["x", "--source", "tree"];
    build(&place, &asked).refused(2, ".config is there", Some("make -C tree mrproper"));
}

#[test]
fn a_tree_that_cannot_take_the_tunable_module() {
    let place = place();
    tree(&place, "", "");
    place.write("tree/security/Kconfig", "menu \"Security\"\nendmenu\n");
    let asked = ["x", "--source", "tree"];
    build(&place, &asked).refused(2, "security/Kconfig of", Some("CONFIG_SECURITY_TUNABLE"));
    nothing_is_cached(&place.cache());
}

#[test]
fn options_that_cannot_be_had() {
    let place = place();
    // One that makes of every wish nothing at all.
    let kconfig = "config 64BIT\n\tbool \"64-bit kernel\"\n\n";
    tree(&place, "allnoconfig:\n\t@touch $(O)/.config\n", kconfig);
    place.write("mine", "CONFIG_64BITS=y\nCONFIG_64BIT=y\n");
    let asked = [
        "x",
        "--source",
        "tree",
        "--flavour",
        "dac",
        "--config",
        "mine",
    ];
    let ended = build(&place, &asked).code(2);
    for told in [
        "CONFIG_64BITS=y (mine:1) is not set: this kernel has no such option; CONFIG_64BIT is one",
        "CONFIG_64BIT=y (mine:2) is not set",
        "hint: ",
    ] {
        assert!(ended.stderr.contains(told), "{told}: {ended:#?}");
    }
    nothing_is_cached(&place.cache());
}

#[test]
fn a_build_that_fails() {
    let place = place();
    let makefile = "allnoconfig:\n\t@touch $(O)/.config\nbzImage:\n\
        \t@echo '  CC      fs/a.o'\n\t@echo 'fs/a.c:1:2: error: no'\n\t@false\n";
    tree(&place, makefile, "");
    let asked = ["x", "--source", "tree", "--flavour", "dac"];
    let ended = build(&place, &asked).code(2);
    assert!(
        ended.stderr.contains("make bzImage exited with status 2"),
        "{ended:#?}"
    );
    assert!(ended.stderr.contains("fs/a.c:1:2: error: no"), "{ended:#?}");
    let log = place.cache().join("lsmeter/build/x/log");
    assert!(ended.stderr.contains(log.to_str().unwrap()), "{ended:#?}");
    assert!(fs::read_to_string(log).unwrap().contains("CC      fs/a.o"));
    nothing_is_cached(&place.cache());
    // A full disk is the machine's.
    let makefile = makefile.replace("fs/a.c:1:2: error: no", "as: No space left on device");
    place.write("tree/Makefile", makefile);
    build(&place, &asked).refused(3, "is full", Some("make room"));
}

#[test]
fn an_interrupted_build_ends_all_that_it_started() {
    let place = place();
    let mark = place.join("pid");
    let makefile = format!(
        "allnoconfig:\n\t@touch $(O)/.config\nbzImage:\n\
         \t@sleep 1000 & echo $$! > {0}.new; cp {0}.new {0}; wait\n",
        mark.display()
    );
    tree(&place, &makefile, "");
    let asked = ["x", "--source", "tree", "--flavour", "dac"];
    let running = Running::start_command(command(&place, &asked), &asked);
    let pid = wait_for("compiler", || {
        fs::read_to_string(&mark).ok()?.trim().parse().ok()
    });
    signal(running.pid(), Signal::INT);
    let ended = running.wait().code(4);
    assert!(
        ended.stderr.contains("interrupted: nothing is cached"),
        "{ended:#?}"
    );
    wait_for("end of the compiler", || (!runs(pid)).then_some(()));
    nothing_is_cached(&place.cache());
}
