// SPDX-License-Identifier: GPL-2.0-or-later
//! Custom SELinux policies: binary, or modules to compile; and the labels that their file contexts
//! give to files in the guest.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, FileType};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use model::{AccessHow, CustomPolicy};

use super::super::selinux::{
    CONVERTER, CONVERTER_PACKAGE, REFERENCE_VERSION, converted, is_binary,
};
use super::super::{PolicyError, Prepared, Request, tools};
use super::permissive::with_permissive;
use super::{GivenFile, files, prepared, start, unreadable};

/// The kernel's initial domain, and the agent's: in the reference policy, and in Android's.
const OWN_DOMAINS: [&str; 2] = ["kernel_t", "kernel"];
/// The guest reads the whole file into memory.
const CONTEXTS_LIMIT: usize = 32 << 10;
/// The number of paths that one process looks up.
const LOOKUPS: usize = 1_000;

pub(in super::super) fn prepare(
    request: &Request<'_>,
    of: &CustomPolicy,
) -> Result<Prepared, PolicyError> {
    // Compiling modules takes minutes, so look for missing labels first.
    let contexts = contexts(request, of)?;
    if contexts.len() >= CONTEXTS_LIMIT {
        return Err(tools::failed(
            "the accesses that check the policy need too many labels",
            "name fewer accesses, or shorter paths",
        ));
    }
    let sources = files(of)?;
    let (policy, step) = match sources.as_slice() {
        [only] if is_binary(&only.bytes) => {
            let step = format!("selinux: {}, unchanged", of.files.join(" "));
            (only.bytes.clone(), step)
        }
        modules => compiled(request, of, modules)?,
    };
    let own = OWN_DOMAINS.map(|own| (!is_of(of, own)).then_some(own));
    let own: Vec<&str> = own.into_iter().flatten().collect();
    let mut prepared = prepared(of);
    prepared.steps.push(step);
    let policy = match with_permissive(&policy, &own) {
        Some((policy, domain)) => {
            let step = format!("selinux: made {domain}, the kernel's own domain, permissive");
            prepared.steps.push(step);
            policy
        }
        None => {
            let step = "selinux: warning: no domain of the kernel is permissive: enforcing mode is \
                        switched off and on for each measurement, which takes longer";
            prepared.steps.push(step.to_owned());
            policy
        }
    };
    prepared.file("policy", policy);
    prepared.file("contexts", contexts);
    if let (Some(root), Some(file)) = (request.root, &of.file_contexts) {
        prepared.file("root-labels", root_labels(root, of, file)?);
    }
    let context = of.context.as_deref().unwrap_or_default();
    let started = of.starts_in.as_deref().unwrap_or(context);
    start(request, &mut prepared, context, Some(started));
    if !of.booleans.is_empty() {
        let lines = of.booleans.iter();
        let lines: String = lines
            .map(|(name, on)| format!("{name} {}\n", u8::from(*on)))
            .collect();
        prepared.file("booleans", lines);
    }
    Ok(prepared)
}

fn is_of(of: &CustomPolicy, domain: &str) -> bool {
    let context = of.context.as_deref().unwrap_or_default();
    context.split(':').nth(2) == Some(domain)
}

fn compiled(
    request: &Request<'_>,
    of: &CustomPolicy,
    modules: &[GivenFile],
) -> Result<(Vec<u8>, String), PolicyError> {
    let secilc = tools::find("secilc", "secilc")?;
    let converter = Path::new(CONVERTER);
    let needs_converter = modules.iter().any(|file| !is_cil(&file.name));
    if needs_converter && !converter.is_file() {
        return Err(tools::missing(CONVERTER, CONVERTER_PACKAGE));
    }
    let mut programs = vec![secilc.as_path()];
    programs.extend(needs_converter.then_some(converter));
    let versions = tools::digest(&programs)?;
    let mut inputs: Vec<&[u8]> = vec![versions.as_bytes(), REFERENCE_VERSION.as_bytes()];
    for file in modules {
        inputs.extend([file.name.as_os_str().as_encoded_bytes(), &file.bytes]);
    }
    let policy = tools::cached(request.cache, "selinux-given", &inputs, &mut |made| {
        let mut command = tools::bounded(&secilc);
        // neverallow rules were checked when the modules were built.
        command.args(["-M", "true", "-N", "-c", REFERENCE_VERSION]);
        command.args(["-f", "/dev/null", "-o"]).arg(made);
        for (number, file) in modules.iter().enumerate() {
            let path = made.with_file_name(format!("{number:05}.cil"));
            let text = if is_cil(&file.name) {
                file.bytes.clone()
            } else {
                let text = converted(&file.bytes, &file.name, made);
                text.map_err(|error| named(error, &file.name))?.into_bytes()
            };
            tools::write(&path, &text)?;
            command.arg(path);
        }
        tools::run(&mut command).map(drop)
    })?;
    let step = format!(
        "selinux: secilc -M true -N -c {REFERENCE_VERSION} -o policy from {} modules ({})",
        modules.len(),
        of.files.join(" ")
    );
    Ok((policy, step))
}

