// SPDX-License-Identifier: GPL-2.0-or-later
//! Makes a domain of a binary SELinux policy permissive: the agent's domain before it is confined.
//! The policy can then stay enforcing, without writing `enforce` around each measurement: at each
//! such write kernels with IMA serialise the whole policy to measure it
//! (`selinux_ima_measure_state()` of security/selinux/ima.c).
//!
//! For the format see security/selinux/ss/policydb.c, `policydb_read()`.

use std::collections::BTreeMap;

use kernels::bytes::{u32_at, u64_at};

/// The first version with bounds of types. Later versions, such as 35 with its neveraudit types,
/// add data after the permissive types; the guest checks with its kernel that the right type is
/// permissive.
const FIRST_VERSION: u32 = 24;
const HEAD: &[u8] = b"\x8c\xff\x7c\xf9\x08\0\0\0SE Linux";
const NODE_BITS: u32 = 64;

/// Makes the first of `domains` that the policy defines permissive, and returns it with the policy.
/// None if the policy defines none of them, or if its format is unknown.
pub(super) fn with_permissive<'a>(
    policy: &[u8],
    domains: &[&'a str],
) -> Option<(Vec<u8>, &'a str)> {
    // The version, the configuration, and the numbers of tables and contexts.
    let numbers = policy.strip_prefix(HEAD)?.get(..16)?;
    if u32_at(numbers, 0) < FIRST_VERSION {
        return None;
    }
    let (_capabilities, from) = bitmap(policy, HEAD.len() + 16)?;
    let (mut permissive, to) = bitmap(policy, from)?;
    let known = |domain: &&'a str| Some((*domain, type_of(policy, domain.as_bytes())?));
    let (domain, value) = domains.iter().find_map(known)?;
    *permissive.entry(value / NODE_BITS * NODE_BITS).or_default() |= 1 << (value % NODE_BITS);
    let highest = permissive.last_key_value()?.0.checked_add(NODE_BITS)?;
    let mut made = policy[..from].to_vec();
    for number in [NODE_BITS, highest, permissive.len() as u32] {
        made.extend(number.to_le_bytes());
    }
    for (first, bits) in permissive {
        made.extend(first.to_le_bytes());
        made.extend(bits.to_le_bytes());
    }
    made.extend(&policy[to..]);
    Some((made, domain))
}

/// The nodes of an ebitmap, each with its first bit and its bits, and the ebitmap's end.
fn bitmap(policy: &[u8], at: usize) -> Option<(BTreeMap<u32, u64>, usize)> {
    let (head, nodes) = policy.get(at..)?.split_at_checked(12)?;
    let count = match u32_at(head, 4) {
        0 => 0,
        _highest => u32_at(head, 8) as usize,
    };
    let nodes = nodes.get(..count.checked_mul(12)?)?;
    let bits = nodes.chunks_exact(12);
    let bits = bits.map(|node| (u32_at(node, 0), u64_at(node, 4)));
    let end = at + head.len() + nodes.len();
    (u32_at(head, 0) == NODE_BITS).then(|| (bits.collect(), end))
}

/// The number of a type. Its name is preceded by the name's length, the number, properties and
/// bounds. None if there are several such places. The guest checks with the kernel whether it was
/// the right type.
fn type_of(policy: &[u8], name: &[u8]) -> Option<u32> {
    let records = policy.windows(16 + name.len());
    let mut found = records
        .filter(|record| record.ends_with(name) && u32_at(record, 0) as usize == name.len())
        // Flags of types, and another type's number or 0.
        .filter(|record| u32_at(record, 8) < 8 && u32_at(record, 12) <= 0xffff)
        .map(|record| u32_at(record, 4));
    let value = found.next().filter(|value| (1..=0xffff).contains(value));
    value.filter(|_| found.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DEBIAN: &str = "/etc/selinux/default/policy/policy.33";

    /// Debian's policy. If it is not installed, returns None and records the test as skipped.
    fn debian() -> Option<Vec<u8>> {
        testing::has_file(DEBIAN, "selinux-policy-default").then(|| std::fs::read(DEBIAN).unwrap())
    }

    #[test]
    fn a_domain_is_made_permissive_and_all_else_stays() {
        let Some(policy) = debian() else { return };
        let (made, domain) = with_permissive(&policy, &["no_such_t", "kernel_t"]).unwrap();
        assert_eq!(domain, "kernel_t");
        assert_eq!(made.len(), policy.len() + 12);
        let same = made.iter().zip(&policy).take_while(|(a, b)| a == b).count();
        assert_eq!(made[same + 64..], policy[same + 52..]);
        // A permissive domain stays permissive, and a second one is added.
        assert_eq!(with_permissive(&made, &["kernel_t"]).unwrap().0, made);
        let (both, _) = with_permissive(&made, &["user_t"]).unwrap();
        let (again, _) = with_permissive(&both, &["kernel_t"]).unwrap();
        assert_eq!(both, again);
        assert_ne!(both, made);
        assert_eq!(with_permissive(&policy, &["no_such_t"]), None);
        // Version 35 has one more bitmap after these.
        let (_, from) = bitmap(&policy, HEAD.len() + 16).unwrap();
        let (_, to) = bitmap(&policy, from).unwrap();
        let neveraudit = [NODE_BITS.to_le_bytes(), [0; 4], [0; 4]].concat();
        let mut newer = [&policy[..to], &neveraudit, &policy[to..]].concat();
        newer[HEAD.len()] = 35;
        let (newer, _) = with_permissive(&newer, &["kernel_t"]).unwrap();
        assert_eq!(newer.len(), made.len() + neveraudit.len());
        assert_eq!(newer[same + 76..], policy[same + 52..]);
        assert_eq!(with_permissive(&policy, &[]), None);
    }

    #[test]
    fn what_ends_too_early_is_left_alone() {
        let Some(policy) = debian() else { return };
        for length in 0..600 {
            assert_eq!(with_permissive(&policy[..length], &["kernel_t"]), None);
        }
    }

    proptest! {
        #[test]
        fn anything_is_read(
            version in 20_u32..40,
            rest in proptest::collection::vec(prop_oneof![Just(0_u8), any::<u8>()], 0..600),
        ) {
            let mut policy = HEAD.to_vec();
            policy.extend(version.to_le_bytes());
            policy.extend(rest);
            let _ = with_permissive(&policy, &["kernel_t"]);
        }
    }
}
