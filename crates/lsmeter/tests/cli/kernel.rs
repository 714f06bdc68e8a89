// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter kernel`, and kernels that are named wherever one can be.

use std::fs;
use std::io::Read;

use serde_json::Value;

use crate::common::{Place, names};

#[test]
fn a_wrong_kernel_is_wrong_usage() {
    let place = Place::new();
    let asked = ["kernel", "fetch", "build:mine"];
    let error = "not a kernel that can be fetched";
    place.run(&asked).refused(2, error, Some("kernel add"));
    let asked = ["kernel", "remove", "debian:6.12"];
    let error = "is not in the cache";
    place.run(&asked).refused(2, error, Some("kernel list"));
    assert_eq!(place.names(), ["cache"], "nothing else was written");
}

#[test]
fn kernels_that_are_not_there_or_are_none() {
    let place = Place::new();
    let run = |kernel: &str| place.run(&["run", "--offline", "--kernel", kernel]);
    run("not/there").refused(2, "there is no such file", Some("bzImage"));
    run("debian:6.12").refused(
        2,
        "is not in the cache",
        Some("lsmeter kernel fetch debian:6.12"),
    );
    run("build:mine").refused(2, "is not in the cache", Some("kernel add"));

    let mut random = vec![0u8; 300_000];
    fs::File::open("/dev/urandom")
        .unwrap()
        .read_exact(&mut random)
        .unwrap();
    place.write("random", &random);
    place.write("empty", "");
    place.write("short-setup", bz_image(&random, 700));
    place.write("truncated", bz_image(&random, 40_000));
    place.write("no-payload", bz_image(&random, 200_000));
    for name in [
        "random",
        "empty",
        "short-setup",
        "truncated",
        "no-payload",
        "/bin/true",
    ] {
        let path = if name.starts_with('/') {
            name.into()
        } else {
            format!("./{name}")
        };
        for arguments in [
            &["run", "--offline", "--kernel", &path][..],
            &["kernel", "add", &path, "--name", "x"][..],
        ] {
            let ended = place.run(arguments).code(2);
            assert!(ended.stderr.starts_with("error: "), "{ended:#?}");
            assert!(ended.stderr.contains(name), "{ended:#?}");
            assert!(!ended.stderr.contains("panicked"), "{ended:#?}");
        }
    }
    fs::create_dir(place.join("directory")).unwrap();
    run("./directory").code(2);

    let cache = place.cache().join("lsmeter");
    for part in ["kernels", "names", "imported", "tmp"] {
        assert_eq!(
            names(&cache.join(part)),
            Vec::<String>::new(),
            "left in {part}"
        );
    }
    let listing = place.run(&["kernel", "list", "--json"]).json();
    assert_eq!(listing["kernels"], Value::Array(Vec::new()));
}

/// The first `length` bytes of a bzImage whose payload is random.
/// A kernel without symbols is not refused what its image may have.
#[test]
fn a_module_that_no_kernel_has_is_refused() {
    let place = Place::new();
    place.write("vmlinux", vmlinux(b"capability\0"));
    place.write("other", vmlinux(b"xselinux\0"));
    let kernels = ["--kernel", "./vmlinux", "--kernel", "./other"];
    let refused = |command: &str, stack: &str, module: &str| {
        let stacks = ["--stack", "capability,selinux", "--stack", stack];
        let asked = [&[command, "--offline"], &kernels[..], &stacks].concat();
        let error = format!("stack `{stack}`: no kernel of this run has a module `{module}`");
        place.run(&asked).refused(2, &error, Some("kernel list"));
    };
    refused("run", "capabilty", "capabilty");
    refused("run", "capability,selinu", "selinu");
    refused("profile", "capability,tomoyo", "tomoyo");
    assert_eq!(place.names(), ["cache", "other", "vmlinux"]);
}

/// An ELF file that boots by PVH as far as its note says, with a release and some text.
fn vmlinux(text: &[u8]) -> Vec<u8> {
    let mut elf = vec![0; 64 + 56];
    elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
    elf[16] = 2; // an executable
    elf[18] = 62; // x86-64
    elf[32] = 64; // one program header, here
    elf[54] = 56;
    elf[56] = 1;
    elf[64] = 4; // of notes, behind it
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
