// SPDX-License-Identifier: GPL-2.0-or-later

use crate::arch::Arch;
use crate::name::DebianKernel;
use crate::version;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// One ABI of a series, with sets of packages in order of preference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The ABI name, such as `6.1.0-56`.
    pub abi: String,
    pub sets: Vec<Vec<String>>,
}

/// A package name's text before the ABI and at its end.
type Part = (&'static str, &'static str);

const UNSIGNED: &str = "-unsigned";

/// Candidates for `kernel`, newest ABI first.
///
/// Up to 7.1, `linux-image-ABI-cloud-amd64-unsigned` and the signed one contain everything. From
/// 7.2 on, `linux-binary-ABI…` contains the image, `linux-modules-ABI…` the modules,
/// `linux-base-ABI…` the configuration, and `linux-image-ABI…` nothing.
pub(crate) fn candidates<'a>(
    kernel: &DebianKernel,
    names: impl Iterator<Item = &'a str>,
) -> Vec<Candidate> {
    let mut found: BTreeMap<&str, BTreeSet<Part>> = BTreeMap::new();
    for (abi, part) in names.filter_map(|name| split_name(name, kernel.arch())) {
        if kernel.includes(abi) {
            found.entry(abi).or_default().insert(part);
        }
    }
    let mut out: Vec<Candidate> = found
        .into_iter()
        .map(|(abi, parts)| Candidate {
            abi: abi.to_string(),
            sets: sets(abi, &parts, kernel.arch()),
        })
        .filter(|candidate| !candidate.sets.is_empty())
        .collect();
    out.sort_by(|a, b| compare_abi(&b.abi, &a.abi));
    out
}

pub(crate) fn series<'a>(names: impl Iterator<Item = &'a str>, arch: &Arch) -> Vec<String> {
    let mut out: Vec<String> = names
        .filter_map(|name| split_name(name, arch))
        .filter_map(|(abi, _)| crate::name::series_of(abi))
        .collect();
    out.sort_by(|a, b| version::compare(a, b));
    out.dedup();
    out
}

/// Compares kernel versions first. If one version exists for two Debian releases (`+deb12`,
/// `+deb13`), the one for the older release counts as newer because its tools are older.
pub(crate) fn compare_abi(a: &str, b: &str) -> Ordering {
    let parts = |abi: &str| -> (String, u64, String) {
        let (base, build) = abi.split_once("+deb").unwrap_or((abi, ""));
        let digits = build.bytes().take_while(u8::is_ascii_digit).count();
        let release = build[..digits].parse().unwrap_or(0);
        (base.to_string(), release, build[digits..].to_string())
    };
    let (base_a, release_a, rest_a) = parts(a);
    let (base_b, release_b, rest_b) = parts(b);
    version::compare(&base_a, &base_b)
        .then_with(|| release_b.cmp(&release_a))
        .then_with(|| version::compare(&rest_a, &rest_b))
        .then_with(|| a.cmp(b))
}

fn split_name<'a>(name: &'a str, arch: &Arch) -> Option<(&'a str, Part)> {
    const PARTS: [Part; 6] = [
        ("image", UNSIGNED),
        ("image", ""),
        ("binary-unsigned", ""),
        ("binary", ""),
        ("modules", ""),
        ("base", ""),
    ];
    PARTS.into_iter().find_map(|(kind, end)| {
        let stem = name.strip_suffix(end)?;
        let stem = stem.strip_suffix(arch.debian.flavour)?;
        let abi = stem.strip_prefix("linux-")?.strip_prefix(kind)?;
        let abi = abi.strip_prefix('-')?;
        // `linux-image-cloud-amd64` has no version.
        abi.starts_with(|c: char| c.is_ascii_digit())
            .then_some((abi, (kind, end)))
    })
}

