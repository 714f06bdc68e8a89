// SPDX-License-Identifier: GPL-2.0-or-later
//! Looks up users and groups in a root's `/etc/passwd` and `/etc/group`.

use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use model::{Failure, printable};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};

use crate::error::LabError;

const LIST_LIMIT: u64 = 4 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Account {
    pub uid: u32,
    pub gid: u32,
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.uid, self.gid)
    }
}

impl Account {
    /// Resolves `user`, `user:group`, or numbers, in a root. The default group is that of
    /// `/etc/passwd`, or root's.
    pub fn find(text: &str, root: &Path) -> Result<Account, LabError> {
        let (user, group) = match text.split_once(':') {
            Some((user, group)) => (user, Some(group)),
            None => (text, None),
        };
        let users = list(root, "etc/passwd")?;
        let (uid, its_group) = match (user.parse(), entry(&users, user)) {
            (_, Some((uid, gid))) => (uid, gid),
            (Ok(uid), None) => (uid, by_number(&users, uid)),
            (Err(_), None) => return Err(unknown("user", user, "/etc/passwd")),
        };
        let gid = match group.filter(|group| !group.is_empty()) {
            None => its_group.unwrap_or(0),
            Some(group) => match (entry(&list(root, "etc/group")?, group), group.parse()) {
                (Some((gid, _)), _) | (None, Ok(gid)) => gid,
                (None, Err(_)) => return Err(unknown("group", group, "/etc/group")),
            },
        };
        Ok(Account { uid, gid })
    }
}

fn entry(list: &str, name: &str) -> Option<(u32, Option<u32>)> {
    fields(list).find_map(|(its_name, number, next)| {
        (its_name == name && !name.is_empty()).then_some((number, next))
    })
}

fn by_number(list: &str, number: u32) -> Option<u32> {
    fields(list).find_map(|(_, its_number, next)| (its_number == number).then_some(next))?
}

fn fields(list: &str) -> impl Iterator<Item = (&str, u32, Option<u32>)> {
    list.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let number = fields.nth(1)?.parse().ok()?;
        Some((
            name,
            number,
            fields.next().and_then(|text| text.parse().ok()),
        ))
    })
}

/// A file of the root with links resolved as in the guest; empty if it does not exist.
fn list(root: &Path, name: &str) -> Result<String, LabError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let path = root.join(name);
    let failed = LabError::io("read", &path);
    let found = openat(CWD, root, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
        .and_then(|root| openat2(root, name, flags, Mode::empty(), ResolveFlags::IN_ROOT));
    let file = match found.map_err(std::io::Error::from) {
        Ok(file) => File::from(file),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut text = Vec::new();
    match file.take(LIST_LIMIT).read_to_end(&mut text) {
        Ok(_) => Ok(String::from_utf8_lossy(&text).into_owned()),
        Err(error) => Err(failed(error)),
    }
}

fn unknown(what: &str, name: &str, list: &str) -> LabError {
    let name = printable(name, 100);
    Failure::usage(
        format!("the root has no {what} `{name}`: it is not in {list}"),
        "give numbers, for example user = \"1000:1000\"",
    )
    .into()
}
