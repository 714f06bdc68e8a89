// SPDX-License-Identifier: GPL-2.0-or-later
//! rpm packages: a lead, two headers and a compressed cpio archive (rpm's `docs/manual/format_*`).

use super::{Member, Metadata};
use crate::decompress::damaged;
use crate::error::Error;
use crate::tar::Kind;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

pub(super) const MAGIC: [u8; 4] = [0xed, 0xab, 0xee, 0xdb];
const LEAD_LEN: u64 = 96;
const HEADER_MAGIC: [u8; 4] = [0x8e, 0xad, 0xe8, 1];
/// Tag, type, offset, count; big-endian.
const TAG_LEN: usize = 16;
/// In tags and bytes; kernels need less than 1 MiB.
const MOST_TAGS: u32 = 0xffff;
const HEADER_LIMIT: u32 = 64 << 20;
/// `RPMTAG_NAME` and so on.
const NAME: u32 = 1000;
const VERSION: u32 = 1001;
const RELEASE: u32 = 1002;
const ARCH: u32 = 1022;

const CPIO_LEN: usize = 110;
/// The same as `PATH_MAX`.
const PATH_LIMIT: u64 = 4096;
/// The largest number of bytes after the archive.
const REST_LIMIT: u64 = 1 << 20;

pub(super) fn metadata(file: &mut File) -> io::Result<Metadata> {
    let end = file.metadata()?.len();
    file.seek(SeekFrom::Start(LEAD_LEN))?;
    header(file)?;
    let start = file.stream_position()?.next_multiple_of(8);
    file.seek(SeekFrom::Start(start))?;
    let (tags, data) = header(file)?;
    let text = |wanted: u32| {
        let tag = { tags.chunks_exact(TAG_LEN) }.find(|tag| tag[..4] == wanted.to_be_bytes())?;
        let at = u32::from_be_bytes(tag[8..12].try_into().ok()?);
        let text = data.get(at as usize..)?.split(|&byte| byte == 0).next()?;
        Some(
            String::from_utf8_lossy(text)
                .chars()
                .take(200)
                .collect::<String>(),
        )
    };
    let version = text(VERSION).zip(text(RELEASE));
    let version = version.map(|(version, release)| format!("{version}-{release}"));
    Ok(Metadata {
        name: text(NAME).unwrap_or_default(),
        version: version.unwrap_or_default(),
        architecture: text(ARCH).unwrap_or_default(),
        archive: file.stream_position()?..end,
    })
}

/// The tags and their data.
fn header(file: &mut File) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut head = [0; 16];
    file.read_exact(&mut head)?;
    let [magic, _, tags, len] = *head.as_chunks::<4>().0 else {
        return Err(damaged("its header is invalid"));
    };
    let (tags, len) = (u32::from_be_bytes(tags), u32::from_be_bytes(len));
    if magic != HEADER_MAGIC || tags > MOST_TAGS || len > HEADER_LIMIT {
        return Err(damaged("its header is invalid"));
    }
    Ok((
        whole(file, tags as usize * TAG_LEN)?,
        whole(file, len as usize)?,
    ))
}

fn whole(reader: &mut impl Read, len: usize) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    match reader.take(len as u64).read_to_end(&mut out)? {
        read if read < len => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(out),
    }
}

/// Reads a cpio archive in "new ASCII" format.
pub(super) fn read(
    mut archive: impl Read,
    fail: impl Fn(io::Error) -> Error,
    each: &mut dyn FnMut(&Member, &mut dyn Read) -> Result<(), Error>,
) -> Result<(), Error> {
    loop {
        let (name, mode, links, size) = member(&mut archive).map_err(&fail)?;
        let path = String::from_utf8_lossy(&name);
        if path == "TRAILER!!!" {
            break;
        }
        let kind = match mode & 0o170_000 {
            0o040_000 => Kind::Directory,
            // Only the last of several hard links has the data.
            0o100_000 if links == 1 => Kind::Regular,
            _ => Kind::Link,
        };
        let path = path.strip_prefix("./").unwrap_or(&path);
        let mut data = (&mut archive).take(size);
        each(&Member { path, kind, size }, &mut data)?;
        let rest = data.limit() + padding(size);
        skip(&mut archive, rest).map_err(&fail)?;
    }
    // Read on, so that the checksum of the compressed stream is verified.
    let mut rest = archive.take(REST_LIMIT);
    io::copy(&mut rest, &mut io::sink()).map_err(fail).map(drop)
}

/// Name, mode, number of links and size.
fn member(archive: &mut impl Read) -> io::Result<(Vec<u8>, u64, u64, u64)> {
    let mut head = [0; CPIO_LEN];
    archive.read_exact(&mut head[..6])?;
    match &head[..6] {
        b"070701" | b"070702" => {}
        b"07070X" => {
            let reason = "packages of rpm's format 6 are not supported";
            return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
        }
        _ => return Err(damaged("its archive is not cpio")),
    }
    archive.read_exact(&mut head[6..])?;
    let field = |n: usize| {
        let digits = std::str::from_utf8(&head[6 + 8 * n..][..8]).ok();
        let number = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        number.ok_or_else(|| damaged("its archive has an invalid number"))
    };
    let name_len = field(11)?;
    if name_len == 0 || name_len > PATH_LIMIT {
        return Err(damaged("its archive has a name that is too long"));
    }
    let mut name = whole(archive, name_len as usize)?;
    skip(archive, padding(CPIO_LEN as u64 + name_len))?;
    name.pop();
    Ok((name, field(1)?, field(4)?, field(6)?))
}

fn padding(len: u64) -> u64 {
    len.next_multiple_of(4) - len
}

fn skip(archive: &mut impl Read, len: u64) -> io::Result<()> {
    match io::copy(&mut archive.take(len), &mut io::sink())? {
        skipped if skipped < len => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}
