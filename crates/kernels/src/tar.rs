// SPDX-License-Identifier: GPL-2.0-or-later
//! Reading a tar archive from an untrusted source.
//!
//! Only what `dpkg-deb` writes and accepts is understood (ustar, GNU long
//! names, pax paths), so that each length is bounded before it is believed.

use std::io::{self, Read};

const BLOCK: usize = 512;
/// Longest name, as `PATH_MAX`.
const NAME_LIMIT: u64 = 4096;
/// Longest pax header: a path and a few numbers.
const PAX_LIMIT: u64 = 64 << 10;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    /// A hard or symbolic link.
    Link,
    /// A device, a pipe or something unknown.
    Other,
}

/// An entry's header. Its data follows, `size` bytes.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The path as written, without a leading `./`.
    pub path: String,
    pub kind: Kind,
    pub size: u64,
}

/// The entries of an archive, in order.
pub(crate) struct Archive<R> {
    inner: R,
    /// Data and padding of the current entry that has not been read.
    pending: u64,
    padding: u64,
}

impl<R: Read> Archive<R> {
    pub fn new(inner: R) -> Self {
        Archive {
            inner,
            pending: 0,
            padding: 0,
        }
    }

    /// The next entry; what the caller left unread of the last one is skipped.
    /// `None` at the archive's end, which is a block of zeros: an archive that
    /// just stops is truncated.
    pub fn next(&mut self) -> io::Result<Option<Entry>> {
        let mut long_name: Option<String> = None;
        loop {
            self.skip_rest()?;
            let mut header = [0u8; BLOCK];
            self.inner.read_exact(&mut header)?;
            if header.iter().all(|&b| b == 0) {
                return Ok(None);
            }
            if !checksum_fits(&header) {
                return Err(damaged("a tar header's checksum is wrong"));
            }
            let size = number(&header[124..136])?;
            let kind = header[156];
            self.pending = size;
            self.padding = (BLOCK as u64 - size % BLOCK as u64) % BLOCK as u64;
            match kind {
                b'L' => {
                    let name = self.text(size, NAME_LIMIT)?;
                    long_name = Some(name.trim_end_matches('\0').to_string());
                }
                b'x' => {
                    let records = self.text(size, PAX_LIMIT)?;
                    if let Some(path) = pax_path(&records)? {
                        long_name = Some(path);
                    }
                }
                b'K' | b'g' => {}
                _ => {
                    let path = match long_name {
                        Some(name) => name,
                        None => short_name(&header)?,
                    };
                    let path = path.strip_prefix("./").unwrap_or(&path).to_string();
                    let kind = match kind {
                        b'0' | 0 | b'7' => Kind::File,
                        b'5' => Kind::Directory,
                        b'1' | b'2' => Kind::Link,
                        _ => Kind::Other,
                    };
                    return Ok(Some(Entry { path, kind, size }));
                }
            }
        }
    }

    /// The data of the entry that `next` returned last.
    pub fn data(&mut self) -> Data<'_, R> {
        Data { archive: self }
    }

    /// Reads what follows the archive, so that the checksum at the end of the
    /// compressed stream is verified; at most `limit` bytes.
    pub fn finish(mut self, limit: u64) -> io::Result<()> {
        let mut rest = (&mut self.inner).take(limit + 1);
        if io::copy(&mut rest, &mut io::sink())? > limit {
            return Err(damaged("too much data follows the archive"));
        }
        Ok(())
    }

    fn skip_rest(&mut self) -> io::Result<()> {
        let rest = self.pending.saturating_add(self.padding);
        (self.pending, self.padding) = (0, 0);
        let skipped = io::copy(&mut (&mut self.inner).take(rest), &mut io::sink())?;
        if skipped < rest {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }

    fn text(&mut self, size: u64, limit: u64) -> io::Result<String> {
        if size > limit {
            return Err(damaged("a name in the archive is too long"));
        }
        let mut text = String::new();
        self.data().read_to_string(&mut text)?;
        Ok(text)
    }
}

/// See [`Archive::data`]. Ends early only in an error.
pub(crate) struct Data<'a, R> {
    archive: &'a mut Archive<R>,
}

impl<R: Read> Read for Data<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = (buffer.len() as u64).min(self.archive.pending) as usize;
        if wanted == 0 {
            return Ok(0);
        }
        let count = self.archive.inner.read(&mut buffer[..wanted])?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.archive.pending -= count as u64;
        Ok(count)
    }
}

