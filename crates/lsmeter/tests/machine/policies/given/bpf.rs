// SPDX-License-Identifier: GPL-2.0-or-later
//! BPF programs that only observe, and maps that user space fills.

use super::{assert_measured, assert_refused, assert_steps, compile, cost};
use crate::common::Place;

const POLICIES: &str = r#"
stacks = ["capability", "capability,bpf"]
filesystem = "tmpfs"
benchmarks = ["open:AA"]
samples = 8
[custom.idle]
module = "bpf"
files = ["observer.o"]
programs = ["filter"]
observed = ["read /etc/hosts"]
[custom.filled]
module = "bpf"
files = ["observer.o"]
programs = ["filter"]
observed = ["read /etc/hosts"]
[custom.filled.maps.watched]
"text:AA" = "u32:1"
"686f737473" = "01"
[custom.logger]
module = "bpf"
files = ["observer.o"]
programs = ["log_exec"]
observed = ["execute /bin/x"]
[custom.others]
module = "bpf"
files = ["observer.o"]
programs = ["at_function", "at_tracepoint", "at_probe"]
observed = ["read /etc/hosts"]
[custom.unseen]
module = "bpf"
files = ["observer.o"]
programs = ["log_exec"]
observed = ["read /etc/hosts"]
"#;

#[test]
fn programs_that_observe_run_at_their_accesses() {
    let place = Place::with_kernels();
    compile(&place, "observer");
    place.write("bpf.toml", POLICIES);
    place.line("run bpf.toml --offline -o out.json").code(4);
    let run = place.document("out.json");
    for name in ["idle", "filled", "logger", "others"] {
        assert_measured(&run, name);
    }
    assert_refused(&run, "unseen", "no program ran at: open of /etc/hosts");
    assert_steps(&run, "filled", "bpftool map update: 2 entries");
    assert_steps(&run, "logger", "1 runs of programs at: execve of /bin/x");
    // The file's name is in the map: the program also counts.
    let open = |name| cost(&run, "open", name);
    assert!(open("") < open("idle") && open("idle") < open("filled"));

    let policy = |more: &str| {
        let (_, rest) = POLICIES.split_once("[custom.idle]").unwrap();
        let (idle, _) = rest.split_once("[custom").unwrap();
        format!("[custom.idle]{idle}{more}")
    };
    for (more, error) in [
        (
            "[custom.idle.maps.nope]\n'01' = '01'\n",
            "no map nope in observer.o",
        ),
        (
            "[custom.idle.maps.watched]\n'0' = '01'\n",
            "map watched: `0`: expected hexadecimal",
        ),
        (
            "[custom.idle.maps.watched]\n'01' = 'u64:1'\n",
            "map watched: `u64:1`: 8 bytes for 4",
        ),
    ] {
        place.write("policy.toml", policy(more));
        let line = "run --offline --bench open:AA --policy-file policy.toml";
        let ended = place.line(line).code(3);
        assert!(ended.stderr.contains(error), "{error}: {}", ended.stderr);
    }
    assert_eq!(place.left_over(), [""; 0]);
}
