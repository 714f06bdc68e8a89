// SPDX-License-Identifier: GPL-2.0-or-later
//! Chooses a Debian mirror: one in this machine's apt sources, or a known one.

use crate::arch::Arch;
use crate::error::Error;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const SUITES: [&str; 11] = [
    "buster",
    "bullseye",
    "bookworm",
    "trixie",
    "forky",
    "duke",
    "sid",
    "stable",
    "oldstable",
    "testing",
    "unstable",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirrors {
    archive: String,
    security: Option<String>,
}

impl Mirrors {
    /// `archive` usually ends in `/debian`. Without `security` (`/debian-security`), only kernels
    /// from point releases are found.
    pub fn new(archive: &str, security: Option<&str>) -> Result<Mirrors, Error> {
        for uri in [Some(archive), security].into_iter().flatten() {
            if !is_uri(uri) {
                return Err(Error::Environment {
                    what: format!("`{}` is not a mirror URI", without_password(uri)),
                    hint: "write a mirror as `http://MIRROR/debian`".into(),
                });
            }
        }
        Ok(Mirrors {
            archive: archive.to_string(),
            security: security.map(str::to_string),
        })
    }

    /// This machine's mirrors, from apt's sources in `apt_dir` (`/etc/apt`). If none of them is for
    /// Debian, as on Ubuntu, the mirrors in `known`, which is the file `Debian.info` of
    /// python-apt-common.
    pub fn from_apt(apt_dir: &Path, known: &Path) -> Result<Mirrors, Error> {
        let mut apt = Command::new("apt-get");
        apt.arg("-o").arg(format!("Dir::Etc={}", apt_dir.display()));
        apt.args(["update", "--print-uris"])
            .env_remove("APT_CONFIG");
        let listed = apt.stdin(Stdio::null()).stderr(Stdio::null()).output();
        let listed = listed.map_or(Vec::new(), |output| output.stdout);
        let listed = String::from_utf8_lossy(&listed);
        let sources: Vec<Source> = listed.lines().filter_map(Source::parse).collect();
        let best = |is_security: bool| {
            let found = sources.iter().filter(|s| s.is_security() == is_security);
            // Other archives publish one suite below `/debian`; Debian publishes several.
            let suites = |source: &&Source| -> usize {
                let own = sources.iter().filter(|s| s.uri == source.uri);
                own.map(|s| s.suite).collect::<BTreeSet<_>>().len()
            };
            let best = found.max_by_key(suites);
            best.map(|source| source.uri.to_owned())
        };
        if let Some(archive) = best(false) {
            let security = best(true);
            return Ok(Mirrors { archive, security });
        }
        let text = fs::read_to_string(known).unwrap_or_default();
        known_archive(&text).ok_or_else(|| Error::Environment {
            what: format!("no Debian mirror in {}", apt_dir.display()),
            hint: "run `apt-get install python-apt-common`, which lists mirrors, or name one in \
                   the configuration file: `mirror = \"http://MIRROR/debian\"` and \
                   `security_mirror = \"http://MIRROR/debian-security\"`"
                .into(),
        })
    }

    pub(crate) fn sources_list(&self, keyring: &Path, suites: &[&str], arch: &Arch) -> String {
        let mut text = String::new();
        for suite in suites {
            let uri = if suite.ends_with("-security") {
                self.security.as_ref()
            } else {
                Some(&self.archive)
            };
            if let Some(uri) = uri {
                // `target` leaves out translations, contents and icons.
                text += &format!(
                    "deb [arch={} target=Packages signed-by={}] {uri} {suite} main\n",
                    arch.debian.name,
                    keyring.display()
                );
            }
        }
        text
    }
}

fn known_archive(text: &str) -> Option<Mirrors> {
    let archive_of = |suite: &str| {
        let mut lines = text.lines().skip_while(|line| *line != suite);
        let uri = lines.find_map(|line| line.strip_prefix("BaseURI: "))?;
        is_uri(uri).then(|| uri.to_owned())
    };
    Some(Mirrors {
        archive: archive_of("Suite: {series}")?,
        security: archive_of("Suite: {series}-security"),
    })
}

/// Removes user and password from all URIs in `text`.
pub(crate) fn without_password(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        out += before;
        out += "://";
        let end = after.find(['/', ' ', '\'', '"']).unwrap_or(after.len());
        let host = &after[..end];
        out += host.rsplit_once('@').map_or(host, |(_, host)| host);
        rest = &after[end..];
    }
    out + rest
}

struct Source<'a> {
    uri: &'a str,
    suite: &'a str,
}

impl<'a> Source<'a> {
    /// A line of `apt-get update --print-uris`: `'URI/dists/SUITE/main/binary-…' …`. None if it is
    /// not a Debian index.
    fn parse(line: &'a str) -> Option<Self> {
        let (uri, rest) = line.strip_prefix('\'')?.split_once("/dists/")?;
        let (suite, _) = rest.split_once("/main/binary-")?;
        let source = Source { uri, suite };
        let place = uri.strip_suffix(".list").unwrap_or(uri);
        let is_known = source.is_security() || place.ends_with("/debian");
        let (codename, rest) = suite.split_at(suite.find(['-', '/']).unwrap_or(suite.len()));
        let is_suite = SUITES.contains(&codename) && (!rest.starts_with('/') || rest == "/updates");
        (is_suite && is_known && is_uri(uri)).then_some(source)
    }

