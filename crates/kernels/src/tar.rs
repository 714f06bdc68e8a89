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

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// Another name of a file that came before.
    HardLink,
    /// A symbolic link.
    SymbolicLink,
    /// A character device.
    CharacterDevice,
    /// A block device.
    BlockDevice,
    /// A named pipe.
    Fifo,
    /// Something unknown.
    Other,
}

/// An entry's header.
#[derive(Debug)]
pub struct Entry {
    /// The path as written, without a leading `./`: it may lead anywhere. What is not
    /// UTF-8 in it reads as U+FFFD.
    pub path: String,
    /// The path as written, to the byte.
    pub name: Vec<u8>,
    /// What it is.
    pub kind: Kind,
    /// How many bytes of data it has.
    pub size: u64,
    /// Where they begin, in bytes from the archive's begin.
    pub position: u64,
    /// Permissions, with the bits for set-user-ID, set-group-ID and sticky.
    pub mode: u32,
    /// The user that owns it.
    pub uid: u32,
    /// The group that owns it.
    pub gid: u32,
    /// When it was changed, in seconds since 1970.
    pub mtime_s: i64,
    /// What a link leads to.
    pub link: Vec<u8>,
    /// A device's major and minor number.
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
        position: item.raw_file_position(),
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
    /// Takes a pax header.
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
mod tests {
    use super::*;
    use crate::fixtures::{self, Entry as E};
    use proptest::prelude::*;

    fn list(data: &[u8]) -> io::Result<Vec<(String, Kind, Vec<u8>)>> {
        let mut out = Vec::new();
        read_each(data, |entry, data| {
            let mut content = Vec::new();
            data.read_to_end(&mut content)?;
            out.push((entry.path.clone(), entry.kind, content));
            Ok(())
        })?;
        Ok(out)
    }

    fn read_each(
        archive: impl Read,
        mut each: impl FnMut(&Entry, &mut dyn Read) -> io::Result<()>,
    ) -> io::Result<()> {
        read(
            archive,
            |error| error,
            |entry, data| each(entry, data).map(ControlFlow::Continue),
        )
    }

    #[test]
    fn reads_files_links_and_long_names() {
        let long = format!("./{}/x.ko", "d".repeat(180));
        let data = fixtures::tar(&[
            E::File("./a", b"one"),
            E::Link("./b", "a"),
            E::File(&long, &[1; 600]),
        ]);
        let entries = list(&data).unwrap();
        assert_eq!(entries[0], ("a".into(), Kind::File, b"one".to_vec()));
        assert_eq!(entries[1], ("b".into(), Kind::SymbolicLink, vec![]));
        assert_eq!(entries[2].0, long[2..]);
        assert_eq!(entries[2].2, [1; 600]);
    }

