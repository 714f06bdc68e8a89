// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter kernel`, and kernels named on other commands.

use std::fs;
use std::io::Read;

use serde_json::Value;

use crate::common::{Place, names};

#[test]
fn missing_and_invalid_kernels_are_refused() {
    let place = Place::new();
    place.refuses(
        2,
        "kernel fetch build:mine | it is not a Debian kernel | kernel add
         kernel remove debian:6.12 | is not in the cache | kernel list
         run --offline --kernel not/there | no such file | bzImage
         run --offline --kernel debian:6.12 | is not in the cache | kernel fetch debian:6.12
         run --offline --kernel build:mine | is not in the cache | kernel add",
    );
    assert_eq!(place.names(), ["cache"], "nothing else was written");

    let mut random = vec![0u8; 300_000];
    let mut source = fs::File::open("/dev/urandom").unwrap();
    source.read_exact(&mut random).unwrap();
    place.write("random", &random);
    place.write("empty", "");
    place.write("short-setup", bz_image(&random, 700));
    place.write("truncated", bz_image(&random, 40_000));
    place.write("no-payload", bz_image(&random, 200_000));
    let made = ["random", "empty", "short-setup", "truncated", "no-payload"];
    let made = made.map(|name| format!("./{name}"));
    for path in made.iter().map(String::as_str).chain(["/bin/true"]) {
        for command in ["run --offline --kernel PATH", "kernel add PATH --name x"] {
            let ended = place.line(&command.replace("PATH", path)).code(2);
            assert!(ended.stderr.starts_with("error: "), "{ended:#?}");
            assert!(ended.stderr.contains(&path[2..]), "{ended:#?}");
            assert!(!ended.stderr.contains("panicked"), "{ended:#?}");
        }
    }
    fs::create_dir(place.join("directory")).unwrap();
    place.line("run --offline --kernel ./directory").code(2);

    let cache = place.cache().join("lsmeter");
    for part in ["kernels", "names", "imported", "tmp"] {
        assert_eq!(names(&cache.join(part)), [""; 0], "left in {part}");
    }
    let listing = place.line("kernel list --json").json();
    assert_eq!(listing["kernels"], Value::Array(Vec::new()));
}

/// Without symbols, a text in the image counts as a module.
#[test]
fn a_module_that_no_kernel_has_is_refused() {
    let place = Place::new();
    place.write("vmlinux", vmlinux(b"capability\0"));
    place.write("other", vmlinux(b"xselinux\0"));
    for (command, stack, module) in [
        ("run", "capabilty", "capabilty"),
        ("run", "capability,selinu", "selinu"),
        ("profile", "capability,tomoyo", "tomoyo"),
    ] {
        let line = format!(
            "{command} --offline --kernel ./vmlinux --kernel ./other --stack capability,selinux \
             --stack {stack}"
        );
        let error = format!("stack `{stack}`: no kernel in this run has a module `{module}`");
        place.line(&line).refused(2, &error, Some("kernel list"));
    }
    assert_eq!(place.names(), ["cache", "other", "vmlinux"]);
}

/// An ELF file with a PVH note, a release and some text.
fn vmlinux(text: &[u8]) -> Vec<u8> {
    let mut elf = vec![0; 64 + 56];
    elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
    elf[16] = 2; // an executable
    elf[18] = 62; // x86-64
    elf[32] = 64; // one program header, here
    elf[54] = 56;
    elf[56] = 1;
    elf[64] = 4; // notes, after the header
    elf[64 + 8] = 64 + 56;
    elf[64 + 32] = 20;
    for word in [4, 4, 18] {
        elf.extend(u32::to_le_bytes(word));
    }
    elf.extend(b"Xen\0\x00\x00\x10\x00");
    elf.extend(b"Linux version 6.6.6-none (x@y) #1\0");
    elf.extend(text);
    elf
}

/// The first `length` bytes of a bzImage whose payload is random.
fn bz_image(random: &[u8], length: usize) -> Vec<u8> {
    let mut image = random.to_vec();
    image[..4096].fill(0);
    image[0x1f1] = 7; // sectors of setup code
    image[0x1fe..0x200].copy_from_slice(&0xaa55u16.to_le_bytes());
    image[0x202..0x206].copy_from_slice(b"HdrS");
    image[0x206..0x208].copy_from_slice(&0x020fu16.to_le_bytes());
    image[0x211] = 1; // loaded high
    image[0x248..0x24c].copy_from_slice(&1024u32.to_le_bytes());
    image[0x24c..0x250].copy_from_slice(&200_000u32.to_le_bytes());
    image.truncate(length);
    image
}
