// SPDX-License-Identifier: GPL-2.0-or-later
//! Kernels from packages. The tests put debian:6.12 into packages as Fedora and Ubuntu make them.
//! Needs QEMU, rpmbuild, xz and zstd.

use std::fs;
use std::process::Command;

use crate::common::{Place, words};
use model::Document;

/// Fedora's and Ubuntu's, with files at their places there.
const SCRIPT: &str = r#"
set -eu
lib=lib/modules/$release

mkdir -p core/$lib modules/$lib
cp "$image" core/$lib/vmlinuz
cp "$config" core/$lib/config
cp "$modules"/modules.* core/$lib
# The RAM disk is a module.
mkdir -p modules/$lib/kernel/drivers
cp -r "$modules/kernel/drivers/block" modules/$lib/kernel/drivers
cat >kernel.spec <<END
Name: kernel
Version: 6.12.1
Release: 1
Summary: Kernel
License: GPL
%description
%package core
Summary: Image
AutoReqProv: no
%description core
%package modules-core
Summary: Modules
AutoReqProv: no
%description modules-core
%install
cp -r $PWD/core/. $PWD/modules/. %{buildroot}
%files core
/$lib/config
/$lib/modules.*
/$lib/vmlinuz
%files modules-core
/$lib/kernel
END
rpmbuild --quiet -bb --define "_topdir $PWD/rpm" --define '_binary_payload w1.zstdio' \
	--define '__os_install_post %{nil}' kernel.spec
mv rpm/RPMS/*/*.rpm .

other=other/lib/modules/6.1.0-1/kernel/fs
mkdir -p image/boot image/DEBIAN modules/boot modules/DEBIAN $other other/DEBIAN
touch $other/x.ko
{
	printf 'MZ\0\0zimg\20\0\0\0'
	zstd -q -1 <"$image" >payload
	size=$(stat -c %s payload)
	for shift in 0 8 16 24; do printf "\\$(printf %o $((size >> shift & 255)))"; done
	cat payload
} >image/boot/vmlinuz-$release
cp "$config" modules/boot/config-$release
cp "$modules"/modules.* modules/$lib
find modules -name '*.xz' -exec xz -d {} +
find modules -name '*.ko' -exec zstd -q -1 --rm {} +
for part in image modules other; do
	printf 'Package: linux-%s-%s\nVersion: 6.12.1-1\n' $part $release >$part/DEBIAN/control
	printf 'Architecture: %s\nMaintainer: x <x@x.example>\nDescription: kernel\n' \
		$(dpkg --print-architecture) >>$part/DEBIAN/control
	dpkg-deb --root-owner-group -z1 --build $part . >/dev/null
done
"#;

#[test]
fn packages_of_other_distributions_boot() {
    let programs = [("rpmbuild", "rpm"), ("xz", "xz-utils"), ("zstd", "zstd")];
    if !programs
        .iter()
        .all(|(program, package)| testing::has_program(program, package))
    {
        return;
    }
    let known = Place::with_kernels();
    let listed = known.line("kernel list --json").json();
    let mut kernels = listed["kernels"].as_array().unwrap().iter();
    let is_it = |name: &str| name.starts_with("debian:6.12.") && !name.contains('/');
    let kernel = kernels
        .find(|kernel| is_it(kernel["name"].as_str().unwrap()))
        .unwrap();
    let release = kernel["release"].as_str().unwrap();
    let place = Place::new();
    let mut shell = Command::new("sh");
    shell.args(["-c", SCRIPT]);
    for name in ["release", "image", "config", "modules"] {
        shell.env(name, kernel[name].as_str().unwrap());
    }
    assert!(place.environment(&mut shell).status().unwrap().success());
    for part in ["image", "modules", "other"] {
        let file = format!(
            "linux-{part}-{release}_6.12.1-1_{}.deb",
            kernels::arch::native().debian.name
        );
        fs::rename(place.join(&file), place.join(&format!("{part}.deb"))).unwrap();
    }
    let arch = std::env::consts::ARCH;
    let core = format!("kernel-core-6.12.1-1.{arch}.rpm");
    let modules = format!("kernel-modules-core-6.12.1-1.{arch}.rpm");

    let rpm = format!("Linux {release}, from kernel-core, kernel-modules-core; ");
    let deb = format!("Linux {release}, from linux-image-{release}, linux-modules-{release}; ");
    for (line, from, end) in [
        (format!("kernel add {core} --name rpm"), rpm, "(xz)"),
        (
            "kernel add image.deb modules.deb --name deb".to_owned(),
            deb,
            "(zst)",
        ),
    ] {
        let printed = place.line(&line).code(0).stderr;
        assert!(
            printed.contains(&from) && printed.trim_end().ends_with(end),
            "{printed}"
        );
    }

    let count = |place: &Place, kernels: &str| -> Vec<u64> {
        let line = format!(
            "run --offline {kernels} --fs ext4 --stack capability --bench open:AA --output out.json"
        );
        place.run(&words(&line)).code(0);
        let run: Document = place.document("out.json");
        let cells = run
            .cells
            .iter()
            .map(|cell| cell.paths().unwrap().dominant.instructions);
        cells.collect()
    };
    let found = count(&place, "--kernel build:rpm --kernel build:deb");
    let [expected] = count(&known, "--kernel debian:6.12")[..] else {
        panic!("one measurement");
    };
    assert_eq!(found, [expected; 2]);

    let unknown = place.line(&format!("run --offline --kernel ./{core} --stack other"));
    let named = format!("./{core}: kernel-core, kernel-modules-core\n");
    assert!(unknown.code(2).stderr.contains(&named));

    let whole = fs::read(place.join(&core)).unwrap();
    place.write("short.rpm", &whole[..whole.len() / 2]);
    place.write("lead.rpm", &whole[..96]);
    place.write("text.rpm", "no package");
    fs::rename(place.join(&modules), place.join("modules.rpm")).unwrap();
    place.refuses(2, &format!(
        "kernel add short.rpm | is truncated
         kernel add lead.rpm | is truncated
         kernel add text.rpm | not a bzImage
         kernel add modules.rpm | kernel-modules-core contains no kernel image | dnf download kernel-core-6.12.1-1.{arch}
         kernel add {core} | kernel-core contains no modules | dnf download kernel-modules-core-6.12.1-1.{arch}
         kernel add image.deb | contains no modules | apt-get download linux-modules-{release}
         kernel add modules.deb | contains no kernel image | apt-get download linux-image-{release}
         kernel add image.deb other.deb | is for Linux 6.1.0-1, but another package is for {release} | of one version
         kernel add image.deb text.rpm | is not a package | several packages of one kernel"
    ));
}
