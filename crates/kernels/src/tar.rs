// SPDX-License-Identifier: GPL-2.0-or-later
//! Reading a tar archive from an untrusted source, with the crate `tar`.
//!
//! Only headers and data are left to it. It would read a long name of gigabytes into
//! memory, and take an archive that just stops for one that ends: both are seen to here.

use std::io::{self, Read};
use std::ops::ControlFlow;

use tar::EntryType;

use crate::decompress::damaged;

/// Longest name, as `PATH_MAX`.
const NAME_LIMIT: u64 = 4096;
/// Longest pax header: a path and a few numbers.
const PAX_LIMIT: u64 = 64 << 10;
/// Most bytes that may follow the archive: it is padded to a record's length, and pixz(1)
/// puts an index behind it.
const REST_LIMIT: u64 = 16 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    File,
    Directory,
    /// Another name of a file that came before.
    HardLink,
    SymbolicLink,
    CharacterDevice,
    BlockDevice,
    Fifo,
    Other,
}

#[derive(Debug)]
pub struct Entry {
    /// The path as written, without a leading `./`: it may lead anywhere. What is not
    /// UTF-8 in it reads as U+FFFD.
    pub path: String,
    /// The path as written, to the byte.
    pub name: Vec<u8>,
    pub kind: Kind,
    /// How many bytes of data it has.
    pub size: u64,
    /// Permissions, with the bits for set-user-ID, set-group-ID and sticky.
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    /// When it was changed, in seconds since 1970.
    pub mtime_s: i64,
    pub link: Vec<u8>,
    pub device: (u32, u32),
    /// Capabilities of the file, as the extended attribute `security.capability` has them.
    pub capability: Option<Vec<u8>>,
}

/// Reads an archive to its end, which must be there, and calls `each` for each entry with
/// its data, until that breaks off.
///
/// How long the archive may be, and how many entries it may have, is for the caller to bound.
///
/// # Errors
/// What `each` says, and what `fail` makes of a damaged archive: [`io::ErrorKind::UnexpectedEof`]
/// if it is cut off.
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
            EntryType::GNULongName => {
                more.path = Some(gnu_name(&mut item).map_err(&fail)?);
                continue;
            }
            EntryType::GNULongLink => {
                more.link = Some(gnu_name(&mut item).map_err(&fail)?);
                continue;
            }
            EntryType::XHeader => {
                more.read(&mut item).map_err(&fail)?;
                continue;
            }
            EntryType::XGlobalHeader => continue,
            _ => {}
        }
        let entry = entry(&item, std::mem::take(&mut more)).map_err(&fail)?;
        if each(&entry, &mut item)?.is_break() {
            return Ok(());
        }
    }
    end(archive.into_inner().0).map_err(fail)
}

/// An entry's header, with what stood before it.
fn entry<R: Read>(item: &tar::Entry<'_, R>, more: Extensions) -> io::Result<Entry> {
    let header = item.header();
    let kind = match header.entry_type() {
        EntryType::Regular | EntryType::Continuous => Kind::File,
        EntryType::Directory => Kind::Directory,
        EntryType::Link => Kind::HardLink,
        EntryType::Symlink => Kind::SymbolicLink,
        EntryType::Char => Kind::CharacterDevice,
        EntryType::Block => Kind::BlockDevice,
        EntryType::Fifo => Kind::Fifo,
        _ => Kind::Other,
    };
    let name = more.path.unwrap_or_else(|| item.path_bytes().into_owned());
    let path = text(&name);
    let device = match kind {
        Kind::CharacterDevice | Kind::BlockDevice => (
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
            // In base 256 it may be negative.
            None => number(&fields.mtime, || header.mtime())? as i64,
        },
        link: link.unwrap_or_default(),
        device,
        capability: more.capability,
    })
}

/// A number of a header; some that write archives leave those out that are 0.
fn number(field: &[u8], read: impl FnOnce() -> io::Result<u64>) -> io::Result<u64> {
    match field.iter().all(|byte| matches!(byte, 0 | b' ')) {
        true => Ok(0),
        false => read(),
    }
}

fn id(extended: Option<u64>, in_header: u64) -> io::Result<u32> {
    let id = u32::try_from(extended.unwrap_or(in_header));
    id.map_err(|_| damaged("an owner in the archive is no user or group"))
}

/// A reader whose end is an error: an archive itself says where it ends.
struct Endless<R>(R);

impl<R: Read> Read for Endless<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        }
    }
}

/// Reads what follows the block of zeros at an archive's end, so that the checksum at the
/// end of a compressed stream is verified, too.
fn end(reader: impl Read) -> io::Result<()> {
    if io::copy(&mut reader.take(REST_LIMIT + 1), &mut io::sink())? > REST_LIMIT {
        return Err(damaged("too much data follows the archive"));
    }
    Ok(())
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
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

/// What stands before an entry in place of fields that are too short for it.
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
                // Needed for members above 8 GiB only, which nothing here reads.
                b"size" => return Err(damaged("a pax header changes a member's size")),
                key if key.starts_with(b"GNU.sparse.") => {
                    return Err(damaged(
                        "it holds files in the form of tar's option --sparse",
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The first of a pax header's records, `LENGTH KEY=VALUE` and a newline, and what follows it.
/// The value may hold anything: the crate `tar` would end it at the first newline in it.
fn record(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let blank = text.iter().position(|byte| *byte == b' ')?;
    let length: usize = std::str::from_utf8(&text[..blank]).ok()?.parse().ok()?;
    let (record, after) = text.split_at_checked(length)?;
    let record = record.get(blank + 1..)?.strip_suffix(b"\n")?;
    let equals = record.iter().position(|byte| *byte == b'=')?;
    Some((&record[..equals], &record[equals + 1..], after))
}

/// A pax header's number, without its fraction.
fn decimal(value: &[u8]) -> io::Result<i64> {
    let whole = value.split(|byte| *byte == b'.').next().unwrap_or(value);
    let number = std::str::from_utf8(whole)
        .ok()
        .and_then(|text| text.parse().ok());
    number.ok_or_else(|| damaged("a pax header has no number where one belongs"))
}

#[cfg(test)]
mod tests;
