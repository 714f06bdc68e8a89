// SPDX-License-Identifier: GPL-2.0-or-later
//! Builds kernels from Debian's source packages or any kernel tree.
//!
//! ```text
//! sources/PACKAGE_VERSION/  unpacked source package, unchanged
//! build/NAME/src/           the source with our changes (see `overlay`)
//! build/NAME/src/obj/       objects, kept for the next build
//! build/NAME/log            output of make
//! built/KEY                 the cache entry for this recipe key
//! ```

mod compiler;
mod fragment;
mod kconfig;
mod log;
mod make;
mod order;
pub(crate) mod overlay;
mod own;
mod package;
mod source;
mod steps;
mod target;
#[cfg(test)]
mod tests;
mod tools;
mod tunable;

pub use crate::um::With;
pub use compiler::Compiler;
pub use own::build_by;
pub use source::Source;

use super::entry::{self, Kernel};
use super::error::Error;
use super::files::{self, Lock};
use super::mirrors::Mirrors;
use super::name::check_build_name;
use super::store::{FetchEvent, Store, read_key};
use crate::arch::Arch;
use fragment::{Author, Wishes};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use target::Target;

const BASE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/configs/base.config"));
const ALL: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/configs/all.config"));
const ALL_NO_SMP: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/configs/all-nosmp.config"
));
const UM: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/configs/um.config"));
const NO_LSM: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/configs/nolsm.config"));
const UM_NO_LSM: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/configs/um-nolsm.config"
));
/// Increase it when the same inputs would make a different kernel.
const KEY_VERSION: &str = "1";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flavour {
    /// Every security module, integrity, BTF and the Tunable Security Module.
    #[default]
    All,
    /// `All` for one processor, configured like `Um`, to count the operations timed in `Um`.
    AllNoSmp,
    /// `CONFIG_SECURITY=n`: not even the framework.
    NoLsm,
    /// Every security module in a UML kernel (`ARCH=um`) that measures itself.
    Um,
    /// `Um` with `CONFIG_SECURITY=n`.
    UmNoLsm,
}

impl Flavour {
    pub const ALL: [Flavour; 5] = [
        Flavour::All,
        Flavour::AllNoSmp,
        Flavour::NoLsm,
        Flavour::Um,
        Flavour::UmNoLsm,
    ];

    /// A UML kernel, which is linked in several layouts.
    #[must_use]
    pub fn is_process(self) -> bool {
        matches!(self, Flavour::Um | Flavour::UmNoLsm)
    }

    #[must_use]
    pub fn has_modules(self) -> bool {
        matches!(self, Flavour::All | Flavour::AllNoSmp | Flavour::Um)
    }
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Flavour::All => "all",
            Flavour::AllNoSmp => "all-nosmp",
            Flavour::NoLsm => "nolsm",
            Flavour::Um => "um",
            Flavour::UmNoLsm => "um-nolsm",
        })
    }
}

impl FromStr for Flavour {
    type Err = String;

    fn from_str(text: &str) -> Result<Flavour, String> {
        let mut all = Flavour::ALL.into_iter();
        all.find(|flavour| flavour.to_string() == text)
            .ok_or_else(|| "expected `all`, `all-nosmp`, `nolsm`, `um` or `um-nolsm`".into())
    }
}

#[derive(Debug, Clone)]
pub struct Recipe {
    pub name: String,
    pub source: Source,
    pub flavour: Flavour,
    /// For UML kernels, this machine's architecture.
    pub arch: &'static Arch,
    pub compiler: Compiler,
    /// Later fragments override earlier ones, and all of them override the flavour.
    pub fragments: Vec<PathBuf>,
    /// Number of compilers to run at a time; default: the number of processors.
    pub jobs: Option<NonZeroUsize>,
    pub refresh: bool,
    /// Allow capability anywhere in `lsm=`. Not for `nolsm` flavours.
    pub any_order: bool,
    /// Additional processor features, for UML kernels only.
    pub with: Vec<With>,
    /// Seed of the link order of functions; the kernel is `build:NAME.NUMBER`, from the objects of
    /// `NAME`. UML kernels only.
    pub layout: Option<NonZeroU32>,
}

