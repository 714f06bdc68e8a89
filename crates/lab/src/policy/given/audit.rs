// SPDX-License-Identifier: GPL-2.0-or-later
//! Custom audit rules: lines for auditctl(8), as in `/etc/audit/audit.rules`. The guest's kernel gets
//! them from this machine's auditctl, which runs there with its libraries.

use std::fs;
use std::path::Path;

use model::{AuditRecords, CustomPolicy, excerpt};

use super::super::others::audit_arguments;
use super::super::{PolicyError, Prepared, Request, tools};
use super::{files, prepared};
use crate::root::libraries;

/// Limited because each system call is compared with all rules of a list.
const RULES_LIMIT: usize = 10_000;
const RULE_LIMIT: usize = 4_000;
const SKIPPED_SHOWN: usize = 4;
/// Options of auditctl that add rules. Other options change the daemon or the kernel's limits.
const ADDING: [&str; 3] = ["-a", "-A", "-w"];

pub(in super::super) fn prepare(
    request: &Request<'_>,
    of: &CustomPolicy,
) -> Result<Prepared, PolicyError> {
    let mut rules: Vec<String> = Vec::new();
    let mut skipped: Vec<String> = Vec::new();
    for file in &files(of)? {
        let name = file.name.display();
        let text = std::str::from_utf8(&file.bytes)
            .map_err(|_| refused(&format!("{name} is not a text file")))?;
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if line.len() > RULE_LIMIT || line.chars().any(|c| c.is_control() && c != '\t') {
                let what = format!("{name}, line {}: not a rule", number + 1);
                return Err(refused(&what));
            }
            let option = line.split_ascii_whitespace().next().unwrap_or_default();
            if ADDING.contains(&option) {
                rules.push(line.to_owned());
            } else if option.starts_with('-') {
                skipped.push(line.to_owned());
            } else {
                let what = format!(
                    "{name}, line {}: `{}` is not a rule",
                    number + 1,
                    excerpt(line)
                );
                return Err(refused(&what));
            }
        }
    }
    if rules.is_empty() || rules.len() > RULES_LIMIT {
        let n = rules.len();
        let files = of.files.join(", ");
        return Err(refused(&format!(
            "{n} rules in {files}: expected 1 to {RULES_LIMIT}"
        )));
    }
    // With Fedora's rule, new tasks are not audited; the kernel must then boot without audit.
    let never = ["task,never", "never,task"];
    let is_never = |rule: &String| {
        rule.split_ascii_whitespace()
            .any(|word| never.contains(&word))
    };
    let starts_on = !rules.iter().any(is_never);
    let mut prepared = prepared(of);
    prepared.kernel_arguments = audit_arguments(starts_on);
    let records = match of.records.unwrap_or(AuditRecords::Absent) {
        AuditRecords::Absent => 0,
        AuditRecords::Dropped => 1,
        AuditRecords::Written => 2,
    };
    // Read by the guest's `settings/given-audit.c`.
    prepared
        .keys
        .extend([("audit_rules", rules.len() as u32), ("records", records)]);
    add_auditctl(request, &mut prepared)?;
    let lines = |lines: &[String]| lines.join("\n") + "\n";
    let paths: Vec<String> = rules.iter().filter_map(|rule| watched(rule)).collect();
    prepared.file("rules", lines(&rules));
    prepared.file("paths", lines(&paths));
    prepared.steps.push(format!(
        "audit: {} rules from {}; booted with {}",
        rules.len(),
        of.files.join(" "),
        prepared.kernel_arguments.join(" ")
    ));
    if !skipped.is_empty() {
        let shown: Vec<String> = { skipped.iter().take(SKIPPED_SHOWN) }
            .map(|line| excerpt(line))
            .collect();
        prepared.steps.push(format!(
            "audit: left out {} lines, because they add no rules: {}",
            skipped.len(),
            shown.join("; ")
        ));
    }
    Ok(prepared)
}

fn refused(what: &str) -> PolicyError {
    tools::failed(
        what,
        "write rules as for auditctl: -a always,exit -F arch=b64 -S openat -F exit=-EACCES -k access",
    )
}

/// auditctl, its libraries and its loader, in one directory.
fn add_auditctl(request: &Request<'_>, prepared: &mut Prepared) -> Result<(), PolicyError> {
    let kernel = request.kernel;
    if let Some(kernel) = kernel.filter(|kernel| !kernel.arch().is_native()) {
        return Err(PolicyError::Unsupported(format!(
            "{} runs on {}: this machine's auditctl cannot run there",
            kernel.name,
            kernel.arch().name
        )));
    }
    let program = tools::find("auditctl", "auditd")?;
    let mut add = |name: &str, path: &Path| -> Result<(), PolicyError> {
        let bytes = fs::read(path).map_err(|error| super::unreadable(path, &error))?;
        prepared.file(name, bytes);
        Ok(())
    };
    add("auditctl", &program)?;
    let libraries = libraries(&program)
        .map_err(|error| tools::failed(error, "install the package libc-bin"))?;
    for library in libraries {
        let name = library.file_name().unwrap_or_default().to_string_lossy();
        // The loader is the only file that ldd lists only by its full path.
        add(
            if name.starts_with("ld-") {
                "loader"
            } else {
                &name
            },
            &library,
        )?;
    }
    Ok(())
}

/// The path that a rule watches; the guest makes the directories above its last `/`. Those of `dir=`
/// must exist themselves.
fn watched(rule: &str) -> Option<String> {
    let words: Vec<&str> = rule.split_ascii_whitespace().collect();
    let path = words.windows(2).find_map(|pair| {
        let field = |key| pair[1].strip_prefix(key).filter(|_| pair[0] == "-F");
        let directory = field("dir=").map(|path| format!("{}/", path.trim_end_matches('/')));
        let file = field("path=").or_else(|| field("exe="));
        let file = file.or((pair[0] == "-w").then_some(pair[1]));
        directory.or(file.map(str::to_owned))
    });
    path.filter(|path| model::is_guest_path(path.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watched_paths_are_those_of_rules() {
        for (rule, path) in [
            ("-w /etc/passwd -p wa -k identity", Some("/etc/passwd")),
            (
                "-a always,exit -F dir=/etc/selinux/ -F perm=wa",
                Some("/etc/selinux/"),
            ),
            (
                "-a always,exit -F arch=b64 -S openat -F path=/a",
                Some("/a"),
            ),
            ("-a always,exit -F arch=b64 -S mount", None),
            ("-w relative", None),
            ("-w /a/../b", None),
        ] {
            assert_eq!(watched(rule).as_deref(), path, "{rule}");
        }
    }
}
