// SPDX-License-Identifier: GPL-2.0-or-later
//! A sensitivity document's slopes as items.

use experiment::comparison::Quantity;
use experiment::{SensitivityDocument, Slope, Status};

use crate::doubt::Doubts;
use crate::item::{Evidence, Item, Key, Setup};

/// All slopes.
pub(crate) fn items(document: &SensitivityDocument) -> Vec<Item> {
    let doubts = Doubts::of(&document.warnings);
    let slopes = document.slopes.iter().enumerate();
    slopes
        .map(|(position, slope)| Item {
            key: key(slope),
            evidence: evidence(slope),
            doubts: doubts.of_position(position, Quantity::Slope, false),
            position,
        })
        .collect()
}

/// A slope with its interval, which is at least as wide as what slope and count may be
/// apart without anybody asking why: a line through counts has no width of its own.
fn evidence(slope: &Slope) -> Evidence {
    if slope.status != Status::Ok {
        return Evidence::missing(slope.status, slope.reason.as_deref());
    }
    let [low, high] = slope.ci95;
    let ci95 = [
        low.min(slope.slope - Slope::DIFFERENCE),
        high.max(slope.slope + Slope::DIFFERENCE),
    ];
    Evidence {
        value: Some(slope.slope),
        n: Some(slope.n),
        ci95: Some(ci95),
        ..Evidence::missing(Status::Ok, None)
    }
}

fn key(slope: &Slope) -> Key {
    let part = if slope.part { ", its part" } else { "" };
    Key {
        kernel: slope.kernel.clone(),
        configuration: Setup::of_stack(slope.stack.join(",")),
        filesystem: slope.filesystem.clone(),
        benchmark: slope.benchmark.clone(),
        variant: slope.variant.clone(),
        detail: format!(
            "{} at {}{part}, {} caches",
            slope.module,
            slope.hooks.join("+"),
            slope.caches
        ),
        quantity: Quantity::Slope,
    }
}
