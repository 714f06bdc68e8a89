// SPDX-License-Identifier: GPL-2.0-or-later
//! Accesses that test whether a custom policy is effective.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;

use crate::hint::excerpt;
use crate::words::{UnknownWord, words};

const PATH_LIMIT: usize = 512;

/// An access that tests a policy: `read /etc/shadow`, `connect 443`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, JsonSchema)]
#[schemars(with = "String")]
pub struct Access {
    pub how: AccessHow,
    /// An absolute path in the guest, or a port.
    pub what: String,
}

words! {
    AccessHow, "access":
    Read = "read",
    Write = "write",
    Create = "create",
    Execute = "execute",
    List = "list",
    /// A TCP connection to this port of the loopback address.
    Connect = "connect",
    /// A TCP socket bound to this port of the loopback address.
    Bind = "bind",
}

impl AccessHow {
    pub fn is_of_port(self) -> bool {
        matches!(self, AccessHow::Connect | AccessHow::Bind)
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.how, self.what)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid access `{text}`: {why}")]
pub struct AccessError {
    text: String,
    why: String,
}

impl FromStr for Access {
    type Err = AccessError;

    fn from_str(text: &str) -> Result<Access, AccessError> {
        let refuse = |why: String| {
            let text = excerpt(text);
            Err(AccessError { text, why })
        };
        let (how, what) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        let how: AccessHow = match how.parse() {
            Ok(how) => how,
            Err(UnknownWord { known, .. }) => {
                return refuse(format!(
                    "the first word must be one of {}",
                    known.join(", ")
                ));
            }
        };
        let what = what.trim();
        if how.is_of_port() {
            if !what.parse::<u16>().is_ok_and(|port| port > 0) {
                return refuse("expected a port from 1 to 65535".to_owned());
            }
        } else if !is_guest_path(what) || what == "/" && how != AccessHow::List {
            return refuse(format!(
                "expected an absolute path without . and .., at most {PATH_LIMIT} bytes long"
            ));
        }
        let what = what.to_owned();
        Ok(Access { how, what })
    }
}

/// An absolute path that the agent accepts: normalised and printable.
pub fn is_guest_path(path: &str) -> bool {
    let mut parts = path.split('/').skip(1);
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    path.starts_with('/')
        && path.len() <= PATH_LIMIT
        && !path.chars().any(char::is_control)
        && (path == "/" || parts.all(is_plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(text: &str) -> Result<Access, String> {
        text.parse().map_err(|error: AccessError| error.to_string())
    }

    #[test]
    fn accesses_are_words() {
        assert_eq!(
            access("read /etc/shadow").unwrap().to_string(),
            "read /etc/shadow"
        );
        assert_eq!(access("list /").unwrap().how, AccessHow::List);
        assert_eq!(access("connect 443").unwrap().what, "443");
        for wrong in [
            "",
            "read",
            "read etc",
            "read /",
            "read /a/../b",
            "read /a//b",
            "connect 0",
            "connect 65536",
            "bind /x",
            "look /x",
            "read /a\nb",
        ] {
            assert!(access(wrong).is_err(), "{wrong:?}");
        }
        let json: Access = serde_json::from_str("\"write /a b\"").unwrap();
        assert_eq!(json.what, "/a b");
        assert!(serde_json::from_str::<Access>("\"write\"").is_err());
    }
}