fn damaged(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.to_string())
}

fn checksum_fits(header: &[u8; BLOCK]) -> bool {
    let sum: u64 = header
        .iter()
        .enumerate()
        .map(|(i, &b)| u64::from(if (148..156).contains(&i) { b' ' } else { b }))
        .sum();
    number(&header[148..156]).is_ok_and(|recorded| recorded == sum)
}

/// Octal digits, or GNU's base 256 when the first bit is set.
fn number(field: &[u8]) -> io::Result<u64> {
    if field[0] & 0x80 != 0 {
        let too_large = || damaged("a number in a tar header is too large");
        let (high, low) = field.split_at(field.len().saturating_sub(8));
        let (&mark, high) = high.split_first().ok_or_else(too_large)?;
        if mark != 0x80 || high.iter().any(|&b| b != 0) {
            return Err(too_large());
        }
        return Ok(low.iter().fold(0, |n, &b| n << 8 | u64::from(b)));
    }
    let text = std::str::from_utf8(field).map_err(|_| damaged("a tar header holds no number"))?;
    let text = text.trim_matches(|c| c == ' ' || c == '\0');
    if text.is_empty() {
        return Ok(0);
    }
    u64::from_str_radix(text, 8).map_err(|_| damaged("a tar header holds no number"))
}

fn short_name(header: &[u8; BLOCK]) -> io::Result<String> {
    let text = |range: std::ops::Range<usize>| {
        let field = &header[range];
        let end = field.iter().position(|&b| b == 0).unwrap_or(field.len());
        std::str::from_utf8(&field[..end]).map_err(|_| damaged("a name is no UTF-8"))
    };
    let name = text(0..100)?;
    // Only POSIX headers have the prefix; GNU's have times there.
    let prefix = if &header[257..263] == b"ustar\0" {
        text(345..500)?
    } else {
        ""
    };
    Ok(if prefix.is_empty() {
        name.to_string()
    } else {
        format!("{prefix}/{name}")
    })
}

fn pax_path(records: &str) -> io::Result<Option<String>> {
    let mut rest = records;
    let mut path = None;
    while !rest.is_empty() {
        let record = rest
            .split_once(' ')
            .and_then(|(length, _)| length.parse::<usize>().ok())
            .and_then(|length| rest.split_at_checked(length))
            .filter(|(record, _)| !record.is_empty());
        let Some((record, after)) = record else {
            return Err(damaged("a pax header is malformed"));
        };
        rest = after;
        let field = record
            .trim_end_matches('\n')
            .split_once(' ')
            .map_or("", |(_, f)| f);
        if let Some(value) = field.strip_prefix("path=") {
            path = Some(value.to_string());
        } else if field.starts_with("size=") {
            // Needed for members above 8 GiB only, which no kernel package has.
            return Err(damaged("a pax header changes a member's size"));
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
        let mut archive = Archive::new(data);
        let mut out = Vec::new();
        while let Some(entry) = archive.next()? {
            let mut content = Vec::new();
            archive.data().read_to_end(&mut content)?;
            out.push((entry.path, entry.kind, content));
        }
        archive.finish(1 << 20)?;
        Ok(out)
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
        for length in [0, 1, 511, 512, 600, 1536, 1600, 2048, 2200] {
            assert!(list(&data[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn pax_paths_count_and_huge_headers_do_not() {
        assert_eq!(pax_path("12 path=a/b\n").unwrap().as_deref(), Some("a/b"));
        assert!(pax_path("999 path=a\n").is_err());
        assert!(pax_path("0 path=a\n").is_err());
        let mut data = fixtures::tar(&[E::File("a", b"")]);
        data[156] = b'L';
        data[124..136].copy_from_slice(b"77777777777\0");
        data[148..156].fill(b' ');
        let sum: u32 = data[..512].iter().map(|&b| u32::from(b)).sum();
        data[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        assert!(list(&data).unwrap_err().to_string().contains("too long"));
    }

    proptest! {
        #[test]
        fn garbage_never_panics(
            at in 0usize..2000, bytes in proptest::collection::vec(any::<u8>(), 1..40),
        ) {
            let mut data = fixtures::tar(&[E::File("./some/file", &[9; 900])]);
            let at = at.min(data.len() - bytes.len());
            data[at..at + bytes.len()].copy_from_slice(&bytes);
            let _ = list(&data);
            let _ = pax_path(&String::from_utf8_lossy(&bytes));
        }
    }
}
