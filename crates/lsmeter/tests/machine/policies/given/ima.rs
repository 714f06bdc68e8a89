// SPDX-License-Identifier: GPL-2.0-or-later
//! Custom IMA rules, which appraise or only measure.

use super::{assert_measured, assert_refused, assert_steps, cost, run};
use crate::common::Place;

/// Each policy takes one boot.
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
fn custom_rules_appraise_and_measure_or_are_refused() {
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
    for (name, steps) in [
        (
            "both",
            "ima: 6 rules from both
             security.ima of /srv/www/right is its hash
             ima: denied: open of /srv/www/none for reading: EACCES
             ima: allowed: open of /srv/www/right for reading
             ima: measured: open of /srv/www/m for reading
             ima: measured: execve of /usr/bin/x
             ima: not measured: open of /srv/www/w for writing
             ima: not measured: open of /etc/a b for reading",
        ),
        (
            "measures",
            "ima: not measured: open of /usr/bin/a b for reading
             ima: measured: execve of /usr/bin/a b",
        ),
        (
            "signed",
            "ima: evmctl import certificate.der
             security.ima of /srv/www/x is its signature
             ima: denied: open of /srv/www/none for reading: EACCES
             ima: allowed: open of /srv/www/x for reading",
        ),
    ] {
        assert_measured(&run, name);
        assert_steps(&run, name, steps);
    }
    // IMA checks an open, not a stat.
    assert!(cost(&run, "open", "both") > cost(&run, "open", ""));
    assert_eq!(cost(&run, "stat", "both"), cost(&run, "stat", ""));
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
