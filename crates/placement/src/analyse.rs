// SPDX-License-Identifier: GPL-2.0-or-later

mod boundless;
mod report;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Instant;

use kernels::arch::Arch;
use model::{Architecture, Failure, Tool, nearest};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::checks::{Finder, Pairs, missing, redundant};
use crate::config::Config;
use crate::context::World;
use crate::error;
use crate::facts::{Facts, FileSystemFacts, SyscallFact};
use crate::framework::{Cuts, Framework};
use crate::layers::Layers;
use crate::linked::{FactId, Linker};
use crate::load::{Loaded, load};
use crate::maximum::{MAX_CALLS, Maximum};
use crate::modules::{Security, security};
use crate::nominal::Nominal;
use crate::program::{FunctionId, Program};
use crate::reach;
use crate::series::Series;
use crate::store::{place_of_tree, read_tree, write_tree};
use crate::tree::Tree;
use crate::words::is_word;
use crate::{Coverage, PlacementDocument, SyscallPlacement, Unparsed};
use boundless::{Boundless, Namer};
use report::{Matched, Place, collect, stale, undecided};

/// In bytes. Calls may nest [`crate::maximum::MAX_CALLS`] functions deep.
const STACK: usize = 512 << 20;

/// Each has a copy of the tree's functions.
const MOST_LAYERS: usize = 4;

#[derive(Debug, Clone, Default)]
pub struct Request {
    pub architecture: Architecture,
    /// Names as in manual pages; if empty, all system calls on files.
    pub syscalls: Vec<String>,
    /// Skip system calls that the tree does not define, if it defines at least one.
    pub lenient: bool,
    pub all: bool,
    /// If empty, `ext4`.
    pub fs: Vec<String>,
    /// Text of a `.config`; without one, every option counts as set.
    pub config: Option<String>,
    /// If None, nothing is cached.
    pub cache: Option<PathBuf>,
    /// Also list conditions on success paths that neither facts nor code decide.
    pub explain: bool,
}

impl Request {
    fn arch(&self) -> &'static Arch {
        kernels::arch::by_name(self.architecture.as_str()).unwrap_or_else(kernels::arch::native)
    }
}

