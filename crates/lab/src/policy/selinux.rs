// SPDX-License-Identifier: GPL-2.0-or-later
//! SELinux: compiles a policy with secilc and chooses its contexts.
//!
//! The minimal policy is part of this project; the reference policy comes from the distribution's
//! package. Both are CIL.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use model::{CacheUse, Policy, SelinuxPolicy};

use super::{FILE_LIMIT_BYTES, PolicyError, Prepared, Request, denials, first, given, tools};

const MINIMAL: &str = include_str!("../../policy/selinux/minimal.cil");
const MINIMAL_CONTEXTS: &str = include_str!("../../policy/selinux/minimal.contexts");
const LOCAL: &str = include_str!("../../policy/selinux/reference.cil");
const REFERENCE_CONTEXTS: &str = include_str!("../../policy/selinux/reference.contexts");

const MINIMAL_PROGRAMS: Programs = Programs {
    rules: include_str!("../../policy/selinux/minimal-programs.cil"),
    contexts: include_str!("../../policy/selinux/minimal-programs.contexts"),
};
const REFERENCE_PROGRAMS: Programs = Programs {
    rules: include_str!("../../policy/selinux/reference-programs.cil"),
    contexts: include_str!("../../policy/selinux/reference-programs.contexts"),
};

struct Programs {
    rules: &'static str,
    contexts: &'static str,
}

/// Kernels from 4.13 on accept this format.
const MINIMAL_VERSION: &str = "31";
/// Kernels from 5.9 on accept this format, and distributions use it.
pub(super) const REFERENCE_VERSION: &str = "33";

const MODULES: &str = "/usr/share/selinux/default";
pub(super) const CONVERTER: &str = "/usr/libexec/selinux/hll/pp";
pub(super) const CONVERTER_PACKAGE: &str = "policycoreutils";
const PACKAGE: &str = "selinux-policy-default";
/// The reference policy's attributes of file types: `files_type()` of
/// `policy/modules/kernel/files.if`.
const FILES: [&str; 3] = ["file_type", "non_security_file_type", "non_auth_file_type"];
const OWN_FILES: &str = "ioctl read write create getattr setattr lock append map rename link \
                         unlink open execute execute_no_trans watch watch_reads";
const MODULES_LIMIT: usize = 4096;

pub(super) fn prepare(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    tools::vm_only(request, "SELinux")?;
    let settings = &request.configuration.settings;
    let mut prepared = Prepared::default();
    if let Some(entries) = settings.avc_entries {
        prepared.keys.push(("avc_entries", entries));
    }
    if request.configuration.policy == Policy::None {
        return Ok(prepared);
    }
    tools::need(
        request,
        "permissive mode, in which files are labelled",
        "CONFIG_SECURITY_SELINUX_DEVELOP",
    )?;
    if let Some(of) = given::of(request, "selinux") {
        let custom = given::selinux(request, of)?;
        prepared.keys.extend(custom.keys);
        return Ok(Prepared {
            keys: prepared.keys,
            ..custom
        });
    }
    prepared.keys.extend(request.rules());
    let more = More {
        rules: settings.rules.unwrap_or(0),
        labels: settings.labels.unwrap_or(0).max(first::labels(request)),
        denials: settings.denials,
    };
    prepared.keys.extend(denials::key(request));
    prepared.keys.extend(settings.labels.map(|n| ("labels", n)));
    let (policy, contexts, steps) = match settings.selinux_policy {
        None | Some(SelinuxPolicy::Minimal) => {
            let programs = request.root.is_some().then_some(&MINIMAL_PROGRAMS);
            minimal(request.cache, more, programs)?
        }
        Some(SelinuxPolicy::Reference) => {
            let programs = request.root.is_some().then_some(&REFERENCE_PROGRAMS);
            reference(request.cache, more, programs)?
        }
    };
    prepared.file("policy", policy);
    prepared.file("contexts", contexts);
    prepared.steps = steps;
    Ok(prepared)
}

/// `rules` more file types, with an allow rule for each that lets `subject` access its files.
fn more_rules(subject: &str, rules: u32) -> String {
    let mut text = String::new();
    for number in 1..=rules {
        let _ = writeln!(
            text,
            "(type app{number:05}_t)\n\
             (allow {subject} app{number:05}_t (file (getattr open read)))"
        );
    }
    text
}

