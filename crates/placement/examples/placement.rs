// SPDX-License-Identifier: GPL-2.0-or-later
//! debug
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let tree = placement::Tree::open(&a[1]).unwrap();
    let req = placement::Request { fs: vec![a[2].clone()], syscalls: a[3..].to_vec(), cache: Some("/tmp/place-data/cache".into()), explain: true, ..Default::default() };
    let d = placement::analyse(&tree, &req).unwrap();
    for s in &d.syscalls {
        println!("== {} {}", s.syscall, s.case);
        for h in &s.hooks { println!("  {:28} {:>8} {:>10} | td {} {} | {:?}", h.hook, h.nominal, h.max, h.teardown.nominal, h.teardown.max, h.nested.iter().map(|(m, r)| format!("{m}:{}/{}", r.nominal, r.max)).collect::<Vec<_>>()); }
        for t in &s.trace { println!("    {} x{} {}{}{}", t.hook, t.times, t.calls.join(" > "), if t.teardown {" TD"} else {""}, t.modules.join("+")); }
    }
    eprintln!("{:?} {:?} stale {:?}", d.timing, d.coverage, d.stale_facts);
    for c in &d.circles { eprintln!("circle {} {}", c.len(), c.iter().take(60).cloned().collect::<Vec<_>>().join(" ")); }
    for u in &d.undecided { eprintln!("undecided {} {}: {}", u.file, u.function, u.code); }
    for u in &d.unparsed { eprintln!("unparsed {} {} {} {}", u.file, u.line, u.function, u.reason); }
}
