// SPDX-License-Identifier: GPL-2.0-or-later
//! Policies of the user's own: which files they are, whom they confine, and the accesses that
//! prove that they decide.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::configuration::Configuration;
use crate::hint::{excerpt, nearest};
use crate::resolve::{list, printable};
use crate::spec::SpecError;
use crate::stack::Stack;
use crate::words::Policy;

/// Modules that take a policy of the user's own.
const MODULES: [&str; 5] = ["apparmor", "bpf", "landlock", "selinux", "tomoyo"];
const POLICIES_LIMIT: usize = 256;
const FILES_LIMIT: usize = 4_096;
const ACCESSES_LIMIT: usize = 64;
/// Bytes of a path in the guest.
const PATH_LIMIT: usize = 512;

/// A policy of the user's own, of one module.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenPolicy {
    /// The module that it is of: `apparmor`, `bpf`, `landlock`, `selinux`, `tomoyo`.
    pub module: String,
    /// What it is made of, files of this machine: AppArmor profiles, or a directory of them as
    /// `/etc/apparmor.d`; one binary policy of SELinux, or its modules (`.cil`, `.pp`,
    /// `.pp.bz2`), or a directory of these; rulesets of Landlock, one a layer; BPF objects; a
    /// directory as `/etc/tomoyo/policy/current`, or files of it.
    pub files: Vec<String>,
    /// Packages of Debian that have these files, for whoever lacks something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<String>,
    /// Of AppArmor: the profile that confines the benchmarks. Default: the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Of TOMOYO: the domain that benchmarks run in: `<kernel> /usr/sbin/sshd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Of SELinux: the context that benchmarks run in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Of SELinux: the file that says which file has which label (`file_contexts`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_contexts: Option<String>,
    /// Of SELinux: the label of the benchmarks' files. Default: what `file_contexts` says of
    /// their directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files_context: Option<String>,
    /// Of SELinux: conditional booleans that are not as the policy has them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub booleans: BTreeMap<String, bool>,
    /// Of a BPF object: its programs that are attached. Default: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// Accesses that it must deny.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<Access>,
    /// Accesses that it must allow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<Access>,
    /// What its files hold, as the first 16 digits of a SHA-256; empty before they were read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
}

/// What is tried to prove that a policy decides: `read /etc/shadow`, `connect 443`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Access {
    /// What is done.
    pub how: AccessHow,
    /// With what: a path from the root on, in the guest, or a port.
    pub what: String,
}

/// What is done to try an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccessHow {
    /// A file is opened for reading.
    Read,
    /// A file is opened for writing.
    Write,
    /// A file is created.
    Create,
    /// A file is executed.
    Execute,
    /// A directory is opened to be listed.
    List,
    /// A TCP connection to this port of the loopback address.
    Connect,
    /// A TCP socket is bound to this port of the loopback address.
    Bind,
}

impl AccessHow {
    /// All of them.
    pub const ALL: [AccessHow; 7] = [
        AccessHow::Read,
        AccessHow::Write,
        AccessHow::Create,
        AccessHow::Execute,
        AccessHow::List,
        AccessHow::Connect,
        AccessHow::Bind,
    ];

    /// As users, documents and the agent write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            AccessHow::Read => "read",
            AccessHow::Write => "write",
            AccessHow::Create => "create",
            AccessHow::Execute => "execute",
            AccessHow::List => "list",
            AccessHow::Connect => "connect",
            AccessHow::Bind => "bind",
        }
    }

    /// Is it about a port, and not about a path?
    #[must_use]
    pub fn is_of_port(self) -> bool {
        matches!(self, AccessHow::Connect | AccessHow::Bind)
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.how.as_str(), self.what)
    }
}

/// A text is no access.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no access: {why}")]
pub struct AccessError {
    text: String,
    why: String,
}

impl FromStr for Access {
    type Err = AccessError;

    fn from_str(text: &str) -> Result<Access, AccessError> {
        let refuse = |why: String| {
            let text = excerpt(text);
            Err(AccessError { text, why })
        };
        let (how, what) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        let Some(how) = AccessHow::ALL.into_iter().find(|of| of.as_str() == how) else {
            let all = AccessHow::ALL.map(AccessHow::as_str).join(", ");
            return refuse(format!("it begins with one of {all}"));
        };
        let what = what.trim();
        if how.is_of_port() {
            if !what.parse::<u16>().is_ok_and(|port| port > 0) {
                return refuse("behind it stands a port, from 1 to 65535".to_owned());
            }
        } else if !is_guest_path(what) || what == "/" && how != AccessHow::List {
            return refuse(format!(
                "behind it stands a path from the root on, of at most {PATH_LIMIT} bytes, \
                 without . and .."
            ));
        }
        let what = what.to_owned();
        Ok(Access { how, what })
    }
}

impl TryFrom<String> for Access {
    type Error = AccessError;

    fn try_from(text: String) -> Result<Access, AccessError> {
        text.parse()
    }
}

impl From<Access> for String {
    fn from(access: Access) -> String {
        access.to_string()
    }
}

