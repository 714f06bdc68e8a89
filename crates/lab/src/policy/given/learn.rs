// SPDX-License-Identifier: GPL-2.0-or-later
//! A policy of TOMOYO that learns: an empty domain, whose profile has the kernel add what is done
//! in it.

use experiment::{Access, GivenPolicy};

use super::super::tomoyo::{DOMAIN_NAME, begin};
use super::super::{PolicyError, Prepared, Request, tools};
use super::prepared;

/// Modes 0 (disabled), 1 (learning) and 3 (enforcing), by profile number.
const PROFILE: &str = include_str!("../../../policy/tomoyo/profile.learning");
/// Of them the one that learns.
pub const LEARNING_PROFILE: u32 = 1;

/// The three policies, and the accesses that are to be learned besides.
pub(in super::super) fn prepare(
    request: &Request<'_>,
    allowed: &[Access],
) -> Result<Prepared, PolicyError> {
    tools::vm_only(request, "TOMOYO")?;
    tools::need(request, "TOMOYO", "CONFIG_SECURITY_TOMOYO")?;
    let mut prepared = prepared(&GivenPolicy {
        allowed: allowed.to_vec(),
        ..GivenPolicy::default()
    });
    prepared.keys.push(("learn", 1));
    // The agent takes no empty file, nor does the kernel.
    for (_, content) in &mut prepared.files {
        content.push(b'\n');
    }
    let file = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
    prepared.files.extend([
        file("profile", PROFILE),
        file("exception_policy", "\n"),
        file("domain_policy", &begin(LEARNING_PROFILE)),
        file("domain", &format!("{DOMAIN_NAME}\n")),
    ]);
    Ok(prepared)
}
