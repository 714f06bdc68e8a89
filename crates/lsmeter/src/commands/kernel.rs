// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter kernel …`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::Result;
use kernels::{Error, Kernel, KernelName, ModuleTree, Store, on_each};
use model::{DEFAULT_KERNEL, Exit, Failure, Place, Spec, glob, is_kernel_pattern};
use report::printable;

use crate::config::{Config, cache_dir};
use crate::failure::usage;
use crate::output;
use crate::progress::Line;

pub fn fetch(kernels: &[String], refresh: bool, quiet: bool) -> Result<Exit> {
    let config = Config::read()?;
    let store = Store::open(&cache_dir())?;
    let line = Line::new(quiet);
    for text in kernels {
        let KernelName::Debian(name) = text.parse::<KernelName>()? else {
            return Err(usage(
                format!("`{text}` cannot be fetched: it is not a Debian kernel"),
                "`lsmeter kernel fetch debian:6.12`; for other kernels `lsmeter kernel add PATH`",
            ));
        };
        let mirrors = config.mirrors()?;
        let mut follow = |event| line.follow_fetch(text, &event);
        let kernel = store.fetch(&name, &mirrors, refresh, &mut follow)?;
        line.keep(&format!("{text}: {} is in the cache", kernel.name));
    }
    line.done();
    Ok(Exit::Fine)
}

pub fn add(files: &[PathBuf], name: Option<&str>) -> Result<Exit> {
    let kernel = Store::open(&cache_dir())?.add(files, name)?;
    let mut text = format!(
        "{} is in the cache: Linux {}",
        kernel.name,
        printable(&kernel.release, 80)
    );
    if !kernel.packages.is_empty() {
        text += &format!(", from {}", packages(&kernel));
    }
    if let Some(dir) = &kernel.modules {
        let tree = ModuleTree::open(dir, kernel.arch())?;
        let ends = tree
            .files()
            .filter_map(|(path, _)| path.extension()?.to_str());
        let ends: BTreeSet<&str> = ends.filter(|end| *end != "ko").collect();
        let number = tree.files().count();
        text += &format!("; {number} modules");
        if !ends.is_empty() {
            let ends: Vec<_> = ends.into_iter().collect();
            text += &format!(" ({})", ends.join(", "));
        }
    }
    note!("{text}");
    Ok(Exit::Fine)
}

fn packages(kernel: &Kernel) -> String {
    let packages = kernel.packages.iter().map(|package| printable(package, 80));
    packages.collect::<Vec<_>>().join(", ")
}

pub fn list(json: bool) -> Result<Exit> {
    let store = Store::open(&cache_dir())?;
    let kernels = store.list()?;
    for (name, error) in store.broken()? {
        note!("warning: the cached kernel {name} is damaged: {error}");
    }
    if json {
        output::print_listing("kernels", &kernels)?;
        return Ok(Exit::Fine);
    }
    if kernels.is_empty() {
        note!("no kernels in the cache");
        note!("hint: lsmeter kernel fetch debian:6.12");
        return Ok(Exit::Fine);
    }
    let has_foreign = kernels.iter().any(|kernel| !kernel.arch().is_native());
    let titles = ["KERNEL", "RELEASE", "ARCHITECTURE", "PACKAGE", "BOOTS BY"];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    rows.extend(kernels.iter().map(|kernel| {
        let boots = if kernel.is_program {
            "a process"
        } else if kernel.pvh_entry.is_some() {
            "PVH"
        } else {
            kernel.arch().source.target
        };
        vec![
            kernel.name.clone(),
            printable(&kernel.release, 80),
            kernel.architecture.to_string(),
            kernel
                .package_version
                .clone()
                .unwrap_or_else(|| "-".to_owned()),
            boots.to_owned(),
        ]
    }));
    if !has_foreign {
        rows.iter_mut().for_each(|row| drop(row.remove(2)));
    }
    output::print(&super::list::columns(&rows))?;
    Ok(Exit::Fine)
}

