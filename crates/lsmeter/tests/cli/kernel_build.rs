// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter kernel build` without compiling: refused arguments, failed and interrupted builds. The
//! tools are scripts, so that the machine's tools do not matter.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use crate::common::{Ended, Place, Running, names, runs, signal, wait_for, words};

const TOOLS: &str = "gcc ld flex bison bc perl awk find pahole python3 lz4 git tar tool xz";

/// A working directory with fake tools in `bin`.
fn place() -> Place {
    let place = Place::new();
    for tool in words(TOOLS) {
        let script = format!("#!/bin/sh\necho {tool} 1.0\n");
        let path = place.write(&format!("bin/{tool}"), script);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for real in words("sh make sleep cp echo false mkdir touch") {
        let path = std::env::var_os("PATH").unwrap();
        let found = std::env::split_paths(&path).find(|dir| dir.join(real).exists());
        let found = found.unwrap_or_else(|| panic!("these tests need {real}"));
        symlink(found.join(real), place.join("bin").join(real)).unwrap();
    }
    place
}

/// A fake kernel tree.
fn tree(place: &Place, makefile: &str, kconfig: &str) {
    for mark in words("arch/x86/Kconfig scripts/kconfig/conf.c init/main.c fs/open.c") {
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
    Ended::new(arguments, command(place, arguments).output().unwrap())
}

/// Runs each line of a table, `arguments | exit code | error | hint`. None may leave a kernel in the
/// cache.
#[track_caller]
fn refuses(place: &Place, table: &str) {
    for row in table.lines() {
        let fields: Vec<&str> = row.split('|').map(str::trim).collect();
        let ended = build(place, &words(fields[0]));
        ended.refused(
            fields[1].parse().unwrap(),
            fields[2],
            fields.get(3).copied(),
        );
    }
    nothing_is_cached(&place.cache());
}

fn nothing_is_cached(cache: &Path) {
    for part in ["kernels", "names", "tmp"] {
        let left = names(&cache.join("lsmeter").join(part));
        assert_eq!(left, [""; 0], "left in {part}");
    }
}

#[test]
fn invalid_arguments_are_refused() {
    let place = place();
    fs::create_dir(place.join("empty")).unwrap();
    let source = "x --source linux-source-6.12";
    let table = format!(
        "x | 2 | required arguments were not provided
         x --source linux-source- | 2 | invalid value
         {source} --flavour most | 2 | invalid value
         {source} --jobs 0 | 2 | invalid value
         {source} --layouts 0 | 2 | invalid value
         {source} --layouts 3 | 2 | --layouts needs flavour um or um-nolsm | --flavour um
         {source} --flavour nolsm --any-order | 2 | a flavour with security modules | --any-order
         {source} --with luck | 2 | invalid value
         {source} --with lock-prefixes | 2 | --with needs flavour um or um-nolsm | --flavour um
         {source} --flavour um --arch aarch64 | 2 | UML kernels cannot be built for aarch64 | --arch
         {source} --flavour all-nosmp --arch aarch64 | 2 | its kernels are always SMP | --flavour all
         a/b --source tree | 2 | a name consists of | build:NAME
         x --source not/there | 2 | no such directory | linux-source-6.12
         x --source empty | 2 | not a kernel source tree (no Makefile) | top dir"
    );
    refuses(&place, &table);
}

#[test]
fn invalid_trees_and_fragments_are_refused() {
    let place = place();
    tree(&place, "", "");
    place.write("mine", "CONFIG_A=y\nCONFIG_B=m\nsense=none\n");
    let ended = build(&place, &words("x --source tree --config mine")).code(2);
    for expected in [
        "mine:2: `CONFIG_B=m`",
        "mine:3: `sense=none` is not an option",
    ] {
        assert!(ended.stderr.contains(expected), "{ended:#?}");
    }
    place.write("mine", "CONFIG_A=y\n# CONFIG_A is not set\n");
    place.write("tree/security/Kconfig", "menu \"Security\"\nendmenu\n");
    place.write("tree/include/linux/lsm_hook_defs.h", "struct mnt_idmap");
    refuses(
        &place,
        "x --source tree --config mine | 2 | mine:2: CONFIG_A=n contradicts | as in a kernel's .config
         x --source tree --config none | 3 | cannot open none
         x --source tree | 2 | security/Kconfig of | CONFIG_SECURITY_TUNABLE",
    );
    // The tree contains an earlier build.
    place.write("tree/.config", "");
    refuses(
        &place,
        "x --source tree | 2 | contains build output (.config) | make -C tree mrproper",
    );
}

#[test]
fn missing_tools_are_listed_first() {
    let place = place();
    tree(&place, "", "");
    for tool in ["flex", "pahole"] {
        fs::remove_file(place.join("bin").join(tool)).unwrap();
    }
    // This gcc finds no headers.
    place.write("bin/gcc", "#!/bin/sh\n[ $1 = --version ]\n");
    let ended = build(&place, &words("x --source linux-source-6.12"));
    ended.refused(
        3,
        "missing flex, pahole, stdlib.h, gelf.h, openssl/opensslv.h",
        Some("apt-get install flex libc6-dev libelf-dev libssl-dev pahole"),
    );
    let ended = build(&place, &words("x --source tree --flavour nolsm"));
    let error = "missing flex, stdlib.h, gelf.h";
    ended.refused(3, error, Some("flex libc6-dev libelf-dev"));
    assert!(!place.cache().join("lsmeter/build").exists());
}

#[test]
fn options_that_cannot_be_set_are_errors() {
    let place = place();
    // This Kconfig sets no option.
    let kconfig = "config 64BIT\n\tbool \"64-bit kernel\"\n\n";
    tree(&place, "allnoconfig:\n\t@touch $(O)/.config\n", kconfig);
    place.write("mine", "CONFIG_64BITS=y\nCONFIG_64BIT=y\n");
    let asked = words("x --source tree --flavour nolsm --config mine");
    let ended = build(&place, &asked).code(2);
    for expected in [
        "CONFIG_64BITS=y (mine:1) is not set: this kernel has no such option; \
         did you mean CONFIG_64BIT?",
        "CONFIG_64BIT=y (mine:2) is not set",
        "hint: ",
    ] {
        assert!(ended.stderr.contains(expected), "{expected}: {ended:#?}");
    }
    nothing_is_cached(&place.cache());
}

#[test]
fn a_build_that_fails() {
    let place = place();
    let makefile = "allnoconfig:\n\t@touch $(O)/.config\nbzImage:\n\
        \t@echo '  CC      fs/a.o'\n\t@echo 'fs/a.c:1:2: error: no'\n\t@false\n";
    tree(&place, makefile, "");
    let asked = ["x", "--source", "tree", "--flavour", "nolsm"];
    let ended = build(&place, &asked).code(2);
    let log = place.cache().join("lsmeter/build/x/log");
    for expected in [
        "make bzImage exited with status 2",
        "fs/a.c:1:2: error: no",
        log.to_str().unwrap(),
    ] {
        assert!(ended.stderr.contains(expected), "{ended:#?}");
    }
    assert!(fs::read_to_string(log).unwrap().contains("CC      fs/a.o"));
    nothing_is_cached(&place.cache());
    // A full disk is an error of the machine.
    let makefile = makefile.replace("fs/a.c:1:2: error: no", "as: No space left on device");
    place.write("tree/Makefile", makefile);
    build(&place, &asked).refused(3, "is full", Some("free some space"));
}

#[test]
fn an_interrupted_build_ends_its_processes() {
    let place = place();
    let mark = place.join("pid");
    let makefile = format!(
        "allnoconfig:\n\t@touch $(O)/.config\nbzImage:\n\
         \t@sleep 1000 & echo $$! > {0}.new; cp {0}.new {0}; wait\n",
        mark.display()
    );
    tree(&place, &makefile, "");
    let asked = ["x", "--source", "tree", "--flavour", "nolsm"];
    let running = Running::start_command(command(&place, &asked), &asked);
    let pid = wait_for("compiler", || {
        fs::read_to_string(&mark).ok()?.trim().parse().ok()
    });
    signal(running.pid(), Signal::INT);
    let ended = running.wait().code(4);
    assert!(ended.stderr.contains("interrupted: the kernel is not"));
    wait_for("end of the compiler", || (!runs(pid)).then_some(()));
    nothing_is_cached(&place.cache());
}
