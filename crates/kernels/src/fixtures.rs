// SPDX-License-Identifier: GPL-2.0-or-later

use crate::decompress::Format;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use testing::elf::{self, DATA, Section, Segment};

pub(crate) fn put(dir: &Path, name: &str, data: impl AsRef<[u8]>) -> PathBuf {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, data).unwrap();
    path
}

/// The zstd frame has raw blocks.
pub(crate) fn compress(format: Format, data: &[u8]) -> Vec<u8> {
    match format {
        Format::Gzip => {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            out.write_all(data).unwrap();
            out.finish().unwrap()
        }
        Format::Xz => {
            let mut out = liblzma::write::XzEncoder::new(Vec::new(), 1);
            out.write_all(data).unwrap();
            out.finish().unwrap()
        }
        Format::Lzma => {
            let options = liblzma::stream::LzmaOptions::new_preset(1).unwrap();
            let stream = liblzma::stream::Stream::new_lzma_encoder(&options).unwrap();
            let mut out = liblzma::write::XzEncoder::new_stream(Vec::new(), stream);
            out.write_all(data).unwrap();
            out.finish().unwrap()
        }
        Format::Zstd => {
            ruzstd::encoding::compress_to_vec(data, ruzstd::encoding::CompressionLevel::Fastest)
        }
        Format::Lz4Legacy => {
            let mut out = vec![0x02, 0x21, 0x4c, 0x18];
            for block in data.chunks(8 << 20) {
                let packed = lz4_flex::block::compress(block);
                out.extend((packed.len() as u32).to_le_bytes());
                out.extend(packed);
            }
            out
        }
        Format::Bzip2 | Format::Lzo => unreachable!("not supported"),
    }
}

pub(crate) fn elf(pvh_entry: Option<u32>) -> Vec<u8> {
    let mut note = Vec::new();
    for (kind, value) in [(5u32, Some(7)), (18, pvh_entry)] {
        if let Some(value) = value {
            for word in [4, 4, kind, u32::from_le_bytes(*b"Xen\0"), value] {
                note.extend(word.to_le_bytes());
            }
        }
    }
    let notes = Segment {
        kind: 4,
        flags: 4,
        address: 0,
        sections: 1,
    };
    let mut out = elf::write(2, Some(notes), &[Section::new(".notes", DATA, note)]);
    out.extend(b"Linux version %s\0Linux version 6.6.6-elf (x@y) #1\0\0ext4\0");
    out.extend(b"\0some kernel code".repeat(64));
    out
}

pub(crate) fn bzimage(release: &str, elf: &[u8], format: Option<Format>) -> Vec<u8> {
    let payload = match format {
        None => elf.to_vec(),
        Some(format) => {
            let mut payload = compress(format, elf);
            if format != Format::Gzip {
                payload.extend((elf.len() as u32).to_le_bytes());
            }
            payload
        }
    };
    bzimage_around(release, &payload)
}

pub(crate) fn bzimage_around(release: &str, payload: &[u8]) -> Vec<u8> {
    const SETUP: usize = 5 * 512;
    let mut out = vec![0u8; SETUP];
    out[0x1f1] = 4;
    out[0x1fe..0x200].copy_from_slice(&[0x55, 0xaa]);
    out[0x202..0x206].copy_from_slice(b"HdrS");
    out[0x206..0x208].copy_from_slice(&0x20fu16.to_le_bytes());
    out[0x20e..0x210].copy_from_slice(&0x200u16.to_le_bytes());
    let version = format!("{release} (builder@host) #1 SMP\0");
    out[0x400..0x400 + version.len()].copy_from_slice(version.as_bytes());
    let padded = payload.len().next_multiple_of(16) + 16;
    out[0x1f4..0x1f8].copy_from_slice(&((padded / 16) as u32).to_le_bytes());
    out[0x24c..0x250].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    out.extend(payload);
    out.resize(SETUP + padded, 0);
    out
}

pub(crate) enum Entry<'a> {
    File(&'a str, &'a [u8]),
    Link(&'a str, &'a str),
}

pub(crate) fn tar(entries: &[Entry]) -> Vec<u8> {
    let mut out = tar::Builder::new(Vec::new());
    for entry in entries {
        let mut header = tar::Header::new_gnu();
        let (name, data) = match entry {
            Entry::File(name, data) => {
                header.set_entry_type(tar::EntryType::Regular);
                (name, *data)
            }
            Entry::Link(name, target) => {
                header.set_entry_type(tar::EntryType::Symlink);
                header.set_link_name(target).unwrap();
                (name, &[][..])
            }
        };
        header.set_size(data.len() as u64);
        header.set_mode(0o644);
        if name.len() > 100 {
            let mut long = tar::Header::new_gnu();
            long.set_entry_type(tar::EntryType::GNULongName);
            long.set_size(name.len() as u64 + 1);
            long.as_gnu_mut().unwrap().name[..13].copy_from_slice(b"././@LongLink");
            long.set_cksum();
            out.append(&long, format!("{name}\0").as_bytes()).unwrap();
        }
        let short = &name.as_bytes()[..name.len().min(100)];
        header.as_gnu_mut().unwrap().name[..short.len()].copy_from_slice(short);
        header.set_cksum();
        out.append(&header, data).unwrap();
    }
    out.into_inner().unwrap()
}

pub(crate) fn deb(control: &str, entries: &[Entry], format: Option<Format>) -> Vec<u8> {
    let control = compress(
        Format::Xz,
        &tar(&[Entry::File("./control", control.as_bytes())]),
    );
    let data = tar(entries);
    let (suffix, data) = match format {
        None => ("", data),
        Some(Format::Gzip) => (".gz", compress(Format::Gzip, &data)),
        Some(Format::Xz) => (".xz", compress(Format::Xz, &data)),
        Some(format) => (".zst", compress(format, &data)),
    };
    let mut out = ar::Builder::new(Vec::new());
    for (name, content) in [
        ("debian-binary".to_string(), b"2.0\n".to_vec()),
        ("control.tar.xz".to_string(), control),
        (format!("data.tar{suffix}"), data),
    ] {
        let header = ar::Header::new(name.into_bytes(), content.len() as u64);
        out.append(&header, content.as_slice()).unwrap();
    }
    out.into_inner().unwrap()
}

pub(crate) fn control(package: &str, version: &str) -> String {
    format!(
        "Package: {package}\nVersion: {version}\nArchitecture: {}\nDescription: test\n",
        crate::arch::ALL[0].debian.name
    )
}
