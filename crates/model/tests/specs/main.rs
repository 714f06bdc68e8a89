// SPDX-License-Identifier: GPL-2.0-or-later
//! Specs: defaults, merging, presets, and the messages of invalid ones.

#[path = "../common/mod.rs"]
mod common;
mod configurations;
mod given;

use model::{
    Baseline, Configuration, Experiment, Fault, FileSystem, Metric, Place, Select, Spec, SpecError,
    Stack, Suite, preset, presets,
};
use proptest::prelude::*;

fn resolved(text: &str) -> Experiment {
    spec(text).resolve().unwrap()
}

fn of_preset(name: &str) -> Experiment {
    preset(name).unwrap().spec().unwrap().resolve().unwrap()
}

fn spec(text: &str) -> Spec {
    Spec::parse("my.toml", text).unwrap_or_else(|error| panic!("{error}"))
}

/// The message and the hint for an invalid spec.
fn refused(text: &str) -> (String, String) {
    let spec = Spec::parse("my.toml", text);
    let error = spec.and_then(Spec::resolve).unwrap_err();
    (error.to_string(), error.hint().unwrap_or_default())
}

/// Refuses the specs of a table, `spec | message | hint`, with `; ` between the lines of a spec.
/// Without a third field there must be no hint.
#[track_caller]
fn assert_refused(table: &str) {
    for row in common::rows(table) {
        let (message, hint) = refused(&row[0].replace("; ", "\n"));
        assert!(message.contains(&row[1]), "{row:?}: {message}");
        match row.get(2) {
            Some(expected) => assert!(hint.starts_with(expected), "{row:?}: {hint}"),
            None => assert_eq!(hint, "", "{row:?}"),
        }
    }
}

#[test]
fn an_empty_spec_has_all_defaults() {
    let e = resolved("");
    assert_eq!(e.place, Place::Lab);
    assert_eq!(e.kernels, ["debian:6.12"]);
    assert_eq!(e.configurations.len(), 5);
    let baseline = e.baseline_configuration().unwrap();
    assert_eq!(baseline.stack.as_str(), "capability");
    assert_eq!(e.selection.suites, Suite::ALL);
    assert_eq!(e.metrics, [Metric::Instructions]);
    assert_eq!(e.filesystem, Some(FileSystem::Ext4));
    let samples = [e.samples.instructions, e.samples.time, e.samples.throughput];
    assert_eq!(samples, [64, 300, 30]);
    assert_eq!((e.rounds, e.warmup, e.jobs), (1, 64, None));
    assert_eq!((e.throughput_warmup_s, e.throughput_period_s), (1.0, 3.0));
}

#[test]
fn wrong_toml_is_named_with_line_and_hint() {
    assert_refused(
        r#"
        samples = 3; kernel = ['debian:6.1']
          | my.toml, line 2, column 1: unknown key `kernel` | did you mean `kernels`?
        metrics = ['time', 'instuctions']
          | my.toml, line 1, column 20: unknown variant | did you mean `instructions`?
        place = 'host' | unknown key `place`
        samples = 'many' | line 1, column 11: invalid type: string
        rounds = 3; jobs = 3; samples = = 3 | my.toml, line 3, column 11
        samples = -1 | line 1
        samples = 99999999999 | line 1
        "#,
    );
}

