// SPDX-License-Identifier: GPL-2.0-or-later
//! BPF programs that only observe, and maps that user space fills.

use std::fs;

use super::{assert_measured, assert_refused, assert_steps, compile, cost};
use crate::common::Place;
use model::Metric;

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
programs = ["log_exec", "at_report"]
observed = ["read /etc/hosts"]
[custom.forked]
module = "bpf"
files = ["observer.o"]
programs = ["at_fork"]
observed = ["execute /bin/x"]
"#;

const COUNTERS: &str = r#"
stacks = ["capability", "capability,bpf"]
filesystem = "tmpfs"
benchmarks = ["open:AA"]
metrics = ["transfers", "transfers_apart"]
[custom.shared]
module = "bpf"
files = ["observer.o"]
programs = ["at_function"]
observed = ["read /etc/hosts"]
[custom.own]
module = "bpf"
files = ["observer.o"]
programs = ["at_own"]
observed = ["read /etc/hosts"]
"#;

#[test]
fn a_counter_is_transferred_unless_each_processor_has_its_own() {
    let place = Place::with_kernels();
    compile(&place, "observer");
    place.write("bpf.toml", COUNTERS);
    place.line("run bpf.toml --offline -o out.json").code(0);
    let run = place.document("out.json");
    for metric in [Metric::Transfers, Metric::TransfersApart] {
        let mut run = run.clone();
        run.cells.retain(|cell| cell.key.metric == metric);
        let without = cost(&run, "open", "");
        let added = ["shared", "own"].map(|name| cost(&run, "open", name) - without);
        assert_eq!(added, [1.0, 0.0], "{metric}");
    }
}

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
    assert_refused(&run, "forked", "no program ran at: execve of /bin/x");
    assert_steps(&run, "filled", "bpftool map update: 2 entries");
    assert_steps(&run, "logger", "1 runs of programs at: execve of /bin/x");
    // The file's name is in the map: the program also counts.
    let open = |name| cost(&run, "open", name);
    assert!(open("") < open("idle") && open("idle") < open("filled"));

    // A profile names the programs, wherever they are attached.
    let agent = POLICIES.split_once("[custom.others]").unwrap().1;
    let agent = agent.split_once("[custom").unwrap().0;
    let agent = agent.replace("at_tracepoint", "filter");
    // Another object may have programs of the same names.
    fs::copy(place.join("observer.o"), place.join("other.o")).unwrap();
    let agent = agent.replace("[\"observer.o\"]", "[\"observer.o\", \"other.o\"]");
    place.write("agent.toml", format!("[custom.agent]{agent}"));
    let line = "profile --offline --fs tmpfs --stack capability,bpf --policy-file agent.toml \
                --bench open:AA --folded folded";
    place.line(line).code(0);
    let folded = fs::read_to_string(place.join("folded")).unwrap();
    for name in ["filter", "at_function", "at_probe"] {
        let function = format!(";bpf_prog_{name}");
        assert!(folded.contains(&function), "{name}: {folded}");
    }

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
