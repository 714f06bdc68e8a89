// SPDX-License-Identifier: GPL-2.0-or-later
//! Reads untrusted tar archives with the crate `tar`.
//!
//! Extended headers and the end are read here: the crate reads names of any length into memory, and
//! accepts truncated archives.

use std::io::{self, Read};
use std::ops::ControlFlow;

pub use tar::EntryType as Kind;

use crate::decompress::damaged;

/// The length of the longest name, as in `PATH_MAX`.
const NAME_LIMIT: u64 = 4096;
/// In bytes: a path and a few numbers.
const PAX_LIMIT: u64 = 64 << 10;
/// The largest number of bytes after the archive, which may be padding or pixz(1)'s index.
const REST_LIMIT: u64 = 16 << 20;

#[derive(Debug)]
pub struct Entry {
    /// Without a leading `./`; untrusted. Bytes that are not UTF-8 read as U+FFFD.
    pub path: String,
    pub name: Vec<u8>,
    pub kind: Kind,
    pub size: u64,
    /// Permissions with the set-user-ID, set-group-ID and sticky bits.
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    /// Seconds since 1970.
    pub mtime_s: i64,
    pub link: Vec<u8>,
    pub device: (u32, u32),
    /// The extended attribute `security.capability`.
    pub capability: Option<Vec<u8>>,
}

/// Calls `each` for each entry with its data, until `each` returns an error or the archive ends.
/// The caller must limit the archive's length and entries. Errors are those of `each`, and `fail`
/// of the error in a damaged archive, which is [`io::ErrorKind::UnexpectedEof`] if it is cut off.
pub fn read<E>(
    reader: impl Read,
    fail: impl Fn(io::Error) -> E,
    mut each: impl FnMut(&Entry, &mut dyn Read) -> Result<ControlFlow<()>, E>,
) -> Result<(), E> {
    let mut archive = tar::Archive::new(Endless(reader));
    let mut more = Extensions::default();
    for item in archive.entries().map_err(&fail)?.raw(true) {
        let mut item = item.map_err(&fail)?;
        match item.header().entry_type() {
            Kind::GNULongName => {
                more.path = Some(gnu_name(&mut item).map_err(&fail)?);
                continue;
            }
            Kind::GNULongLink => {
                more.link = Some(gnu_name(&mut item).map_err(&fail)?);
                continue;
            }
            Kind::XHeader => {
                more.read(&mut item).map_err(&fail)?;
                continue;
            }
            Kind::XGlobalHeader => continue,
            _ => {}
        }
        let entry = entry(&item, std::mem::take(&mut more)).map_err(&fail)?;
        if each(&entry, &mut item)?.is_break() {
            return Ok(());
        }
    }
    end(archive.into_inner().0).map_err(fail)
}

fn entry<R: Read>(item: &tar::Entry<'_, R>, more: Extensions) -> io::Result<Entry> {
    let header = item.header();
    let kind = match header.entry_type() {
        Kind::Continuous => Kind::Regular,
        kind => kind,
    };
    let name = more.path.unwrap_or_else(|| item.path_bytes().into_owned());
    let path = String::from_utf8_lossy(&name);
    let device = match kind {
        Kind::Char | Kind::Block => (
            header.device_major()?.unwrap_or(0),
            header.device_minor()?.unwrap_or(0),
        ),
        _ => (0, 0),
    };
    let link = more
        .link
        .or_else(|| Some(item.link_name_bytes()?.into_owned()));
    let fields = header.as_old();
    Ok(Entry {
        path: path.strip_prefix("./").unwrap_or(&path).to_owned(),
        name,
        kind,
        size: item.size(),
        mode: number(&fields.mode, || header.mode().map(u64::from))? as u32 & 0o7777,
        uid: id(more.uid, number(&fields.uid, || header.uid())?)?,
        gid: id(more.gid, number(&fields.gid, || header.gid())?)?,
        mtime_s: match more.mtime_s {
            Some(mtime_s) => mtime_s,
            // A number in base 256 may be negative.
            None => number(&fields.mtime, || header.mtime())? as i64,
        },
        link: link.unwrap_or_default(),
        device,
        capability: more.capability,
    })
}

