// SPDX-License-Identifier: GPL-2.0-or-later
//! Files that single modules deny, and several of them: `guest/settings/denials.c` makes them,
//! and the benchmark `denied-open` opens them. What each module is told of them stands here.

use super::{PolicyError, Prepared, Request, tools};

/// What brings them into force in the guest, which is no module.
pub(super) const NAME: &str = "denials";

/// Where they are, in the guest: `/denials/refused/-t--` is denied by TOMOYO, as the `t` says, and
/// by Landlock, as its directory says.
const DIR: &str = "/denials";

/// The files themselves, which the guest makes.
pub(super) fn prepare(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    tools::vm_only(request, "a set of files that are denied")?;
    Ok(Prepared::default())
}

/// Is this asked of a module's policy?
pub(super) fn are_asked(request: &Request<'_>) -> bool {
    request.configuration.settings.denials
}

/// The same as a key of the agent's directive.
pub(super) fn key(request: &Request<'_>) -> Option<(&'static str, u32)> {
    are_asked(request).then_some((NAME, 1))
}

/// How it was told, a line for the run document; None if it was told nothing.
pub(super) fn step(module: &str, file: &str, text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    (!lines.is_empty()).then(|| format!("{module}: {file} also has: {}", lines.join(" ")))
}

/// AppArmor's rules: what a `deny` rule denies is not logged.
pub(super) fn apparmor() -> String {
    format!("  {DIR}/*/???? r,\n  deny {DIR}/*/a??? r,\n")
}

/// TOMOYO's entry for what it allows, and its profile without a log of what it denies.
pub(super) fn tomoyo_exceptions() -> String {
    format!("path_group WORK {DIR}/\\*/\\?-\\?\\?\n")
}

/// TOMOYO's profiles, of which none logs what is denied.
pub(super) fn tomoyo_profiles(profiles: &str) -> String {
    profiles.replace("reject_log=yes", "reject_log=no")
}

/// SELinux's rule, in CIL: what it denies `subject` is not recorded.
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
        assert!(apparmor().contains("\n  deny "));
        assert_eq!(
            tomoyo_exceptions(),
            "path_group WORK /denials/\\*/\\?-\\?\\?\n"
        );
    }
}
