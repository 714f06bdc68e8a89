// SPDX-License-Identifier: GPL-2.0-or-later
//! Custom AppArmor profiles. All of them are loaded, and one confines the benchmarks.

use std::path::{Path, PathBuf};

use kernels::scratch::Scratch;
use model::{CustomPolicy, Policy};

use super::super::apparmor::{FEATURES, parser};
use super::super::{PolicyError, Prepared, Request, tools};
use super::{GivenFile, files, prepared, start, write_all};

/// Abstractions and tunables for policies without their own.
const SYSTEM: &str = "/etc/apparmor.d";
/// With this name, only profiles that attach to programs apply.
const UNCONFINED: &str = "unconfined";
/// Suffixes of packages' left-over files, which apparmor_parser ignores.
const LEFT_OVER: [&str; 7] = [
    "~",
    ".dpkg-new",
    ".dpkg-old",
    ".dpkg-dist",
    ".rpmnew",
    ".rpmsave",
    ".orig",
];

pub(in super::super) fn prepare(
    request: &Request<'_>,
    of: &CustomPolicy,
) -> Result<Prepared, PolicyError> {
    let permissive = request.configuration.policy == Policy::Permissive;
    let (parser, version) = parser()?;
    let mut sources = files(of)?;
    if !permissive {
        sources.iter_mut().for_each(enforce);
    }
    let disabled = disabled(&sources);
    let profiles: Vec<&Path> = sources
        .iter()
        .map(|file| file.name.as_path())
        .filter(|name| is_profile(name) && !disabled.contains(&name.to_path_buf()))
        .collect();
    if profiles.is_empty() {
        return Err(tools::failed(
            format!("no profile in {}", of.files.join(", ")),
            "name a file of profiles, or a directory such as /etc/apparmor.d",
        ));
    }
    let dir = Scratch::new().map_err(|error| tools::unwritten(&std::env::temp_dir(), &error))?;
    write_all(dir.path(), &sources)?;
    let base = base(dir.path())?;
    let command = || {
        let mut command = tools::bounded(&parser);
        command.current_dir(dir.path()).arg("-QK").arg("-j1");
        command.arg("-M").arg(dir.path().join(".features"));
        command.arg("--base").arg(&base);
        command.arg("--Include").arg(dir.path());
        command.args(permissive.then_some("-C"));
        command
    };
    tools::write(&dir.path().join(".features"), FEATURES.as_bytes())?;
    let names = tools::run(command().args(["-N", "--"]).args(&profiles))?;
    let names: Vec<&str> = names.lines().collect();
    let profile = chosen(of, &names)?;
    let mut inputs: Vec<&[u8]> = vec![FEATURES.as_bytes(), version.as_bytes()];
    inputs.push(if permissive { b"complain" } else { b"enforce" });
    for file in &sources {
        inputs.extend([file.name.as_os_str().as_encoded_bytes(), &file.bytes]);
    }
    let system = system_digest(&sources)?;
    inputs.push(system.as_bytes());
    let compiled = tools::cached(request.cache, "apparmor-given", &inputs, &mut |made| {
        let mut command = command();
        command.arg("-o").arg(made).arg("--").args(&profiles);
        tools::run(&mut command).map(drop)
    })?;
    let mut prepared = prepared(of);
    prepared.file("profile", compiled);
    prepared.file("command", format!("changeprofile {profile}\n"));
    let started = of.starts_in.as_deref().unwrap_or(profile);
    let started = (started != UNCONFINED).then(|| format!("exec {started}"));
    // The order in which the kernel prints a stack: profile_cmp() in security/apparmor/label.c.
    let mut parts: Vec<&str> = profile.split("//&").collect();
    parts.sort_unstable();
    start(request, &mut prepared, &parts.join("//&"), started);
    let mode = if permissive {
        " -C"
    } else {
        ", without `complain`"
    };
    prepared.steps.push(format!(
        "apparmor: apparmor_parser -QK -M features{mode} -o profile from {} ({version}; {} \
         profiles in {} files)",
        of.files.join(" "),
        names.len(),
        profiles.len()
    ));
    Ok(prepared)
}

