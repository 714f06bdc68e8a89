// SPDX-License-Identifier: GPL-2.0-or-later
//! Which LSM hooks each system call can reach, how often nominally and how often at most,
//! from a kernel tree alone: no build, no configuration. After section 5.2.2 of *Analyzing
//! the Overhead of Filesystem Protection Using Linux Security Modules*.

mod body;
mod cache;
mod clean;
mod condition;
mod config;
mod count;
mod document;
mod error;
mod facts;
mod framework;
mod load;
mod lower;
mod modules;
mod program;
mod reach;
mod rewrite;
mod scan;
mod tree;

pub use count::{Count, CountError};
pub use document::*;
pub use error::PlacementError;
pub use tree::Tree;

/// debug
pub fn debug(path: &str, fs: &str) {
    use std::time::Instant;
    let t = Instant::now();
    let lap = |what: &str| eprintln!("{what} {:?}", t.elapsed());
    let facts = facts::Facts::load().unwrap();
    let config = config::Config::everything(&facts.config);
    let tree = Tree::open(path).unwrap();
    let mut paths = facts.sources.generic.clone();
    paths.extend(facts.sources.fs.get(fs).unwrap().paths.clone());
    let entries = tree.list(&paths).unwrap();
    lap("list");
    let cp = cache::place(std::path::Path::new("/tmp/place-data/cache"), &tree, &config);
    let known = cache::read(&cp);
    lap("cache read");
    let mut loaded = load::load(&tree, entries, &config, known).unwrap();
    eprintln!("files {} scanned {}", loaded.files.len(), loaded.scanned);
    lap("load");
    let security = modules::security(&tree, &facts.modules).unwrap();
    lap("security");
    let files = std::mem::take(&mut loaded.files);
    let program = program::Program::new(&files);
    eprintln!("functions {} names {}", program.functions.len(), program.names.len());
    lap("link");
    let framework = framework::Framework::new(&program, &security);
    eprintln!("hook functions {} direct {}", framework.of_function.len(), framework.direct.len());
    lap("framework");
    for m in &security.modules { let p = m.placement(&facts.modules, &framework.direct_of(&m.name)); eprintln!("{} {} {} {} {} {:?}", p.module, p.hooks, p.unconditional, p.loc, p.loc_per_hook, p.categories); }
    eprintln!("{:?}", security.placement());
    let (cuts, unused) = framework::Cuts::new(&facts.cuts, &program);
    eprintln!("unused {unused:?}");
    let view = program.view(fs, &facts.sources).unwrap();
    lap("view");
    let entries: Vec<_> = facts.syscalls.syscall.iter().filter(|s| s.file).filter_map(|s| { let r = program.syscall(&s.name).or_else(|| s.defined_as.iter().find_map(|n| program.syscall(n))); if r.is_none() { eprintln!("no {}", s.name) } r }).collect();
    let kept = reach::between(&view, &framework, &cuts, &entries);
    eprintln!("kept {}", kept.len());
    lap("reach");
    let places: Vec<_> = kept.iter().map(|&id| { let p = program.functions[id as usize]; (p.file, p.index) }).collect();
    drop(view);
    let list: Vec<(String, String)> = kept.iter().map(|&id| (program.path(id).to_owned(), program.name(id).to_owned())).collect();
    drop(program);
    loaded.files = files;
    loaded.parse(&tree, &config, places.iter().copied()).unwrap();
    lap("parse");
    let bad: Vec<_> = places.iter().zip(&list).filter(|((f, i), _)| !loaded.bodies[*f as usize][i].fault.is_empty()).map(|((f, i), l)| format!("{}:{} {} ({})", l.0, loaded.files[*f as usize].index.functions[*i as usize].line, l.1, loaded.bodies[*f as usize][i].fault)).collect();
    eprintln!("parsed {} bad {}", loaded.parsed, bad.len());
    for b in bad.iter().take(60) { eprintln!("  {b}"); }
    let mut dirs: std::collections::BTreeMap<String, usize> = Default::default();
    for (p, n) in &list { *dirs.entry(p.clone()).or_default() += 1; println!("{p} {n}"); }
    cache::write(&cp, &loaded).unwrap();
    lap("cache write");
}
