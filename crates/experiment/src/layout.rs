// SPDX-License-Identifier: GPL-2.0-or-later
//! Names of kernels that differ in where functions lie.

/// What comes before the number of a layout that `lsmeter kernel build --layouts` made:
/// `build:um` of `build:um.3`. None of any other kernel.
pub fn layouts_base(kernel: &str) -> Option<&str> {
    let (base, number) = kernel.rsplit_once('.')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && base.starts_with("build:")).then_some(base)
}

/// Are these layouts of one kernel, and nothing else?
pub(crate) fn are_layouts(kernels: &[String]) -> bool {
    let mut bases = kernels.iter().map(|kernel| layouts_base(kernel));
    let first = bases.next().flatten();
    first.is_some() && bases.all(|base| base == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_told_by_their_numbers() {
        assert_eq!(layouts_base("build:um.3"), Some("build:um"));
        assert_eq!(layouts_base("build:6.12-all"), None);
        assert_eq!(layouts_base("build:um."), None);
        assert_eq!(layouts_base("debian:6.12"), None);
        let are = |kernels: &[&str]| {
            let kernels: Vec<String> = kernels.iter().map(|of| (*of).to_owned()).collect();
            are_layouts(&kernels)
        };
        assert!(are(&["build:um.1", "build:um.2"]));
        assert!(!are(&["build:um.1", "build:other.2"]) && !are(&["build:um"]) && !are(&[]));
    }
}
