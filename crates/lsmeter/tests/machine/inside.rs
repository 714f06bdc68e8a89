// SPDX-License-Identifier: GPL-2.0-or-later
//! lsmeter as root in a VM with a Debian kernel. SLOW: boots of a quarter of a minute each.
//!
//! Needs QEMU, busybox and the kernels debian:6.1 and debian:6.12.

use crate::vm::Vm;

const KERNELS: &[&str] = &["debian:6.1", "debian:6.12"];

#[test]
fn lsmeter_runs_in_a_guest() {
    for kernel in KERNELS {
        let vm = Vm::new(kernel).lsm("capability,selinux,bpf");
        let outcome = vm
            .run(
                "uname -r >/out/release
                 cat /sys/kernel/security/lsm >/out/lsm
                 lsmeter doctor --json >/out/doctor.json
                 echo $? >/out/doctor.status
                 lsmeter run --on host --dir /tmp --bench getppid -n 3 \
                     --output /out/run.json >/out/table || exit
                 lsmeter --version",
            )
            .status(0);
        outcome.assert_no_kernel_warnings();
        let version = format!("lsmeter {}\n", env!("CARGO_PKG_VERSION"));
        assert_eq!(outcome.text(), version);
        let file = |path: &str| String::from_utf8(outcome.file(path)).unwrap();
        assert_eq!(file("release").trim(), vm.release());
        let lsms = file("lsm");
        assert!(lsms.contains("capability,selinux,bpf"), "{lsms}");

        // The guest has neither QEMU nor a kernel.
        let doctor: serde_json::Value = serde_json::from_str(&file("doctor.json")).unwrap();
        let findings = doctor["findings"].as_array().unwrap();
        let found = |what: &str| {
            let mut matching = findings.iter().filter(|finding| finding["what"] == what);
            matching.next().unwrap()["found"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        assert_eq!(found("LSMs of this machine"), lsms.trim());
        assert_eq!(found("processors"), "2");
        assert_eq!(file("doctor.status"), "3\n");

        let run = model::Document::read(outcome.file("run.json").as_slice()).unwrap();
        assert_eq!(run.cells.len(), 1);
        let cell = &run.cells[0];
        assert_eq!(
            cell.estimate().map(|estimate| estimate.n),
            Some(3),
            "{cell:#?}"
        );
        assert_eq!(cell.release, vm.release());
        assert!(file("table").contains("getppid"), "{}", file("table"));
    }
}
