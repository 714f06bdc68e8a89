// SPDX-License-Identifier: GPL-2.0-or-later
//! From flags to policies of the user's own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use model::{Access, AccessError, GivenPolicy, Spec, given_stacks};

use crate::cli::{CellArgs, GivenArgs};
use crate::failure::usage;

/// What the flags say, to be put over the preset or file.
pub fn flags(args: &GivenArgs, cells: &CellArgs) -> Result<Spec> {
    let mut given = policies(args)?;
    type List = fn(&mut GivenPolicy) -> &mut Vec<Access>;
    let lists: [(&str, &[String], Option<&str>, List); 4] = [
        ("--denied", &args.denied, None, |of| &mut of.denied),
        ("--allowed", &args.allowed, None, |of| &mut of.allowed),
        ("--measured", &args.measured, Some("ima"), |of| {
            &mut of.measured
        }),
        ("--not-measured", &args.not_measured, Some("ima"), |of| {
            &mut of.not_measured
        }),
    ];
    for (flag, texts, only, list) in lists {
        for text in texts {
            let (module, access) = access(flag, text)?;
            let of = whose(&mut given, module.or(only), flag)?;
            list(of).push(access);
        }
    }
    // A preset has others.
    let stacks = given_stacks(&given);
    Ok(Spec {
        stacks: (cells.stacks.is_empty() && !given.is_empty()).then_some(stacks),
        given: (!given.is_empty()).then_some(given),
        work_dir: args.work_dir.clone(),
        ..Spec::default()
    })
}

fn policies(args: &GivenArgs) -> Result<BTreeMap<String, GivenPolicy>> {
    let of = |module: &str, files: Vec<String>| GivenPolicy {
        module: module.to_owned(),
        files,
        ..GivenPolicy::default()
    };
    let mut given = BTreeMap::new();
    if !args.apparmor_profiles.is_empty() {
        let mut policy = of("apparmor", texts(&args.apparmor_profiles));
        policy.profile.clone_from(&args.apparmor_profile);
        let name = args.apparmor_profile.as_deref().map(plain);
        given.insert(
            name.unwrap_or_else(|| stem(&args.apparmor_profiles[0])),
            policy,
        );
    }
    if let Some(context) = &args.selinux_context {
        let mut policy = of("selinux", texts(&args.selinux_modules));
        policy.context = Some(context.clone());
        let file = args.selinux_file_contexts.as_deref();
        policy.file_contexts = file.map(|path| path.to_string_lossy().into_owned());
        policy.files_context.clone_from(&args.selinux_files_context);
        for text in &args.selinux_booleans {
            let (name, value) = boolean(text)?;
            policy.booleans.insert(name, value);
        }
        let domain = context.split(':').nth(2).unwrap_or(context);
        given.insert(plain(domain), policy);
    }
    if let Some(domain) = &args.tomoyo_domain {
        let mut policy = of("tomoyo", texts(&args.tomoyo_policy));
        policy.domain = Some(domain.clone());
        let program = domain.rsplit(' ').next().unwrap_or(domain);
        given.insert(plain(program), policy);
    }
    if let Some(label) = &args.smack_label {
        let mut policy = of("smack", texts(&args.smack_policy));
        policy.label = Some(label.clone());
        policy.files_label.clone_from(&args.smack_files_label);
        for text in &args.smack_path_labels {
            let (path, label) = path_label(text)?;
            policy.labels.insert(path, label);
        }
        given.insert(plain(label), policy);
    }
    if let Some(first) = args.ima_rules.first() {
        given.insert(stem(first), of("ima", texts(&args.ima_rules)));
    }
    if let Some(first) = args.landlock_rulesets.first() {
        given.insert(stem(first), of("landlock", texts(&args.landlock_rulesets)));
    }
    if let Some(first) = args.bpf_objects.first() {
        let mut policy = of("bpf", Vec::new());
        for text in &args.bpf_objects {
            let (file, program) = object(text);
            if !policy.files.contains(&file) {
                policy.files.push(file);
            }
            policy.programs.extend(program);
        }
        given.insert(stem(Path::new(&object(first).0)), policy);
    }
    Ok(given)
}

fn texts(paths: &[PathBuf]) -> Vec<String> {
    let texts = paths.iter().map(|path| path.to_string_lossy().into_owned());
    texts.collect()
}

/// What a policy is called by the file that it is of.
fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    plain(&stem.to_string_lossy())
}