#[test]
fn wrong_values_are_named() {
    assert_refused(
        r#"
        kernels = [] | `kernels` is empty; it needs at least one value
        kernels = ['a', 'b', 'a'] | `kernels` contains `a` twice
        kernels = [' '] | `kernels` is ` `: it is blank
        stacks = ['a', 'a'] | `stacks` contains `a` twice
        stacks = ['a b'] | stack `a b`: a module name contains ' ' | use the syntax of
        benchmarks = ['open:'] | benchmark pattern `open:`: no variant | use BENCHMARK
        metrics = [] | `metrics` is empty
        suites = ['paper', 'paper'] | `suites` contains `paper` twice
        samples = 0 | `samples` is 0; it must be from 1 to 1000000
        rounds = 0 | `rounds` is 0; it must be from 1 to 1000
        jobs = 1000 | `jobs` is 1000; it must be from 1 to 256
        measurement_timeout_s = 0 | `measurement_timeout_s` is 0
        throughput_period_s = nan
          | `throughput_period_s` is NaN; it must be from 0.01 to 3600 seconds
        throughput_warmup_s = -1.0 | `throughput_warmup_s` is -1; it must be from 0
        cpu = '-device virtio' | `cpu` is `-device virtio`: invalid processor name
          | use QEMU's name
        cmdline = 'quiet lsm=selinux'
          | `cmdline` is `quiet lsm=selinux`: `lsm=selinux` would override | name the stack
        cmdline = "a\u001b[2J" | `cmdline` is `a\u{1b}[2J`: it contains a control character
        dir = '/mnt' | `dir` is only for the host | leave out `dir`
        metrics = ['time']; samples = 2; rounds = 3 | 3 rounds cannot share 2 samples
          | raise `samples`
        where = 'host' | where = "host" needs a directory | set `dir`
        where = 'host'; dir = '/mnt'; stacks = ['a'] | `stacks` has no meaning | leave out `stacks`
        where = 'host'; dir = '/mnt'; metrics = ['instructions']
          | instructions are counted in a virtual | use the metric time
        metrics = ['memory', 'time'] | memory and time cannot be measured together | measure them in
        metrics = ['time', 'transfers'] | time and transfers cannot be measured | measure them in
        metrics = ['calls'] | unknown variant `calls`
        processors = 4 | `processors` applies only to transfers | leave out `processors`, or
        metrics = ['transfers_apart']; processors = 5 | `processors` is 5
        metrics = ['memory']; where = 'host'; dir = '/tmp'
          | memory is measured in a virtual | use the metric time
        "#,
    );
    let many: Vec<String> = (0..65).map(|i| format!("'k{i}'")).collect();
    let (message, _) = refused(&format!("kernels = [{}]", many.join(",")));
    assert_eq!(message, "`kernels` has 65 values; at most 64 are allowed");
    let large = " ".repeat(model::SPEC_LIMIT_BYTES + 1);
    assert!(matches!(
        Spec::parse("x", &large),
        Err(SpecError::TooLarge { .. })
    ));
}

#[test]
fn the_host_measures_its_own_kernel() {
    let e = resolved("where = 'host'\ndir = '/mnt'");
    assert_eq!(
        (e.kernels.as_slice(), e.configurations.as_slice()),
        (
            &["host".to_owned()][..],
            &[Configuration::of_stack(Stack::distribution())][..]
        )
    );
    assert_eq!(
        (e.metrics.as_slice(), e.filesystem),
        (&[Metric::Time][..], None)
    );
    assert_eq!(e.rounds, 1);
}

#[test]
fn what_belongs_together_is_replaced_together() {
    let quick = preset("quick").unwrap().spec().unwrap();
    let with = |text: &str| quick.clone().merge(spec(text)).resolve().unwrap();

    // A benchmark that is not in the preset's suite.
    let selection = with("benchmarks = ['treewalk:small']").selection;
    assert_eq!(selection.suites, Suite::ALL);
    assert_eq!(selection.select, Select::First);

    // The files of a root are not benchmarks; the preset excludes some benchmarks.
    let e = with("[root]\npath = 'r'\n[[workloads]]\nname = 'w'\nargv = ['/w']");
    assert_eq!(e.programs.unwrap().workloads.len(), 1);

    // Stacks without the preset's baseline.
    assert_eq!(with("stacks = ['selinux', 'tomoyo']").baseline, 0);

    // The spec selects the host instead of the lab.
    let e = with("where = 'host'\ndir = '/mnt'");
    assert_eq!((e.place, e.metrics), (Place::Host, vec![Metric::Time]));

    let e = with("samples = 5\nbaseline = 'default'");
    assert_eq!((e.samples.time, e.baseline), (5, 4));
}

