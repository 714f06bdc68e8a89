// SPDX-License-Identifier: GPL-2.0-or-later
//! Names of kernels that differ in where functions lie.

use crate::glob::glob;

/// A layout that `lsmeter kernel build --layouts` made: what comes before its number, and the
/// number. `build:um` and 3 of `build:um.3`; none of any other kernel.
pub fn layout(kernel: &str) -> Option<(&str, u32)> {
    let (base, text) = kernel.rsplit_once('.')?;
    let number: u32 = text.parse().ok()?;
    // One name for each number.
    (base.starts_with("build:") && number.to_string() == text).then_some((base, number))
}

/// What comes before the number of a layout: `build:um` of `build:um.3`. None of any other kernel.
pub fn layouts_base(kernel: &str) -> Option<&str> {
    layout(kernel).map(|(base, _)| base)
}

/// Does this stand for all kernels of the cache with a name like it: `build:um.*`? Paths do not.
pub fn is_kernel_pattern(name: &str) -> bool {
    name.contains(['*', '?']) && !name.contains('/')
}

/// Is it this kernel's name, or a pattern that the name fits?
pub(crate) fn names_kernel(name: &str, kernel: &str) -> bool {
    name == kernel || is_kernel_pattern(name) && glob(name, kernel)
}

/// The kernel that stands for `name` beside another one: that one itself; of layouts the one with
/// the same number; else the first.
pub(crate) fn kernel_beside<'a>(name: &'a str, kernel: &'a str, kernels: &'a [String]) -> &'a str {
    if name == kernel || !is_kernel_pattern(name) {
        return name;
    }
    if glob(name, kernel) {
        return kernel;
    }
    let mut all = kernels.iter().filter(|of| glob(name, of));
    let number = |of: &str| layout(of).map(|(_, number)| number);
    let same = |of: &&String| number(of).is_some() && number(of) == number(kernel);
    let found = all.clone().find(same).or_else(|| all.next());
    found.map_or(name, String::as_str)
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
        assert_eq!(layouts_base("build:um.03"), None);
        assert_eq!(layouts_base("build:um.4294967296"), None);
        assert_eq!(layouts_base("debian:6.12"), None);
        let are = |kernels: &[&str]| {
            let kernels: Vec<String> = kernels.iter().map(|of| (*of).to_owned()).collect();
            are_layouts(&kernels)
        };
        assert!(are(&["build:um.1", "build:um.2"]));
        assert!(!are(&["build:um.1", "build:other.2"]) && !are(&["build:um"]) && !are(&[]));
    }

    #[test]
    fn a_pattern_stands_for_the_layout_of_the_same_number() {
        let names = |all: &[&str]| -> Vec<String> { all.iter().map(|&of| of.to_owned()).collect() };
        let kernels = names(&["build:dac.1", "build:dac.2", "build:um.2", "build:um.3"]);
        let beside = |name, kernel| kernel_beside(name, kernel, &kernels);
        assert_eq!(beside("build:dac.*", "build:um.2"), "build:dac.2");
        assert_eq!(beside("build:dac.*", "build:dac.1"), "build:dac.1");
        // There is none of this number.
        assert_eq!(beside("build:dac.*", "build:um.3"), "build:dac.1");
        assert_eq!(beside("build:dac.1", "build:um.2"), "build:dac.1");
        assert_eq!(beside("build:no.*", "build:um.2"), "build:no.*");
        assert!(names_kernel("build:u?.*", "build:um.2"));
        assert!(names_kernel("build:um.*", "build:um.*"));
        assert!(!names_kernel("build:um.*", "build:um-dac.2"));
        assert!(!names_kernel("/a/*", "/a/b") && names_kernel("/a/*", "/a/*"));
    }
}
