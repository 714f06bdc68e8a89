// SPDX-License-Identifier: GPL-2.0-or-later
//! Time that the guest took to load policies.

use model::PolicyPart;

/// From a boot's steps (`step_took()` of the guest's `policy.c`): sums per module and part, in
/// order of first appearance.
pub fn taken(steps: &[String]) -> Vec<PolicyPart> {
    let mut parts: Vec<PolicyPart> = Vec::new();
    for (module, part, busy_ns) in steps.iter().filter_map(|step| told(step)) {
        match parts
            .iter_mut()
            .find(|of| of.module == module && of.part == part)
        {
            Some(known) => known.busy_ns = known.busy_ns.saturating_add(busy_ns),
            None => parts.push(PolicyPart {
                module: module.to_owned(),
                part: part.to_owned(),
                busy_ns,
            }),
        }
    }
    parts
}

fn told(step: &str) -> Option<(&str, &str, u64)> {
    let (module, said) = step.split_once(": ")?;
    let said = said.strip_suffix(" ns of the processor")?;
    let (part, busy_ns) = said.split_once(" took ")?;
    Some((module, part, busy_ns.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_the_same_kind_are_one() {
        let steps = [
            "selinux: loading took 1200 ns of the processor",
            "selinux: wrote 1 to /sys/fs/selinux/enforce",
            "bpf: loading took 5 ns of the processor",
            "bpf: attaching took 30 ns of the processor",
            "bpf: attached file_open",
            "bpf: attaching took 12 ns of the processor",
            "bpf: attaching took -1 ns of the processor",
            "tomoyo took 3 ns",
        ];
        let steps = steps.map(str::to_owned);
        let found = taken(&steps);
        let found: Vec<_> = found
            .iter()
            .map(|of| (&*of.module, &*of.part, of.busy_ns))
            .collect();
        assert_eq!(
            found,
            [
                ("selinux", "loading", 1200),
                ("bpf", "loading", 5),
                ("bpf", "attaching", 42)
            ]
        );
    }
}
