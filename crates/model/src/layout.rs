// SPDX-License-Identifier: GPL-2.0-or-later
//! Names of kernels that differ in the layout of their functions.

use crate::glob::glob;

/// Base and number of a layout made by `lsmeter kernel build --layouts`: `build:um` and 3 for
/// `build:um.3`. None for other kernels.
pub fn layout(kernel: &str) -> Option<(&str, u32)> {
    let (base, text) = kernel.rsplit_once('.')?;
    let number: u32 = text.parse().ok()?;
    // Each number has only one spelling.
    (base.starts_with("build:") && number.to_string() == text).then_some((base, number))
}

/// `build:um` for `build:um.3`; None for other kernels.
pub fn layouts_base(kernel: &str) -> Option<&str> {
    layout(kernel).map(|(base, _)| base)
}

/// Whether `name` is a pattern for kernels in the cache: `build:um.*`. Paths are not patterns.
pub fn is_kernel_pattern(name: &str) -> bool {
    name.contains(['*', '?']) && !name.contains('/')
}

/// Whether `name` is this kernel's name, or a pattern that matches it.
pub(crate) fn names_kernel(name: &str, kernel: &str) -> bool {
    name == kernel || is_kernel_pattern(name) && glob(name, kernel)
}

/// The kernel that `kernel` is compared with if the user names `name`: that kernel or, of several
/// layouts, the one with the same number, or else the first.
pub(crate) fn kernel_beside<'a>(name: &'a str, kernel: &'a str, kernels: &'a [String]) -> &'a str {
    if name == kernel || !is_kernel_pattern(name) {
        return name;
    }
    if glob(name, kernel) {
        return kernel;
    }
    let mut all = kernels.iter().filter(|other| glob(name, other));
    let number = |other: &str| layout(other).map(|(_, number)| number);
    let same = |other: &&String| number(other).is_some() && number(other) == number(kernel);
    let found = all.clone().find(same).or_else(|| all.next());
    found.map_or(name, String::as_str)
}

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
            let kernels: Vec<String> = kernels.iter().map(|name| (*name).to_owned()).collect();
            are_layouts(&kernels)
        };
        assert!(are(&["build:um.1", "build:um.2"]));
        assert!(!are(&["build:um.1", "build:other.2"]) && !are(&["build:um"]) && !are(&[]));
    }

    #[test]
    fn a_pattern_stands_for_the_layout_of_the_same_number() {
        let names =
            |all: &[&str]| -> Vec<String> { all.iter().map(|&name| name.to_owned()).collect() };
        let kernels = names(&["build:dac.1", "build:dac.2", "build:um.2", "build:um.3"]);
        let beside = |name, kernel| kernel_beside(name, kernel, &kernels);
        assert_eq!(beside("build:dac.*", "build:um.2"), "build:dac.2");
        assert_eq!(beside("build:dac.*", "build:dac.1"), "build:dac.1");
        assert_eq!(beside("build:dac.*", "build:um.3"), "build:dac.1");
        assert_eq!(beside("build:dac.1", "build:um.2"), "build:dac.1");
        assert_eq!(beside("build:no.*", "build:um.2"), "build:no.*");
        assert!(names_kernel("build:u?.*", "build:um.2"));
        assert!(names_kernel("build:um.*", "build:um.*"));
        assert!(!names_kernel("build:um.*", "build:um-dac.2"));
        assert!(!names_kernel("/a/*", "/a/b") && names_kernel("/a/*", "/a/*"));
    }
}
