// SPDX-License-Identifier: GPL-2.0-or-later
//! Kernels built here, from Debian's source packages or any kernel tree.
//!
//! ```text
//! sources/PACKAGE_VERSION/  an unpacked source package, as it is
//! build/NAME/src/           the source with what is changed in it (see `overlay`)
//! build/NAME/src/obj/       its objects, kept: the next build makes what it must
//! build/NAME/log            what make printed
//! built/KEY                 the entry that a recipe of this key became
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
const ALL_UP: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/configs/all-up.config"
));
const UM: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/configs/um.config"));
const DAC: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/configs/dac.config"));
const UM_DAC: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/configs/um-dac.config"
));
/// Changed when the same inputs make another kernel.
const KEY_VERSION: &str = "1";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flavour {
    /// Every security module, integrity, BTF and the Tunable Security Module.
    #[default]
    All,
    /// `All` for one processor, configured as `Um`: what is timed there is counted here.
    AllUp,
    /// `CONFIG_SECURITY=n`: no module, not even the framework.
    Dac,
    /// Every security module in a kernel that is a process (`ARCH=um`) and measures itself.
    Um,
    /// `Um` with `CONFIG_SECURITY=n`: no module, not even the framework.
    UmDac,
}

impl Flavour {
    pub const ALL: [Flavour; 5] = [
        Flavour::All,
        Flavour::AllUp,
        Flavour::Dac,
        Flavour::Um,
        Flavour::UmDac,
    ];

    /// Is it a kernel that is a process, which is linked in several layouts?
    #[must_use]
    pub fn is_process(self) -> bool {
        matches!(self, Flavour::Um | Flavour::UmDac)
    }

    #[must_use]
    pub fn has_modules(self) -> bool {
        matches!(self, Flavour::All | Flavour::AllUp | Flavour::Um)
    }
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Flavour::All => "all",
            Flavour::AllUp => "all-up",
            Flavour::Dac => "dac",
            Flavour::Um => "um",
            Flavour::UmDac => "um-dac",
        })
    }
}

impl FromStr for Flavour {
    type Err = String;

    fn from_str(text: &str) -> Result<Flavour, String> {
        let mut all = Flavour::ALL.into_iter();
        all.find(|flavour| flavour.to_string() == text)
            .ok_or_else(|| "a flavour is `all`, `all-up`, `dac`, `um` or `um-dac`".into())
    }
}

#[derive(Debug, Clone)]
pub struct Recipe {
    /// The kernel will be `build:NAME`.
    pub name: String,
    pub source: Source,
    pub flavour: Flavour,
    /// For machines of this architecture. A kernel that is a process is of this machine's.
    pub arch: &'static Arch,
    pub compiler: Compiler,
    /// The user's configuration fragments; a later one overrules an earlier one,
    /// and each overrules the flavour.
    pub fragments: Vec<PathBuf>,
    /// How many compilers run at a time; as many as there are processors if `None`.
    pub jobs: Option<NonZeroUsize>,
    /// Look for a newer version of the source package.
    pub refresh: bool,
    /// Let `lsm=` put capability anywhere. Of flavours that have modules only.
    pub any_order: bool,
    /// What its processor code has besides. Of kernels that are processes only.
    pub with: Vec<With>,
    /// Link functions in an order that is drawn by this number; the kernel is then
    /// `build:NAME.NUMBER`, from the objects of `NAME`. Of kernels that are processes only.
    pub layout: Option<NonZeroU32>,
}