fn named(error: PolicyError, file: &Path) -> PolicyError {
    match error {
        PolicyError::Environment(failure) => tools::failed(
            format!("{}: {failure}", file.display()),
            "give a binary policy, or modules: .cil, .pp or .pp.bz2",
        ),
        unsupported @ PolicyError::Unsupported(_) => unsupported,
    }
}

fn is_cil(name: &Path) -> bool {
    name.extension().is_some_and(|extension| extension == "cil")
}

/// Written for the guest: see `apply_line()` in `guest/policy/selinux.c`.
fn contexts(request: &Request<'_>, of: &CustomPolicy) -> Result<String, PolicyError> {
    let work_dir = request.root.map_or(request.work_dir(), |_| "/");
    let work = match (&of.files_context, &of.file_contexts) {
        (Some(context), _) => context.clone(),
        (None, Some(file)) => label(file, work_dir, "dir")?.ok_or_else(|| {
            tools::failed(
                format!("{file} has no label for {work_dir}"),
                "name the label with `files_context`, or another directory with `work_dir`",
            )
        })?,
        (None, None) => String::new(),
    };
    let agent = of.context.as_deref().unwrap_or_default();
    let mut text = format!("agent {agent}\nwork {work}\n");
    let Some(file) = of.file_contexts.as_ref().filter(|_| request.root.is_none()) else {
        return Ok(text);
    };
    let mut directories = BTreeSet::from(["/".to_owned()]);
    let accesses = of.denied.iter().chain(&of.allowed);
    let accesses = accesses.filter(|access| !access.how.is_of_port());
    directories.extend(above(work_dir));
    let mut paths = BTreeSet::new();
    for access in accesses {
        directories.extend(above(&access.what));
        // A file that the access creates does not exist yet.
        if access.how != AccessHow::Create {
            paths.insert(access.what.as_str());
        }
    }
    // A mount point has its own label.
    for directory in directories
        .iter()
        .filter(|directory| *directory != work_dir)
    {
        if let Some(label) = label(file, directory, "dir")? {
            let _ = writeln!(text, "label {directory} {label}");
        }
    }
    for path in paths
        .into_iter()
        .filter(|path| !directories.contains(*path))
    {
        let label = label(file, path, "file")?.ok_or_else(|| {
            tools::failed(
                format!("{file} has no label for {path}, which `denied` or `allowed` names"),
                "add an entry for it, or name a file that has one",
            )
        })?;
        let _ = writeln!(text, "label {path} {label}");
    }
    Ok(text)
}

fn above(path: &str) -> Vec<String> {
    let ends = path
        .match_indices('/')
        .map(|(at, _)| at)
        .filter(|at| *at > 0);
    ends.map(|at| path[..at].to_owned()).collect()
}

/// The labels that file contexts give to paths of a kind: `file`, `dir`, `lnk_file`, `chr_file`,
/// `blk_file`, `pipe`, `sock_file`.
fn labels(file: &str, kind: &str, paths: &[&str]) -> Result<Vec<Option<String>>, PolicyError> {
    let lookup = tools::find("matchpathcon", "selinux-utils")?;
    if !Path::new(file).is_file() {
        return Err(tools::failed(
            format!("{file}, the policy's file contexts, is not a file"),
            "name the policy's file_contexts, such as /etc/selinux/default/contexts/files/file_contexts",
        ));
    }
    let mut labels = Vec::new();
    for part in paths.chunks(LOOKUPS) {
        let mut command = tools::bounded(&lookup);
        command
            .args(["-n", "-f", file, "-m", kind, "--"])
            .args(part);
        let printed = tools::run(&mut command).map_err(|error| {
            tools::failed(
                format!("looking up labels in {file}: {error}"),
                "name the file_contexts of the same policy",
            )
        })?;
        labels.extend(printed.lines().map(|context| {
            (context != "<<none>>" && context.len() < 256).then(|| context.to_owned())
        }));
    }
    if labels.len() != paths.len() {
        return Err(tools::failed(
            format!(
                "matchpathcon printed {} labels for {} paths",
                labels.len(),
                paths.len()
            ),
            "run matchpathcon by hand for details",
        ));
    }
    Ok(labels)
}

fn label(file: &str, path: &str, kind: &str) -> Result<Option<String>, PolicyError> {
    Ok(labels(file, kind, &[path])?.remove(0))
}

