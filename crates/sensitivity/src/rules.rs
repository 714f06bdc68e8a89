// SPDX-License-Identifier: GPL-2.0-or-later
//! Finds rules for how the number of decisions grows with the depth of a path.

use std::collections::BTreeMap;

use model::{Caches, Cell, Delay, DelayModule, DepthRule, Document, Slope, path_depth};
use stats::Fit;

type Family<'a> = (&'a str, DelayModule, Caches, &'a str, &'a str);
/// Path depth, delay, slope.
type Member<'a> = (u32, &'a Delay, &'a Slope);

/// For each benchmark with at least three depths: a rule for all hooks together, and for each hook
/// whose count changes with depth.
pub fn rules(sweep: &Document) -> Vec<DepthRule> {
    let mut families: BTreeMap<Family<'_>, Vec<Member<'_>>> = BTreeMap::new();
    let mut order = Vec::new();
    for (Cell { key, .. }, delay, slope) in sweep.slopes() {
        let Some(depth) = path_depth(key.variant()) else {
            continue;
        };
        let hook = match delay.is_whole() {
            true => "",
            false => delay.hooks[0].as_str(),
        };
        let family = (
            key.kernel.as_str(),
            delay.module,
            delay.caches,
            key.benchmark(),
            hook,
        );
        if !families.contains_key(&family) {
            order.push(family);
        }
        let members = families.entry(family).or_default();
        members.push((depth, delay, slope));
    }
    order
        .into_iter()
        .filter_map(|family| rule(family, families.get(&family)?))
        .collect()
}

fn rule(family: Family<'_>, members: &[Member<'_>]) -> Option<DepthRule> {
    let (kernel, module, caches, benchmark, hook) = family;
    let depths = members.iter().map(|(depth, ..)| f64::from(*depth));
    let depths: Vec<f64> = depths.collect();
    let counts: Vec<f64> = members.iter().map(|(.., slope)| slope.slope).collect();
    let fit = Fit::new(&[&depths], &counts).ok()?;
    let whole = hook.is_empty();
    let a = fit.slopes[0].value;
    // A hook with a constant count needs no rule.
    if !whole && a.abs() < 0.05 {
        return None;
    }
    let costs: Vec<f64> = members.iter().map(|(.., slope)| slope.intercept).collect();
    let beta1 = (whole && a.abs() >= 0.05)
        .then(|| Fit::new(&[&counts], &costs).ok())
        .flatten()
        .map(|fit| fit.slopes[0].value);
    Some(DepthRule {
        kernel: kernel.to_owned(),
        module,
        caches,
        benchmark: benchmark.to_owned(),
        hook: if whole {
            members.first()?.1.hooks.join(",")
        } else {
            hook.to_owned()
        },
        a,
        b: fit.intercept,
        r2: fit.r2,
        residual: fit.residuals.iter().map(|r| r.abs()).fold(0.0, f64::max),
        depths: members.iter().map(|(depth, ..)| *depth).collect(),
        beta1,
    })
}
