// SPDX-License-Identifier: GPL-2.0-or-later
//! Facts that the code does not show: data files whose entries name their code and reason. Entries
//! without matching code are reported with the result.

use std::collections::BTreeMap;

use kernels::arch::Arch;
use model::{Cell, Failure, glob};
use serde::Deserialize;

use crate::Count;
use crate::series::Series;

/// Placeholder for the kernel's architecture in facts.
const ARCH_DIRECTORY: &str = "arch/@/";

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfigFacts {
    pub(crate) off: Vec<String>,
    pub(crate) defined: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceFacts {
    /// Always read. A directory ends with `/`, or with `/*` for its own files only.
    pub(crate) generic: Vec<String>,
    /// Also read for system calls that the facts do not know.
    pub(crate) others: Vec<String>,
    /// File systems with code outside the directory of their name.
    #[serde(default)]
    pub(crate) fs: BTreeMap<String, FileSystemFacts>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileSystemFacts {
    pub(crate) paths: Vec<String>,
    /// Tables of a regular file, preferred on the success path.
    #[serde(default)]
    pub(crate) regular: Vec<String>,
    /// Structs for which its objects, as created by `mkfs` and `mount`, have no table that matters.
    /// Other file systems' tables are not used either.
    #[serde(default)]
    pub(crate) idle: Vec<String>,
    /// File systems below, on which it calls functions of the kernel again; the success path's first.
    #[serde(default)]
    pub(crate) layers: Vec<String>,
    /// Cases of system calls that it adds.
    #[serde(default)]
    pub(crate) cases: BTreeMap<String, Vec<String>>,
    /// The first that names a function and its caller applies.
    #[serde(default)]
    pub(crate) call: Vec<LayerFact>,
}

/// Whose objects functions of the kernel work on when a file system with layers calls them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LayerFact {
    pub(crate) on: Object,
    /// Or members that point to functions.
    pub(crate) functions: Vec<String>,
    /// Empty: all of the file system's functions.
    #[serde(default)]
    pub(crate) callers: Vec<String>,
    /// Never empty.
    pub(crate) why: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Object {
    Own,
    Layers,
    #[default]
    Either,
    /// The call is not followed.
    Neither,
}

impl FileSystemFacts {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            paths: vec![format!("fs/{name}/")],
            ..Self::default()
        }
    }
}

impl SourceFacts {
    /// The file system, then its layers: those in the name (`overlay:ext4`), else those of the facts.
    pub(crate) fn stacked<'n>(&'n self, fs: &'n str) -> Vec<&'n str> {
        let mut names: Vec<&str> = fs.split(':').collect();
        let known = self.fs.get(fs).into_iter();
        names.extend(known.flat_map(|known| known.layers.iter().map(String::as_str)));
        names
    }
}