/// Returns a [`Failure`] if the tree cannot be read, or does not contain what is requested. Cache
/// write errors are ignored.
pub fn analyse(tree: &Tree, request: &Request) -> Result<PlacementDocument, Failure> {
    let facts = Facts::load(request.arch())?;
    std::thread::scope(|scope| {
        let work = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, || run(tree, request, &facts));
        let failed = |what: &str| {
            let path = tree.path().display();
            Failure::internal(format!("{path}: the analysis failed: {what}"))
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
    start: Instant,
    last: Instant,
    timing: BTreeMap<String, u64>,
}

impl Clock {
    fn start() -> Self {
        let now = Instant::now();
        Self {
            start: now,
            last: now,
            timing: BTreeMap::new(),
        }
    }

    fn lap(&mut self, step: &str) {
        *self.timing.entry(step.to_owned()).or_default() += milliseconds(self.last);
        self.last = Instant::now();
    }

    fn stop(mut self) -> BTreeMap<String, u64> {
        let total = milliseconds(self.start);
        self.timing.insert("total".to_owned(), total);
        self.timing
    }
}

fn milliseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

#[derive(Default)]
struct Found {
    syscalls: Vec<SyscallPlacement>,
    unparsed: BTreeSet<Unparsed>,
    circles: Vec<Vec<String>>,
    undecided: BTreeSet<(FunctionId, u32)>,
    matched: FxHashSet<FactId>,
    reachable: FxHashSet<FunctionId>,
    redundant: Pairs,
    boundless: Boundless,
}

fn run(tree: &Tree, request: &Request, facts: &Facts) -> Result<PlacementDocument, Failure> {
    let mut clock = Clock::start();
    let config = match &request.config {
        Some(text) => Config::from_dot_config(text, &facts.config),
        None => Config::everything(&facts.config),
    };
    let systems = match &request.fs[..] {
        [] => vec!["ext4"],
        some => some.iter().map(String::as_str).collect(),
    };
    let entries = tree.list(&paths(tree, request, facts, &systems)?)?;
    clock.lap("list");
    let cache = request.cache.as_ref();
    let cache = cache.map(|directory| place_of_tree(directory, tree, &config));
    let known = cache.as_deref().map(read_tree).unwrap_or_default();
    clock.lap("read cache");
    let mut loaded = load(tree, entries, &config, known)?;
    clock.lap("scan");
    let security = security(tree, &facts.modules)?;
    clock.lap("modules");

    let files = std::mem::take(&mut loaded.files);
    let stacked = systems.iter().map(|fs| facts.sources.stacked(fs).len() - 1);
    let program = Program::new(&files, stacked.max().unwrap_or(0));
    let framework = Framework::new(&program, &security, &facts.sources.generic);
    let (cuts, unused_cuts) = Cuts::new(&facts.cuts, &program, Series::parse(tree.version()));
    clock.lap("link");
    let analysis = Analysis {
        tree,
        facts,
        config: &config,
        security: &security,
        program: &program,
        framework: &framework,
        cuts: &cuts,
        wanted: wanted_syscalls(request, facts, &program)?,
        architecture: request.architecture,
        explain: request.explain,
    };
    let mut found = Found::default();
    for fs in systems {
        analysis.file_system(fs, &mut loaded, &mut found, &mut clock)?;
    }
    let mut document = analysis.document(found, &loaded, unused_cuts, &mut clock);
    drop(program);
    loaded.files = files;
    if let Some(place) = cache.filter(|_| loaded.scanned + loaded.parsed > 0) {
        // Without the cache the next run is only slower.
        let _ = write_tree(&place, &loaded);
    }
    clock.lap("write cache");
    document.timing = clock.stop();
    Ok(document)
}

fn paths(
    tree: &Tree,
    request: &Request,
    facts: &Facts,
    systems: &[&str],
) -> Result<Vec<String>, Failure> {
    let mut paths = facts.sources.generic.clone();
    let stacked = |fs: &&str| facts.sources.stacked(fs).len();
    if systems.iter().any(|fs| stacked(fs) > MOST_LAYERS + 1) {
        return Err(Failure::usage(
            format!("a file system has more than {MOST_LAYERS} layers"),
            "name each layer's file system once, as in --fs overlay:tmpfs:ext4",
        ));
    }
    for fs in systems.iter().flat_map(|fs| facts.sources.stacked(fs)) {
        match facts.sources.fs.get(fs) {
            Some(own) => paths.extend(own.paths.iter().cloned()),
            None if fs.bytes().all(is_word) => paths.extend(FileSystemFacts::new(fs).paths),
            None => return Err(unknown_file_system(tree, facts, fs)),
        }
    }
    let mut named = request.syscalls.iter();
    let beyond = |name: &String| facts.syscalls.get(name).is_none_or(|call| call.others);
    if request.all || named.any(beyond) {
        paths.extend(facts.sources.others.iter().cloned());
    }
    Ok(paths)
}

type WantedCall<'f> = (Cow<'f, SyscallFact>, FunctionId);
type Wanted<'f> = Vec<WantedCall<'f>>;

fn wanted_syscalls<'f>(
    request: &Request,
    facts: &'f Facts,
    program: &Program<'_>,
) -> Result<Wanted<'f>, Failure> {
    let known = &facts.syscalls.syscall;
    let missing = request.arch().source.missing_syscalls;
    let defined = |name: &str| program.syscall(name).filter(|_| !missing.contains(&name));
    let begin = |call: &SyscallFact| {
        let names = std::iter::once(&call.name).chain(&call.defined_as);
        names.rev().find_map(|name| defined(name))
    };
    let bare = |name: &str| SyscallFact {
        name: name.to_owned(),
        others: true,
        ..SyscallFact::default()
    };
    let mut wanted = Vec::new();
    if request.all || request.syscalls.is_empty() {
        // Older kernels do not have all of them.
        let usual = known.iter().filter(|call| request.all || call.file);
        wanted.extend(usual.filter_map(|call| Some((Cow::Borrowed(call), begin(call)?))));
    }
    if request.all {
        let others: BTreeSet<&str> = program.syscalls().collect();
        let others = others.into_iter();
        for name in others.filter(|name| facts.syscalls.get(name).is_none()) {
            wanted.extend(defined(name).map(|id| (Cow::Owned(bare(name)), id)));
        }
    }
    let unknown = |name: &String| {
        let there = known.iter().filter(|call| begin(call).is_some());
        let names = there.map(|call| call.name.as_str());
        let near = nearest(
            name,
            names.chain(program.syscalls().filter(|name| defined(name).is_some())),
        );
        error::unknown(
            format!("the tree defines no system call `{name}`"),
            near,
            "give the name without sys_, as in SYSCALL_DEFINEn; --all analyses all of them",
        )
    };
    let mut missing = None;
    for name in &request.syscalls {
        let call = facts.syscalls.get(name);
        let call = call.map_or_else(|| Cow::Owned(bare(name)), Cow::Borrowed);
        match begin(&call) {
            Some(id) => wanted.push((call, id)),
            None if request.lenient => missing = missing.or(Some(name)),
            None => return Err(unknown(name)),
        }
    }
    match missing {
        Some(name) if wanted.is_empty() => Err(unknown(name)),
        _ => Ok(wanted),
    }
}

