// SPDX-License-Identifier: GPL-2.0-or-later
//! Debian packages: `ar` with two compressed tar archives.
//!
//! dpkg-deb(1) is not used because version 1.21 never ends if a package is truncated.

use super::{ARCHIVE_LIMIT, Metadata, decompressor};
use crate::decompress::{damaged, read_bounded};
use crate::tar::{self, Kind};
use object::read::ReadCache;
use object::read::archive::ArchiveFile;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;

const CONTROL_LIMIT: usize = 1 << 20;

pub(super) fn metadata(file: &mut File) -> io::Result<Metadata> {
    let length = file.metadata()?.len();
    let mut control = None;
    let mut data = None;
    {
        let cache = ReadCache::new(&mut *file);
        let bad = |_| damaged("it is truncated, or not an archive");
        for member in ArchiveFile::parse(&cache).map_err(bad)?.members() {
            let member = member.map_err(bad)?;
            let (start, size) = member.file_range();
            let range = start..start.saturating_add(size);
            if range.end > length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if member.name().starts_with(b"control.tar") {
                control = Some(range);
            } else if member.name().starts_with(b"data.tar") {
                data = Some(range);
                break;
            }
        }
    }
    let control = control.ok_or_else(|| damaged("it has no control archive"))?;
    let archive = data.ok_or_else(|| damaged("it has no data archive"))?;
    file.seek(SeekFrom::Start(control.start))?;
    let control = read_control(file.take(control.end - control.start))?;
    let field = |name: &str| {
        let lines = &mut control.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        value.unwrap_or_default().trim().chars().take(200).collect()
    };
    Ok(Metadata {
        name: field("Package"),
        version: field("Version"),
        architecture: field("Architecture"),
        archive,
    })
}

fn read_control(data: impl Read) -> io::Result<String> {
    let mut control = None;
    let reader = decompressor(data)?.take(ARCHIVE_LIMIT);
    tar::read(
        reader,
        |error| error,
        |entry, data| {
            if entry.path != "control" || entry.kind != Kind::Regular {
                return Ok(ControlFlow::Continue(()));
            }
            let text = read_bounded(data, CONTROL_LIMIT)?;
            control = Some(String::from_utf8_lossy(&text).into_owned());
            Ok(ControlFlow::Break(()))
        },
    )?;
    control.ok_or_else(|| damaged("it has no control file"))
}
