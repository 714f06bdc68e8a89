// SPDX-License-Identifier: GPL-2.0-or-later

use model::{excerpt, nearest};

use crate::arch::Arch;
use crate::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

pub(crate) const ACCEPTED: &str = "give `debian:6.12` (newest of a series), `debian:6.1.0-56` (one \
                                   package), `debian:6.12/ARCHITECTURE` (another architecture), \
                                   `build:NAME` (built or added here), or the path of a bzImage, \
                                   an Image, a vmlinux, a .deb, an .rpm or a kernel \
                                   build directory";

const LONGEST_NAME: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KernelName {
    Debian(DebianKernel),
    Build(String),
    Path(PathBuf),
}

/// A stock Debian cloud kernel for one architecture: a series, or one package of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebianKernel {
    series: String,
    abi: Option<String>,
    arch: &'static Arch,
}

impl DebianKernel {
    /// Parses the part after `debian:`, such as `6.12` or `6.1.0-56`, optionally with `/ARCH` in
    /// lsmeter's or Debian's spelling. The default architecture is this machine's, or the one in a
    /// full package name.
    pub fn parse(text: &str) -> Result<DebianKernel, Error> {
        let bad = |reason: &str| Error::bad_name(&format!("debian:{text}"), reason);
        let (text, arch) = match text.split_once('/') {
            Some((version, name)) => {
                let arch = crate::arch::by_name(name).or_else(|| crate::arch::by_debian_name(name));
                let known: Vec<&str> = crate::arch::ALL.iter().map(|arch| arch.name).collect();
                let known = known.join(" and ");
                let unknown = || bad(&format!("unknown architecture, expected {known}"));
                (version, Some(arch.ok_or_else(unknown)?))
            }
            None => (text, None),
        };
        let package = text.strip_suffix("-unsigned").unwrap_or(text);
        let flavoured = crate::arch::ALL.iter().find_map(|arch| {
            let version = package.strip_suffix(arch.debian.flavour)?;
            Some((version, *arch))
        });
        let (version, of_flavour) = match flavoured {
            Some((version, arch)) => (version, Some(arch)),
            None => (package, None),
        };
        if let (Some(arch), Some(other)) = (arch, of_flavour)
            && arch != other
        {
            return Err(bad("its package is for another architecture"));
        }
        if version.len() > LONGEST_NAME {
            return Err(bad("it is too long"));
        }
        let allowed = |c: char| c.is_ascii_digit() || c.is_ascii_lowercase() || ".+~-".contains(c);
        if !version.chars().all(allowed) {
            return Err(bad(
                "a version consists of digits, lower-case letters and `.`, `+`, `~`, `-`",
            ));
        }
        let series = series_of(version)
            .ok_or_else(|| bad("a version starts with two numbers, such as `6.12`"))?;
        let abi = (series.len() < version.len()).then(|| version.to_string());
        Ok(DebianKernel {
            series,
            abi,
            arch: arch.or(of_flavour).unwrap_or_else(crate::arch::native),
        })
    }

    pub fn arch(&self) -> &'static Arch {
        self.arch
    }

    /// The pinned ABI, such as `6.1.0-56`.
    pub fn abi(&self) -> Option<&str> {
        self.abi.as_deref()
    }

    pub(crate) fn includes(&self, abi: &str) -> bool {
        match &self.abi {
            Some(pinned) => pinned == abi,
            None => series_of(abi).as_ref() == Some(&self.series),
        }
    }
}

impl fmt::Display for DebianKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = self.abi.as_ref().unwrap_or(&self.series);
        f.write_str(&debian_name(version, self.arch))
    }
}

/// `debian:6.1.0-56`, with `/ARCH` if that is not this machine's.
pub(crate) fn debian_name(version: &str, arch: &Arch) -> String {
    match arch.is_native() {
        true => format!("debian:{version}"),
        false => format!("debian:{version}/{arch}"),
    }
}

impl FromStr for KernelName {
    type Err = Error;

