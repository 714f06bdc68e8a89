// SPDX-License-Identifier: GPL-2.0-or-later
//! What is known of the code and cannot be seen in it: data files, each entry with the
//! code that it is about and why. Entries about code that a tree does not have are
//! reported with the result.

use std::collections::BTreeMap;

use kernels::arch::Arch;
use model::{Failure, glob};
use serde::Deserialize;

use crate::Count;
use crate::series::Series;

/// How the directory of a kernel's architecture is written in facts.
const ARCH_DIRECTORY: &str = "arch/@/";

/// `facts/config.toml`: what `#if` is decided by.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfigFacts {
    pub(crate) off: Vec<String>,
    pub(crate) defined: Vec<String>,
}

/// `facts/sources.toml`: where the code lies.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceFacts {
    /// Files and directories that are always read. A directory ends with `/`, and with
    /// `/*` if only its own files are meant.
    pub(crate) generic: Vec<String>,
    /// Also read for system calls that the facts do not know, in the same form.
    pub(crate) others: Vec<String>,
    /// File systems whose code is not all in the directory of their name.
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
    /// Structs of which its objects have no table, or one without functions that matter,
    /// as `mkfs` and `mount` make it: others' tables are not theirs either.
    #[serde(default)]
    pub(crate) idle: Vec<String>,
}

impl FileSystemFacts {
    /// Of a file system whose code is all in the directory of its name.
    pub(crate) fn of(name: &str) -> Self {
        Self {
            paths: vec![format!("fs/{name}/")],
            ..Self::default()
        }
    }
}

/// `facts/cuts.toml`: functions that are not entered, or are entered for teardown.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CutFacts {
    pub(crate) cut: Vec<FunctionFact>,
    pub(crate) teardown: Vec<FunctionFact>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FunctionFact {
    /// Files and directories (with `/`), into which calls from elsewhere are not followed.
    #[serde(default)]
    pub(crate) files: Vec<String>,
    /// Names, with `*` at an end for all that begin or end so.
    #[serde(default)]
    pub(crate) functions: Vec<String>,
    /// Only where it is called from one of these.
    #[serde(default)]
    pub(crate) callers: Vec<String>,
    /// The first series that is known to have the code; if absent, any may have it.
    pub(crate) since: Option<Series>,
    /// The last one.
    pub(crate) until: Option<Series>,
    /// Never empty.
    pub(crate) why: String,
}

/// What a [`Fact`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Of {
    /// A condition: how often it holds.
    Branch,
    /// A loop, or a label that code jumps back to: how often it is run.
    Loop,
    /// A call: how often it is made where it is met.
    Call,
    /// A call: how often it is made below itself, where functions call each other.
    Nest,
    /// A `switch`: which case is taken.
    Switch,
    /// A function that is passed: how often it is called back.
    Callback,
}

/// Most calls below itself that an [`Of::Nest`] can allow.
pub(crate) const MAX_NESTS: u32 = 8;

/// A fact about a piece of code, from `facts/*.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fact {
    pub(crate) of: Of,
    /// The file it stands in; several if it has moved.
    pub(crate) file: Vec<String>,
    /// The function; several if it was renamed.
    pub(crate) function: Vec<String>,
    /// The condition without `!` and `likely()`, the head of the loop, the label, the
    /// name that is called, the operand of the switch; several if it was rewritten.
    pub(crate) code: Vec<String>,
    /// Only where the function has one of these, too: a condition, label, head or call.
    #[serde(default)]
    pub(crate) beside: Vec<String>,
    /// Which of several equal pieces of the function it is, in their order, from 1.
    pub(crate) nth: Option<u32>,
    pub(crate) success_path: Option<Count>,
    /// How often at most.
    pub(crate) max: Option<Count>,
    /// The case, or the function, that is taken on the success path.
    pub(crate) takes: Option<String>,
    /// Only below one of these functions, system calls or cases.
    #[serde(default)]
    pub(crate) within: Vec<String>,
    /// Not below any of these.
    #[serde(default)]
    pub(crate) unless: Vec<String>,
    /// The first series that is known to have the code; if absent, any may have it.
    pub(crate) since: Option<Series>,
    /// The last one.
    pub(crate) until: Option<Series>,
    /// Why it is so. Never empty.
    pub(crate) why: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FactFile {
    #[serde(default)]
    fact: Vec<Fact>,
}

