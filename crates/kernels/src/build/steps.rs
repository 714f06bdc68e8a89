// SPDX-License-Identifier: GPL-2.0-or-later

use super::fragment::Config;
use super::kconfig::Options;
use super::overlay::{self, OBJECTS};
use super::{BuildEvent, Plan, log, make, tools};
use crate::child::describe;
use crate::entry::Kernel;
use crate::entry::Origin;
use crate::error::Error;
use crate::files;
use crate::store::Store;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

/// Objects of flavour `all` with debugging information.
const SPACE: u64 = 3 << 30;
/// The end of a log that contains the first error: make stops soon after it.
const LOG_END: u64 = 4 << 20;

/// Variables that would change the result without changing the key.
const FOREIGN: [&str; 27] = [
    "ARCH",
    "AS",
    "C",
    "CC",
    "CF",
    "CROSS_COMPILE",
    "GNUMAKEFLAGS",
    "HOSTCC",
    "HOSTCFLAGS",
    "KAFLAGS",
    "KBUILD_EXTMOD",
    "KBUILD_EXTRA_SYMBOLS",
    "KBUILD_OUTPUT",
    "KBUILD_VERBOSE",
    "KCFLAGS",
    "KCONFIG_CONFIG",
    "KCPPFLAGS",
    "LD",
    "LLVM",
    "LLVM_IAS",
    "LOCALVERSION",
    "M",
    "MAKEFLAGS",
    "MAKELEVEL",
    "MFLAGS",
    "SUBARCH",
    "V",
];

/// Stamp of the source at the start of a build; removed once the source is known to be unchanged.
const UNFINISHED: &str = "unfinished";

struct Build<'a> {
    plan: &'a Plan,
    view: PathBuf,
    objects: PathBuf,
    log: PathBuf,
    cancel: &'a AtomicBool,
}

pub(super) fn build(
    store: &Store,
    plan: &Plan,
    cancel: &AtomicBool,
    events: &mut dyn FnMut(BuildEvent),
) -> Result<(Kernel, u64), Error> {
    let dir = store.dir().join("build").join(&plan.objects);
    files::create_dir(&dir)?;
    let view = dir.join("src");
    let build = Build {
        plan,
        objects: view.join(OBJECTS),
        view,
        log: dir.join("log"),
        cancel,
    };
    build.prepare(&dir)?;
    build.configure(events)?;
    let compiled = build.compile(events)?;
    build.check_source(&dir)?;
    events(BuildEvent::Installing);
    let kernel = build.install(store)?;
    Ok((kernel, compiled))
}