    fn from_str(text: &str) -> Result<KernelName, Error> {
        let shown: String = text.chars().take(200).collect();
        let bad = |reason: String| Error::bad_name(&shown, reason);
        if text.is_empty() {
            return Err(bad("it is empty".into()));
        }
        if text.contains('\0') || text.len() > 4096 {
            return Err(bad("it is not a path".into()));
        }
        if let Some(version) = text.strip_prefix("debian:") {
            return DebianKernel::parse(version).map(KernelName::Debian);
        }
        if let Some(name) = text.strip_prefix("build:") {
            check_build_name(name).map_err(bad)?;
            return Ok(KernelName::Build(name.to_string()));
        }
        let is_path = text.contains('/');
        if let (false, Some((prefix, _))) = (is_path, text.split_once(':')) {
            let shown = excerpt(text);
            let what = format!("`{shown}` does not name a kernel: `{prefix}:` is unknown");
            let near = nearest(prefix, ["debian", "build"]);
            let near =
                near.map(|near| format!("did you mean `{}`?", shown.replacen(prefix, near, 1)));
            return Err(Error::usage(what, near.as_deref().unwrap_or(ACCEPTED)));
        }
        let looks_like_version = text.starts_with(|c: char| c.is_ascii_digit())
            && !text.ends_with(".deb")
            && !text.ends_with(".rpm")
            && series_of(text).is_some();
        if !is_path && looks_like_version && !Path::new(text).exists() {
            return Err(bad(format!("write `debian:{text}` for Debian's kernel")));
        }
        Ok(KernelName::Path(PathBuf::from(text)))
    }
}

impl fmt::Display for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelName::Debian(kernel) => kernel.fmt(f),
            KernelName::Build(name) => write!(f, "build:{name}"),
            KernelName::Path(path) => path.display().fmt(f),
        }
    }
}

/// A Debian kernel without an architecture gets a name for each of `archs`, as in result files.
/// Other names are not changed.
pub fn on_each(text: &str, archs: &[&'static Arch]) -> Result<Vec<String>, Error> {
    let Some(version) = text.strip_prefix("debian:") else {
        return Ok(vec![text.to_owned()]);
    };
    let package = version.strip_suffix("-unsigned").unwrap_or(version);
    let mut flavours = crate::arch::ALL.iter().map(|arch| arch.debian.flavour);
    let of_package = flavours.any(|flavour| package.ends_with(flavour));
    if version.contains('/') {
        return Ok(vec![DebianKernel::parse(version)?.to_string()]);
    }
    if of_package || archs.is_empty() {
        return Ok(vec![text.to_owned()]);
    }
    let kernel = DebianKernel::parse(version)?;
    let on = |arch: &&'static Arch| {
        let arch = *arch;
        DebianKernel {
            arch,
            ..kernel.clone()
        }
    };
    Ok(archs.iter().map(|arch| on(arch).to_string()).collect())
}

pub(crate) fn check_build_name(name: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    if name.is_empty() || name.len() > LONGEST_NAME {
        Err(format!("a name has 1 to {LONGEST_NAME} characters"))
    } else if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        Err("a name starts with a letter or a digit".into())
    } else if !name.chars().all(allowed) {
        Err("a name consists of letters, digits and `.`, `_`, `+`, `-`".into())
    } else {
        Ok(())
    }
}