    fn is_security(&self) -> bool {
        self.uri.ends_with("/debian-security")
            || self.suite.ends_with("-security")
            || self.suite.ends_with("/updates")
    }
}

fn is_uri(text: &str) -> bool {
    const SCHEMES: [&str; 10] = [
        "http",
        "https",
        "ftp",
        "file",
        "copy",
        "mirror",
        "mirror+file",
        "mirror+http",
        "mirror+https",
        "tor+https",
    ];
    let plain = |c: char| c.is_ascii_graphic() && !"[]\"#<>\\".contains(c);
    text.len() <= 1024
        && text.chars().all(plain)
        && text
            .split_once(':')
            .is_some_and(|(scheme, rest)| SCHEMES.contains(&scheme) && rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(files: &[(&str, &str)]) -> Result<Mirrors, Error> {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("sources.list.d")).unwrap();
        for (name, text) in files {
            fs::write(dir.path().join(name), text).unwrap();
        }
        Mirrors::from_apt(dir.path(), &dir.path().join("Debian.info"))
    }

    #[test]
    fn reads_both_formats() {
        let deb822 = "# comment\nTypes: deb deb-src\nURIs: http://a.example/debian\n  http://b.example/debian/\n\
            Suites: bookworm bookworm-updates\nComponents: main\n\n\
            Types: deb\nURIs: http://a.example/debian-security\nSuites: bookworm-security\n\
            Components: main contrib\n";
        let mirrors = from(&[("sources.list.d/debian.sources", deb822)]).unwrap();
        assert!(mirrors.archive.ends_with(".example/debian"), "{mirrors:?}");
        let security = mirrors.security.as_deref();
        assert_eq!(security, Some("http://a.example/debian-security"));

        let list = "deb [trusted=no] https://me:secret@m.example/debian trixie main # x\n\
            deb-src http://other.example/debian trixie main\n\
            #deb http://off.example/debian trixie main\n\
            deb\thttps://m.example/debian-security trixie-security main\n";
        let mirrors = from(&[("sources.list", list)]).unwrap();
        let suites = ["sid", "trixie-security"];
        let text = mirrors.sources_list(Path::new("/k.gpg"), &suites, crate::arch::ALL[0]);
        assert_eq!(
            text,
            "deb [arch=amd64 target=Packages signed-by=/k.gpg] https://me:secret@m.example/debian sid main\n\
             deb [arch=amd64 target=Packages signed-by=/k.gpg] https://m.example/debian-security trixie-security main\n"
        );
    }

    #[test]
    fn other_peoples_archives_are_not_debians() {
        let list = "deb https://x.example/apt/debian bookworm/x-org/7.0 main\n\
            deb https://x.example/php bookworm main\n\
            deb https://y.example/debian bookworm stable\n\
            deb http://archive.example/ubuntu noble main\n\
            deb cdrom:[Debian]/ bookworm main\n";
        let error = from(&[("sources.list", list)]).unwrap_err();
        assert!(error.hint().unwrap().contains("mirror ="));
        let list = format!(
            "{list}deb http://z.example/debian stable main\n\
             deb mirror+file:/etc/apt/mirrors/debian.list bookworm main\n\
             deb mirror+file:/etc/apt/mirrors/debian.list bookworm-updates main\n"
        );
        let mirrors = from(&[("sources.list", &list)]).unwrap();
        assert!(mirrors.archive.starts_with("mirror+file"));
        assert!(from(&[]).is_err());
        let off = "Enabled: no\nTypes: deb\nURIs: http://a.example/debian\nSuites: sid\nComponents: main\n";
        assert!(from(&[("sources.list.d/x.sources", off)]).is_err());
    }

    #[test]
    fn other_distributions_know_of_debians() {
        let info = "ChangelogURI: https://c.example/%s\n\n\
            Suite: {series}\nRepositoryType: deb\nBaseURI: https://d.example/debian/\n\n\
            Suite: {series}-security\nRepositoryType: deb\nBaseURI: https://s.example/\n\n\
            Suite: {series}\nBaseURI: https://old.example/debian/\n";
        let ubuntu = (
            "sources.list",
            "deb http://archive.example/ubuntu noble main\n",
        );
        let mirrors = from(&[ubuntu, ("Debian.info", info)]).unwrap();
        assert_eq!(mirrors.archive, "https://d.example/debian/");
        assert_eq!(mirrors.security.as_deref(), Some("https://s.example/"));
        let debian = ("sources.list", "deb http://m.example/debian sid main\n");
        let mirrors = from(&[debian, ("Debian.info", info)]).unwrap();
        assert_eq!(mirrors.archive, "http://m.example/debian");
        assert!(from(&[ubuntu, ("Debian.info", "BaseURI: https://d.example/\n")]).is_err());
    }

    #[test]
    fn a_mirror_of_the_user_is_checked() {
        assert!(Mirrors::new("http://m.example/debian", None).is_ok());
        for bad in [
            "",
            "m.example",
            "http://m.example/a b",
            "http://x/\ndeb http://y/",
            "x://y",
        ] {
            assert!(Mirrors::new(bad, None).is_err(), "{bad}");
        }
        assert_eq!(
            without_password("Err http://u:p@h.example/d x 'https://v@i.example'"),
            "Err http://h.example/d x 'https://i.example'"
        );
    }
}