#[test]
fn kernels_that_are_processes_take_time_only() {
    let quick = preset("quick").unwrap().spec().unwrap();
    let e = quick
        .clone()
        .merge(spec("where = 'um'\nkernels = ['build:um']"))
        .resolve()
        .unwrap();
    assert_eq!((e.place, e.metrics), (Place::Um, vec![Metric::Time]));
    assert_eq!(e.rounds, 3);
    assert_eq!(e.kernels, ["build:um"]);
    // The stacks are the preset's: they are compared.
    assert_eq!(e.configurations.len(), 5);

    // The preset's kernel is not one of them.
    let um = "where = 'um'\nkernels = ['build:um']\n";
    for (toml, why) in [
        ("where = 'um'".to_owned(), "needs a UML kernel"),
        (
            format!("{um}metrics = ['instructions']"),
            "in a virtual machine",
        ),
        (format!("{um}cpu = 'max'"), "this machine's processor"),
        (format!("{um}dir = '/mnt'"), "only for the host"),
    ] {
        let error = quick.clone().merge(spec(&toml)).resolve().unwrap_err();
        assert!(error.to_string().contains(why), "{toml}: {error}");
    }
}

#[test]
fn timed_cells_in_the_lab_are_interleaved() {
    assert_eq!(resolved("metrics = ['time']").rounds, 3);
    assert_eq!(resolved("metrics = ['time']\nsamples = 2").rounds, 2);
}

#[test]
fn presets_go_with_other_kernels() {
    for preset in presets() {
        let spec = preset.spec().unwrap();
        let roles = spec.roles.as_ref().map_or(1, Vec::len);
        let move_to = |n: usize| {
            let kernels = (0..n).map(|at| format!("build:other{at}"));
            let over = Spec {
                kernels: Some(kernels.collect()),
                ..Spec::default()
            };
            spec.clone().merge(over).resolve()
        };
        let moved = move_to(roles).unwrap_or_else(|e| panic!("{}: {e}", preset.name));
        for configuration in &moved.configurations {
            let kernel = configuration.kernel.as_ref();
            assert!(
                kernel.is_none_or(|kernel| moved.kernels.contains(kernel)),
                "{}: {configuration}",
                preset.name
            );
        }
        if roles > 1 {
            let error = move_to(1).unwrap_err();
            assert!(
                error.to_string().contains("differ in number: 1 and"),
                "{error}"
            );
            let hint = error.hint().unwrap();
            assert!(hint.contains("--kernel WITHOUT-LSM --kernel "), "{hint}");
        }
    }
}

#[test]
fn roles_are_checked() {
    assert_refused(
        r#"
        kernels = ['x', 'y']; roles = ['a', 'a'] | `roles` contains `a` twice
        kernels = ['x', 'y']; roles = ['a'] | kernels and roles differ in number: 2 and 1 (a) |
        kernels = ['x', 'y']; roles = ['a', 'b']; [[configurations]]; kernel = 'c'; stack = 's'
          | `kernel` is `c`, which is not one of the 2 kernels |
        "#,
    );
    let bound = "kernels = ['x', 'y']\nroles = ['a', 'b']\nbaseline_kernel = 'b'\n\
                 stacks = ['capability']\n";
    assert_eq!(resolved(bound).baseline_kernel.as_deref(), Some("y"));
}