/// The first two numbers: `6.1` of `6.1.0-56-cloud-amd64`.
pub fn series_of(release: &str) -> Option<String> {
    let (major, rest) = release.split_once('.')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let is_number =
        |s: &str| !s.is_empty() && s.len() <= 5 && s.bytes().all(|b| b.is_ascii_digit());
    let minor = &rest[..digits];
    (is_number(major) && is_number(minor)).then(|| format!("{major}.{minor}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<KernelName, Error> {
        text.parse()
    }

    #[test]
    fn names_are_what_the_documentation_says() {
        let native = crate::arch::native();
        let foreign = crate::arch::ALL.iter().find(|arch| !arch.is_native());
        let foreign = foreign.unwrap();
        let there = &foreign.debian;
        for (text, printed, abi) in [
            ("6.12".to_owned(), "6.12".to_owned(), None),
            (
                "6.12.117+deb12".into(),
                "6.12.117+deb12".into(),
                Some("6.12.117+deb12"),
            ),
            (
                format!("6.1.0-56{}", native.debian.flavour),
                "6.1.0-56".into(),
                Some("6.1.0-56"),
            ),
            (format!("6.12/{native}"), "6.12".into(), None),
            (format!("6.12/{foreign}"), format!("6.12/{foreign}"), None),
            (
                format!("6.12/{}", there.name),
                format!("6.12/{foreign}"),
                None,
            ),
            (
                format!("6.1.0-56{}-unsigned", there.flavour),
                format!("6.1.0-56/{foreign}"),
                Some("6.1.0-56"),
            ),
        ] {
            let KernelName::Debian(parsed) = parse(&format!("debian:{text}")).unwrap() else {
                panic!("not Debian's: {text}");
            };
            assert_eq!(parsed.to_string(), format!("debian:{printed}"));
            assert_eq!(parsed.abi(), abi);
            assert!(text.starts_with(&parsed.series));
            assert_eq!(parsed.arch().is_native(), !printed.contains('/'));
        }
        let two = format!("6.1.0-56{}/{native}", there.flavour);
        assert!(DebianKernel::parse(&two).is_err());
        assert_eq!(parse("build:all").unwrap(), KernelName::Build("all".into()));
        for path in [
            "./bzImage",
            "/boot/vmlinuz-6.1",
            "vmlinuz",
            "x.deb",
            "a:b/c",
        ] {
            assert_eq!(parse(path).unwrap(), KernelName::Path(path.into()));
        }
    }

    #[test]
    fn a_name_that_tells_no_architecture_is_one_of_each() {
        let native = crate::arch::native();
        let foreign = *crate::arch::ALL
            .iter()
            .find(|arch| !arch.is_native())
            .unwrap();
        let both = [native, foreign];
        let named = |text: &str| on_each(text, &both).unwrap();
        let there = format!("debian:6.12/{foreign}");
        assert_eq!(named("debian:6.12"), ["debian:6.12", &there]);
        assert_eq!(on_each("debian:6.12", &[foreign]).unwrap(), [&there[..]]);
        assert_eq!(on_each("debian:6.12", &[]).unwrap(), ["debian:6.12"]);
        // With an explicit architecture there is one name, spelled as in result files.
        assert_eq!(named(&there), [&there[..]]);
        let debians = format!("debian:6.12/{}", foreign.debian.name);
        assert_eq!(named(&debians), [&there[..]]);
        for whole in [
            format!("debian:6.1.0-56{}", native.debian.flavour),
            "build:all".to_owned(),
            "./bzImage".to_owned(),
        ] {
            assert_eq!(named(&whole), [whole]);
        }
        assert!(on_each("debian:six", &both).is_err());
    }

    #[test]
    fn bad_names_say_what_is_accepted() {
        for bad in [
            "",
            "debian:",
            "debian:six",
            "debian:6",
            "debian:6.",
            "debian:6.1/../x",
            "debian:6.1/pdp11",
            "debian:/aarch64",
            "debian:6.1/",
            "debian:6.1 ",
            "build:",
            "build:.x",
            "build:a/b",
            "fedora:6.12",
            "6.12",
            "6.1.0-56",
            "a\0b",
        ] {
            let error = parse(bad).expect_err(bad);
            assert!(matches!(error, Error::Usage { .. }), "{bad}");
            assert!(error.hint().unwrap().contains("debian:6.12"));
        }
        assert!(
            parse("6.12")
                .unwrap_err()
                .to_string()
                .contains("debian:6.12")
        );
        assert!(parse(&format!("build:{}", "x".repeat(65))).is_err());
    }

    proptest! {
        #[test]
        fn what_parses_prints_back(text in "(debian:|build:|\\./)?[ -~]{0,20}") {
            if let Ok(name) = parse(&text) {
                prop_assert_eq!(parse(&name.to_string()).unwrap(), name);
            }
        }
    }
}