    #[test]
    fn truncated_anywhere_is_an_error() {
        let data = fixtures::tar(&[E::File("a", &[7; 700]), E::File("b", b"x")]);
        let whole = list(&data).unwrap();
        // Two headers, their data in whole blocks, and the first block of zeros.
        let needed = 512 * (1 + 2 + 1 + 1 + 1);
        for length in 0..data.len() {
            match list(&data[..length]) {
                Ok(entries) => assert!(length >= needed && entries == whole, "{length}"),
                Err(error) => {
                    assert!(length < needed, "{length}");
                    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{length}");
                }
            }
        }
        // Whether its data is read or not.
        let skipped = read_each(&data[..600], |_, _| Ok(()));
        assert_eq!(skipped.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn little_follows_an_archive() {
        let data = fixtures::tar(&[E::File("a", b"x")]);
        let with_rest = |len| {
            let rest = io::repeat(b'x').take(len);
            read_each(data.chain(rest), |_, _| Ok(()))
        };
        let rest = REST_LIMIT - 512;
        with_rest(rest).unwrap();
        let error = with_rest(rest + 1).unwrap_err();
        assert!(error.to_string().contains("too much"), "{error}");
    }

    #[test]
    fn what_says_another_length_than_it_has_is_no_entry() {
        let data = fixtures::tar(&[E::File("a", b"x")]);
        for field in [
            &b"77777777777\0"[..],
            b"\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff",
        ] {
            let mut data = data.clone();
            data[124..136].copy_from_slice(field);
            set_checksum(&mut data);
            assert!(list(&data).is_err());
            data[0] ^= 1;
            let error = list(&data).unwrap_err();
            assert!(error.to_string().contains("checksum"), "{error}");
        }
    }

    fn set_checksum(header: &mut [u8]) {
        header[148..156].fill(b' ');
        let sum: u32 = header[..512].iter().map(|&b| u32::from(b)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }

    fn with_pax(key: &str, value: &[u8]) -> Vec<u8> {
        let mut out = tar::Builder::new(Vec::new());
        out.append_pax_extensions([(key, value)]).unwrap();
        let mut header = tar::Header::new_ustar();
        header.set_path("short").unwrap();
        header.set_size(1);
        header.set_cksum();
        out.append(&header, &b"x"[..]).unwrap();
        out.into_inner().unwrap()
    }

    #[test]
    fn pax_paths_count_and_huge_headers_do_not() {
        assert_eq!(list(&with_pax("path", b"a/b")).unwrap()[0].0, "a/b");
        assert_eq!(list(&with_pax("mtime", b"1.5")).unwrap()[0].0, "short");
        assert!(list(&with_pax("size", b"1")).is_err());
        assert_eq!(
            list(&with_pax("path", b"a/\xff")).unwrap()[0].0,
            "a/\u{fffd}"
        );
        let long = vec![b'x'; 70_000];
        let error = list(&with_pax("path", &long)).unwrap_err();
        assert!(error.to_string().contains("too long"), "{error}");
        for length in [0, 999] {
            let mut data = with_pax("path", b"a/b");
            data[512..515].copy_from_slice(format!("{length:03}").as_bytes());
            assert!(list(&data).is_err());
        }
        let mut data = fixtures::tar(&[E::File("a", b"")]);
        data[156] = b'L';
        data[124..136].copy_from_slice(b"77777777777\0");
        set_checksum(&mut data);
        assert!(list(&data).unwrap_err().to_string().contains("too long"));
    }

    #[test]
    fn owners_devices_and_links_are_read() {
        let mut out = tar::Builder::new(Vec::new());
        let pax: [(&str, &[u8]); 5] = [
            ("uid", b"4000000000"),
            ("mtime", b"-3.25"),
            ("linkpath", b"over/there"),
            ("SCHILY.xattr.security.capability", b"\x01\0\n"),
            ("comment", b"none"),
        ];
        out.append_pax_extensions(pax).unwrap();
        let mut header = tar::Header::new_ustar();
        header.set_path("one").unwrap();
        header.set_entry_type(EntryType::Symlink);
        header.set_link_name("there").unwrap();
        header.set_gid(7);
        header.set_mode(0o104_755);
        header.set_size(0);
        header.set_cksum();
        out.append(&header, &b""[..]).unwrap();
        header.set_path("two").unwrap();
        header.set_entry_type(EntryType::Char);
        header.set_device_major(5).unwrap();
        header.set_device_minor(300).unwrap();
        header.set_cksum();
        out.append(&header, &b""[..]).unwrap();
        let mut entries = Vec::new();
        let read = read_each(&out.into_inner().unwrap()[..], |entry, _| {
            entries.push(format!("{entry:?}"));
            let owner = (entry.uid, entry.gid, entry.mode, entry.mtime_s);
            match entry.path.as_str() {
                "one" => {
                    assert_eq!(owner, (4_000_000_000, 7, 0o4755, -3));
                    assert_eq!(entry.link, b"over/there");
                    assert_eq!(entry.capability.as_deref(), Some(&b"\x01\0\n"[..]));
                }
                _ => {
                    assert_eq!(owner, (0, 7, 0o4755, 0));
                    assert_eq!(
                        (entry.kind, entry.device),
                        (Kind::CharacterDevice, (5, 300))
                    );
                    assert!(entry.capability.is_none());
                }
            }
            Ok(())
        });
        read.unwrap();
        assert_eq!(entries.len(), 2);
        for (key, value) in [("uid", "-1"), ("gid", "x"), ("GNU.sparse.major", "1")] {
            assert!(list(&with_pax(key, value.as_bytes())).is_err(), "{key}");
        }
    }

    proptest! {
        #[test]
        fn garbage_never_panics(
            at in 0usize..2000, bytes in proptest::collection::vec(any::<u8>(), 1..40),
        ) {
            for mut data in [
                fixtures::tar(&[E::File("./some/file", &[9; 900])]),
                with_pax("path", b"some/file"),
            ] {
                let at = at.min(data.len() - bytes.len());
                data[at..at + bytes.len()].copy_from_slice(&bytes);
                let _ = list(&data);
            }
        }
    }
}
