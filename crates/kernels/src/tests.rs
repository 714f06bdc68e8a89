// SPDX-License-Identifier: GPL-2.0-or-later

mod packages;

use super::*;
use crate::decompress::Format;
use crate::fixtures::{Entry as E, bzimage, compress, control, deb, elf, put, rpm, zimg};
use std::fs;
use testing::elf::module;

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("cache")).unwrap();
    (dir, store)
}

fn image(release: &str) -> Vec<u8> {
    bzimage(release, &elf(Some(0x100_0000)), Some(Format::Zstd))
}

fn package(release: &str) -> Vec<u8> {
    let path = |part: &str| part.replace("REL", release);
    deb(
        &control(&format!("linux-image-{release}"), "6.1.9-1"),
        &[
            E::File(&path("./boot/vmlinuz-REL"), &image(release)),
            E::File(&path("./boot/config-REL"), b"CONFIG_TMPFS=y\n"),
            E::File(
                &path("./lib/modules/REL/kernel/fs/xfs/xfs.ko"),
                &module(&[]),
            ),
        ],
        Some(Format::Xz),
    )
}

fn count(store: &Store, part: &str) -> usize {
    fs::read_dir(store.dir().join(part)).unwrap().count()
}

fn is_empty(store: &Store) -> bool {
    let mut parts = ["kernels", "names", "imported", "tmp"].into_iter();
    parts.all(|part| count(store, part) == 0)
}

/// As before it was verified.
fn unverified(kernel: &Kernel) -> Kernel {
    Kernel {
        verified: None,
        ..kernel.clone()
    }
}

#[test]
fn an_added_kernel_stands_by_itself() {
    let (dir, store) = store();
    let path = put(dir.path(), "bzImage", image("6.12.1-mine"));
    let added = store.add(&[&path], Some("mine")).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(
        (added.name.as_str(), added.series.as_str()),
        ("build:mine", "6.12")
    );
    assert_eq!(added.release, "6.12.1-mine");
    assert_eq!(added.pvh_entry, Some(0x100_0000));
    let found = store.resolve(&"build:mine".parse().unwrap()).unwrap();
    assert_eq!(unverified(&found), added);
    assert!(elf::is_elf_image(
        &fs::read(found.vmlinux.unwrap()).unwrap()
    ));
    assert_eq!(store.list().unwrap(), std::slice::from_ref(&added));

    let path = put(dir.path(), "other", image("6.12.1-mine"));
    assert_eq!(store.add(&[&path], None).unwrap().name, "build:6.12.1-mine");
    assert_eq!(count(&store, "kernels"), 1);
    store.remove("build:mine").unwrap();
    assert!(store.resolve(&"build:6.12.1-mine".parse().unwrap()).is_ok());
    store.remove("build:6.12.1-mine").unwrap();
    assert!(is_empty(&store));
    assert!(matches!(
        store.remove("build:mine"),
        Err(Error::NotCached { .. })
    ));
}

#[test]
fn a_name_used_again_replaces() {
    let (dir, store) = store();
    for release in ["6.1.0-a", "6.1.0-b"] {
        let path = put(dir.path(), "bzImage", image(release));
        store.add(&[&path], Some("x")).unwrap();
    }
    let list = store.list().unwrap();
    assert_eq!((list.len(), list[0].release.as_str()), (1, "6.1.0-b"));
    assert_eq!(count(&store, "kernels"), 1);
    let path = put(dir.path(), "bzImage", image("6.1.0-c"));
    assert!(matches!(
        store.add(&[&path], Some("a/b")),
        Err(Error::Usage { .. })
    ));
}

#[test]
fn a_build_directory_gives_its_modules_and_configuration() {
    let (dir, store) = store();
    let top = dir.path().join("linux");
    let bzimage = put(&top, "arch/x86/boot/bzImage", image("6.13.0-rc1"));
    put(&top, ".config", b"CONFIG_EXT4_FS=m\n");
    put(&top, "include/config/kernel.release", b"6.13.0-rc1\n");
    put(&top, "modules.order", b"fs/ext4/ext4.o\nsound/x.o\n");
    put(&top, "fs/ext4/ext4.ko", module(&[]));
    put(&top, "sound/x.ko", module(&[]));
    let kernel = store.import(&top).unwrap();
    assert_eq!(kernel.image, bzimage.canonicalize().unwrap());
    assert_eq!(
        kernel.modules.as_deref(),
        Some(top.canonicalize().unwrap().as_path())
    );
    let by_image = store.import(&bzimage).unwrap();
    assert_eq!(
        (by_image.modules, by_image.config),
        (kernel.modules, kernel.config)
    );
    let added = store.add(&[&top], Some("rc")).unwrap();
    let modules = added.modules.unwrap();
    assert!(modules.join("kernel/fs/ext4/ext4.ko").exists());
    assert!(!modules.join("kernel/sound").exists());
    assert!(
        ModuleTree::open(&modules, crate::arch::native())
            .unwrap()
            .contains("ext4")
    );

    let error = store.import(dir.path()).unwrap_err();
    assert!(
        error.to_string().contains("not a kernel build directory"),
        "{error}"
    );
}