pub fn remove(kernels: &[String]) -> Result<Exit> {
    let store = Store::open(&cache_dir())?;
    for name in kernels {
        store.remove(name)?;
    }
    Ok(Exit::Fine)
}

/// Replaces kernels without an architecture in their name, and the default kernel, by those of `arch`.
fn on_its_architectures(mut spec: Spec) -> Result<Spec> {
    if matches!(spec.place, Some(Place::Host | Place::Um)) {
        return Ok(spec);
    }
    let asked = spec.arch.take().unwrap_or_default();
    let known = asked
        .iter()
        .filter_map(|arch| kernels::arch::by_name(arch.as_str()));
    let archs: Vec<_> = known.collect();
    if !archs.is_empty() && spec.kernels.is_none() {
        spec.kernels = Some(vec![DEFAULT_KERNEL.to_owned()]);
    }
    let on = |name: &String| match is_kernel_pattern(name) {
        true => Ok(vec![name.clone()]),
        false => on_each(name, &archs),
    };
    if let Some(kernels) = &mut spec.kernels {
        let named = kernels.iter().map(on).collect::<Result<Vec<_>, _>>()?;
        *kernels = named.concat();
    }
    // Ambiguous with several architectures.
    let bound = spec.configurations.iter_mut().flatten();
    let bound = bound.filter_map(|configuration| configuration.kernel.as_mut());
    for name in bound.chain(&mut spec.baseline_kernel) {
        if let [one] = &on(name)?[..] {
            name.clone_from(one);
        }
    }
    Ok(spec)
}

/// Expands `arch`, and patterns for kernels in the cache (`build:um.*`).
pub fn expand(spec: Spec) -> Result<Spec> {
    let mut spec = on_its_architectures(spec.fill_roles()?)?;
    let Some(kernels) = spec.kernels.as_ref() else {
        return Ok(spec);
    };
    if !kernels.iter().any(|name| is_kernel_pattern(name)) {
        return Ok(spec);
    }
    let cached = Store::open(&cache_dir())?.list()?;
    let mut cached: Vec<String> = cached.into_iter().map(|kernel| kernel.name).collect();
    cached.sort_by_cached_key(|name| {
        (
            name.trim_end_matches(char::is_numeric).to_owned(),
            name.len(),
            name.clone(),
        )
    });
    let mut all = Vec::new();
    for name in kernels {
        if !is_kernel_pattern(name) {
            all.push(name.clone());
            continue;
        }
        let found = cached.iter().filter(|kernel| glob(name, kernel)).cloned();
        let found: Vec<String> = found.collect();
        if found.is_empty() {
            let flavour = match name.starts_with("build:um-dac.") {
                true => "um-nolsm",
                false => "um",
            };
            return Err(Failure::environment(
                format!("no kernel in the cache matches `{}`", printable(name, 80)),
                format!(
                    "lsmeter kernel build {flavour} --source linux-source-6.12 --flavour {flavour} \
                     --layouts 8"
                ),
            )
            .into());
        }
        all.extend(found);
    }
    spec.kernels = Some(all);
    Ok(spec)
}

pub fn obtain(
    names: &[String],
    store: &Store,
    config: &Config,
    offline: bool,
    line: &Line,
) -> Result<Vec<Kernel>> {
    let mut kernels = Vec::new();
    for text in names {
        let name: KernelName = text.parse()?;
        let kernel = match (store.resolve(&name), &name) {
            (Err(Error::NotCached { .. }), KernelName::Debian(debian)) if !offline => {
                line.keep(&format!("{text} is not in the cache: fetching it"));
                let mirrors = config.mirrors()?;
                store.fetch(debian, &mirrors, false, &mut |event| {
                    line.follow_fetch(text, &event)
                })?
            }
            (found, _) => found?,
        };
        if matches!(name, KernelName::Path(_)) && kernel.packages.len() > 1 {
            line.keep(&format!("{text}: {}", packages(&kernel)));
        }
        kernels.push(kernel);
    }
    Ok(kernels)
}
