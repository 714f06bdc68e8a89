// SPDX-License-Identifier: GPL-2.0-or-later
//! Which Debian mirror to use: this machine's apt sources, or a known one.

use crate::arch::Arch;
use crate::error::Error;
use std::fs;
use std::path::Path;

const SOURCES_LIMIT: u64 = 1 << 20;
const KEYRING: &str = "debian-archive-keyring";
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
    /// `archive` usually ends in `/debian`; without `security` (`/debian-security`), only point
    /// releases are found.
    pub fn new(archive: &str, security: Option<&str>) -> Result<Mirrors, Error> {
        for uri in [Some(archive), security].into_iter().flatten() {
            if !is_uri(uri) {
                return Err(Error::Environment {
                    what: format!("`{}` is not a mirror's URI", without_password(uri)),
                    hint: "a mirror is written as `http://MIRROR/debian`".into(),
                });
            }
        }
        Ok(Mirrors {
            archive: archive.to_string(),
            security: security.map(str::to_string),
        })
    }

    /// This machine's mirrors, from `sources.list` and `sources.list.d` in `apt_dir` (`/etc/apt`).
    /// If none is Debian's, as on Ubuntu, those in `known`, the file `Debian.info` of
    /// python-apt-common.
    pub fn from_apt(apt_dir: &Path, known: &Path) -> Result<Mirrors, Error> {
        let mut sources = Vec::new();
        let mut files = vec![apt_dir.join("sources.list")];
        if let Ok(entries) = fs::read_dir(apt_dir.join("sources.list.d")) {
            let mut more: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
            more.sort();
            files.extend(more);
        }
        for path in files {
            let is_short =
                fs::metadata(&path).is_ok_and(|m| m.is_file() && m.len() < SOURCES_LIMIT);
            let Some(text) = is_short.then(|| fs::read(&path).ok()).flatten() else {
                continue;
            };
            let text = String::from_utf8_lossy(&text);
            match path.extension().and_then(|e| e.to_str()) {
                Some("list") => parse_list(&text, &mut sources),
                Some("sources") => parse_deb822(&text, &mut sources),
                _ => {}
            }
        }
        let best = |is_security: bool| {
            let debian = sources.iter().filter(|s| s.is_debian());
            let found = debian.filter(|s| s.is_security() == is_security);
            found.max_by_key(|s| s.rank()).map(|s| s.uri.clone())
        };
        if let Some(archive) = best(false) {
            let security = best(true);
            return Ok(Mirrors { archive, security });
        }
        let text = fs::read_to_string(known).unwrap_or_default();
        known_archive(&text).ok_or_else(|| Error::Environment {
            what: format!("no Debian mirror in {}", apt_dir.display()),
            hint: "apt-get install python-apt-common, which knows one; or name one in the \
                   configuration file: `mirror = \"http://MIRROR/debian\"` and \
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

#[derive(Debug, PartialEq, Eq)]
struct Source {
    uri: String,
    suite: String,
    components: Vec<String>,
    signed_by: Option<String>,
}

impl Source {
    fn path_ends(&self, names: &[&str]) -> bool {
        let path = self.uri.trim_end_matches('/');
        let path = path.strip_suffix(".list").unwrap_or(path);
        names
            .iter()
            .any(|name| path.rsplit('/').next() == Some(name))
    }

    fn is_signed(&self) -> Option<bool> {
        self.signed_by.as_ref().map(|key| key.contains(KEYRING))
    }

    /// Others also publish Debian suites below `/debian`, with their own keys.
    fn is_debian(&self) -> bool {
        let codename = self.suite.split(['-', '/']).next().unwrap_or("");
        let is_known = self.path_ends(&["debian", "debian-security"]) || self.is_security();
        SUITES.contains(&codename)
            && self.components.iter().any(|c| c == "main")
            && is_uri(&self.uri)
            && self.is_signed().unwrap_or(is_known)
    }

    fn is_security(&self) -> bool {
        self.path_ends(&["debian-security"])
            || self.suite.ends_with("-security")
            || self.suite.ends_with("/updates")
    }

    fn rank(&self) -> (bool, bool) {
        let is_signed = self.is_signed() == Some(true);
        (is_signed, self.path_ends(&["debian", "debian-security"]))
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

/// One-line format: `deb [option=value ...] URI suite component...`.
fn parse_list(text: &str, out: &mut Vec<Source>) {
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or("").trim();
        let Some(rest) = line
            .strip_prefix("deb")
            .filter(|r| r.starts_with([' ', '\t', '[']))
        else {
            continue;
        };
        let rest = rest.trim_start();
        let (options, rest) = match rest.strip_prefix('[').map(|r| r.split_once(']')) {
            None => ("", rest),
            Some(Some(split)) => split,
            Some(None) => continue,
        };
        let signed_by = options
            .split_whitespace()
            .find_map(|option| option.strip_prefix("signed-by="))
            .map(str::to_string);
        let mut words = rest.split_whitespace().map(str::to_string);
        let (Some(uri), Some(suite)) = (words.next(), words.next()) else {
            continue;
        };
        out.push(Source {
            uri,
            suite,
            components: words.collect(),
            signed_by,
        });
    }
}

fn parse_deb822(text: &str, out: &mut Vec<Source>) {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in text.lines().chain([""]) {
        if line.starts_with('#') {
            continue;
        }
        if line.trim().is_empty() {
            add_stanza(&fields, out);
            fields.clear();
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = fields.last_mut() {
                value.push(' ');
                value.push_str(line.trim());
            }
        } else if let Some((name, value)) = line.split_once(':') {
            fields.push((name.trim().to_ascii_lowercase(), value.trim().to_string()));
        }
    }
}

fn add_stanza(fields: &[(String, String)], out: &mut Vec<Source>) {
    let field = |name: &str| {
        let found = fields.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    };
    let words = |name: &str| field(name).unwrap_or("").split_whitespace();
    let is_off = field("enabled").is_some_and(|v| ["no", "false", "0"].contains(&v));
    if is_off || !words("types").any(|t| t == "deb") {
        return;
    }
    for uri in words("uris").take(16) {
        for suite in words("suites").take(64) {
            out.push(Source {
                uri: uri.to_string(),
                suite: suite.to_string(),
                components: words("components").map(str::to_string).collect(),
                signed_by: field("signed-by").map(str::to_string),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            Suites: bookworm bookworm-updates\nComponents: main\n\
            Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n\n\
            Types: deb\nURIs: http://a.example/debian-security\nSuites: bookworm-security\n\
            Components: main contrib\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n";
        let mirrors = from(&[("sources.list.d/debian.sources", deb822)]).unwrap();
        let archive = mirrors.archive.trim_end_matches('/');
        assert!(archive.ends_with(".example/debian"), "{archive}");
        assert_eq!(
            mirrors.security.unwrap(),
            "http://a.example/debian-security"
        );

        let list = "deb [arch=amd64 trusted=no] https://me:secret@m.example/debian trixie main # x\n\
            deb-src http://other.example/debian trixie main\n\
            #deb http://off.example/debian trixie main\n\
            deb\thttps://m.example/debian-security trixie-security main\n";
        let mirrors = from(&[("sources.list", list)]).unwrap();
        let text = mirrors.sources_list(
            Path::new("/k.gpg"),
            &["sid", "trixie-security"],
            crate::arch::ALL[0],
        );
        assert_eq!(
            text,
            "deb [arch=amd64 target=Packages signed-by=/k.gpg] https://me:secret@m.example/debian sid main\n\
             deb [arch=amd64 target=Packages signed-by=/k.gpg] https://m.example/debian-security trixie-security main\n"
        );
    }

    #[test]
    fn other_peoples_archives_are_not_debians() {
        let list = "deb [signed-by=/etc/apt/keyrings/x.gpg] https://x.example/linux/debian bookworm main\n\
            deb https://y.example/debian bookworm stable\n\
            deb http://archive.example/ubuntu noble main\n\
            deb cdrom:[Debian]/ bookworm main\n";
        let error = from(&[("sources.list", list)]).unwrap_err();
        assert!(error.hint().unwrap().contains("mirror ="));
        let list = format!("{list}deb mirror+file:/etc/apt/mirrors/debian.list bookworm main\n");
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

    proptest! {
        #[test]
        fn any_text_is_read(text in "(deb |\\[|\\]|URIs:|Types: deb|\n|[ -~]{0,8}){0,30}") {
            let mut out = Vec::new();
            parse_list(&text, &mut out);
            parse_deb822(&text, &mut out);
            for source in out {
                let _ = (source.is_debian(), source.rank());
            }
        }
    }
}