#[test]
fn an_installed_kernel_brings_its_neighbours() {
    let (dir, store) = store();
    let path = put(dir.path(), "boot/vmlinuz-6.1.0-1", image("6.1.0-1"));
    put(dir.path(), "boot/config-6.1.0-1", b"");
    put(dir.path(), "lib/modules/6.1.0-1/modules.builtin", b"");
    let kernel = store.import(&path).unwrap();
    assert!(kernel.config.is_some() && kernel.modules.is_some());
}

#[test]
fn a_vmlinux_needs_a_way_in() {
    let (dir, store) = store();
    let path = put(dir.path(), "vmlinux", elf(Some(0x1000)));
    let kernel = store.import(&path).unwrap();
    assert_eq!(
        (kernel.release.as_str(), kernel.pvh_entry),
        ("6.6.6-elf", Some(0x1000))
    );
    assert_eq!(kernel.vmlinux.as_ref(), Some(&kernel.image));
    assert!(store.add(&[&path], Some("v")).unwrap().vmlinux.is_some());
    let path = put(dir.path(), "vmlinux2", elf(None));
    let error = store.import(&path).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    assert!(error.hint().unwrap().contains("bzImage"));
}

#[test]
fn damage_is_told_and_leaves_nothing() {
    let (dir, store) = store();
    let whole = image("6.1.0");
    let package = package("6.1.0-1");
    let mut flipped = whole.clone();
    let middle = 5 * 512 + 40;
    flipped[middle..middle + 64].fill(0xa5);
    for (name, data) in [
        ("short", &whole[..whole.len() - 100]),
        ("flipped", flipped.as_slice()),
        ("text", b"no kernel at all"),
        ("empty", b""),
        ("short.deb", &package[..package.len() / 2]),
        ("cut.deb", &package[..package.len() - 20]),
    ] {
        let path = put(dir.path(), name, data);
        let error = store.add(&[&path], Some("x")).expect_err(name);
        let is_told = matches!(error, Error::Damaged { .. } | Error::Unsupported { .. });
        assert!(is_told, "{name}: {error}");
        store.import(&path).expect_err(name);
        assert!(is_empty(&store), "{name}");
    }
    let error = store.import(&dir.path().join("gone")).unwrap_err();
    assert!(matches!(error, Error::Usage { .. }), "{error}");
}

#[test]
fn what_rots_in_the_cache_is_told() {
    let (dir, store) = store();
    let path = put(dir.path(), "package.deb", package("6.1.0"));
    let name = "build:x".parse().unwrap();
    let kernel = store.add(&[&path], Some("x")).unwrap();
    let entry = kernel.image.parent().unwrap();
    for part in [
        "vmlinuz",
        "vmlinux",
        "config",
        "modules/kernel/fs/xfs/xfs.ko",
    ] {
        let mut data = fs::read(entry.join(part)).unwrap();
        let last = data.len() - 3;
        data[last] ^= 1;
        fs::write(entry.join(part), data).unwrap();
        let error = store.resolve(&name).unwrap_err();
        assert!(error.to_string().contains("has changed"), "{part}: {error}");
        assert!(error.hint().unwrap().contains("kernel add"), "{error}");
        store.add(&[&path], Some("x")).unwrap();
        assert!(store.resolve(&name).is_ok(), "{part}");
    }
    let imported = store.import(&path).unwrap();
    fs::write(imported.vmlinux.as_ref().unwrap(), "rotten").unwrap();
    let again = store.import(&path).unwrap();
    assert_eq!(again, imported);
    assert_ne!(fs::read(again.vmlinux.unwrap()).unwrap(), b"rotten");
    fs::remove_file(&kernel.image).unwrap();
    assert!(store.list().unwrap().is_empty());
    assert_eq!(store.broken().unwrap()[0].0, "build:x");
    store.add(&[&path], Some("x")).unwrap();
    assert!(store.resolve(&name).is_ok());
    assert!(store.broken().unwrap().is_empty());
    fs::write(store.dir().join("names/build:x"), "../../etc").unwrap();
    assert!(store.resolve(&name).is_err());
    store.remove("build:x").unwrap();
}