impl Recipe {
    pub fn title(&self) -> String {
        match self.layout {
            None => self.name.clone(),
            Some(number) => format!("{}.{number}", self.name),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildEvent {
    Waiting,
    Fetch(FetchEvent),
    Unpacking,
    Configuring,
    /// Options of the flavour that this source does not have, such as a later module's.
    Unknown(Vec<String>),
    /// Base options that are unset because they depend on options that the flavour leaves out.
    Fallen(Vec<String>),
    Compiling {
        done: u64,
        what: String,
    },
    Finishing(&'static str),
    Installing,
}

#[derive(Debug, Clone)]
pub struct Built {
    pub kernel: Kernel,
    /// Number of compiled objects; `None` if the recipe had been built before.
    pub compiled: Option<u64>,
}

struct Plan {
    name: String,
    objects: String,
    jobs: NonZeroUsize,
    target: Target,
    compiler: Compiler,
    wishes: Wishes,
    tree: source::Tree,
    changed: BTreeMap<PathBuf, String>,
}

impl Store {
    /// Builds `build:NAME`, or finds a kernel that was built from the same inputs, by its key.
    /// Objects of interrupted or differently configured builds are reused; after an error the cache
    /// is otherwise unchanged. `mirrors` is only called if a package must be fetched.
    pub fn build(
        &self,
        recipe: &Recipe,
        mirrors: &dyn Fn() -> Result<Mirrors, Error>,
        cancel: &AtomicBool,
        events: &mut dyn FnMut(BuildEvent),
    ) -> Result<Built, Error> {
        let title = recipe.title();
        let name = format!("build:{title}");
        check_build_name(&title).map_err(|reason| Error::bad_name(&name, reason))?;
        if recipe.flavour.is_process() && recipe.arch != crate::arch::native() {
            let arch = recipe.arch;
            let reason =
                format!("a UML kernel must be for this machine's architecture, not {arch}");
            return Err(Error::bad_name(&name, reason));
        }
        let mut wishes = own_wishes(recipe.flavour, recipe.arch)?;
        for with in &recipe.with {
            wishes.add(&format!("--with {with}"), with.option(), Author::User)?;
        }
        for path in &recipe.fragments {
            wishes.add_file(path)?;
        }
        let unpacks = matches!(recipe.source, Source::Package(_));
        let target = Target::new(recipe.flavour, recipe.arch);
        tools::probe(&wishes, unpacks, &recipe.compiler.needs(target.cross))?;
        let tree = match &recipe.source {
            Source::Tree(path) => source::tree(path)?,
            Source::Package(package) => {
                package::obtain(self, package, recipe.refresh, mirrors, cancel, events)?
            }
        };
        let mut changed = BTreeMap::new();
        // Without its files, the option is reported as unknown to the source.
        if let Some(wish) = wishes
            .get("SECURITY_TUNABLE")
            .filter(|wish| wish.value == "y")
            && (wish.author == Author::User || tunable::is_possible(&tree.dir))
        {
            changed.extend(tunable::changes(&tree.dir)?);
        }
        if wishes.has("DEBUG_INFO_BTF") && wishes.get("DEBUG_INFO").is_none() {
            wishes.add("lsmeter", debug_info(&tree.dir), Author::Flavour)?;
        }
        if recipe.any_order {
            changed.extend(order::changes(&tree.dir)?);
        }
        if recipe.flavour.is_process() {
            changed.extend(crate::um::changes(&tree.dir, recipe.layout)?);
        }
        let processors = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let plan = Plan {
            name: title,
            objects: recipe.name.clone(),
            jobs: recipe.jobs.unwrap_or(processors),
            target,
            compiler: recipe.compiler,
            wishes,
            tree,
            changed,
        };
        let key = key(&plan, &plan.compiler.versions(target.cross));
        if let Some(kernel) = self.built(&key, &name)? {
            return Ok(Built {
                kernel,
                compiled: None,
            });
        }
        files::create_dir(&self.dir().join("build"))?;
        let lock = self.dir().join(format!("build/.{}.lock", plan.objects));
        let _lock = Lock::take(&lock, &mut || events(BuildEvent::Waiting))?;
        let (kernel, compiled) = steps::build(self, &plan, cancel, events)?;
        self.remember(&key, &name)?;
        Ok(Built {
            kernel,
            compiled: Some(compiled),
        })
    }

    fn built(&self, key: &str, name: &str) -> Result<Option<Kernel>, Error> {
        let Ok(content) = read_key(&self.dir().join("built").join(key)) else {
            return Ok(None);
        };
        let dir = self.dir().join("kernels").join(&content);
        match entry::load_verified(&dir, &content, name) {
            Ok(_) => self.bind(&content, name).map(Some),
            Err(_) => Ok(None),
        }
    }

    fn remember(&self, key: &str, name: &str) -> Result<(), Error> {
        let dir = self.dir().join("built");
        files::create_dir(&dir)?;
        let content = self.key(name)?;
        self.scratch()?.replace(content.as_bytes(), &dir.join(key))
    }

    pub(crate) fn remove_objects(&self, build: &str) -> Result<(), Error> {
        let dir = self.dir().join("build").join(build);
        if !dir.exists() {
            return Ok(());
        }
        let lock_path = self.dir().join(format!("build/.{build}.lock"));
        let _lock = Lock::take(&lock_path, &mut || {})?;
        fs::remove_dir_all(&dir).map_err(Error::io("remove", &dir))
    }
}

/// A plain option until Linux 5.18 made it a choice.
fn debug_info(tree: &Path) -> &'static str {
    match overlay::text_of(tree, "lib/Kconfig.debug") {
        Ok(text) if !text.contains("DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT") => "CONFIG_DEBUG_INFO=y",
        _ => "",
    }
}

fn own_wishes(flavour: Flavour, arch: &Arch) -> Result<Wishes, Error> {
    let mut wishes = Wishes::default();
    wishes.add("lsmeter's base.config", BASE, Author::Base)?;
    if !flavour.is_process() {
        let name = format!("lsmeter's {}.config", arch.name);
        wishes.add(&name, arch.config, Author::Base)?;
    }
    let all = ("lsmeter's all.config", ALL);
    let none = ("lsmeter's nolsm.config", NO_LSM);
    let um = ("lsmeter's um.config", UM);
    let fragments = match flavour {
        Flavour::All => vec![all],
        Flavour::AllNoSmp => vec![all, ("lsmeter's all-nosmp.config", ALL_NO_SMP)],
        Flavour::NoLsm => vec![none],
        Flavour::Um => vec![all, um],
        Flavour::UmNoLsm => vec![um, none, ("lsmeter's um-nolsm.config", UM_NO_LSM)],
    };
    for (name, text) in fragments {
        wishes.add(name, text, Author::Flavour)?;
    }
    Ok(wishes)
}

/// Everything that determines the result: source, requested options (`conf` makes the same
/// `.config` from them), changes and compiler.
fn key(plan: &Plan, versions: &str) -> String {
    let mut parts = vec![
        KEY_VERSION.to_owned(),
        plan.tree.identity.clone(),
        plan.wishes.text(),
        versions.to_owned(),
    ];
    parts.extend(plan.target.arch.map(|arch| format!("ARCH={arch}")));
    for (path, text) in &plan.changed {
        parts.push(path.display().to_string());
        parts.push(text.clone());
    }
    // Digests are used, so that the boundaries between parts are unambiguous.
    let digests: String = parts.iter().map(|p| files::digest(p.as_bytes())).collect();
    files::digest(digests.as_bytes())
}

/// VERSION of `linux-source-VERSION` if it names only a series.
fn source_series(package: &str) -> Option<&str> {
    let version = package.strip_prefix("linux-source-")?;
    let is_plain = version.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    (is_plain && version.contains('.')).then_some(version)
}

fn check_space(dir: &Path, bytes: u64) -> Result<(), Error> {
    match rustix::fs::statvfs(dir) {
        Ok(space) if space.f_bavail.saturating_mul(space.f_frsize) < bytes => {
            Err(Error::Environment {
                what: format!(
                    "the disk with {} has less than {} MiB free",
                    dir.display(),
                    bytes >> 20
                ),
                hint: SPACE_HINT.into(),
            })
        }
        // A file system that does not report its free space may have enough.
        _ => Ok(()),
    }
}

const SPACE_HINT: &str = "free some space, or set XDG_CACHE_HOME to a directory on a larger disk; \
     `lsmeter kernel remove build:NAME` removes a kernel and its objects";

fn no_space(dir: &Path) -> Error {
    Error::Environment {
        what: format!("the disk with {} is full", dir.display()),
        hint: SPACE_HINT.into(),
    }
}
