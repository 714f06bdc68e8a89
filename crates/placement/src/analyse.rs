// SPDX-License-Identifier: GPL-2.0-or-later
//! The whole analysis of a tree.

mod boundless;
mod report;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Instant;

use experiment::{Tool, nearest};
use rustc_hash::FxHashSet;

use crate::cache;
use crate::checks::{Finder, missing, redundant};
use crate::config::Config;
use crate::context::World;
use crate::error::PlacementError;
use crate::facts::{Facts, SyscallFact};
use crate::framework::{Cuts, Framework};
use crate::linked::{FactId, Linker};
use crate::load::{Loaded, load};
use crate::maximum::{MAX_CALLS, Maximum};
use crate::modules::{Security, security};
use crate::nominal::Nominal;
use crate::program::{FunctionId, Program};
use crate::reach;
use crate::series::Series;
use crate::tree::Tree;
use crate::{Coverage, PlacementDocument, RedundantCheck, SyscallPlacement, Unparsed};
use boundless::{Boundless, Namer};
use report::{Place, Unmatched, collect, placement, stale, undecided};

/// Stack of the thread that follows calls, which may nest [`crate::maximum::MAX_CALLS`]
/// functions deep.
const STACK: usize = 512 << 20;

/// What to analyse.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// System calls by name, as manuals call them; all for files if there are none.
    pub syscalls: Vec<String>,
    /// Leave out system calls that the tree does not define, if it defines any of them:
    /// versions differ.
    pub lenient: bool,
    /// Every system call that the tree defines.
    pub all: bool,
    /// File systems; `ext4` if there are none.
    pub fs: Vec<String>,
    /// Text of a `.config`; everything on if there is none.
    pub config: Option<String>,
    /// A directory for the cache; none is kept if there is none.
    pub cache: Option<PathBuf>,
    /// Also list decisions of nominal paths that neither facts nor the code decided.
    pub explain: bool,
}

/// Analyses a tree.
///
/// # Errors
/// [`PlacementError`] if the tree cannot be read, or lacks what is asked for. That the
/// cache cannot be written is none.
pub fn analyse(tree: &Tree, request: &Request) -> Result<PlacementDocument, PlacementError> {
    let facts = Facts::load()?;
    std::thread::scope(|scope| {
        let work = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, || run(tree, request, &facts));
        let failed = |what: &str| PlacementError::BrokeOff {
            path: tree.path().to_path_buf(),
            reason: what.to_owned(),
        };
        match work.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(failed("it panicked")),
            Err(error) => Err(failed(&error.to_string())),
        }
    })
}

/// Milliseconds of each step.
struct Clock {
    last: Instant,
    timing: BTreeMap<String, u64>,
}

impl Clock {
    fn lap(&mut self, what: &str) {
        let spent = u64::try_from(self.last.elapsed().as_millis()).unwrap_or(u64::MAX);
        *self.timing.entry(what.to_owned()).or_default() += spent;
        self.last = Instant::now();
    }
}

/// What is found for one file system.
#[derive(Default)]
struct Found {
    syscalls: Vec<SyscallPlacement>,
    unparsed: BTreeSet<Unparsed>,
    circles: Vec<Vec<String>>,
    undecided: BTreeSet<(FunctionId, u32)>,
    matched: FxHashSet<FactId>,
    reachable: FxHashSet<FunctionId>,
    redundant: Vec<(RedundantCheck, Vec<String>)>,
    boundless: Boundless,
}