/// Labels of the files in the programs' root, of devices in it, and of the files that the policy is
/// checked with: lines of `CONTEXT PATH`.
fn root_labels(root: &Path, of: &CustomPolicy, file: &str) -> Result<String, PolicyError> {
    let mut paths: BTreeMap<String, &str> = BTreeMap::new();
    for access in of.denied.iter().chain(&of.allowed) {
        if !access.how.is_of_port() {
            paths.extend(above(&access.what).into_iter().map(|path| (path, "dir")));
            let kind = if access.how == AccessHow::List {
                "dir"
            } else {
                "file"
            };
            paths.insert(access.what.clone(), kind);
        }
    }
    for name in ["null", "zero", "full", "random", "urandom"] {
        paths.insert(format!("/dev/{name}"), "chr_file");
    }
    paths.extend(["/dev", "/dev/shm", "/tmp"].map(|path| (path.to_owned(), "dir")));
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        let entries = fs::read_dir(&directory).map_err(|error| unreadable(&directory, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(&directory, &error))?;
            let kind = entry
                .file_type()
                .map_err(|error| unreadable(&entry.path(), &error))?;
            let path = entry.path();
            let inside = path.strip_prefix(root).unwrap_or(&path);
            // Other names cannot be written in a line.
            let Some(inside) = inside.to_str().filter(|path| !path.contains('\n')) else {
                continue;
            };
            paths.insert(format!("/{inside}"), kind_of(kind));
            if kind.is_dir() {
                pending.push(path);
            }
        }
    }
    let mut text = String::from("\n");
    for kind in paths.values().copied().collect::<BTreeSet<_>>() {
        let of_kind = paths.iter().filter(|(_, other)| **other == kind);
        let of_kind: Vec<&str> = of_kind.map(|(path, _)| path.as_str()).collect();
        for (path, label) in of_kind.iter().zip(labels(file, kind, &of_kind)?) {
            if let Some(label) = label {
                let _ = writeln!(text, "{label} {path}");
            }
        }
    }
    Ok(text)
}

fn kind_of(kind: FileType) -> &'static str {
    match kind {
        _ if kind.is_dir() => "dir",
        _ if kind.is_symlink() => "lnk_file",
        _ if kind.is_char_device() => "chr_file",
        _ if kind.is_block_device() => "blk_file",
        _ if kind.is_fifo() => "pipe",
        _ if kind.is_socket() => "sock_file",
        _ => "file",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Configuration, Settings};
    use std::collections::BTreeMap;

    #[test]
    fn labels_are_those_of_the_file() {
        if !testing::has_program("matchpathcon", "selinux-utils") {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file_contexts");
        std::fs::write(
            &file,
            "/.*\tsystem_u:object_r:default_t:s0\n/etc(/.*)?\tsystem_u:object_r:etc_t:s0\n\
             /etc/shadow\t--\tsystem_u:object_r:shadow_t:s0\n\
             /srv(/.*)?\tsystem_u:object_r:var_t:s0\n",
        )
        .unwrap();
        let of = CustomPolicy {
            module: "selinux".to_owned(),
            context: Some("user_u:user_r:user_t:s0".to_owned()),
            file_contexts: Some(file.to_string_lossy().into_owned()),
            denied: vec!["read /etc/shadow".parse().unwrap()],
            allowed: vec!["list /srv/x".parse().unwrap()],
            ..CustomPolicy::default()
        };
        let configuration = Configuration {
            settings: Settings::default(),
            ..Configuration::of_stack("capability,selinux".parse().unwrap())
        };
        let request = Request {
            configuration: &configuration,
            work_dir: Some("/srv/work"),
            custom: &BTreeMap::new(),
            root: None,
            kernel: None,
            cache: dir.path(),
        };
        let text = contexts(&request, &of).unwrap();
        for line in [
            "work system_u:object_r:var_t:s0",
            "agent user_u:user_r:user_t:s0",
            "label /etc system_u:object_r:etc_t:s0",
            "label /etc/shadow system_u:object_r:shadow_t:s0",
            "label /srv/x system_u:object_r:var_t:s0",
        ] {
            assert!(text.lines().any(|of| of == line), "{line}\n{text}");
        }
        assert!(!text.contains("label /srv/work "), "{text}");

        // The error names the missing path, and the file without an entry.
        let only_etc = "/etc(/.*)?\tsystem_u:object_r:etc_t:s0\n";
        std::fs::write(&file, only_etc).unwrap();
        for (of, path) in [
            (of.clone(), "/srv/work"),
            (
                CustomPolicy {
                    files_context: Some("a:b:c".to_owned()),
                    ..of.clone()
                },
                "/srv/x",
            ),
        ] {
            let error = contexts(&request, &of).unwrap_err().to_string();
            let named = format!("{} has no label for {path}", file.display());
            assert!(error.contains(&named), "{error}");
        }
    }
}