/// `facts/cuts.toml`: functions that are not entered, or only for teardown.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CutFacts {
    pub(crate) cut: Vec<FunctionFact>,
    pub(crate) teardown: Vec<FunctionFact>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FunctionFact {
    /// Files and directories (with `/`); calls from elsewhere into them are not followed.
    #[serde(default)]
    pub(crate) files: Vec<String>,
    /// Names, with `*` at one end as a wildcard.
    #[serde(default)]
    pub(crate) functions: Vec<String>,
    /// Limits the cut to calls from these functions.
    #[serde(default)]
    pub(crate) callers: Vec<String>,
    /// First series with the code; None for any series.
    pub(crate) since: Option<Series>,
    pub(crate) until: Option<Series>,
    /// Never empty.
    pub(crate) why: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FactKind {
    /// How often a condition holds.
    Branch,
    /// How often a loop, or a label with a backward jump, runs.
    Loop,
    /// How often a call is made where it is reached.
    Call,
    /// How often a recursive call is made below itself.
    Nest,
    Switch,
    Callback,
}

/// The largest number of calls below itself that a [`FactKind::Nest`] can allow.
pub(crate) const MAX_NESTS: u32 = 8;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fact {
    #[serde(rename = "of")]
    pub(crate) kind: FactKind,
    /// Several if the function has moved.
    pub(crate) file: Vec<String>,
    /// Several if the function was renamed.
    pub(crate) function: Vec<String>,
    /// The condition without `!` and `likely()`, loop head, label, called name or switch operand;
    /// several if it was rewritten.
    pub(crate) code: Vec<String>,
    /// A condition, label, head or call that the function must also have.
    #[serde(default)]
    pub(crate) beside: Vec<String>,
    /// Selects one of several equal pieces in the function, from 1.
    pub(crate) nth: Option<u32>,
    pub(crate) success_path: Option<Count>,
    pub(crate) max: Option<Count>,
    /// The case or function on the success path.
    pub(crate) takes: Option<String>,
    /// Functions, system calls or cases; the fact applies only below one of them.
    #[serde(default)]
    pub(crate) within: Vec<String>,
    /// Functions, system calls or cases below which the fact does not apply.
    #[serde(default)]
    pub(crate) unless: Vec<String>,
    /// First series with the code; None for any series.
    pub(crate) since: Option<Series>,
    pub(crate) until: Option<Series>,
    /// Never empty.
    pub(crate) why: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FactFile {
    #[serde(default)]
    fact: Vec<Fact>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SyscallFact {
    pub(crate) name: String,
    /// As in `SYSCALL_DEFINEn`.
    #[serde(default)]
    pub(crate) defined_as: Vec<String>,
    /// In addition to the plain one.
    #[serde(default)]
    pub(crate) cases: Vec<String>,
    /// Analysed by default.
    #[serde(default)]
    pub(crate) file: bool,
    /// Also needs [`SourceFacts::others`]; assumed for unknown system calls.
    #[serde(default)]
    pub(crate) others: bool,
}

/// A benchmark whose operation is a case of its system calls.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BenchmarkFact {
    /// `benchmark:variant`, with `*` at its end for all variants.
    pub(crate) benchmark: String,
    /// Path components, including those in link targets; default: from the variant.
    pub(crate) depth: Option<u32>,
    #[serde(default)]
    pub(crate) links: u32,
    /// One per system call, in order.
    #[serde(default)]
    pub(crate) cases: Vec<String>,
    /// Exactly the operation's system calls; empty: any.
    #[serde(default)]
    pub(crate) made_of: Vec<String>,
    /// System calls that the operation lists but does not make.
    #[serde(default)]
    pub(crate) without: Vec<String>,
    /// The file system that it mounts on the experiment's.
    pub(crate) fs: Option<String>,
    /// Why the profile cannot be compared.
    pub(crate) skip: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SyscallFacts {
    pub(crate) syscall: Vec<SyscallFact>,
    pub(crate) benchmark: Vec<BenchmarkFact>,
}

impl SyscallFacts {
    pub(crate) fn benchmark(&self, cell: &Cell) -> Option<&BenchmarkFact> {
        let name = format!("{}:{}", cell.key.benchmark(), cell.key.variant());
        self.benchmark.iter().find(|fact| {
            let made_so = fact.made_of.is_empty() || fact.made_of == cell.syscalls;
            made_so && matches_any(&[&fact.benchmark], &name)
        })
    }

    pub(crate) fn get(&self, name: &str) -> Option<&SyscallFact> {
        let is = |call: &&SyscallFact| {
            call.name == name || call.defined_as.iter().any(|other| other == name)
        };
        self.syscall.iter().find(is)
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModuleFacts {
    /// By the module's name in `lsm=`.
    pub(crate) sources: BTreeMap<String, Vec<String>>,
    /// In the order in which they are tried, with hook patterns.
    pub(crate) category: Vec<CategoryFact>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CategoryFact {
    pub(crate) name: String,
    pub(crate) hooks: Vec<String>,
    /// As defined in the paper.
    #[serde(default)]
    pub(crate) file_accessing: bool,
}

/// `facts/checks.toml`: for redundant and missing checks.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckFacts {
    pub(crate) kind: Vec<KindFact>,
    pub(crate) subject: Vec<SubjectFact>,
    pub(crate) elsewhere: Vec<ElsewhereFact>,
    pub(crate) same: Vec<PairFact>,
    pub(crate) other: Vec<PairFact>,
    /// Functions whose result depends only on their arguments.
    pub(crate) pure_functions: Vec<String>,
    /// Hook parameters that do not identify the object.
    pub(crate) context_parameters: Vec<String>,
    /// Hooks whose arguments together identify the object.
    pub(crate) whole_hooks: Vec<String>,
}

impl CheckFacts {
    /// None for a module without a file policy.
    pub(crate) fn kind_of(&self, module: &str) -> Option<&KindFact> {
        let has = |kind: &&KindFact| kind.modules.iter().any(|name| name == module);
        self.kind.iter().find(has)
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KindFact {
    pub(crate) name: String,
    pub(crate) modules: Vec<String>,
    pub(crate) why: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubjectFact {
    pub(crate) what: String,
    pub(crate) hooks: Vec<String>,
}

/// A decision that modules of a kind make in other hooks.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ElsewhereFact {
    pub(crate) kind: String,
    pub(crate) what: Vec<String>,
    pub(crate) why: String,
}

/// Two callers of a hook with the same or different objects.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PairFact {
    pub(crate) hook: String,
    /// Functions that lead to the first call.
    pub(crate) first: Vec<String>,
    #[serde(default)]
    pub(crate) unless: Vec<String>,
    pub(crate) second: Vec<String>,
    #[serde(default)]
    pub(crate) object: String,
    pub(crate) why: String,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    pub(crate) config: ConfigFacts,
    pub(crate) sources: SourceFacts,
    pub(crate) cuts: CutFacts,
    pub(crate) code: Vec<Fact>,
    pub(crate) syscalls: SyscallFacts,
    pub(crate) modules: ModuleFacts,
    pub(crate) checks: CheckFacts,
}

macro_rules! parsed {
    ($file:literal) => {
        toml::from_str(include_str!(concat!("../facts/", $file)))
            .map_err(|error| Failure::internal(format!("facts/{}: {error}", $file)))
    };
}

impl Facts {
    pub(crate) fn load(arch: &Arch) -> Result<Self, Failure> {
        let files: [Result<FactFile, Failure>; 9] = [
            // Before the facts that do not hold for overlayfs.
            parsed!("overlay.toml"),
            parsed!("lookup.toml"),
            parsed!("open.toml"),
            parsed!("files.toml"),
            parsed!("teardown.toml"),
            parsed!("process.toml"),
            parsed!("tasks.toml"),
            parsed!("sockets.toml"),
            parsed!("bounds.toml"),
        ];
        let mut code = Vec::new();
        for file in files {
            code.append(&mut file?.fact);
        }
        let mut syscalls: SyscallFacts = parsed!("syscalls.toml")?;
        let mut of_sockets: SyscallFacts = parsed!("socket-calls.toml")?;
        syscalls.syscall.append(&mut of_sockets.syscall);
        syscalls.benchmark.append(&mut of_sockets.benchmark);
        let mut config: ConfigFacts = parsed!("config.toml")?;
        let owned = |name: &&str| (*name).to_owned();
        config.defined.extend(arch.source.macros.iter().map(owned));
        let foreign = arch.source.foreign_options.iter().map(owned);
        config.off.extend(foreign);
        let mut sources: SourceFacts = parsed!("sources.toml")?;
        let mut cuts: CutFacts = parsed!("cuts.toml")?;
        let in_cuts = cuts.cut.iter_mut().flat_map(|cut| &mut cut.files);
        for path in sources.generic.iter_mut().chain(in_cuts) {
            if let Some(below) = path.strip_prefix(ARCH_DIRECTORY) {
                *path = format!("{}{below}", arch.source.directory);
            }
        }
        Ok(Self {
            config,
            sources,
            cuts,
            code,
            syscalls,
            modules: parsed!("modules.toml")?,
            checks: parsed!("checks.toml")?,
        })
    }
}

/// `*` is a wildcard.
pub(crate) fn matches_any<T: AsRef<str>>(patterns: &[T], name: &str) -> bool {
    patterns.iter().any(|pattern| glob(pattern.as_ref(), name))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_facts_are_whole() {
        let facts = Facts::load(kernels::arch::native()).unwrap();
        for fact in &facts.code {
            let place = format!("{:?} {:?}", fact.function, fact.code);
            assert!(!fact.why.is_empty() && !fact.file.is_empty(), "{place}");
            assert!(
                !fact.function.is_empty() && !fact.code.is_empty(),
                "{place}"
            );
            let says = fact.success_path.is_some() || fact.max.is_some() || fact.takes.is_some();
            assert!(says, "{place}");
            if fact.kind == FactKind::Nest {
                let max = fact.max.and_then(|max| max.at(0, 0));
                assert!(
                    max.is_some_and(|max| max <= u64::from(MAX_NESTS)),
                    "{place}"
                );
                assert!(fact.within.is_empty() && fact.unless.is_empty(), "{place}");
            }
        }
        // More bits would be lost in [`crate::context::Tags`].
        let code = facts.code.iter();
        let named: BTreeSet<&String> = code
            .flat_map(|fact| fact.within.iter().chain(&fact.unless))
            .collect();
        let nests = facts.code.iter().filter(|fact| fact.kind == FactKind::Nest);
        let nests = nests.map(|fact| fact.max.map_or(0, |max| max.constant));
        assert!(named.len() + nests.sum::<u32>() as usize <= crate::context::Tags::BITS as usize);
        let mut calls = facts.sources.fs.values().flat_map(|fs| &fs.call);
        assert!(calls.all(|call| !call.why.is_empty() && !call.functions.is_empty()));
        let cuts = facts.cuts.cut.iter().chain(&facts.cuts.teardown);
        assert!(
            cuts.into_iter()
                .all(|cut| !cut.why.is_empty()
                    && (!cut.functions.is_empty() || !cut.files.is_empty()))
        );
        let checks = &facts.checks;
        let pairs = checks.same.iter().chain(&checks.other);
        let mut whys = (checks.kind.iter().map(|fact| &fact.why))
            .chain(checks.elsewhere.iter().map(|fact| &fact.why))
            .chain(pairs.map(|fact| &fact.why));
        assert!(whys.all(|why| !why.is_empty()));
        assert!(checks.same.iter().all(|fact| !fact.object.is_empty()));
        assert!(checks.other.iter().all(|fact| fact.object.is_empty()));
        let known = |what: &String| checks.subject.iter().any(|subject| subject.what == *what);
        let mut elsewhere = checks.elsewhere.iter().flat_map(|fact| &fact.what);
        assert!(elsewhere.all(known));
    }

    #[test]
    fn patterns() {
        assert!(matches_any(&["kmalloc*"], "kmalloc_node"));
        assert!(matches_any(&["*_lock", "x"], "spin_lock"));
        assert!(!matches_any(&["lock"], "spin_lock"));
    }
}
