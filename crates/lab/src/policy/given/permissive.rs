// SPDX-License-Identifier: GPL-2.0-or-later
//! Makes a domain of a binary SELinux policy permissive: the agent's domain before it enters the
//! policy. The policy can then be enforcing all the time, without writing `enforce` around each
//! cell: at each such write kernels with IMA serialise the whole policy to measure it
//! (`selinux_ima_measure_state()` of security/selinux/ima.c).
//!
//! For the format see security/selinux/ss/policydb.c, `policydb_read()`.

use std::collections::BTreeMap;

/// Supported versions: from permissive types (23) to before neveraudit types (35).
const VERSIONS: std::ops::RangeInclusive<u32> = 23..=34;
const MAGIC: [u8; 4] = 0xf97c_ff8c_u32.to_le_bytes();
const MAGIC_NAME: &[u8] = b"SE Linux";
const NODE_BITS: u32 = 64;
/// A constraint expression with users, roles or types (`CEXPR_NAMES`).
const NAMES: u32 = 5;

/// Bits of an ebitmap, by node: its first bit, and its bits.
type Bitmap = BTreeMap<u32, u64>;

struct Reader<'a> {
    rest: &'a [u8],
    version: u32,
}

impl<'a> Reader<'a> {
    fn bytes(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(n)?;
        self.rest = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        let bytes = self.bytes(4)?.try_into().ok()?;
        Some(u32::from_le_bytes(bytes))
    }

    fn numbers<const N: usize>(&mut self) -> Option<[u32; N]> {
        let mut all = [0; N];
        for number in &mut all {
            *number = self.number()?;
        }
        Some(all)
    }

    fn name(&mut self, length: u32) -> Option<&'a [u8]> {
        self.bytes(usize::try_from(length).ok()?)
    }

    fn bitmap(&mut self) -> Option<Bitmap> {
        let [unit, highest, nodes] = self.numbers()?;
        let mut bitmap = Bitmap::new();
        if unit != NODE_BITS {
            return None;
        }
        if highest > 0 {
            for _ in 0..nodes {
                let first = self.number()?;
                let bits = self.bytes(8)?.try_into().ok()?;
                bitmap.insert(first, u64::from_le_bytes(bits));
            }
        }
        Some(bitmap)
    }

    fn permissions(&mut self, count: u32) -> Option<()> {
        for _ in 0..count {
            let [length, _value] = self.numbers()?;
            self.name(length)?;
        }
        Some(())
    }

    fn common(&mut self) -> Option<()> {
        let [length, _value, _values, permissions] = self.numbers()?;
        self.name(length)?;
        self.permissions(permissions)
    }

    fn constraints(&mut self, count: u32) -> Option<()> {
        for _ in 0..count {
            let [_permissions, expressions] = self.numbers()?;
            for _ in 0..expressions {
                let [kind, _attribute, _operator] = self.numbers()?;
                if kind == NAMES {
                    self.bitmap()?;
                    if self.version >= 29 {
                        self.bitmap()?;
                        self.bitmap()?;
                        self.number()?;
                    }
                }
            }
        }
        Some(())
    }

    fn class(&mut self) -> Option<()> {
        let [length, common, _value, _values, permissions, constraints] = self.numbers()?;
        self.name(length)?;
        self.name(common)?;
        self.permissions(permissions)?;
        self.constraints(constraints)?;
        let transitions = self.number()?;
        self.constraints(transitions)?;
        if self.version >= 27 {
            self.numbers::<3>()?;
        }
        if self.version >= 28 {
            self.number()?;
        }
        Some(())
    }

    fn role(&mut self) -> Option<()> {
        let [length, _value] = self.numbers()?;
        if self.version >= 24 {
            self.number()?;
        }
        self.name(length)?;
        self.bitmap()?;
        self.bitmap()?;
        Some(())
    }

    fn named_type(&mut self) -> Option<(&'a [u8], u32)> {
        let [length, value, _properties] = self.numbers()?;
        if self.version >= 24 {
            self.number()?;
        }
        Some((self.name(length)?, value))
    }

    fn table(&mut self, mut symbol: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        let [_values, symbols] = self.numbers()?;
        for _ in 0..symbols {
            symbol(self)?;
        }
        Some(())
    }
}

/// Makes the first known one of `domains` permissive and returns it with the policy; None if there
/// is none, or the format is unknown.
pub(super) fn with_permissive<'a>(
    policy: &[u8],
    domains: &[&'a str],
) -> Option<(Vec<u8>, &'a str)> {
    let mut reader = Reader {
        rest: policy,
        version: 0,
    };
    let magic = reader.bytes(MAGIC.len())?;
    let length = reader.number()?;
    if magic != MAGIC || reader.name(length)? != MAGIC_NAME {
        return None;
    }
    let [version, _config, _tables, _contexts] = reader.numbers()?;
    if !VERSIONS.contains(&version) {
        return None;
    }
    reader.version = version;
    let _capabilities = reader.bitmap()?;
    let from = policy.len() - reader.rest.len();
    let mut permissive = reader.bitmap()?;
    let to = policy.len() - reader.rest.len();
    reader.table(Reader::common)?;
    reader.table(Reader::class)?;
    reader.table(Reader::role)?;
    let mut types = BTreeMap::new();
    reader.table(|reader| {
        let (name, value) = reader.named_type()?;
        types.insert(name, value);
        Some(())
    })?;
    let (domain, value) = domains
        .iter()
        .find_map(|domain| Some((*domain, *types.get(domain.as_bytes())?)))?;
    *permissive.entry(value / NODE_BITS * NODE_BITS).or_default() |= 1 << (value % NODE_BITS);
    let policy = [&policy[..from], &written(&permissive)?, &policy[to..]].concat();
    Some((policy, domain))
}

fn written(bitmap: &Bitmap) -> Option<Vec<u8>> {
    let highest = bitmap.last_key_value()?.0.checked_add(NODE_BITS)?;
    let nodes = u32::try_from(bitmap.len()).ok()?;
    let mut bytes: Vec<u8> = [NODE_BITS, highest, nodes]
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    for (first, bits) in bitmap {
        bytes.extend(first.to_le_bytes());
        bytes.extend(bits.to_le_bytes());
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DEBIAN: &str = "/etc/selinux/default/policy/policy.33";

    /// Debian's policy; None, recorded as skipped, if it is not installed.
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
        assert_eq!(with_permissive(&policy, &[]), None);
    }

    #[test]
    fn what_ends_too_early_is_left_alone() {
        let Some(policy) = debian() else { return };
        for length in (0..600).chain([policy.len() / 100, policy.len() / 50]) {
            assert_eq!(with_permissive(&policy[..length], &["kernel_t"]), None);
        }
    }

    proptest! {
        #[test]
        fn anything_is_read(
            version in 20_u32..40,
            rest in proptest::collection::vec(prop_oneof![Just(0_u8), any::<u8>()], 0..600),
        ) {
            let mut policy = [&MAGIC[..], &8_u32.to_le_bytes(), MAGIC_NAME].concat();
            policy.extend(version.to_le_bytes());
            policy.extend(rest);
            let _ = with_permissive(&policy, &["kernel_t"]);
        }
    }
}
