// SPDX-License-Identifier: GPL-2.0-or-later
//! Rules of IMA of the user's own, which appraise or only measure.

use model::Status;

use super::{assert_refused, assert_steps, ended, run};
use crate::common::Place;

/// Each policy has a boot of its own.
const EXPERIMENT: &str = r#"
filesystem = "ext4"
benchmarks = ["stat:AA", "open:AA"]
samples = 8
work_dir = "/srv/www"

[custom.both]
module = "ima"
files = ["both"]
denied = ["read /srv/www/none"]
allowed = ["read /srv/www/right"]
measured = ["read /srv/www/m", "execute /usr/bin/x"]
not_measured = ["write /srv/www/w", "read /etc/a b"]
[custom.measures]
module = "ima"
files = ["measures"]
measured = ["execute /usr/bin/a b"]
not_measured = ["read /usr/bin/a b"]
[custom.lax]
module = "ima"
files = ["lax"]
denied = ["read /srv/www/none"]
allowed = ["read /srv/www/x"]
[custom.signed]
module = "ima"
files = ["signed"]
denied = ["read /srv/www/none"]
allowed = ["read /srv/www/x"]
[custom.strict]
module = "ima"
files = ["strict"]
denied = ["read /srv/www/none"]
allowed = ["read /srv/www/x"]
[custom.few]
module = "ima"
files = ["measures"]
measured = ["read /srv/www/x"]
not_measured = ["read /srv/www/y"]
[custom.many]
module = "ima"
files = ["both"]
measured = ["read /srv/www/x"]
not_measured = ["read /srv/www/y"]
[custom.wrong]
module = "ima"
files = ["wrong"]
measured = ["read /srv/www/x"]
not_measured = ["read /srv/www/y"]
"#;

const BOTH: &str = "# not the kernel's own files\n\
dont_measure fsmagic=0x9fa0\n\
dont_measure fsmagic=0x73636673\n\
dont_appraise fsmagic=0x73636673\n\
\n\
measure func=FILE_CHECK mask=^MAY_READ fowner=0 fsname=ext4\n\
measure func=BPRM_CHECK mask=MAY_EXEC\n\
appraise func=FILE_CHECK fsname=ext4\n";

#[test]
fn rules_of_ones_own_appraise_and_measure_or_nothing_is_measured() {
    let place = Place::with_kernels();
    place.write("both", BOTH);
    place.write("measures", "measure func=BPRM_CHECK\n");
    place.write("lax", "appraise func=FILE_CHECK fsname=xfs\n");
    place.write(
        "signed",
        "appraise func=FILE_CHECK fsname=ext4 appraise_type=imasig\n",
    );
    place.write(
        "strict",
        "appraise func=FILE_CHECK fsname=ext4 appraise_algos=sha512\n",
    );
    place.write("wrong", "measure func=NO_CHECK\n");
    place.write("ima.toml", EXPERIMENT);
    let run = run(&place, "ima.toml");
    for name in ["both", "measures", "signed"] {
        for (benchmark, status, reason) in ended(&run, name).0 {
            assert_eq!(status, Status::Ok, "{name}: {benchmark}: {reason}");
        }
    }
    assert_steps(
        &run,
        "both",
        &[
            "ima: 6 rules of both",
            "security.ima of /srv/www/right is its hash",
            "ima: denied: open of /srv/www/none for reading: EACCES",
            "ima: allowed: open of /srv/www/right for reading",
            "ima: measured: open of /srv/www/m for reading",
            "ima: measured: execve of /usr/bin/x",
            "ima: not measured: open of /srv/www/w for writing",
            "ima: not measured: open of /etc/a b for reading",
        ],
    );
    assert_steps(
        &run,
        "measures",
        &[
            "ima: not measured: open of /usr/bin/a b for reading",
            "ima: measured: execve of /usr/bin/a b",
        ],
    );
    assert_steps(
        &run,
        "signed",
        &[
            "ima: evmctl import certificate.der",
            "security.ima of /srv/www/x is its signature",
            "ima: denied: open of /srv/www/none for reading: EACCES",
            "ima: allowed: open of /srv/www/x for reading",
        ],
    );
    // An open is asked about, a stat is not.
    let cost = |benchmark: &str, name: &str| {
        let mut cells = run.cells.iter();
        let cell = cells.find(|cell| {
            let mut custom = cell.key.settings.custom.values();
            cell.key.benchmark() == benchmark
                && match name {
                    "" => cell.key.integrity.is_empty(),
                    name => custom.any(|custom| custom == name),
                }
        });
        cell.unwrap().estimate().unwrap().median
    };
    assert!(cost("open", "both") > cost("open", ""));
    assert_eq!(cost("stat", "both"), cost("stat", ""));

    for (name, why) in [
        ("lax", "ima does not enforce: open of /srv/www/none"),
        ("strict", "ima: open of /srv/www/x for reading must pass"),
        ("few", "ima does not measure: open of /srv/www/x"),
        ("many", "ima is not to measure, and did: open of /srv/www/y"),
        ("wrong", "ima: writing \"measure func=NO_CHECK\" to"),
    ] {
        assert_refused(&run, name, why);
    }
}

#[test]
fn what_are_no_rules_is_refused_before_a_boot() {
    let place = Place::with_kernels();
    place.write("none", "# nothing\n\n");
    place.write("noise", [0xff; 64]);
    place.write("word", "measure func=BPRM_CHECK\nmesure func=FILE_CHECK\n");
    place.write("measures", "measure func=BPRM_CHECK\n");
    let denied = "denied = ['read /x']\nallowed = ['read /y']";
    let measured = "measured = ['read /x']\nnot_measured = ['read /y']";
    for (rules, proof, error) in [
        ("none", measured, "no rules are in none"),
        ("noise", measured, "noise: it is no text"),
        ("word", measured, "word: line 2: `mesure func=FILE_CHECK`"),
        ("measures", denied, "no rule of measures appraises"),
        ("nothing", measured, "No such file"),
    ] {
        let policy = format!("[custom.x]\nmodule = 'ima'\nfiles = ['{rules}']\n{proof}\n");
        place.write("policy.toml", policy);
        let asked = ["run", "--offline", "--policy-file", "policy.toml"];
        place.run(&asked).refused(3, error, Some(""));
    }
}