/// Some writers leave out numbers that are 0.
fn number(field: &[u8], read: impl FnOnce() -> io::Result<u64>) -> io::Result<u64> {
    match field.iter().all(|byte| matches!(byte, 0 | b' ')) {
        true => Ok(0),
        false => read(),
    }
}

fn id(extended: Option<u64>, in_header: u64) -> io::Result<u32> {
    let id = u32::try_from(extended.unwrap_or(in_header));
    id.map_err(|_| damaged("the archive has an invalid user or group ID"))
}

/// A reader whose end is an error, because the archive itself marks its end.
struct Endless<R>(R);

impl<R: Read> Read for Endless<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        }
    }
}

/// Reads on after the archive's end marker, so that the compressed stream's checksum is verified.
fn end(reader: impl Read) -> io::Result<()> {
    if io::copy(&mut reader.take(REST_LIMIT + 1), &mut io::sink())? > REST_LIMIT {
        return Err(damaged("too much data follows the archive"));
    }
    Ok(())
}

fn check_len<R: Read>(item: &tar::Entry<'_, R>, limit: u64) -> io::Result<()> {
    match item.size() > limit {
        true => Err(damaged("a name in the archive is too long")),
        false => Ok(()),
    }
}

fn gnu_name<R: Read>(item: &mut tar::Entry<'_, R>) -> io::Result<Vec<u8>> {
    check_len(item, NAME_LIMIT)?;
    let mut name = Vec::new();
    item.read_to_end(&mut name)?;
    while name.last() == Some(&0) {
        name.pop();
    }
    Ok(name)
}

/// Extension headers, for values that do not fit into an entry's fields.
#[derive(Default)]
struct Extensions {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    uid: Option<u64>,
    gid: Option<u64>,
    mtime_s: Option<i64>,
    capability: Option<Vec<u8>>,
}

impl Extensions {
    fn read<R: Read>(&mut self, item: &mut tar::Entry<'_, R>) -> io::Result<()> {
        check_len(item, PAX_LIMIT)?;
        let mut text = Vec::new();
        item.read_to_end(&mut text)?;
        let mut rest = &text[..];
        while !rest.is_empty() {
            let (key, value, after) =
                record(rest).ok_or_else(|| damaged("a pax header is malformed"))?;
            rest = after;
            match key {
                b"path" => self.path = Some(value.to_vec()),
                b"linkpath" => self.link = Some(value.to_vec()),
                b"uid" => self.uid = Some(decimal(value)? as u64),
                b"gid" => self.gid = Some(decimal(value)? as u64),
                b"mtime" => self.mtime_s = Some(decimal(value)?),
                b"SCHILY.xattr.security.capability" => self.capability = Some(value.to_vec()),
                // Only needed for members above 8 GiB.
                b"size" => return Err(damaged("a pax header changes a member's size")),
                key if key.starts_with(b"GNU.sparse.") => {
                    return Err(damaged("it contains sparse files (tar --sparse)"));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Splits off a pax record: `LENGTH KEY=VALUE` and a newline. The crate `tar` would end the value
/// at its first newline.
fn record(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let blank = text.iter().position(|byte| *byte == b' ')?;
    let length: usize = std::str::from_utf8(&text[..blank]).ok()?.parse().ok()?;
    let (record, after) = text.split_at_checked(length)?;
    let record = record.get(blank + 1..)?.strip_suffix(b"\n")?;
    let equals = record.iter().position(|byte| *byte == b'=')?;
    Some((&record[..equals], &record[equals + 1..], after))
}

fn decimal(value: &[u8]) -> io::Result<i64> {
    let whole = value.split(|byte| *byte == b'.').next().unwrap_or(value);
    let number = std::str::from_utf8(whole)
        .ok()
        .and_then(|text| text.parse().ok());
    number.ok_or_else(|| damaged("a pax header has an invalid number"))
}

#[cfg(test)]
mod tests;
