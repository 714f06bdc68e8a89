// SPDX-License-Identifier: GPL-2.0-or-later

use crate::decompress::Format;
use liblzma::stream::{Check, LzmaOptions, Stream};
use liblzma::write::XzEncoder;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tar::EntryType;
use testing::elf::{self, DATA, Section, Segment};
use testing::image::Tar;

pub(crate) fn put(dir: &Path, name: &str, data: impl AsRef<[u8]>) -> PathBuf {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, data).unwrap();
    path
}

pub(crate) fn compress(format: Format, data: &[u8]) -> Vec<u8> {
    match format {
        Format::Gzip => testing::image::gzip(data),
        Format::Xz | Format::Lzma => {
            let stream = match format {
                Format::Xz => Stream::new_easy_encoder(1, Check::Crc64),
                _ => Stream::new_lzma_encoder(&LzmaOptions::new_preset(1).unwrap()),
            };
            let mut out = XzEncoder::new_stream(Vec::new(), stream.unwrap());
            out.write_all(data).unwrap();
            out.finish().unwrap()
        }
        Format::Zstd => {
            let mut out = zstd::Encoder::new(Vec::new(), 1).unwrap();
            out.include_checksum(true).unwrap();
            out.write_all(data).unwrap();
            out.finish().unwrap()
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

/// An EFI application.
pub(crate) fn zimg(payload: &[u8]) -> Vec<u8> {
    let mut out = vec![0u8; 0x200];
    out[..8].copy_from_slice(b"MZ\0\0zimg");
    out[8..12].copy_from_slice(&0x200u32.to_le_bytes());
    out[12..16].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    out.extend(payload);
    out.extend([0; 64]);
    out
}

pub(crate) enum Entry<'a> {
    File(&'a str, &'a [u8]),
    Link(&'a str, &'a str),
}

pub(crate) fn tar(entries: &[Entry]) -> Vec<u8> {
    let add = |tar: Tar, entry: &Entry| match entry {
        Entry::File(name, data) => tar.entry(EntryType::Regular, name, "", data, 0o644),
        Entry::Link(name, target) => tar.symlink(name, target),
    };
    entries.iter().fold(Tar::new(), add).bytes()
}

pub(crate) fn deb(control: &str, entries: &[Entry], format: Option<Format>) -> Vec<u8> {
    let control = compress(
        Format::Xz,
        &tar(&[Entry::File("./control", control.as_bytes())]),
    );
    let data = tar(entries);
    let suffix = match format {
        None => "",
        Some(Format::Gzip) => ".gz",
        Some(Format::Xz) => ".xz",
        Some(_) => ".zst",
    };
    let data = format.map_or(data.clone(), |format| compress(format, &data));
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

/// An rpm package without signatures.
pub(crate) fn rpm(name: &str, version: &str, entries: &[Entry], format: Option<Format>) -> Vec<u8> {
    let (version, release) = version.split_once('-').unwrap();
    let header = |texts: &[(u32, &str)]| {
        let (mut tags, mut data) = (Vec::new(), Vec::new());
        for (tag, text) in texts {
            for word in [*tag, 6, data.len() as u32, 1] {
                tags.extend(word.to_be_bytes());
            }
            data.extend([text.as_bytes(), b"\0"].concat());
        }
        let mut out = b"\x8e\xad\xe8\x01\0\0\0\0".to_vec();
        out.extend((texts.len() as u32).to_be_bytes());
        out.extend((data.len() as u32).to_be_bytes());
        [out, tags, data].concat()
    };
    let mut archive = Vec::new();
    let end = Entry::File("TRAILER!!!", b"");
    for entry in entries.iter().chain([&end]) {
        let (mode, name, data) = match entry {
            Entry::File(name, data) => (0o100_644, name, *data),
            Entry::Link(name, target) => (0o120_777, name, target.as_bytes()),
        };
        archive.extend(b"070701");
        for number in [
            1,
            mode,
            0,
            0,
            1,
            0,
            data.len(),
            0,
            0,
            0,
            0,
            name.len() + 1,
            0,
        ] {
            archive.extend(format!("{number:08x}").bytes());
        }
        archive.extend([name.as_bytes(), b"\0"].concat());
        archive.resize(archive.len().next_multiple_of(4), 0);
        archive.extend(data);
        archive.resize(archive.len().next_multiple_of(4), 0);
    }
    let mut out = b"\xed\xab\xee\xdb\x03\0".to_vec();
    out.resize(96, 0);
    out.extend(header(&[(1000, "")]));
    out.resize(out.len().next_multiple_of(8), 0);
    let arch = crate::arch::ALL[0].name;
    let texts = [(1000, name), (1001, version), (1002, release), (1022, arch)];
    out.extend(header(&texts));
    out.extend(format.map_or(archive.clone(), |format| compress(format, &archive)));
    out
}