fn unknown_file_system(tree: &Tree, facts: &Facts, name: &str) -> Failure {
    let entries = tree.list(&["fs/".to_owned()]).unwrap_or_default();
    let directories: BTreeSet<&str> = entries
        .iter()
        .filter_map(|entry| Some(entry.path.strip_prefix("fs/")?.split_once('/')?.0))
        .collect();
    let known = facts.sources.fs.keys().map(String::as_str);
    error::unknown(
        format!("the tree has no file system `{name}`"),
        nearest(name, known.chain(directories)),
        "give the name of a directory in fs/, or tmpfs",
    )
}

struct Analysis<'a> {
    tree: &'a Tree,
    facts: &'a Facts,
    config: &'a Config,
    security: &'a Security,
    program: &'a Program<'a>,
    framework: &'a Framework,
    cuts: &'a Cuts,
    wanted: Wanted<'a>,
    architecture: Architecture,
    explain: bool,
}

impl Analysis<'_> {
    fn file_system(
        &self,
        fs: &str,
        loaded: &mut Loaded,
        found: &mut Found,
        clock: &mut Clock,
    ) -> Result<(), Failure> {
        let before = found.syscalls.len();
        for others in [false, true] {
            let wanted = self.wanted.iter().filter(|(call, _)| call.others == others);
            let wanted: Vec<_> = wanted.collect();
            if !wanted.is_empty() {
                self.calls(fs, others, &wanted, loaded, found, clock)?;
            }
        }
        let place = |placed: &SyscallPlacement| {
            let mut wanted = self.wanted.iter();
            wanted.position(|(call, _)| call.name == placed.syscall)
        };
        found.syscalls[before..].sort_by_cached_key(place);
        Ok(())
    }

    /// With or without [`SourceFacts::others`].
    ///
    /// [`SourceFacts::others`]: crate::facts::SourceFacts::others
    fn calls(
        &self,
        fs: &str,
        others: bool,
        wanted: &[&WantedCall<'_>],
        loaded: &mut Loaded,
        found: &mut Found,
        clock: &mut Clock,
    ) -> Result<(), Failure> {
        let (program, framework, cuts) = (self.program, self.framework, self.cuts);
        let layers = Layers::new(program, fs, others, &self.facts.sources);
        let layers = layers.map_err(|name| unknown_file_system(self.tree, self.facts, name))?;
        let entries: Vec<FunctionId> = wanted.iter().map(|(_, id)| *id).collect();
        let kept = reach::between(&layers, framework, cuts, &entries);
        clock.lap("reach");
        // Functions in facts are parsed even if no system call reaches them.
        let code = self.facts.code.iter();
        let with_facts: BTreeSet<_> = code.flat_map(|fact| program.named_by(fact)).collect();
        let with_facts: Vec<FunctionId> = with_facts.into_iter().collect();
        let place = |id: &FunctionId| {
            let place = program.functions[*id as usize];
            (place.file, place.index)
        };
        let parsed = kept.iter().chain(&with_facts).map(place);
        loaded.parse(self.tree, self.config, program.files, parsed)?;
        clock.lap("parse");
        let linker = Linker {
            layers: &layers,
            framework,
            cuts,
            config: self.config,
            facts: &self.facts.code,
            bodies: &loaded.bodies,
        };
        let mut graphs = linker.link(&kept);
        linker.match_facts(&with_facts, &mut graphs.matched);
        // Names are large and only needed while linking.
        drop(layers);
        clock.lap("graphs");
        let world = World::new(program, framework, cuts, &self.facts.code, &graphs);
        self.evaluate(fs, wanted, &world, loaded, found);
        collect(program, loaded, &graphs, &kept, found);
        clock.lap("evaluate");
        Ok(())
    }

    fn evaluate(
        &self,
        fs: &str,
        wanted: &[&WantedCall<'_>],
        world: &World<'_, '_>,
        loaded: &Loaded,
        found: &mut Found,
    ) {
        let mut maximum = Maximum::new(world);
        let mut success_path = Nominal::new(world);
        let mut finder = Finder {
            program: self.program,
            bodies: &loaded.bodies,
            facts: &self.facts.checks,
            found: &mut found.redundant,
        };
        for circle in &maximum.circles {
            let names = circle.iter().map(|&id| self.program.name(id).to_owned());
            let names: Vec<String> = names.collect();
            if !found.circles.contains(&names) {
                found.circles.push(names);
            }
        }
        let kind = self.facts.sources.stacked(fs)[0];
        let own = self.facts.sources.fs.get(kind);
        let mut namer = Namer {
            program: self.program,
            loaded,
            all: &mut found.boundless,
            known: FxHashMap::default(),
        };
        for (call, entry) in wanted {
            let added = own.and_then(|own| own.cases.get(&call.name));
            let cases = call.cases.iter().chain(added.into_iter().flatten());
            for case in std::iter::once("").chain(cases.map(String::as_str)) {
                let tags = [
                    ("syscall", &*call.name),
                    ("case", case),
                    ("fs", kind),
                    (kind, case),
                ];
                let tags = tags.map(|(what, name)| world.tag(&format!("{what}:{name}")));
                let tags = tags.into_iter().fold(0, |all, tag| all | tag);
                let most = maximum.counts(*entry, tags);
                let events = success_path.path(*entry, tags);
                let place = Place {
                    world,
                    security: self.security,
                    fs,
                    syscall: &call.name,
                    case,
                    entry: *entry,
                };
                let mut why = |causes| namer.places(&maximum, causes);
                let (placed, contradictions) = place.placement(&most, &events, &mut why);
                found.unparsed.extend(contradictions);
                finder.add(&placed.full_title(), *entry, &events, &self.framework.hooks);
                found.syscalls.push(placed);
            }
        }
        if maximum.too_deep {
            found.unparsed.insert(Unparsed {
                file: String::new(),
                function: format!("calls on {fs}"),
                line: 0,
                reason: format!("they nest deeper than {MAX_CALLS}: hooks below are missing"),
            });
        }
        if self.explain {
            found.undecided.extend(&success_path.undecided);
        }
    }

    fn document(
        &self,
        mut found: Found,
        loaded: &Loaded,
        unused_cuts: Vec<(String, String)>,
        clock: &mut Clock,
    ) -> PlacementDocument {
        let modules = self.security.modules.iter().map(|module| {
            let direct = self.framework.direct_of(&module.name);
            module.placement(&self.facts.modules, &direct)
        });
        let modules: Vec<_> = modules.collect();
        let missing = missing(&found.syscalls, &modules, &self.facts.checks);
        clock.lap("checks");
        let matched = Matched {
            facts: &found.matched,
            bodies: &loaded.bodies,
            unused_cuts,
            series: Series::parse(self.tree.version()),
        };
        PlacementDocument {
            tool: Tool::default(),
            tree: self.tree.name(),
            version: self.tree.version().to_owned(),
            architecture: self.architecture,
            framework: self.security.placement(),
            modules,
            redundant: redundant(found.redundant),
            missing,
            unbounded: found.boundless.sorted(&mut found.syscalls),
            syscalls: found.syscalls,
            unparsed: found.unparsed.into_iter().collect(),
            circles: found.circles,
            undecided: undecided(self.program, loaded, &found.undecided),
            stale_facts: stale(self.facts, self.program, matched),
            coverage: Coverage {
                files: self.program.files.len(),
                functions: self.program.own as usize,
                reachable: found.reachable.len(),
                scanned: loaded.scanned,
                parsed: loaded.parsed,
            },
            timing: BTreeMap::new(),
        }
    }
}