/// A path from the root on, as the agent takes it: plain, and printable.
pub(crate) fn is_guest_path(path: &str) -> bool {
    let mut parts = path.split('/').skip(1);
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    path.starts_with('/')
        && path.len() <= PATH_LIMIT
        && !path.chars().any(char::is_control)
        && (path == "/" || parts.all(is_plain))
}

/// Checks policies that a user gives.
pub(crate) fn check(given: &BTreeMap<String, GivenPolicy>) -> Result<(), SpecError> {
    if given.len() > POLICIES_LIMIT {
        let n = given.len();
        return Err(SpecError::refused(format!(
            "`given` has {n} policies; at most {POLICIES_LIMIT} are allowed"
        )));
    }
    given.iter().try_for_each(|(name, of)| check_one(name, of))
}

fn check_one(name: &str, of: &GivenPolicy) -> Result<(), SpecError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.+:".contains(c);
    if name.is_empty() || name.len() > 64 || !name.chars().all(fits) {
        return Err(SpecError::instead(
            format!("`{}` is no name of a policy", excerpt(name)),
            "use up to 64 letters, digits, -, _, ., : and +",
        ));
    }
    let module = of.module.as_str();
    if !MODULES.contains(&module) {
        let near = nearest(module, MODULES).map(|near| format!("; did you mean {near}?"));
        return Err(SpecError::instead(
            format!(
                "the policy {name} is of `{}`, which takes none of a user's own",
                excerpt(module)
            ),
            format!(
                "say one of {}{}",
                MODULES.join(", "),
                near.unwrap_or_default()
            ),
        ));
    }
    if !of.digest.is_empty() {
        return Err(SpecError::instead(
            format!("the policy {name} has a `digest`, which lsmeter makes itself"),
            "leave out `digest`",
        ));
    }
    list("files", &of.files, FILES_LIMIT)?;
    let texts = [
        &of.domain,
        &of.profile,
        &of.context,
        &of.file_contexts,
        &of.files_context,
    ];
    let texts = texts.into_iter().flatten().chain(&of.files);
    for text in texts.chain(of.booleans.keys()).chain(&of.programs) {
        printable("given", text.clone())?;
    }
    let keys = [
        ("profile", "apparmor", of.profile.is_some()),
        ("domain", "tomoyo", of.domain.is_some()),
        ("context", "selinux", of.context.is_some()),
        ("file_contexts", "selinux", of.file_contexts.is_some()),
        ("files_context", "selinux", of.files_context.is_some()),
        ("booleans", "selinux", !of.booleans.is_empty()),
        ("programs", "bpf", !of.programs.is_empty()),
    ];
    if let Some((key, whose, _)) = keys.iter().find(|(_, whose, set)| *set && *whose != module) {
        return Err(SpecError::instead(
            format!("the policy {name} is of {module}, and `{key}` is of {whose}"),
            format!("leave out `{key}`"),
        ));
    }
    if module == "selinux" {
        check_selinux(name, of)?;
    }
    for (key, accesses, other) in [
        ("denied", &of.denied, &of.allowed),
        ("allowed", &of.allowed, &of.denied),
    ] {
        if accesses.is_empty() {
            return Err(SpecError::instead(
                format!("nothing proves that the policy {name} decides: `{key}` is missing"),
                format!("name an access that must be {key}: {key} = [\"read /etc/shadow\"]"),
            ));
        }
        list(key, accesses, ACCESSES_LIMIT)?;
        if let Some(both) = accesses.iter().find(|access| other.contains(access)) {
            return Err(SpecError::refused(format!(
                "the policy {name} is to deny and to allow `{both}`"
            )));
        }
    }
    Ok(())
}

fn check_selinux(name: &str, of: &GivenPolicy) -> Result<(), SpecError> {
    let is_context = |text: &String| {
        let parts: Vec<&str> = text.split(':').collect();
        parts.len() >= 3 && parts.iter().all(|part| !part.is_empty()) && !text.contains(' ')
    };
    let Some(context) = &of.context else {
        return Err(SpecError::instead(
            format!("the policy {name} does not say which `context` benchmarks run in"),
            "give it one: context = \"user_u:user_r:user_t:s0\"",
        ));
    };
    if let Some(wrong) = [Some(context), of.files_context.as_ref()]
        .into_iter()
        .flatten()
        .find(|text| !is_context(text) || text.len() > 255)
    {
        return Err(SpecError::instead(
            format!("`{}` is no context of SELinux's", excerpt(wrong)),
            "write user:role:type, and the level where the policy has levels",
        ));
    }
    if of.file_contexts.is_none() && of.files_context.is_none() {
        return Err(SpecError::instead(
            format!("the policy {name} does not say which label the benchmarks' files have"),
            "give `file_contexts`, a file, or `files_context`, a context",
        ));
    }
    Ok(())
}