/// Letters that a name may have.
fn plain(text: &str) -> String {
    let text = text.trim_matches('/').chars().take(64);
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.+:".contains(c);
    let plain: String = text.map(|c| if fits(c) { c } else { '-' }).collect();
    if plain.is_empty() {
        "policy".to_owned()
    } else {
        plain
    }
}

fn boolean(text: &str) -> Result<(String, bool)> {
    let value = |word: &str| match word {
        "on" | "1" | "true" => Some(true),
        "off" | "0" | "false" => Some(false),
        _ => None,
    };
    let parts = text.split_once('=');
    let parsed = parts.and_then(|(name, word)| Some((name.to_owned(), value(word)?)));
    parsed.ok_or_else(|| {
        usage(
            format!("`{text}` sets no boolean"),
            "write its name and on or off: httpd_enable_cgi=on",
        )
    })
}

/// A path and its label, which has no slash: what is behind the first `=` of the last name.
fn path_label(text: &str) -> Result<(String, String)> {
    let name = text.rfind('/').unwrap_or_default();
    let at = text.get(name..).and_then(|rest| rest.find('='));
    let parts = at.map(|at| (&text[..name + at], &text[name + at + 1..]));
    let parts = parts.map(|(path, label)| (path.to_owned(), label.to_owned()));
    parts.ok_or_else(|| {
        usage(
            format!("--smack-path-label: `{text}` gives no path a label"),
            "write the path and its label: /etc/shadow=System::Shadow",
        )
    })
}

/// A file, and the program of it that is meant if a colon stands behind it.
fn object(text: &str) -> (String, Option<String>) {
    match text.rsplit_once(':') {
        Some((file, program)) if !program.contains('/') && !Path::new(text).exists() => {
            (file.to_owned(), Some(program.to_owned()))
        }
        _ => (text.to_owned(), None),
    }
}

/// An access, and the module whose policy it is to prove, if it says so.
pub fn access<'a>(flag: &str, text: &'a str) -> Result<(Option<&'a str>, Access)> {
    let (module, rest) = match text.split_once(':') {
        Some((module, rest)) if !module.contains([' ', '/']) => (Some(module.trim()), rest),
        _ => (None, text),
    };
    let access = rest.trim().parse().map_err(|error: AccessError| {
        usage(
            format!("{flag}: {error}"),
            "write, for instance, read /etc/shadow",
        )
    })?;
    Ok((module, access))
}

fn whose<'a>(
    given: &'a mut BTreeMap<String, GivenPolicy>,
    module: Option<&str>,
    flag: &str,
) -> Result<&'a mut GivenPolicy> {
    let modules: Vec<String> = given.values().map(|of| of.module.clone()).collect();
    let mut fitting = given.values_mut();
    let found = match (module, modules.len()) {
        (Some(module), _) => fitting.find(|of| of.module == module),
        (None, 1) => fitting.next(),
        (None, _) => None,
    };
    found.ok_or_else(|| match (modules.len(), module) {
        (0, _) => usage(
            format!("{flag} proves a policy of your own, and none is given"),
            "give one, such as --apparmor-profiles or --landlock-ruleset",
        ),
        (_, Some(module)) => usage(
            format!("{flag} is of {module}, of which no policy is given"),
            format!("there are policies of {}", modules.join(", ")),
        ),
        (_, None) => usage(
            format!(
                "{flag} does not say which of {} policies it proves",
                modules.len()
            ),
            format!("put the module before it: {}: read /etc/shadow", modules[0]),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_files() {
        assert_eq!(stem(Path::new("/etc/apparmor.d")), "apparmor");
        assert_eq!(stem(Path::new("rules.toml")), "rules");
        assert_eq!(plain("/usr/sbin/nginx"), "usr-sbin-nginx");
        assert_eq!(plain("//"), "policy");
    }

    #[test]
    fn paths_have_labels() {
        let of = |text| path_label(text).ok();
        let pair = |path: &str, label: &str| Some((path.to_owned(), label.to_owned()));
        assert_eq!(of("/etc/shadow=A::B"), pair("/etc/shadow", "A::B"));
        assert_eq!(of("/a=b/c=d=e"), pair("/a=b/c", "d=e"));
        assert_eq!(of("/a=b/c"), None);
        assert_eq!(of("x"), None);
    }

    #[test]
    fn objects_may_name_a_program() {
        assert_eq!(object("a.o"), ("a.o".to_owned(), None));
        assert_eq!(
            object("a.o:deny"),
            ("a.o".to_owned(), Some("deny".to_owned()))
        );
        assert_eq!(object("a:b/c.o"), ("a:b/c.o".to_owned(), None));
    }
}
