// SPDX-License-Identifier: GPL-2.0-or-later
//! A profile document's operations as items.

use experiment::comparison::Quantity;
use experiment::{Profile, ProfileDocument, Status};

use crate::doubt::Doubts;
use crate::item::{Evidence, Item, Key, Setup};

/// All profiles: what the operation takes, and what of it is inside hooks.
pub(crate) fn items(document: &ProfileDocument) -> Vec<Item> {
    let doubts = Doubts::of(&document.warnings);
    let mut items = Vec::with_capacity(2 * document.profiles.len());
    for (position, profile) in document.profiles.iter().enumerate() {
        for (quantity, value) in [
            (Quantity::Instructions, profile.total),
            (Quantity::HookInstructions, profile.hooked),
        ] {
            items.push(Item {
                key: key(profile, quantity),
                evidence: evidence(profile, value),
                doubts: doubts.of_position(position, quantity, false),
                position,
            });
        }
    }
    items
}

fn evidence(profile: &Profile, value: u64) -> Evidence {
    if profile.status != Status::Ok {
        return Evidence::missing(profile.status, profile.reason.as_deref());
    }
    let stable = 2 * u128::from(profile.path_windows) >= u128::from(profile.windows);
    Evidence {
        exact: stable,
        n: Some(profile.windows),
        reason: (!stable).then(|| "no path holds half of its windows".to_owned()),
        ..Evidence::exact(value as f64)
    }
}

fn key(profile: &Profile, quantity: Quantity) -> Key {
    Key {
        kernel: profile.kernel.clone(),
        configuration: Setup {
            stack: profile.stack.join(","),
            integrity: profile.integrity.clone(),
            policy: profile.policy,
            tuning: profile.tuning,
        },
        filesystem: profile.filesystem.clone(),
        benchmark: profile.benchmark.clone(),
        variant: profile.variant.clone(),
        detail: String::new(),
        quantity,
    }
}