impl Build<'_> {
    /// Makes the view of the source, and removes objects of another tree.
    fn prepare(&self, dir: &Path) -> Result<(), Error> {
        let mark = dir.join("tree");
        let tree = self.plan.tree.dir.as_os_str().as_encoded_bytes();
        let is_same = fs::read(&mark).is_ok_and(|old| old == tree);
        if !is_same && self.view.exists() {
            fs::remove_dir_all(&self.view).map_err(Error::io("remove", &self.view))?;
        }
        if !self.objects.join("vmlinux").exists() {
            super::check_space(dir, SPACE)?;
        }
        overlay::update(&self.plan.tree.dir, &self.view, &self.plan.changed)?;
        files::create_dir(&self.objects)?;
        if !is_same {
            files::write(&mark, tree)?;
        }
        let unfinished = dir.join(UNFINISHED);
        let stamp = self.plan.tree.stamp.as_bytes();
        if fs::read(&unfinished).is_ok_and(|old| old != stamp) {
            distrust(&self.objects, &unfinished)?;
        }
        files::write(&unfinished, stamp)?;
        // The log starts empty.
        files::write(&self.log, b"")
    }

    fn configure(&self, events: &mut dyn FnMut(BuildEvent)) -> Result<(), Error> {
        events(BuildEvent::Configuring);
        let fragment = self.objects.join("lsmeter.config");
        files::write(&fragment, self.plan.wishes.text().as_bytes())?;
        let mut command = self.command("sh");
        command
            .args(["scripts/kconfig/merge_config.sh", "-n", "-O"])
            .args([&self.objects, &fragment])
            .current_dir(&self.view)
            .env(
                "MAKEFLAGS",
                self.variables().join(" ").replace("ccache ", "ccache\\ "),
            );
        self.run(command, "merge_config.sh", &mut |_| {})?;
        let config = Config::read(&self.objects.join(".config"))?;
        let options = Options::read(&self.view, self.plan.target.source);
        let mut verdict = options.judge(&self.plan.wishes, &config);
        if !verdict.problems.is_empty() {
            let more = verdict.problems.len().saturating_sub(10);
            verdict.problems.truncate(10);
            if more > 0 {
                verdict.problems.push(format!("and {more} more"));
            }
            return Err(Error::config(
                &verdict.problems,
                "in a --config fragment, set what the option depends on, or drop the option with \
                 `# CONFIG_NAME is not set`",
            ));
        }
        if !verdict.unknown.is_empty() {
            events(BuildEvent::Unknown(verdict.unknown));
        }
        if !verdict.fallen.is_empty() {
            events(BuildEvent::Fallen(verdict.fallen));
        }
        Ok(())
    }

    fn compile(&self, events: &mut dyn FnMut(BuildEvent)) -> Result<u64, Error> {
        let mut compiled = 0;
        let target = self.plan.target.name;
        let mut command = self.make(target);
        command.arg(format!("-j{}", self.plan.jobs));
        self.run(command, &format!("make {target}"), &mut |line| {
            if let Some(object) = log::compiled(line) {
                compiled += 1;
                events(BuildEvent::Compiling {
                    done: compiled,
                    what: object.chars().take(200).collect(),
                });
            } else if let Some(what) = log::finishing(line) {
                events(BuildEvent::Finishing(what));
            }
        })?;
        Ok(compiled)
    }

    /// Fails if the source changed during the build, because the key is from its start.
    fn check_source(&self, dir: &Path) -> Result<(), Error> {
        let tree = &self.plan.tree;
        if tree.has_changed()? {
            let (name, place) = (&self.plan.name, tree.dir.display());
            return Err(Error::Environment {
                what: format!("{place} changed while build:{name} was built from it"),
                hint: format!(
                    "run the same command again; to keep working in the tree, build from a copy: \
                     git -C {place} worktree add --detach {place}-build"
                ),
            });
        }
        let unfinished = dir.join(UNFINISHED);
        fs::remove_file(&unfinished).map_err(Error::io("remove", &unfinished))
    }

    fn install(&self, store: &Store) -> Result<Kernel, Error> {
        let scratch = store.scratch()?;
        let entry = scratch.subdirectory("entry")?;
        for (from, to) in [
            (self.plan.target.image, self.plan.target.installed),
            (".config", "config"),
        ] {
            let from = self.objects.join(from);
            fs::copy(&from, entry.join(to)).map_err(Error::io("copy", &from))?;
        }
        let name = format!("build:{}", self.plan.name);
        let origin = Origin {
            version: self.plan.tree.version.clone(),
            ..Origin::default()
        };
        store.install(&scratch, &entry, &name, origin)
    }

    fn make(&self, goal: &str) -> Command {
        let mut command = self.command("make");
        let mut output = OsString::from("O=");
        output.push(&self.objects);
        command.arg("-C").arg(&self.view).arg(output);
        command.args(self.variables()).arg(goal);
        command
    }

    fn variables(&self) -> Vec<String> {
        let target = &self.plan.target;
        let has_ccache = tools::is_program("ccache");
        let mut variables = vec!["--no-print-directory".to_owned(), "LOCALVERSION=".into()];
        variables.extend(self.plan.compiler.arguments(target.cross, has_ccache));
        variables.extend(target.arch.map(|arch| format!("ARCH={arch}")));
        variables
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for name in FOREIGN {
            command.env_remove(name);
        }
        // For reproducible images and ccache hits wherever the directory is.
        command
            .env("LC_ALL", "C")
            .env("KBUILD_BUILD_TIMESTAMP", "Thu Jan  1 00:00:00 UTC 1970")
            .env("KBUILD_BUILD_VERSION", "1")
            .env("KBUILD_BUILD_USER", "lsmeter")
            .env("KBUILD_BUILD_HOST", "lsmeter")
            .env("CCACHE_NOHASHDIR", "1");
        command
    }

    fn run(&self, command: Command, what: &str, line: &mut dyn FnMut(&str)) -> Result<(), Error> {
        let doing = format!("building build:{}", self.plan.name);
        let status = make::run(command, &self.log, self.cancel, &doing, line)?;
        if status.success() {
            return Ok(());
        }
        let lines = log::first_error(&log_end(&self.log));
        if lines
            .iter()
            .any(|line| line.contains("No space left on device"))
        {
            return Err(super::no_space(&self.objects));
        }
        let kept = format!("make's complete output is in {}", self.log.display());
        Err(Error::Build {
            what: format!("{what} {}", describe(status)),
            hint: log::hint(&lines).map_or(kept.clone(), |hint| format!("{hint}; {kept}")),
            lines,
            log: self.log.clone(),
        })
    }
}

/// Sets the times of objects from an unfinished build back to its start. An object can be newer
/// than a source file that changed while the compiler read it, and make would not rebuild such an
/// object.
fn distrust(objects: &Path, unfinished: &Path) -> Result<(), Error> {
    let modified = |path: &Path| fs::metadata(path).and_then(|about| about.modified());
    let start = modified(unfinished).map_err(Error::io("read", unfinished))?;
    for path in files::walk(objects)? {
        if path.is_file() && modified(&path).is_ok_and(|time| time > start) {
            let file = File::options().append(true).open(&path);
            file.and_then(|file| file.set_modified(start))
                .map_err(Error::io("change the time of", &path))?;
        }
    }
    Ok(())
}

pub(super) fn log_end(path: &Path) -> String {
    let end = files::read_tail(path, LOG_END).unwrap_or_default();
    String::from_utf8_lossy(&end).into_owned()
}
