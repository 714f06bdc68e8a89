// SPDX-License-Identifier: GPL-2.0-or-later
//! debug
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let tree = placement::Tree::open(&a[1]).unwrap();
    let profile = a.iter().position(|x| x == "--profile").map(|i| a[i + 1].clone());
    let sys: Vec<String> = if profile.is_some() { vec![] } else { a[3..].to_vec() };
    let mut sys = sys;
    if let Some(p) = &profile { let d = experiment::ProfileDocument::read(std::fs::File::open(p).unwrap()).unwrap(); let s: std::collections::BTreeSet<String> = d.profiles.iter().flat_map(|p| p.syscalls.clone()).collect(); sys = s.into_iter().collect(); }
    let req = placement::Request { fs: vec![a[2].clone()], syscalls: sys, cache: Some("/tmp/place-data/cache".into()), explain: true, ..Default::default() };
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
    if let Some(p) = &profile {
        let d2 = experiment::ProfileDocument::read(std::fs::File::open(p).unwrap()).unwrap();
        let c = placement::compare(&d2, &d).unwrap();
        let mut last = String::new();
        for h in &c.hooks { if h.agreement != placement::Agreement::Exact { if last != h.operation { println!("## {}", h.operation); last = h.operation.clone(); } println!("   {:?} {} measured {} nominal {} max {:?}", h.agreement, h.hook, h.measured, h.nominal, h.max); } }
        println!("{:?} exact {:.1}% false {:.1}% recall {:.1}% precision {:.1}% sound {} skipped {:?}", c.cells, c.exact_percent, c.false_alarm_percent, c.recall_percent, c.precision_percent, c.is_sound(), c.skipped);
    }
}