/// A kernel in the cache, and these files that name it.
fn named(files: &[&str]) -> (tempfile::TempDir, Store) {
    let (dir, store) = store();
    let path = put(dir.path(), "bzImage", image("6.1.0"));
    let kernel = store.add(&[&path], Some("x")).unwrap();
    let key = kernel.image.parent().unwrap().file_name().unwrap();
    for file in files {
        put(&store.dir().join("names"), file, key.as_encoded_bytes());
    }
    (dir, store)
}

#[test]
fn a_series_is_its_newest_kernel() {
    let (_dir, store) = named(&[
        "debian:6.1.0-9",
        "debian:6.1.0-56",
        "debian:6.12.1+deb13",
        "debian:6.12.1+deb12",
    ]);
    let resolve = |name: &str| store.resolve(&name.parse().unwrap()).map(|k| k.name);
    assert_eq!(resolve("debian:6.1").unwrap(), "debian:6.1.0-56");
    assert_eq!(resolve("debian:6.12").unwrap(), "debian:6.12.1+deb12");
    assert_eq!(resolve("debian:6.1.0-9").unwrap(), "debian:6.1.0-9");
    assert!(resolve("debian:6.1.0-8").is_err());
    let names: Vec<_> = store.list().unwrap().into_iter().map(|k| k.name).collect();
    assert_eq!(names[0], "debian:6.1.0-9");
    assert_eq!(names[4], "build:x");
    assert!(store.remove("debian:6.1").is_err());
    store.remove("debian:6.1.0-9").unwrap();
    store.remove("debian:6.1").unwrap();
}

#[test]
fn many_imports_at_once_find_all_files() {
    let (dir, store) = store();
    let path = put(dir.path(), "bzImage", image("6.1.0"));
    for round in 0..10 {
        let all = std::sync::Barrier::new(6);
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    all.wait();
                    let kernel = store.import(&path).unwrap();
                    let vmlinux = fs::read(kernel.vmlinux.unwrap()).unwrap();
                    assert!(elf::is_elf_image(&vmlinux), "{round}");
                });
            }
        });
        for import in fs::read_dir(store.dir().join("imported")).unwrap() {
            fs::remove_dir_all(import.unwrap().path()).unwrap();
        }
    }
}

#[test]
fn an_import_is_found_from_another_path() {
    let (dir, store) = store();
    let first = put(dir.path(), "bzImage", image("6.1.0"));
    let vmlinux = store.import(&first).unwrap().vmlinux.unwrap();
    let other = dir.path().join("other");
    fs::rename(&first, &other).unwrap();
    let time = || fs::metadata(&vmlinux).unwrap().modified().unwrap();
    let before = time();
    let kernel = store.import(&other).unwrap();
    assert_eq!(
        (kernel.image, kernel.vmlinux.unwrap()),
        (other, vmlinux.clone())
    );
    assert_eq!(time(), before);
}

#[test]
fn a_cache_is_readable() {
    use std::os::unix::fs::PermissionsExt as _;
    let (dir, store) = store();
    let path = put(dir.path(), "package.deb", package("6.1.0"));
    store.add(&[&path], Some("x")).unwrap();
    store.import(&path).unwrap();
    let sealed = store.dir().join("sealed");
    files::write_sealed(&sealed, b"data").unwrap();
    assert_eq!(files::read_sealed(&sealed, 4).unwrap(), b"data");
    assert!(files::read_sealed(&sealed, 3).is_none());
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode();
    // The permissions that the test's umask allows.
    let all = [mode(&path) & 0o444, mode(store.dir()) & 0o555];
    for path in files::walk(store.dir()).unwrap() {
        let expected = all[usize::from(path.is_dir())];
        assert_eq!(mode(&path) & expected, expected, "{}", path.display());
    }
    let mut damaged = fs::read(&sealed).unwrap();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(&sealed, damaged).unwrap();
    assert!(files::read_sealed(&sealed, 4).is_none());
}

#[test]
fn two_at_once_agree() {
    let (dir, store) = store();
    let path = put(dir.path(), "bzImage", image("6.1.0"));
    std::thread::scope(|scope| {
        for i in 0..4 {
            let (store, path) = (&store, &path);
            scope.spawn(move || {
                store.add(&[path], Some("same")).unwrap();
                store.add(&[path], Some(&format!("own{i}"))).unwrap();
                store.import(path).unwrap();
            });
        }
    });
    assert_eq!(store.list().unwrap().len(), 5);
    assert_eq!(count(&store, "kernels"), 1);
}