/// What of the policies that are given a stack can have: for each of its modules one of those
/// that are of it. One empty choice if none is.
pub(crate) fn choices(
    given: &BTreeMap<String, GivenPolicy>,
    stack: &Stack,
    policy: Policy,
) -> Vec<BTreeMap<String, String>> {
    let mut all = vec![BTreeMap::new()];
    if !decides(policy) {
        return all;
    }
    for module in MODULES {
        let runs = stack.is_default() || stack.names().iter().any(|name| name == module);
        let of_it: Vec<&String> = given
            .iter()
            .filter(|(_, of)| runs && of.module == module)
            .map(|(name, _)| name)
            .collect();
        if of_it.is_empty() {
            continue;
        }
        all = all
            .iter()
            .flat_map(|chosen: &BTreeMap<String, String>| {
                of_it.iter().map(|name| {
                    let mut chosen = chosen.clone();
                    chosen.insert(module.to_owned(), (*name).clone());
                    chosen
                })
            })
            .collect();
    }
    all
}

fn decides(policy: Policy) -> bool {
    matches!(policy, Policy::Enforcing | Policy::Permissive)
}

/// The policies that a configuration names, by module.
pub(crate) fn named(
    names: &[String],
    given: &BTreeMap<String, GivenPolicy>,
    stack: &Stack,
    policy: Policy,
) -> Result<BTreeMap<String, String>, SpecError> {
    let mut chosen = BTreeMap::new();
    for name in names {
        let Some(of) = given.get(name) else {
            let known: Vec<&str> = given.keys().map(String::as_str).collect();
            return Err(SpecError::instead(
                format!(
                    "`{stack}` names a policy `{}`, which is not given",
                    excerpt(name)
                ),
                format!(
                    "say what it is in [given.{}]; there are: {}",
                    excerpt(name),
                    known.join(", ")
                ),
            ));
        };
        let module = &of.module;
        let runs = stack.is_default() || stack.names().contains(module);
        if !runs || !decides(policy) {
            return Err(SpecError::instead(
                format!("the policy {name} is of {module}, which decides nothing in `{stack}`"),
                format!("add {module} to the stack, say policy = \"enforcing\", or leave it out"),
            ));
        }
        if chosen.insert(module.clone(), name.clone()).is_some() {
            return Err(SpecError::instead(
                format!("`{stack}` has two policies of {module}"),
                "make them one policy, or two configurations",
            ));
        }
    }
    Ok(chosen)
}

/// Is each policy that is given anybody's?
pub(crate) fn check_used(
    given: &BTreeMap<String, GivenPolicy>,
    configurations: &[Configuration],
) -> Result<(), SpecError> {
    let is_used = |name: &String| {
        let mut used = configurations
            .iter()
            .flat_map(|of| of.tuning.given.values());
        used.any(|used| used == name)
    };
    let Some((name, of)) = given.iter().find(|(name, _)| !is_used(name)) else {
        return Ok(());
    };
    let module = &of.module;
    Err(SpecError::instead(
        format!(
            "the policy {name} is of {module}, and no stack of what is measured has {module} with a policy"
        ),
        format!(
            "add a stack with {module} and policy = \"enforcing\" (--stack capability,{module} --policy enforcing)"
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(text: &str) -> Result<Access, String> {
        text.parse().map_err(|error: AccessError| error.to_string())
    }

    #[test]
    fn accesses_are_words() {
        assert_eq!(
            access("read /etc/shadow").unwrap().to_string(),
            "read /etc/shadow"
        );
        assert_eq!(access("list /").unwrap().how, AccessHow::List);
        assert_eq!(access("connect 443").unwrap().what, "443");
        for wrong in [
            "",
            "read",
            "read etc",
            "read /",
            "read /a/../b",
            "read /a//b",
            "connect 0",
            "connect 65536",
            "bind /x",
            "look /x",
            "read /a\nb",
        ] {
            assert!(access(wrong).is_err(), "{wrong:?}");
        }
        let json: Access = serde_json::from_str("\"write /a b\"").unwrap();
        assert_eq!(json.what, "/a b");
        assert!(serde_json::from_str::<Access>("\"write\"").is_err());
    }

    #[test]
    fn each_stack_has_each_policy_of_its_modules() {
        let of = |module: &str| GivenPolicy {
            module: module.to_owned(),
            ..GivenPolicy::default()
        };
        let given: BTreeMap<String, GivenPolicy> = [
            ("a".to_owned(), of("apparmor")),
            ("b".to_owned(), of("apparmor")),
            ("l".to_owned(), of("landlock")),
        ]
        .into();
        let n = |stack: &str, policy| choices(&given, &stack.parse().unwrap(), policy).len();
        assert_eq!(n("capability,apparmor", Policy::Enforcing), 2);
        assert_eq!(n("capability,apparmor,landlock", Policy::Enforcing), 2);
        assert_eq!(n("capability,landlock", Policy::Enforcing), 1);
        assert_eq!(n("default", Policy::Enforcing), 2);
        let none = choices(
            &given,
            &"capability,apparmor".parse().unwrap(),
            Policy::None,
        );
        assert_eq!(none, [BTreeMap::new()]);
        let selinux = choices(
            &given,
            &"capability,selinux".parse().unwrap(),
            Policy::Enforcing,
        );
        assert_eq!(selinux, [BTreeMap::new()]);
    }
}