fn more_rules_step(subject: &str, rules: u32) -> Option<String> {
    (rules > 0).then(|| {
        format!(
            "selinux: more.cil: {rules} times (type app00001_t) (allow {subject} app00001_t \
             (file (getattr open read))), numbered"
        )
    })
}

/// `labels` file types, with an allow rule for each that lets `subject` access its files.
/// `attributes`: the policy's attributes for file types.
fn more_labels(subject: &str, attributes: &[&str], labels: u32) -> String {
    let mut text = String::new();
    for number in 1..=labels {
        let _ = writeln!(
            text,
            "(type label{number:05}_t)\n\
             (roletype object_r label{number:05}_t)\n\
             (allow {subject} label{number:05}_t (file ({OWN_FILES})))"
        );
        for attribute in attributes {
            let _ = writeln!(text, "(typeattributeset {attribute} (label{number:05}_t))");
        }
    }
    if labels > 0 {
        let _ = writeln!(text, "(allow {subject} self (process (setfscreate)))");
    }
    text
}

fn more_labels_step(subject: &str, labels: u32) -> Option<String> {
    (labels > 0).then(|| {
        format!(
            "selinux: labels.cil: {labels} times (type label00001_t) (allow {subject} \
             label00001_t (file ({OWN_FILES}))), numbered; (allow {subject} self (process \
             (setfscreate)))"
        )
    })
}

#[derive(Debug, Clone, Copy, Default)]
struct More {
    rules: u32,
    labels: u32,
    denials: bool,
}

type Made = (Vec<u8>, String, Vec<String>);

struct Base<'a> {
    name: &'static str,
    arguments: &'a [&'a str],
    sources: Vec<(&'static str, &'a str)>,
    contexts: &'static str,
    /// The agent's domain, and the type of files that it may not read.
    subject: &'static str,
    denied: &'static str,
    attributes: &'a [&'a str],
}

impl Base<'_> {
    fn with(
        &self,
        cache: &Path,
        more: More,
        programs: Option<&Programs>,
    ) -> Result<Made, PolicyError> {
        let More { rules, labels, .. } = more;
        let ruled = more_rules(self.subject, rules);
        let labelled = more_labels(self.subject, self.attributes, labels);
        // Denials of this type are not recorded.
        let unrecorded = more
            .denials
            .then(|| denials::selinux(self.subject, self.denied));
        let unrecorded = unrecorded.unwrap_or_default();
        let mut sources = self.sources.clone();
        sources.push(("more.cil", &ruled));
        sources.extend((labels > 0).then_some(("labels.cil", labelled.as_str())));
        sources.extend((!unrecorded.is_empty()).then_some(("denials.cil", unrecorded.as_str())));
        sources.extend(programs.map(|programs| ("programs.cil", programs.rules)));
        let policy = compile(cache, self.name, self.arguments, &sources)?;
        let mut steps: Vec<String> = more_rules_step(self.subject, rules).into_iter().collect();
        steps.extend(more_labels_step(self.subject, labels));
        steps.extend(denials::step("selinux", "denials.cil", &unrecorded));
        steps.push(compile_step(self.arguments, &sources));
        Ok((policy, contexts(self.contexts, programs), steps))
    }
}

fn minimal(cache: &Path, more: More, programs: Option<&Programs>) -> Result<Made, PolicyError> {
    let base = Base {
        name: "selinux-minimal",
        arguments: &["-M", "false", "-c", MINIMAL_VERSION],
        sources: vec![("minimal.cil", MINIMAL)],
        contexts: MINIMAL_CONTEXTS,
        subject: "agent_t",
        denied: "secret_t",
        attributes: &[],
    };
    base.with(cache, more, programs)
}

fn contexts(of_benchmarks: &str, programs: Option<&Programs>) -> String {
    of_benchmarks.to_owned() + programs.map_or("", |programs| programs.contexts)
}

