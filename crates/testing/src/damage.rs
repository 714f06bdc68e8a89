// SPDX-License-Identifier: GPL-2.0-or-later
//! Damages files, to test that readers survive.

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};

/// Calls `read` with variants of a sound file: changed bytes and words, mostly in headers at its
/// beginning or end, and truncation.
///
/// # Panics
/// If `read` does, with a description of the damage.
pub fn damage(sound: &[u8], read: impl Fn(&[u8])) {
    let number = prop_oneof![any::<u64>(), 0u64..64, Just(u64::MAX), Just(u64::MAX - 7)];
    let change = (any::<Index>(), 0u8..3, number, 1usize..=8);
    let changes = proptest::collection::vec(change, 0..16);
    let cut = proptest::option::weighted(0.3, any::<Index>());
    let mut runner = TestRunner::new(Config::with_cases(96));
    let result = runner.run(&(changes, cut), |(changes, cut)| {
        let mut bytes = sound.to_vec();
        for (at, place, number, width) in changes {
            let part = match place {
                0 => &mut bytes[..sound.len().min(128)],
                1 => &mut bytes[sound.len().saturating_sub(512)..],
                _ => &mut bytes[..],
            };
            let at = at.index(part.len());
            let changed = part[at..].iter_mut().zip(number.to_le_bytes());
            changed.take(width).for_each(|(old, new)| *old = new);
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(sound.len()));
        }
        read(&bytes);
        Ok(())
    });
    result.unwrap_or_else(|failed| panic!("{failed}"));
}
