// SPDX-License-Identifier: GPL-2.0-or-later

use super::*;
use crate::fixtures::{self, Entry as E};

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
    assert_eq!(entries[0], ("a".into(), Kind::Regular, b"one".to_vec()));
    assert_eq!(entries[1], ("b".into(), Kind::Symlink, vec![]));
    assert_eq!(entries[2].0, long[2..]);
    assert_eq!(entries[2].2, [1; 600]);
}

#[test]
fn truncated_anywhere_is_an_error() {
    let data = fixtures::tar(&[E::File("a", &[7; 700]), E::File("b", b"x")]);
    let whole = list(&data).unwrap();
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
    header.set_entry_type(Kind::Symlink);
    header.set_link_name("there").unwrap();
    header.set_gid(7);
    header.set_mode(0o104_755);
    header.set_size(0);
    header.set_cksum();
    out.append(&header, &b""[..]).unwrap();
    header.set_path("two").unwrap();
    header.set_entry_type(Kind::Char);
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
                assert_eq!((entry.kind, entry.device), (Kind::Char, (5, 300)));
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

#[test]
fn garbage_never_panics() {
    let plain = fixtures::tar(&[E::File("./some/file", &[9; 900])]);
    for data in [plain, with_pax("path", b"some/file")] {
        testing::damage(&data, |data| drop(list(data)));
    }
}