fn reference(cache: &Path, more: More, programs: Option<&Programs>) -> Result<Made, PolicyError> {
    let converter = Path::new(CONVERTER);
    if !converter.is_file() {
        return Err(tools::missing(CONVERTER, CONVERTER_PACKAGE));
    }
    let modules = modules(Path::new(MODULES))?;
    let mut made_from: Vec<&Path> = modules.iter().map(PathBuf::as_path).collect();
    made_from.push(converter);
    let inputs = tools::digest(&made_from)?;
    let inputs = [inputs.as_bytes()];
    let distributed = tools::cached(cache, "selinux-reference.cil", &inputs, &mut |made| {
        tools::write(made, convert(&modules, made)?.as_bytes())
    })?;
    let distributed = String::from_utf8(distributed).map_err(|_| {
        tools::failed(
            format!("converting the modules in {MODULES} did not produce CIL text"),
            format!("reinstall the package {PACKAGE}"),
        )
    })?;
    let base = Base {
        name: "selinux-reference",
        // neverallow rules were checked when the package was built.
        arguments: &["-M", "true", "-N", "-c", REFERENCE_VERSION],
        sources: vec![
            ("reference.cil", distributed.as_str()),
            ("local.cil", LOCAL),
        ],
        contexts: REFERENCE_CONTEXTS,
        subject: "sysadm_t",
        denied: "shadow_t",
        attributes: &FILES,
    };
    let (policy, contexts, mut steps) = base.with(cache, more, programs)?;
    let converted = format!(
        "selinux: for each of {} modules in {MODULES} (package {PACKAGE}): \
         bzip2 -dc MODULE | {CONVERTER} >> reference.cil",
        modules.len()
    );
    steps.insert(0, converted);
    Ok((policy, contexts, steps))
}

fn modules(dir: &Path) -> Result<Vec<PathBuf>, PolicyError> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut modules: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().ends_with(".pp.bz2"))
        .take(MODULES_LIMIT)
        .collect();
    modules.sort();
    if modules.is_empty() {
        let what = format!("the reference policy ({})", dir.display());
        return Err(tools::missing(&what, PACKAGE));
    }
    Ok(modules)
}

fn convert(modules: &[PathBuf], beside: &Path) -> Result<String, PolicyError> {
    let mut text = String::new();
    for module in modules {
        text += &converted(&tools::read(module)?, module, beside)?;
        text.push('\n');
        if text.len() > FILE_LIMIT_BYTES {
            return Err(tools::failed(
                format!("{MODULES}: more than {FILE_LIMIT_BYTES} bytes of CIL"),
                format!("reinstall the package {PACKAGE}"),
            ));
        }
    }
    Ok(text)
}

/// Whether it has POLICYDB_MAGIC (security/selinux/ss/policydb.h).
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.starts_with(&0xf97c_ff8c_u32.to_le_bytes())
}

/// Converts a module (`.pp`, also packed by bzip2) to CIL.
pub(super) fn converted(bytes: &[u8], name: &Path, beside: &Path) -> Result<String, PolicyError> {
    let module = beside.with_file_name("module");
    if name.extension().is_some_and(|extension| extension == "bz2") {
        let packed = beside.with_file_name("module.bz2");
        tools::write(&packed, bytes)?;
        let bzip2 = tools::find("bzip2", "bzip2")?;
        tools::run(tools::bounded(&bzip2).arg("-df").arg(&packed))?;
    } else {
        tools::write(&module, bytes)?;
    }
    tools::run(tools::bounded(Path::new(CONVERTER)).arg(&module))
}

fn compile(
    cache: &Path,
    name: &str,
    arguments: &[&str],
    sources: &[(&str, &str)],
) -> Result<Vec<u8>, PolicyError> {
    let secilc = tools::find("secilc", "secilc")?;
    let version = tools::digest(&[&secilc])?;
    let mut inputs = vec![version.as_bytes()];
    inputs.extend(arguments.iter().map(|argument| argument.as_bytes()));
    inputs.extend(sources.iter().map(|(_, text)| text.as_bytes()));
    tools::cached(cache, name, &inputs, &mut |made| {
        let mut command = Command::new(&secilc);
        command.args(arguments).args(["-f", "/dev/null", "-o"]);
        command.arg(made);
        for (source, text) in sources {
            let path = made.with_file_name(source);
            tools::write(&path, text.as_bytes())?;
            command.arg(path);
        }
        tools::run(&mut command).map(drop)
    })
}

fn compile_step(arguments: &[&str], sources: &[(&str, &str)]) -> String {
    let named = sources.iter().filter(|(_, text)| !text.is_empty());
    let names: Vec<&str> = named.map(|(name, _)| *name).collect();
    format!(
        "selinux: secilc {} -o policy {}",
        arguments.join(" "),
        names.join(" ")
    )
}

