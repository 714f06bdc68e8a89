// SPDX-License-Identifier: GPL-2.0-or-later
//! How the number of decisions grows with the depth of a path.

use std::collections::BTreeMap;

use experiment::{Caches, DelayModule, DepthRule, Slope, Status, path_depth};
use stats::Fit;

/// What one rule is about.
type Family<'a> = (&'a str, DelayModule, Caches, &'a str, &'a str);

/// The rules that slopes follow, for each benchmark with three depths or more: of all
/// hooks together, and of each hook whose number changes with depth.
#[must_use]
pub fn rules(slopes: &[Slope]) -> Vec<DepthRule> {
    let mut families: BTreeMap<Family<'_>, Vec<(u32, &Slope)>> = BTreeMap::new();
    let mut order = Vec::new();
    for slope in slopes.iter().filter(|slope| slope.status == Status::Ok) {
        let Some(depth) = path_depth(&slope.variant) else {
            continue;
        };
        let hook = match slope.is_whole() {
            true => "",
            false => slope.hooks[0].as_str(),
        };
        let family = (
            slope.kernel.as_str(),
            slope.module,
            slope.caches,
            slope.benchmark.as_str(),
            hook,
        );
        if !families.contains_key(&family) {
            order.push(family);
        }
        families.entry(family).or_default().push((depth, slope));
    }
    order
        .into_iter()
        .filter_map(|family| rule(family, families.get(&family)?))
        .collect()
}

fn rule(family: Family<'_>, members: &[(u32, &Slope)]) -> Option<DepthRule> {
    let (kernel, module, caches, benchmark, hook) = family;
    let depths: Vec<f64> = members.iter().map(|(depth, _)| f64::from(*depth)).collect();
    let counts: Vec<f64> = members.iter().map(|(_, slope)| slope.slope).collect();
    let fit = Fit::of(&[&depths], &counts).ok()?;
    let whole = hook.is_empty();
    let a = fit.slopes[0].value;
    // A hook that is called once whatever the depth needs no rule of its own.
    if !whole && a.abs() < 0.05 {
        return None;
    }
    let costs: Vec<f64> = members.iter().map(|(_, slope)| slope.intercept).collect();
    let beta1 = (whole && a.abs() >= 0.05)
        .then(|| Fit::of(&[&counts], &costs).ok())
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
        b: fit.intercept.value,
        r2: fit.r2,
        residual: fit.residuals.iter().map(|r| r.abs()).fold(0.0, f64::max),
        depths: members.iter().map(|(depth, _)| *depth).collect(),
        beta1,
    })
}