/// A Debian kernel of another architecture.
fn foreign() -> &'static crate::arch::Arch {
    let mut all = crate::arch::ALL.iter().copied();
    all.find(|arch| !arch.is_native()).expect("another one")
}

#[test]
fn kernels_of_two_architectures_have_names_of_their_own() {
    let arch = foreign();
    let native = crate::arch::native();
    let (_dir, store) = named(&[
        "debian:6.1.0-9",
        &format!("debian:6.1.0-10@{arch}"),
        &format!("debian:6.1.0-2@{arch}"),
        &format!("debian:6.1.0-11@{native}"),
        "debian:6.1.0-11@pdp11",
    ]);
    let resolve = |name: &str| store.resolve(&name.parse().unwrap()).map(|k| k.name);
    assert_eq!(resolve("debian:6.1").unwrap(), "debian:6.1.0-9");
    let newest = format!("debian:6.1.0-10/{arch}");
    assert_eq!(resolve(&format!("debian:6.1/{arch}")).unwrap(), newest);
    assert_eq!(
        resolve(&format!("debian:6.1/{}", arch.debian.name)).unwrap(),
        newest
    );
    let names: Vec<_> = store.list().unwrap().into_iter().map(|k| k.name).collect();
    let older = format!("debian:6.1.0-2/{arch}");
    assert_eq!(names, ["debian:6.1.0-9", &older, &newest, "build:x"]);
    store.remove(&newest).unwrap();
    store.remove(&format!("debian:6.1/{arch}")).unwrap();
    let missing = format!("debian:6.1/{arch}");
    let error = store.resolve(&missing.parse().unwrap()).unwrap_err();
    assert_eq!(
        error.hint(),
        Some(format!("lsmeter kernel fetch {missing}").as_str())
    );
    assert_eq!(store.list().unwrap().len(), 2);
}

#[test]
fn an_image_tells_its_architecture() {
    let (dir, store) = store();
    let flat = crate::flat::tests::with_rela();
    let mut architectures = crate::arch::ALL.iter();
    let arch = architectures
        .find(|arch| arch.flat_image.is_some())
        .unwrap();
    let path = put(dir.path(), "Image", &flat);
    let kernel = store.add(&[&path], Some("flat")).unwrap();
    assert_eq!(
        (kernel.arch(), kernel.release.as_str()),
        (*arch, "6.12.9-flat")
    );
    let elf = fs::read(kernel.vmlinux.as_ref().unwrap()).unwrap();
    assert_eq!(crate::elf::File::parse(&elf).unwrap().arch, *arch);
    assert_eq!(fs::read(&kernel.image).unwrap(), flat);
    let control = control("linux-image-6.12.9", "6.12.9-1");
    let control = control.replace(crate::arch::native().debian.name, arch.debian.name);
    let application = zimg(&compress(Format::Zstd, &flat));
    let files = [
        E::File("./boot/vmlinuz-6.12.9", &application),
        E::File("./boot/config-6.12.9", b"CONFIG_TMPFS=y\n"),
    ];
    let data = deb(&control, &files, None);
    let packed = store.import(&put(dir.path(), "x.deb", data)).unwrap();
    assert_eq!(packed.arch(), *arch);
    assert_eq!(fs::read(&packed.image).unwrap(), flat);
    let top = dir.path().join("linux");
    put(&top, arch.source.image, &flat);
    put(&top, "include/config/kernel.release", b"6.12.9\n");
    put(&top, "modules.order", b"fs/ext4/ext4.o\n");
    put(&top, "fs/ext4/ext4.ko", module(&[]));
    let built = store.import(&top).unwrap();
    assert_eq!(built.arch(), *arch);
    let tree = ModuleTree::open(built.modules.as_ref().unwrap(), built.arch()).unwrap();
    if !arch.is_native() {
        let error = tree.load_order(&["ext4"]).unwrap_err();
        assert!(error.to_string().contains(arch.title), "{error}");
    }
    for cut in [0, 0x39, 0x1000, flat.len() / 2] {
        let path = put(dir.path(), "cut", &flat[..cut]);
        let error = store.add(&[&path], None).unwrap_err();
        assert!(!matches!(error, Error::Io { .. }), "{cut}: {error}");
    }
    let path = put(dir.path(), "vmlinux", &elf);
    let error = store.import(&path).unwrap_err();
    assert!(error.hint().unwrap().contains(arch.source.image), "{error}");
}