#[test]
fn presets_hold_what_they_promise() {
    let names: Vec<&str> = presets().iter().map(|preset| preset.name).collect();
    for preset in presets() {
        let e = preset
            .spec()
            .unwrap()
            .resolve()
            .unwrap_or_else(|e| panic!("{}: {e}", preset.name));
        assert!(
            e.description.as_ref().is_some_and(|text| text.len() < 80),
            "{}",
            preset.name
        );
        let baseline = match preset.name {
            "paper" | "paper-calls" | "paper-protocol" | "paper-orders" | "tomoyo-entries"
            | "audit" | "integrity" => "none on build:6.12-dac",
            "avc" => "capability,selinux (enforcing)",
            "landlock-sandbox" => "capability,landlock",
            "denials" => "capability (denials)",
            "paper-um" | "howells-um" => "none on build:um-dac.*",
            _ => "capability",
        };
        assert_eq!(e.baseline_configuration().unwrap().to_string(), baseline);
        let measured = match e.place {
            Place::Um => vec![Metric::Time],
            Place::Lab if preset.name == "paper-protocol" => vec![Metric::Time, Metric::Throughput],
            Place::Lab if preset.name == "memory" => vec![Metric::Memory],
            Place::Lab | Place::Host => vec![Metric::Instructions],
        };
        assert_eq!(e.metrics, measured);
    }
    let programs = |name: &str| of_preset(name).programs;
    let all = programs("workloads").unwrap();
    let at = names.iter().position(|name| *name == "workloads").unwrap();
    for name in &names[at + 1..] {
        let one = programs(name).unwrap();
        // A preset of one has its workload's name, and names the packages to install.
        assert!(one.workloads.iter().all(|workload| workload.name == *name));
        assert!(!one.root.packages.is_empty(), "{name}");
        let (root, of_all) = (&one.root, &all.root);
        assert!(
            one.workloads
                .iter()
                .all(|workload| all.workloads.contains(workload))
        );
        assert!(
            root.programs
                .iter()
                .all(|program| of_all.programs.contains(program))
        );
        assert!(root.files.iter().all(|file| of_all.files.contains(file)));
    }
    assert_eq!(all.workloads.len(), names.len() - at - 1);
    // A single workload needs only its own preset.
    let only = Spec {
        benchmarks: Some(vec!["tar".to_owned()]),
        ..Spec::default()
    };
    let spec = preset("workloads").unwrap().spec().unwrap();
    let one = spec.merge(only).resolve().unwrap().programs;
    assert_eq!(one, programs("tar"));
    let quick = of_preset("quick");
    assert_eq!(quick.selection.select, Select::First);
    // One example of each suite without file system calls.
    let files = [Suite::Lmbench, Suite::Howells];
    let taken = Suite::ALL.iter().filter(|suite| !files.contains(suite));
    assert!(quick.selection.suites.iter().eq(taken));
    // Its current part does not change with new suites.
    let suite = of_preset("suite");
    let files = [Suite::Paper, Suite::Lmbench, Suite::Howells, Suite::Beyond];
    assert_eq!(suite.selection.suites, files);
    let every = of_preset("every");
    assert_eq!(every.selection.suites, Suite::ALL);
    let chosen = &every.selection.benchmarks;
    assert!(suite.selection.benchmarks.starts_with(chosen));
    let paper = of_preset("paper");
    // DAC, the five modules, Figure 7's other orders, Figure 8's four.
    assert_eq!(paper.configurations.len(), 1 + 5 + 4 + 4 + 1);
    let on_layouts = of_preset("paper-um");
    assert_eq!(on_layouts.configurations.len(), 1 + 5 + 1);
    // Each stack is measured on the layouts of one kernel only.
    for configuration in &on_layouts.configurations {
        let is_none = configuration.stack.is_none();
        assert_eq!(configuration.is_on("build:um-dac.1"), is_none);
        assert_eq!(configuration.is_on("build:um.1"), !is_none);
    }
    let lsmpmon = of_preset("lsmpmon");
    let counts = (lsmpmon.kernels.len(), lsmpmon.configurations.len());
    assert_eq!(counts, (2, 5));

    let error = preset("howels").unwrap_err();
    let known = "unknown preset `howels`; known presets: ";
    assert_eq!(error.to_string(), [known, &names.join(", ")].concat());
    assert_eq!(error.hint().unwrap(), "did you mean `howells`?");
}

#[test]
fn specs_are_written_as_they_are_read() {
    let s =
        spec("where = 'host'\ndir = '/mnt'\nbaseline = 2\nsamples = 7\nthroughput_period_s = 0.5");
    assert_eq!(s.baseline, Some(Baseline::Index(2)));
    assert_eq!(Spec::parse("x", &toml::to_string(&s).unwrap()).unwrap(), s);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}|[a-z_]{1,12} = [\\['a-z0-9,.\\]-]{0,20}\n") {
        let _ = Spec::parse("x", &text).and_then(Spec::resolve);
    }

    #[test]
    fn numbers_are_kept_or_refused(samples: u32, rounds: u32, jobs: u32) {
        let s = Spec { samples: Some(samples), rounds: Some(rounds), jobs: Some(jobs), ..Spec::default() };
        if let Ok(e) = s.resolve() {
            prop_assert_eq!((e.samples.time, e.rounds, e.jobs), (samples, rounds, Some(jobs)));
            prop_assert!(samples <= 1_000_000 && rounds <= 1_000 && jobs <= 256);
        }
    }

    #[test]
    fn merging_with_nothing_changes_nothing(index in 0usize..5) {
        let s = presets()[index].spec().unwrap();
        prop_assert_eq!(s.clone().merge(Spec::default()), s.clone());
        prop_assert_eq!(Spec::default().merge(s.clone()), s);
    }
}