/// A system call and the ways of calling it that have a success path of their own.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SyscallFact {
    pub(crate) name: String,
    /// As `SYSCALL_DEFINEn` calls it.
    #[serde(default)]
    pub(crate) defined_as: Vec<String>,
    /// Ways of calling it, beside the plain one.
    #[serde(default)]
    pub(crate) cases: Vec<String>,
    /// Is it one of those for files, that are analysed when none is named?
    #[serde(default)]
    pub(crate) file: bool,
    /// Does its code lie in the directories of [`SourceFacts::others`], too? So it is taken
    /// to be if nothing is known of the system call.
    #[serde(default)]
    pub(crate) others: bool,
}

/// A benchmark whose operation is a case of its system calls.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BenchmarkFact {
    /// `benchmark:variant`, with `*` at its end for all variants.
    pub(crate) benchmark: String,
    /// Components of the path, with those in targets of links; from the variant if absent.
    pub(crate) depth: Option<u32>,
    #[serde(default)]
    pub(crate) links: u32,
    /// For each system call, in order, its case.
    #[serde(default)]
    pub(crate) cases: Vec<String>,
    /// Only where the operation is made of these; of any if there are none.
    #[serde(default)]
    pub(crate) made_of: Vec<String>,
    /// System calls that the operation lists and does not make.
    #[serde(default)]
    pub(crate) without: Vec<String>,
    /// The profile cannot be compared: why.
    pub(crate) skip: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SyscallFacts {
    pub(crate) syscall: Vec<SyscallFact>,
    pub(crate) benchmark: Vec<BenchmarkFact>,
}

impl SyscallFacts {
    /// What is known of a system call, by any of its names.
    pub(crate) fn get(&self, name: &str) -> Option<&SyscallFact> {
        let is = |call: &&SyscallFact| {
            call.name == name || call.defined_as.iter().any(|other| other == name)
        };
        self.syscall.iter().find(is)
    }
}

/// `facts/modules.toml`: where the modules are, and what their hooks are about.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModuleFacts {
    /// Sources of each module, by its name in `lsm=`.
    pub(crate) sources: BTreeMap<String, Vec<String>>,
    /// Categories in the order in which they are tried, with patterns of hooks.
    pub(crate) category: Vec<CategoryFact>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CategoryFact {
    pub(crate) name: String,
    pub(crate) hooks: Vec<String>,
    /// One of those that the paper calls file accessing?
    #[serde(default)]
    pub(crate) file_accessing: bool,
}

/// `facts/checks.toml`: what findings about redundant and missing checks need.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckFacts {
    pub(crate) kind: Vec<KindFact>,
    pub(crate) subject: Vec<SubjectFact>,
    pub(crate) elsewhere: Vec<ElsewhereFact>,
    pub(crate) same: Vec<PairFact>,
    pub(crate) other: Vec<PairFact>,
    /// Functions that return the same for the same arguments.
    pub(crate) pure_functions: Vec<String>,
    /// Parameters of hooks that do not say what is asked about.
    pub(crate) context_parameters: Vec<String>,
    /// Hooks that ask about all of their arguments at once.
    pub(crate) whole_hooks: Vec<String>,
}

impl CheckFacts {
    /// The kind of a module, if it has a policy on files.
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
    /// Never empty.
    pub(crate) why: String,
}

/// Something that hooks check, by their names.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubjectFact {
    pub(crate) what: String,
    pub(crate) hooks: Vec<String>,
}

/// What modules of a kind decide through other hooks.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ElsewhereFact {
    pub(crate) kind: String,
    pub(crate) what: Vec<String>,
    /// Never empty.
    pub(crate) why: String,
}

/// Two callers of a hook that ask about one object, or about different ones.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PairFact {
    pub(crate) hook: String,
    /// One of these leads to the first.
    pub(crate) first: Vec<String>,
    #[serde(default)]
    pub(crate) unless: Vec<String>,
    pub(crate) second: Vec<String>,
    /// The object, if it is the same.
    #[serde(default)]
    pub(crate) object: String,
    /// Never empty.
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
    /// Reads the facts that lsmeter was built with, as they are for kernels of an architecture.
    pub(crate) fn load(arch: &Arch) -> Result<Self, Failure> {
        let files: [Result<FactFile, Failure>; 8] = [
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

/// Does a name match one of the patterns, in which `*` stands for anything?
pub(crate) fn matches_any<T: AsRef<str>>(patterns: &[T], name: &str) -> bool {
    patterns.iter().any(|pattern| glob(pattern.as_ref(), name))
}

#[cfg(test)]
mod tests {
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
            if fact.of == Of::Nest {
                let max = fact.max.and_then(|max| max.at(0, 0));
                assert!(
                    max.is_some_and(|max| max <= u64::from(MAX_NESTS)),
                    "{place}"
                );
                assert!(fact.within.is_empty() && fact.unless.is_empty(), "{place}");
            }
        }
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
