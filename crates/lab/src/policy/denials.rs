// SPDX-License-Identifier: GPL-2.0-or-later
//! Files that one or more modules deny: created by `guest/settings/denials.c`, opened by the
//! benchmark `denied-open`. Each module's rules for them are here.

use super::Request;

/// The guest's name for these files, which is not the name of a module.
pub(super) const NAME: &str = "denials";

/// A `deny` rule keeps denials out of the log.
pub(super) const APPARMOR: &str = "  /denials/*/???? r,\n  deny /denials/*/a??? r,\n";
/// TOMOYO denies `/denials/refused/-t--` because of the `t`, Landlock because of its directory.
pub(super) const TOMOYO: &str = "path_group WORK /denials/\\*/\\?-\\?\\?\n";

pub(super) fn key(request: &Request<'_>) -> Option<(&'static str, u32)> {
    (request.configuration.settings.denials).then_some((NAME, 1))
}

pub(super) fn step(module: &str, file: &str, text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    (!lines.is_empty()).then(|| format!("{module}: {file} also has: {}", lines.join(" ")))
}

pub(super) fn tomoyo_profiles(profiles: &str) -> String {
    profiles.replace("reject_log=yes", "reject_log=no")
}

/// The SELinux rule, in CIL, that denials of `subject` are not recorded.
pub(super) fn selinux(subject: &str, denied: &str) -> String {
    format!("(dontaudit {subject} {denied} (file (read open)))\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_it_is_logged() {
        let profiles = include_str!("../../policy/tomoyo/profile");
        assert!(profiles.contains("reject_log=yes"));
        assert!(!tomoyo_profiles(profiles).contains("log=yes"));
        assert!(APPARMOR.contains("\n  deny "));
    }
}
