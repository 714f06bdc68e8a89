// SPDX-License-Identifier: GPL-2.0-or-later
//! Kernels in packages.

use super::*;

#[test]
fn a_package_is_imported_and_added() {
    let (dir, store) = store();
    let path = put(dir.path(), "x.deb", package("6.1.0-1-cloud-amd64"));
    let name = KernelName::Path(path.clone());
    let imported = store.resolve(&name).unwrap();
    assert_eq!(imported.package_version.as_deref(), Some("6.1.9-1"));
    let modules = imported.modules.as_ref().unwrap();
    assert!(modules.join("kernel/fs/xfs/xfs.ko").exists());
    let again = store.resolve(&name).unwrap();
    assert_eq!(unverified(&again), imported);
    assert!(store.list().unwrap().is_empty());
    let added = store.add(&[&path], None).unwrap();
    assert_eq!(added.name, "build:6.1.0-1-cloud-amd64");
    assert!(added.config.is_some());
}

/// Checks hints about the package with the modules, about those with the image, and about an empty
/// package and the one with its image.
#[test]
fn packages_next_to_the_image_complete_its_kernel() {
    let release = "7.2.1-1";
    let debian = [
        "linux-modules-7.2.1-1",
        "linux-image-7.2.1-1 or linux-binary-7.2.1-1",
        "linux-image-7.2.1-1",
        "linux-binary-7.2.1-1",
    ];
    let fedora = [
        "-modules-core-7.2.1-1.x86_64",
        "-core-7.2.1-1.x86_64",
        "",
        "-core-7.2.1-1.x86_64",
    ];
    let [kernel, real_time] = ["kernel", "kernel-rt"].map(|stem| {
        let own = |part| format!("{stem}{part}");
        (
            ["-core", "-modules-core", "-modules"].map(own),
            fedora.map(own),
        )
    });
    let split = |parts: [&str; 3]| {
        let names = parts.map(|part| format!("linux-{part}-7.2.1-1"));
        (names, debian.map(str::to_owned))
    };
    for (names, hints) in [
        split(["binary", "modules", "base"]),
        split(["image-unsigned", "modules", "modules-extra"]),
        kernel,
        real_time,
    ] {
        let (dir, store) = store();
        let image = image(release);
        let put_package = |name: &str, at: &str, version: &str, file: &str, data: &[u8]| {
            let file = format!("./usr/lib/modules/{release}/{file}");
            let list = format!("./lib/modules/{release}/modules.order");
            let files = [E::File(&file, data), E::File(&list, b"")];
            let (package, end) = match name.starts_with("linux") {
                true => (
                    deb(&control(name, version), &files, None),
                    format!("_{version}_amd64.deb"),
                ),
                false => (
                    rpm(name, version, &files, Some(Format::Zstd)),
                    format!("-{version}.rpm"),
                ),
            };
            put(dir.path(), &format!("{at}{name}{end}"), package)
        };
        let binary = put_package(&names[0], "", "7.2.1-1", "vmlinuz", &image);
        let rest = [
            (&names[1], "kernel/fs/xfs/xfs.ko.xz", b"xfs".as_slice()),
            (&names[2], "config", b"CONFIG_MODULES=y\n"),
        ];
        for (name, file, data) in rest {
            put_package(name, "", "7.2.1-2", file, data);
            put_package(name, "other/", "7.2.1-1", file, data);
        }
        let empty = put_package(&hints[2], "", "7.2.1-1", "source", b"");
        let refused = |path: &std::path::Path, part: &str, missing: &str| {
            let error = store.add(&[path], None).unwrap_err();
            let (what, hint) = (error.to_string(), error.hint().unwrap());
            assert!(what.ends_with(&format!("contains no {part}")), "{what}");
            assert!(hint.starts_with(&format!("keep {missing} in")), "{hint}");
        };
        refused(&binary, "modules", &hints[0]);
        let [first, second] =
            rest.map(|(name, file, data)| put_package(name, "", "7.2.1-1", file, data));
        refused(&second, "kernel image", &hints[1]);
        refused(&empty, "kernel image", &hints[3]);
        let found = store.import(&binary).unwrap();
        assert!(found.modules.is_some() && found.config.is_some());
        assert_eq!(found.packages.len(), 3);
        let moved = put(dir.path(), "moved/image", fs::read(&binary).unwrap());
        fs::remove_file(&second).unwrap();
        let given = store.add(&[&first, &moved], None).unwrap();
        assert_eq!(given.packages, [&*names[1], &names[0]]);
        assert_eq!(given.package_version.as_deref(), Some("7.2.1-1"));
    }
}

#[test]
fn files_that_are_not_of_one_kernel_are_refused() {
    let (dir, store) = store();
    let [one, other] =
        ["6.1.0-1", "6.1.0-2"].map(|release| put(dir.path(), release, package(release)));
    let image = put(dir.path(), "bzImage", image("6.1.0"));
    for (paths, error) in [
        (
            vec![&one, &other],
            "it is for Linux 6.1.0-2, but another package is for 6.1.0-1",
        ),
        (vec![&one, &image], "is not a package"),
        (vec![&image; 17], "expected 1 to 16 files"),
        (vec![&one; 2], "occurs twice"),
    ] {
        let found = store.add(&paths, None).unwrap_err().to_string();
        assert!(found.contains(error), "{found}");
        assert!(is_empty(&store));
    }
}
