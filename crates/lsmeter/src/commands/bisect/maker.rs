// SPDX-License-Identifier: GPL-2.0-or-later
//! How the kernel of a commit comes about: by lsmeter's builder, or by a command of the user's.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Context, Result};
use bisect::{Repository, Use};
use kernels::{Error, Recipe, Source, Store};

use crate::cli::BisectArgs;
use crate::commands::kernel_build::made;
use crate::config::Config;
use crate::failure::usage;
use crate::progress::Line;

/// What builds, and where the kernel then is.
pub struct Maker<'a> {
    store: Store,
    config: &'a Config,
    way: Way<'a>,
    pub kernel: String,
    log: PathBuf,
    /// What the source does not know is told once, not of each commit.
    told: Cell<bool>,
}

enum Way<'a> {
    Recipe(Box<Recipe>),
    Command(&'a str),
    Nothing,
}

#[derive(Debug, Clone, Copy)]
pub struct Built {
    pub seconds: f64,
    /// Objects that were compiled; None if that is not known.
    pub compiled: Option<u64>,
}

/// How the trees of a repository are used by what is to build.
pub fn use_of(args: &BisectArgs) -> Use {
    match args.own.build {
        Some(_) => Use::BuiltIn,
        None => Use::Source,
    }
}

impl<'a> Maker<'a> {
    /// What the flags say, in the tree at `tree`; objects and logs are named by `id`.
    pub fn new(
        args: &'a BisectArgs,
        store: Store,
        config: &'a Config,
        tree: &Path,
        id: &str,
    ) -> Result<Maker<'a>> {
        if args.configuration.flavour.is_process() {
            return Err(usage(
                "kernels of flavours um and um-dac are timed, not counted",
                "give --flavour all or --flavour dac",
            ));
        }
        let own_image = || {
            let image = args.own.image.as_deref().unwrap_or(Path::new(""));
            // An absolute path stays as it is.
            tree.join(image).to_string_lossy().into_owned()
        };
        let log = store.dir().join("build").join(format!("bisect-{id}.log"));
        let (way, kernel) = match (&args.own.build, &args.own.image) {
            (Some(command), _) => (Way::Command(command), own_image()),
            (None, Some(_)) if args.step => (Way::Nothing, own_image()),
            (None, Some(_)) => {
                return Err(usage(
                    "--image is what a command builds, and there is none",
                    "add --build COMMAND, or leave out --image",
                ));
            }
            (None, None) => {
                let name = format!("bisect-{id}");
                let kernel = format!("build:{name}");
                let recipe = Recipe {
                    name,
                    source: Source::Tree(tree.to_path_buf()),
                    flavour: args.configuration.flavour,
                    arch: arch::native(),
                    compiler: args.configuration.compiler,
                    fragments: args.configuration.config.clone(),
                    jobs: args.build_jobs,
                    refresh: false,
                    any_order: false,
                    with: Vec::new(),
                    layout: None,
                };
                (Way::Recipe(Box::new(recipe)), kernel)
            }
        };
        Ok(Maker {
            store,
            config,
            way,
            kernel,
            log,
            told: Cell::new(false),
        })
    }

    /// All that decides what comes out, besides the source.
    pub fn describe(&self) -> Result<Vec<String>> {
        Ok(match &self.way {
            Way::Recipe(recipe) => {
                let mut parts = vec![recipe.flavour.to_string(), recipe.compiler.to_string()];
                for path in &recipe.fragments {
                    let text = std::fs::read_to_string(path);
                    let text = text.with_context(|| format!("cannot read {}", path.display()));
                    parts.push(text?);
                }
                parts
            }
            Way::Command(command) => vec![(*command).to_owned(), self.kernel.clone()],
            Way::Nothing => vec![self.kernel.clone()],
        })
    }

    /// Builds the kernel of the tree as it stands in `tree`; None if nothing had to be built.
    pub fn make(
        &self,
        tree: &Path,
        line: &Line,
        cancel: &AtomicBool,
    ) -> Result<Option<Built>, Error> {
        let started = Instant::now();
        let compiled = match &self.way {
            Way::Recipe(recipe) => {
                let notes = !self.told.replace(true);
                let built = made(&self.store, self.config, recipe, line, notes, cancel)?;
                match built.compiled {
                    None => return Ok(None),
                    compiled => compiled,
                }
            }
            Way::Command(command) => {
                let parent = self.log.parent().unwrap_or(tree);
                std::fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
                kernels::build_by(command, tree, &self.log, cancel, &mut |said| {
                    line.say(format!("building: {}", report::printable(said, 120)));
                })?;
                None
            }
            Way::Nothing => return Ok(None),
        };
        Ok(Some(Built {
            seconds: started.elapsed().as_secs_f64(),
            compiled,
        }))
    }
}

/// What objects of a checkout of the user's are named by.
pub fn id_of_checkout(repository: &Repository) -> String {
    format!("step-{}", repository.id())
}