fn sets(abi: &str, parts: &BTreeSet<Part>, arch: &Arch) -> Vec<Vec<String>> {
    let mut sets = Vec::new();
    let flavour = arch.debian.flavour;
    let find = |kind, end| {
        let is_there = parts.contains(&(kind, end));
        is_there.then(|| format!("linux-{kind}-{abi}{flavour}{end}"))
    };
    // The signed package has the image in its usual place, and the unsigned one as
    // `vmlinuz.unsigned`.
    let binaries = [find("binary", ""), find("binary-unsigned", "")];
    if binaries == [None, None] {
        let images = [find("image", UNSIGNED), find("image", "")];
        sets.extend(images.into_iter().flatten().map(|image| vec![image]));
    } else if let Some(modules) = find("modules", "") {
        for binary in binaries.into_iter().flatten() {
            let mut set = vec![binary, modules.clone()];
            set.extend(find("base", ""));
            sets.push(set);
        }
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 21] = [
        "linux-image-6.1.0-57-cloud-arm64-unsigned",
        "linux-image-6.1.0-55-cloud-arm64",
        "linux-image-6.1.0-9-cloud-amd64",
        "linux-image-6.1.0-56-cloud-amd64",
        "linux-image-6.1.0-56-cloud-amd64-unsigned",
        "linux-image-6.1.0-56-cloud-amd64-dbg",
        "linux-image-6.1.0-56-amd64-unsigned",
        "linux-image-6.1.0-0.deb11.60-cloud-amd64",
        "linux-image-6.12.117+deb13-cloud-amd64-unsigned",
        "linux-image-6.12.117+deb12-cloud-amd64-unsigned",
        "linux-image-6.12.115+deb13.1-cloud-amd64",
        "linux-image-6.12.115+deb13-cloud-amd64",
        "linux-image-cloud-amd64",
        "linux-headers-6.12.117+deb12-cloud-amd64",
        "linux-binary-7.2.13+deb14-cloud-amd64",
        "linux-binary-unsigned-7.2.13+deb14-cloud-amd64",
        "linux-modules-7.2.13+deb14-cloud-amd64",
        "linux-base-7.2.13+deb14-cloud-amd64",
        "linux-image-7.2.13+deb14-cloud-amd64",
        "linux-image-7.2.14+deb14-cloud-amd64-dbg",
        "linux-binary-7.2.14+deb14-cloud-amd64",
    ];

    fn found(name: &str) -> Vec<Candidate> {
        let name = match name.contains('/') {
            true => name.to_owned(),
            false => format!("{name}/{}", crate::arch::ALL[0]),
        };
        candidates(&DebianKernel::parse(&name).unwrap(), NAMES.into_iter())
    }

    fn abis(name: &str) -> Vec<String> {
        found(name).into_iter().map(|c| c.abi).collect()
    }

    #[test]
    fn newest_first_unsigned_first() {
        assert_eq!(abis("6.1"), ["6.1.0-56", "6.1.0-9", "6.1.0-0.deb11.60"]);
        assert_eq!(
            found("6.1")[0].sets,
            [
                ["linux-image-6.1.0-56-cloud-amd64-unsigned"],
                ["linux-image-6.1.0-56-cloud-amd64"]
            ]
        );
        assert_eq!(
            abis("6.12"),
            [
                "6.12.117+deb12",
                "6.12.117+deb13",
                "6.12.115+deb13.1",
                "6.12.115+deb13"
            ]
        );
        assert_eq!(abis("6.12.115+deb13"), ["6.12.115+deb13"]);
        assert_eq!(abis("6.13"), [""; 0]);
        assert_eq!(abis("6.1/arm64"), ["6.1.0-57", "6.1.0-55"]);
        assert_eq!(
            found("6.1/aarch64")[1].sets,
            [["linux-image-6.1.0-55-cloud-arm64"]]
        );
    }

    #[test]
    fn split_packages_come_together() {
        let candidates = found("7.2");
        assert_eq!(candidates.len(), 1, "{candidates:?}");
        assert_eq!(
            candidates[0].sets[0],
            [
                "linux-binary-7.2.13+deb14-cloud-amd64",
                "linux-modules-7.2.13+deb14-cloud-amd64",
                "linux-base-7.2.13+deb14-cloud-amd64"
            ]
        );
        assert_eq!(
            series(NAMES.into_iter(), crate::arch::ALL[0]),
            ["6.1", "6.12", "7.2"]
        );
    }
}