fn run(tree: &Tree, request: &Request, facts: &Facts) -> Result<PlacementDocument, PlacementError> {
    let start = Instant::now();
    let mut clock = Clock {
        last: start,
        timing: BTreeMap::new(),
    };
    let config = match &request.config {
        Some(text) => Config::from_dot_config(text, &facts.config),
        None => Config::everything(&facts.config),
    };
    let default = ["ext4".to_owned()];
    let systems = if request.fs.is_empty() {
        &default[..]
    } else {
        &request.fs
    };
    let mut paths = facts.sources.generic.clone();
    for fs in systems {
        match facts.sources.fs.get(fs) {
            Some(own) => paths.extend(own.paths.iter().cloned()),
            None if fs.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') => {
                paths.push(format!("fs/{fs}/"))
            }
            None => return Err(unknown_file_system(tree, facts, fs)),
        }
    }
    let is_known = |name: &String| facts.syscalls.syscall.iter().any(|call| call.is(name));
    if request.all || !request.syscalls.iter().all(is_known) {
        paths.extend(facts.sources.others.iter().cloned());
    }
    let entries = tree.list(&paths)?;
    clock.lap("list");
    let place = request
        .cache
        .as_ref()
        .map(|directory| cache::place(directory, tree, &config));
    let known = place.as_deref().map(cache::read).unwrap_or_default();
    clock.lap("read cache");
    let mut loaded = load(tree, entries, &config, known)?;
    clock.lap("scan");
    let security = security(tree, &facts.modules)?;
    clock.lap("modules");

    let files = std::mem::take(&mut loaded.files);
    let program = Program::new(&files);
    let framework = Framework::new(&program, &security);
    let (cuts, unused_cuts) = Cuts::new(&facts.cuts, &program, Series::of(tree.version()));
    clock.lap("link");
    let wanted = wanted_syscalls(request, facts, &program)?;
    let entries: Vec<FunctionId> = wanted.iter().map(|(_, id)| *id).collect();
    let with_facts = functions_with_facts(facts, &program);

    let mut found = Found::default();
    for fs in systems {
        let view = program
            .view(fs, &facts.sources)
            .ok_or_else(|| unknown_file_system(tree, facts, fs))?;
        let kept = reach::between(&view, &framework, &cuts, &entries);
        clock.lap("reach");
        let place = |id: &FunctionId| {
            let place = program.functions[*id as usize];
            (place.file, place.index)
        };
        loaded.parse(
            tree,
            &config,
            &files,
            kept.iter().chain(&with_facts).map(place),
        )?;
        clock.lap("parse");
        let linker = Linker {
            view: &view,
            framework: &framework,
            cuts: &cuts,
            config: &config,
            facts: &facts.code,
            bodies: &loaded.bodies,
        };
        let mut graphs = linker.link(&kept);
        linker.match_facts(&with_facts, &mut graphs.matched);
        // What names mean is only asked while linking, and large.
        drop(view);
        clock.lap("graphs");
        let world = World::new(&program, &framework, &cuts, &facts.code, &graphs);
        let mut finder = Finder::new(&program, &loaded.bodies, &facts.checks);
        let asked = Asked {
            fs,
            wanted: &wanted,
            explain: request.explain,
        };
        evaluate(&world, &security, &loaded, &asked, &mut finder, &mut found);
        found.redundant.extend(finder.found());
        collect(&program, &loaded, &graphs, &kept, &mut found);
        clock.lap("evaluate");
    }
    let coverage = Coverage {
        files: files.len(),
        functions: program.functions.len(),
        reachable: found.reachable.len(),
        scanned: loaded.scanned,
        parsed: loaded.parsed,
    };
    let modules = security
        .modules
        .iter()
        .map(|module| module.placement(&facts.modules, &framework.direct_of(&module.name)));
    let modules: Vec<_> = modules.collect();
    let missing = missing(&found.syscalls, &modules, &facts.checks);
    clock.lap("checks");
    let unbounded = found.boundless.sorted(&mut found.syscalls);
    let undecided = undecided(&program, &loaded, &found.undecided);
    let unmatched = Unmatched {
        matched: &found.matched,
        bodies: &loaded.bodies,
        cuts: unused_cuts,
        series: Series::of(tree.version()),
    };
    let stale_facts = stale(facts, &program, unmatched);
    drop(program);
    loaded.files = files;
    if let Some(place) = place.filter(|_| loaded.scanned + loaded.parsed > 0) {
        // It is only slower the next time.
        let _ = cache::write(&place, &loaded);
    }
    clock.lap("write cache");
    clock.timing.insert(
        "total".to_owned(),
        u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
    );
    Ok(PlacementDocument {
        tool: Tool::this(),
        tree: tree.name(),
        version: tree.version().to_owned(),
        framework: security.placement(),
        modules,
        syscalls: found.syscalls,
        redundant: redundant(found.redundant),
        missing,
        unbounded,
        unparsed: found.unparsed.into_iter().collect(),
        circles: found.circles,
        undecided,
        stale_facts,
        coverage,
        timing: clock.timing,
    })
}

