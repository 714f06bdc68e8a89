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
    /// A hard or symbolic link.
    Link,
    /// A device, a pipe or something unknown.
    Other,
}

/// An entry's header.
#[derive(Debug)]
pub struct Entry {
    /// The path as written, without a leading `./`: it may lead anywhere. What is not
    /// UTF-8 in it reads as U+FFFD.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// How many bytes of data it has.
    pub size: u64,
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
    let mut long_name = None;
    for item in archive.entries().map_err(&fail)?.raw(true) {
        let mut item = item.map_err(&fail)?;
        let kind = match item.header().entry_type() {
            EntryType::GNULongName => {
                let name = gnu_path(&mut item).map_err(&fail)?;
                long_name = Some(name);
                continue;
            }
            EntryType::XHeader => {
                long_name = pax_path(&mut item).map_err(&fail)?.or(long_name);
                continue;
            }
            EntryType::GNULongLink | EntryType::XGlobalHeader => continue,
            EntryType::Regular | EntryType::Continuous => Kind::File,
            EntryType::Directory => Kind::Directory,
            EntryType::Link | EntryType::Symlink => Kind::Link,
            _ => Kind::Other,
        };
        let path = long_name.take().unwrap_or_else(|| text(&item.path_bytes()));
        let entry = Entry {
            path: path.strip_prefix("./").unwrap_or(&path).to_owned(),
            kind,
            size: item.size(),
        };
        if each(&entry, &mut item)?.is_break() {
            return Ok(());
        }
    }
    end(archive.into_inner().0).map_err(fail)
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

fn gnu_path<R: Read>(item: &mut tar::Entry<'_, R>) -> io::Result<String> {
    check_len(item, NAME_LIMIT)?;
    let mut name = Vec::new();
    item.read_to_end(&mut name)?;
    Ok(text(&name).trim_end_matches('\0').to_owned())
}

fn pax_path<R: Read>(item: &mut tar::Entry<'_, R>) -> io::Result<Option<String>> {
    check_len(item, PAX_LIMIT)?;
    let mut path = None;
    for extension in item.pax_extensions()?.into_iter().flatten() {
        let extension = extension?;
        match extension.key_bytes() {
            b"path" => path = Some(text(extension.value_bytes())),
            // Needed for members above 8 GiB only, which no kernel has.
            b"size" => return Err(damaged("a pax header changes a member's size")),
            _ => {}
        }
    }
    Ok(path)
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
        assert_eq!(entries[1], ("b".into(), Kind::Link, vec![]));
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