/// The profile that the user names, or the only one.
fn chosen<'a>(of: &'a CustomPolicy, names: &[&'a str]) -> Result<&'a str, PolicyError> {
    let Some(profile) = &of.profile else {
        return match names {
            [only] => Ok(only),
            _ => Err(tools::failed(
                format!(
                    "found {} profiles in {}, expected one",
                    names.len(),
                    of.files.join(", ")
                ),
                format!("set `profile`: {}", tools::suggestion("", names)),
            )),
        };
    };
    for part in profile.split("//&") {
        if names.contains(&part) {
            continue;
        }
        return Err(tools::failed(
            format!("no profile {part} in {}", of.files.join(", ")),
            tools::suggestion(part, names),
        ));
    }
    Ok(profile)
}

/// Files in subdirectories are includes, not profiles.
fn is_profile(name: &Path) -> bool {
    let text = name.to_string_lossy();
    let is_left_over = LEFT_OVER.iter().any(|end| text.ends_with(end));
    !(text.contains('/') || text.starts_with('.') || is_left_over || text == "README")
}

fn disabled(sources: &[GivenFile]) -> Vec<PathBuf> {
    let names = sources.iter().map(|file| &file.name);
    let names = names.filter_map(|name| name.strip_prefix("disable").ok());
    names.map(Path::to_path_buf).collect()
}

/// A directory with tunables, which nearly every profile includes.
fn base(dir: &Path) -> Result<PathBuf, PolicyError> {
    let own = dir.join("tunables/global");
    if own.is_file() {
        return Ok(dir.to_owned());
    }
    let system = Path::new(SYSTEM);
    if system.join("tunables/global").is_file() {
        return Ok(system.to_owned());
    }
    Err(tools::missing(
        &format!("{SYSTEM}/tunables/global"),
        "apparmor",
    ))
}

/// Digest of this machine's abstractions and tunables; empty if the policy has its own.
fn system_digest(sources: &[GivenFile]) -> Result<String, PolicyError> {
    let own = sources.iter().any(|file| file.name.starts_with("tunables"));
    if own {
        return Ok(String::new());
    }
    let of = CustomPolicy {
        files: ["abi", "abstractions", "tunables"]
            .map(|name| format!("{SYSTEM}/{name}"))
            .into_iter()
            .filter(|path| Path::new(path).is_dir())
            .collect(),
        ..CustomPolicy::default()
    };
    if of.files.is_empty() {
        return Ok(String::new());
    }
    Ok(super::digest(&files(&of)?))
}

/// Removes `complain` from the flags of profiles, as aa-enforce(8) does.
fn enforce(file: &mut GivenFile) {
    let Ok(text) = std::str::from_utf8(&file.bytes) else {
        return;
    };
    let mut made = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let is_comment = line.trim_start().starts_with('#');
        made += &if is_comment {
            line.to_owned()
        } else {
            enforced(line)
        };
    }
    file.bytes = made.into_bytes();
}

fn enforced(line: &str) -> String {
    let place = || {
        let (before, rest) = line.split_once("flags")?;
        let rest = rest.trim_start().strip_prefix('=')?.trim_start();
        let (flags, after) = rest.strip_prefix('(')?.split_once(')')?;
        Some((before, flags, after))
    };
    let Some((before, flags, after)) = place() else {
        return line.to_owned();
    };
    let words = flags.split([',', ' ']).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.filter(|word| *word != "complain").collect();
    if words.is_empty() {
        return format!("{before}{after}");
    }
    format!("{before}flags=({}){after}", words.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_enforce_once_complain_is_gone() {
        assert_eq!(enforced("/bin/a flags=(complain) {\n"), "/bin/a  {\n");
        assert_eq!(
            enforced("profile a flags = (complain, attach_disconnected) {"),
            "profile a flags=(attach_disconnected) {"
        );
        assert_eq!(enforced("  /a r, # flags"), "  /a r, # flags");
    }

    #[test]
    fn what_is_no_profile_is_passed_over() {
        for name in ["usr.bin.man", "php-fpm"] {
            assert!(is_profile(Path::new(name)), "{name}");
        }
        for name in [
            "abstractions/base",
            "local/usr.bin.man",
            ".hidden",
            "a~",
            "a.dpkg-old",
            "README",
        ] {
            assert!(!is_profile(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn a_profile_is_named_or_the_only_one() {
        let mut of = CustomPolicy::default();
        assert_eq!(chosen(&of, &["a"]), Ok("a"));
        assert!(chosen(&of, &["a", "b"]).is_err());
        of.profile = Some("a//&b".to_owned());
        assert_eq!(chosen(&of, &["a", "b"]), Ok("a//&b"));
        let error = chosen(&of, &["a", "c"]).unwrap_err().to_string();
        assert!(error.contains("no profile b"), "{error}");
    }
}
