// SPDX-License-Identifier: GPL-2.0-or-later

use std::collections::BTreeMap;

use super::*;
use crate::config::Config;
use crate::facts::Facts;
use crate::framework::{Cuts, Framework};
use crate::layers::Layers;
use crate::linked::Linker;
use crate::load::load;
use crate::modules::security;
use crate::program::Program;
use crate::reach::between;
use crate::tree::Tree;

/// Visited steps and edges for such a body, and its number of steps.
fn work(body: &str) -> (usize, usize) {
    let text = |text: &str| text.as_bytes().to_vec();
    let files = BTreeMap::from([
        (
            "Makefile",
            text("VERSION = 6\nPATCHLEVEL = 99\nSUBLEVEL = 0\n"),
        ),
        (
            "include/linux/lsm_hook_defs.h",
            text("LSM_HOOK(int, 0, inode_getattr, int x)\n"),
        ),
        (
            "security/security.c",
            text(
                "int security_inode_getattr(int x)\n{\n\treturn call_int_hook(inode_getattr, x);\n}\n",
            ),
        ),
        (
            "fs/toyfs/inode.c",
            text("static const struct inode_operations o = {\n\t.mkdir = m,\n};\n"),
        ),
        ("fs/namei.c", Vec::new()),
        (
            "fs/evil.c",
            format!("SYSCALL_DEFINE0(evil)\n{{\n{body}\n}}\n").into_bytes(),
        ),
    ]);
    let files = files
        .into_iter()
        .map(|(path, text)| (path.to_owned(), text));
    let tree = Tree::from_files("tree", files.collect()).unwrap();
    let facts = Facts::load(kernels::arch::native()).unwrap();
    let config = Config::everything(&facts.config);
    let entries = tree
        .list(&["fs/".to_owned(), "security/".to_owned()])
        .unwrap();
    let mut loaded = load(&tree, entries, &config, Vec::new()).unwrap();
    let files = std::mem::take(&mut loaded.files);
    let program = Program::new(&files, 0);
    let security = security(&tree, &facts.modules).unwrap();
    let framework = Framework::new(&program, &security, &facts.sources.generic);
    let (cuts, _) = Cuts::new(&facts.cuts, &program, None);
    let layers = Layers::new(&program, "toyfs", false, &facts.sources).unwrap();
    let entry = program.syscall("evil").unwrap();
    let kept = between(&layers, &framework, &cuts, &[entry]);
    let places = kept.iter().map(|&id| program.functions[id as usize]);
    let places = places.map(|place| (place.file, place.index));
    loaded.parse(&tree, &config, &files, places).unwrap();
    let linker = Linker {
        layers: &layers,
        framework: &framework,
        cuts: &cuts,
        config: &config,
        facts: &facts.code,
        bodies: &loaded.bodies,
    };
    let graphs = linker.link(&kept);
    let world = World::new(&program, &framework, &cuts, &facts.code, &graphs);
    let mut maximum = Maximum::new(&world);
    assert_eq!(maximum.counts(entry, 0).len(), 1);
    (maximum.work.get(), graphs.functions[&entry].steps.len())
}

#[test]
fn thousands_of_gotos_take_work_in_proportion() {
    const HOOK: &str = "security_inode_getattr(x);\n";
    let lines =
        |count: usize, line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<String>();
    let bodies: [(&str, &dyn Fn(usize) -> String); 5] = [
        ("loops in a row", &|count| {
            lines(count, &|n| format!("l{n}: {HOOK} if (a{n}) goto l{n};\n"))
        }),
        ("loops in each other", &|count| {
            lines(count, &|n| format!("l{n}: a{n}();\n"))
                + HOOK
                + &lines(count, &|n| format!("if (b{n}) goto l{};\n", count - 1 - n))
        }),
        ("one loop", &|count| {
            "again:\n".to_owned() + &lines(count, &|n| format!("if (a{n}) goto again; {HOOK}"))
        }),
        ("past each call", &|count| {
            lines(count, &|n| {
                format!("if (a{n}) goto l{n}; {HOOK} l{n}: b{n}();\n")
            })
        }),
        ("from anywhere to anywhere", &|count| {
            lines(count, &|n| {
                format!("l{n}: if (a{n}) goto l{}; {HOOK}", (n * 7919) % count)
            })
        }),
    ];
    for (what, body) in bodies {
        let (work, steps) = work(&body(4000));
        assert!(steps > 4000, "{what}: {steps}");
        // Each step and two edges on each level of nesting.
        let most = steps * 3 * (MAX_NESTING as usize + 1);
        assert!(work <= most, "{what}: {work} for {steps} steps");
    }
}