/// Parses the guest's step about the access vector cache (`labels_start()` of `settings/labels.c`).
pub fn cache_use(steps: &[String]) -> Option<CacheUse> {
    const BEFORE: &str = "selinux: /sys/fs/selinux/avc/cache_stats: opening ";
    let said = steps.iter().find_map(|step| step.strip_prefix(BEFORE))?;
    let (opens, said) = said.split_once(" files of as many labels again: ")?;
    let (lookups, misses) = said.strip_suffix(" misses")?.split_once(" lookups, ")?;
    Some(CacheUse {
        opens: opens.parse().ok()?,
        lookups: lookups.parse().ok()?,
        misses: misses.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_have_types_of_their_own() {
        let text = more_rules("agent_t", 12);
        assert_eq!(text.lines().count(), 24);
        assert!(text.contains("(type app00001_t)") && text.contains("(type app00012_t)"));
        assert_eq!(more_rules("agent_t", 0), "");
        assert_eq!(more_rules_step("agent_t", 0), None);
    }

    #[test]
    fn contexts_say_what_the_guest_asks() {
        let both = [
            contexts(MINIMAL_CONTEXTS, Some(&MINIMAL_PROGRAMS)),
            contexts(REFERENCE_CONTEXTS, Some(&REFERENCE_PROGRAMS)),
        ];
        for contexts in both {
            assert!(contexts.len() < 4095);
            for word in ["work", "denied", "agent"] {
                let lines = contexts
                    .lines()
                    .filter(|line| line.split_once(' ').is_some_and(|(first, _)| first == word));
                assert_eq!(lines.count(), 1, "{word}");
            }
        }
    }

    #[test]
    fn what_the_guest_says_of_the_cache_is_read() {
        let steps = [
            "selinux: wrote 1 to /sys/fs/selinux/enforce",
            "selinux: /sys/fs/selinux/avc/cache_stats: opening 256 files of as many labels \
             again: 775 lookups, 277 misses",
        ];
        let steps = steps.map(str::to_owned);
        let expected = CacheUse {
            opens: 256,
            lookups: 775,
            misses: 277,
        };
        assert_eq!(cache_use(&steps), Some(expected));
        assert_eq!(cache_use(&steps[..1]), None);
        let cut = [steps[1].replace("277 misses", "")];
        assert_eq!(cache_use(&cut), None);
    }

    #[test]
    fn a_policy_that_does_not_compile_is_told_of() {
        if !testing::has_program("secilc", "secilc") {
            return;
        }
        let wrong = [("wrong.cil", "(allow nobody_t nothing_t (file (read)))")];
        let cache = tempfile::tempdir().unwrap();
        let error = compile(cache.path(), "wrong", &["-M", "false"], &wrong).unwrap_err();
        assert!(error.to_string().contains("secilc"), "{error}");
        assert!(error.to_string().lines().count() > 1, "{error}");
    }

    #[test]
    fn rules_change_the_policy_and_its_key() {
        if !testing::has_program("secilc", "secilc") {
            return;
        }
        let cache = tempfile::tempdir().unwrap();
        let more = More::default();
        let rules = More {
            rules: 1000,
            ..more
        };
        let labels = More {
            labels: 100,
            ..more
        };
        let (small, ..) = minimal(cache.path(), more, None).unwrap();
        let (large, _, steps) = minimal(cache.path(), rules, None).unwrap();
        assert!(large.len() > small.len() + 1000 * 20);
        assert_eq!(small[16..20], 31u32.to_le_bytes());
        assert!(steps[0].contains("1000 times"), "{steps:?}");
        let (again, ..) = minimal(cache.path(), more, None).unwrap();
        assert_eq!(small, again);
        let (labelled, _, steps) = minimal(cache.path(), labels, None).unwrap();
        assert!(labelled.len() > small.len() + 100 * 20);
        assert!(
            steps[0].contains("100 times (type label00001_t)"),
            "{steps:?}"
        );
        assert_eq!(std::fs::read_dir(cache.path()).unwrap().count(), 3);
    }

    #[test]
    fn no_reference_policy_names_its_package() {
        let dir = tempfile::tempdir().unwrap();
        for place in [dir.path().to_owned(), dir.path().join("none")] {
            let PolicyError::Environment(lack) = modules(&place).unwrap_err() else {
                panic!("a lack of packages is the machine's");
            };
            let hint = model::Fault::hint(&lack).unwrap();
            assert_eq!(hint, "install the package selinux-policy-default");
        }
    }
}