impl Recipe {
    /// What comes behind `build:`.
    #[must_use]
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
    /// Another lsmeter is at it; this one waits.
    Waiting,
    Fetch(FetchEvent),
    Unpacking,
    Configuring,
    /// Options of the flavour that this source does not know, such as those of a
    /// module that came later.
    Unknown(Vec<String>),
    /// Options of the base that are not set where the flavour leaves options out.
    Fallen(Vec<String>),
    Compiling {
        done: u64,
        what: String,
    },
    /// What comes after the objects, such as `linking vmlinux`.
    Finishing(&'static str),
    /// The kernel is being put into the cache.
    Installing,
}

#[derive(Debug, Clone)]
pub struct Built {
    pub kernel: Kernel,
    /// How many objects were compiled; `None` if the same recipe had been built
    /// before and nothing was done.
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
    /// Builds a kernel and keeps it as `build:NAME`. What was built before from
    /// the same source, configuration, patch and compiler is found again by its
    /// key; objects of a build that was interrupted or of another configuration
    /// are used again. `mirrors` is asked only if a package must be fetched.
    ///
    /// # Errors
    /// [`Error::Usage`] for a recipe that makes no sense, or whose kernel is to be a process of
    /// another machine; [`Error::Environment`] if a tool lacks or the disk is full;
    /// [`Error::Build`] with the first lines of what failed;
    /// [`Error::Interrupted`] once `cancel` is true. The cache then holds what
    /// it held before, and the objects for the next try.
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
            let reason = format!(
                "a kernel that is a process is of this machine's architecture, not of {arch}"
            );
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
        let target = Target::of(recipe.flavour, recipe.arch);
        tools::probe(&wishes, unpacks, &recipe.compiler.needs(target.cross))?;
        let tree = match &recipe.source {
            Source::Tree(path) => source::tree(path)?,
            Source::Package(package) => {
                package::obtain(self, package, recipe.refresh, mirrors, cancel, events)?
            }
        };
        let mut changed = BTreeMap::new();
        if wishes.has("SECURITY_TUNABLE") {
            changed.extend(tunable::changes(&tree.dir)?);
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

    /// The kernel that the recipe of this key became, now also called `name`.
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

    /// Removes the objects of `build:NAME`.
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

fn own_wishes(flavour: Flavour, arch: &Arch) -> Result<Wishes, Error> {
    let mut wishes = Wishes::default();
    wishes.add("lsmeter's base.config", BASE, Author::Base)?;
    if !flavour.is_process() {
        let name = format!("lsmeter's {}.config", arch.name);
        wishes.add(&name, arch.config, Author::Base)?;
    }
    let all = ("lsmeter's all.config", ALL);
    let dac = ("lsmeter's dac.config", DAC);
    let um = ("lsmeter's um.config", UM);
    let fragments = match flavour {
        Flavour::All => vec![all],
        Flavour::AllUp => vec![all, ("lsmeter's all-up.config", ALL_UP)],
        Flavour::Dac => vec![dac],
        Flavour::Um => vec![all, um],
        Flavour::UmDac => vec![um, dac, ("lsmeter's um-dac.config", UM_DAC)],
    };
    for (name, text) in fragments {
        wishes.add(name, text, Author::Flavour)?;
    }
    Ok(wishes)
}

/// All that decides what comes out: the source, what is asked of its
/// configuration (from which `conf` makes the same `.config` each time), what is
/// changed in it, and the compiler.
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
    // Digests, so that no part can run into the next.
    let digests: String = parts.iter().map(|p| files::digest(p.as_bytes())).collect();
    files::digest(digests.as_bytes())
}

/// The VERSION of a package `linux-source-VERSION`, if it names a series only.
fn source_series(package: &str) -> Option<&str> {
    let version = package.strip_prefix("linux-source-")?;
    let is_plain = version.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    (is_plain && version.contains('.')).then_some(version)
}

/// Sees that the disk of `dir` has `bytes` free.
fn check_space(dir: &Path, bytes: u64) -> Result<(), Error> {
    match rustix::fs::statvfs(dir) {
        Ok(space) if space.f_bavail.saturating_mul(space.f_frsize) < bytes => {
            Err(Error::Environment {
                what: format!(
                    "the disk of {} has less than {} MiB free",
                    dir.display(),
                    bytes >> 20
                ),
                hint: SPACE_HINT.into(),
            })
        }
        // A file system that does not tell may have room.
        _ => Ok(()),
    }
}

const SPACE_HINT: &str = "make room, or set XDG_CACHE_HOME to a directory on a larger disk; \
     `lsmeter kernel remove build:NAME` removes a kernel and its objects";

fn no_space(dir: &Path) -> Error {
    Error::Environment {
        what: format!("the disk of {} is full", dir.display()),
        hint: SPACE_HINT.into(),
    }
}