/// The system calls that are asked for, and where they begin.
fn wanted_syscalls<'f>(
    request: &Request,
    facts: &'f Facts,
    program: &Program<'_>,
) -> Result<Vec<(std::borrow::Cow<'f, SyscallFact>, FunctionId)>, PlacementError> {
    use std::borrow::Cow;
    let known = &facts.syscalls.syscall;
    let begin = |call: &SyscallFact| {
        let names = std::iter::once(&call.name).chain(&call.defined_as);
        names.rev().find_map(|name| program.syscall(name))
    };
    let bare = |name: &str| SyscallFact {
        name: name.to_owned(),
        defined_as: Vec::new(),
        cases: Vec::new(),
        file: false,
    };
    let mut wanted = Vec::new();
    if request.syscalls.is_empty() && !request.all {
        // Older kernels lack some.
        wanted.extend(
            known
                .iter()
                .filter(|call| call.file)
                .filter_map(|call| Some((Cow::Borrowed(call), begin(call)?))),
        );
    }
    if request.all {
        wanted.extend(
            known
                .iter()
                .filter_map(|call| Some((Cow::Borrowed(call), begin(call)?))),
        );
        let others: BTreeSet<&str> = program.syscalls().collect();
        let is_known = |name: &str| known.iter().any(|call| call.is(name));
        for name in others.into_iter().filter(|name| !is_known(name)) {
            wanted.extend(program.syscall(name).map(|id| (Cow::Owned(bare(name)), id)));
        }
    }
    let unknown = |name: &String| {
        let there = known.iter().filter(|call| begin(call).is_some());
        let names = there.map(|call| call.name.as_str());
        let near = nearest(name, names.chain(program.syscalls()));
        PlacementError::UnknownSyscall {
            name: name.clone(),
            near: near.map(str::to_owned),
        }
    };
    let mut missing = None;
    for name in &request.syscalls {
        let call = known.iter().find(|call| call.is(name));
        let call = call.map_or_else(|| Cow::Owned(bare(name)), Cow::Borrowed);
        let found = begin(&call);
        if found.is_none() && request.lenient {
            missing.get_or_insert(name);
            continue;
        }
        let id = found.ok_or_else(|| unknown(name))?;
        wanted.push((call, id));
    }
    match missing {
        Some(name) if wanted.is_empty() => Err(unknown(name)),
        _ => Ok(wanted),
    }
}

/// Which file system was meant by one that the tree does not have?
fn unknown_file_system(tree: &Tree, facts: &Facts, name: &str) -> PlacementError {
    let entries = tree.list(&["fs/".to_owned()]).unwrap_or_default();
    let directories: BTreeSet<&str> = entries
        .iter()
        .filter_map(|entry| Some(entry.path.strip_prefix("fs/")?.split_once('/')?.0))
        .collect();
    let known = facts.sources.fs.keys().map(String::as_str);
    PlacementError::UnknownFileSystem {
        name: name.to_owned(),
        near: nearest(name, known.chain(directories)).map(str::to_owned),
    }
}

/// Functions that facts speak of: they are looked at even if no system call reaches them.
fn functions_with_facts(facts: &Facts, program: &Program<'_>) -> Vec<FunctionId> {
    let mut ids = BTreeSet::new();
    for fact in &facts.code {
        for function in &fact.function {
            let all = program.all(function).iter().copied();
            ids.extend(all.filter(|&id| fact.file.iter().any(|file| file == program.path(id))));
        }
    }
    ids.into_iter().collect()
}

/// What is looked at on one file system.
struct Asked<'a> {
    fs: &'a str,
    wanted: &'a [(std::borrow::Cow<'a, SyscallFact>, FunctionId)],
    explain: bool,
}

fn evaluate(
    world: &World<'_, '_>,
    security: &Security,
    loaded: &Loaded,
    asked: &Asked<'_>,
    finder: &mut Finder<'_, '_>,
    found: &mut Found,
) {
    let Asked {
        fs,
        wanted,
        explain,
    } = *asked;
    let mut maximum = Maximum::new(world);
    let mut nominal = Nominal::new(world);
    for circle in maximum.circles() {
        let names: Vec<String> = circle
            .iter()
            .map(|&id| world.program.name(id).to_owned())
            .collect();
        if !found.circles.contains(&names) {
            found.circles.push(names);
        }
    }
    let mut namer = Namer::new(world.program, loaded, &mut found.boundless);
    for (call, id) in wanted {
        let plain = std::iter::once("");
        for case in plain.chain(call.cases.iter().map(String::as_str)) {
            let mut tags = world.tag(&format!("syscall:{}", call.name));
            if !case.is_empty() {
                tags |= world.tag(&format!("case:{case}"));
            }
            let most = maximum.of(*id, tags);
            let events = nominal.of(*id, tags);
            let mut why = |causes| namer.of(&maximum, causes);
            let at = Place {
                fs,
                syscall: (&call.name, case),
                entry: *id,
            };
            let (placed, contradictions) = placement(world, security, at, &most, &events, &mut why);
            found.unparsed.extend(contradictions);
            let title = format!("{} on {fs}", placed.title());
            finder.add(&title, *id, &events, &world.framework.hooks);
            found.syscalls.push(placed);
        }
    }
    if maximum.too_deep {
        found.unparsed.insert(Unparsed {
            file: String::new(),
            function: format!("calls on {fs}"),
            line: 0,
            reason: format!("they nest deeper than {MAX_CALLS}: hooks behind that are missing"),
        });
    }
    if explain {
        found.undecided.extend(&nominal.guesses);
    }
}
