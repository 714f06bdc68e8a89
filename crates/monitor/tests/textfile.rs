// SPDX-License-Identifier: GPL-2.0-or-later
//! Text files of a monitor, and the dashboard that shows them.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Bucket, Calls, Interval, MonitorCost, MonitorMode, Monitoring, WatchedHook, WatchedSystemCall,
    WholeSystemCall,
};
use monitor::live::{Metrics, Textfile};
use proptest::prelude::*;

fn calls(count: u64, sum_ns: Option<i64>) -> Calls {
    Calls {
        count,
        sum_ns,
        ..Calls::default()
    }
}

fn bucket(from_ns: u64, to_ns: impl Into<Option<u64>>, count: u64) -> Bucket {
    Bucket {
        from_ns,
        to_ns: to_ns.into(),
        count,
    }
}

/// A hook with calls in openat, and the same number outside system calls.
fn hook(name: &str, module: Option<&str>, count: u64, sum_ns: Option<i64>) -> WatchedHook {
    let half = |system_call: &str| WatchedSystemCall {
        system_call: system_call.to_owned(),
        calls: calls(count / 2, sum_ns.map(|sum| sum / 2)),
    };
    WatchedHook {
        hook: name.to_owned(),
        function: format!("{}_{name}", module.unwrap_or("security")),
        module: module.map(str::to_owned),
        calls: calls(count, sum_ns),
        errnos: BTreeMap::new(),
        histogram: Vec::new(),
        system_calls: vec![half("openat"), half("none")],
    }
}

fn interval(hooks: Vec<WatchedHook>) -> Interval {
    Interval {
        begin_s: 0.0,
        seconds: 1.0,
        hooks,
        lost: 0,
        ..Interval::default()
    }
}

fn monitoring(mode: MonitorMode) -> Monitoring {
    Monitoring {
        release: "6.12.94-cloud-amd64".to_owned(),
        active_lsms: vec!["capability".to_owned(), "selinux".to_owned()],
        scope: "the command ls -l".to_owned(),
        mode,
        cost: MonitorCost {
            added_ns: 180,
            within_ns: 95,
            rounds: 501,
        },
        memory_bytes: 1 << 20,
    }
}

/// All metrics.
fn whole() -> (Monitoring, Interval) {
    let mut framework = hook("inode_permission", None, 100, Some(24_000));
    framework.errnos = BTreeMap::from([("EACCES".to_owned(), 3), ("ENOENT".to_owned(), 1)]);
    framework.histogram = vec![
        bucket(8, 16, 10),
        bucket(128, 256, 80),
        bucket(1 << 20, 1 << 21, 7),
        bucket(1 << 33, 1 << 34, 2),
        bucket(1 << 38, None, 1),
    ];
    let selinux = hook("inode_permission", Some("selinux"), 40, Some(-120));
    let later = Interval {
        lost: 3,
        ..interval(vec![
            hook("inode_permission", Some("selinux"), 2, Some(20)),
            hook("task_alloc", None, 2, Some(1_000)),
        ])
    };
    let mut first = interval(vec![framework, selinux]);
    first.system_calls = vec![WholeSystemCall {
        system_call: "openat".to_owned(),
        count: 12,
        sum_ns: 90_000,
    }];
    let total = Interval::sum([&first, &later]);
    (monitoring(MonitorMode::Histogram), total)
}

fn text(monitoring: &Monitoring, total: &Interval) -> String {
    Metrics::new("0.1.0").text(monitoring, total)
}

/// A sample's name, labels as they are in the text, and value.
fn sample(line: &str) -> (&str, &str, f64) {
    let (series, value) = line.rsplit_once(' ').unwrap();
    let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
    (
        name,
        labels.strip_suffix('}').unwrap(),
        value.parse().unwrap(),
    )
}

fn samples(text: &str) -> Vec<(&str, &str, f64)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(sample).collect()
}

#[track_caller]
fn value(text: &str, series: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(series));
    let line = line.unwrap_or_else(|| panic!("no {series} in {text}"));
    line.trim_start().parse().unwrap()
}

#[test]
fn everything() {
    let (monitoring, total) = whole();
    insta::assert_snapshot!(text(&monitoring, &total));
}

#[test]
fn counted_calls_have_no_times() {
    let monitoring = monitoring(MonitorMode::Count);
    let total = interval(vec![hook("file_open", None, 4, None)]);
    let text = text(&monitoring, &total);
    assert!(text.contains("lsmeter_hook_calls_total{"), "{text}");
    assert!(!text.contains("lsmeter_hook_seconds"), "{text}");
    assert!(!text.contains("lsmeter_hook_duration"), "{text}");
    assert!(text.contains("mode=\"count\"} 1\n"), "{text}");
}

#[test]
fn nothing_was_called() {
    let text = text(&monitoring(MonitorMode::Time), &Interval::default());
    assert!(!text.contains("lsmeter_hook"), "{text}");
    assert_eq!(value(&text, "lsmeter_lost_calls_total"), 0.0);
}

#[test]
fn counters_never_fall() {
    let monitoring = monitoring(MonitorMode::Time);
    let mut writer = Metrics::new("0.1.0");
    let series = r#"lsmeter_hook_seconds_total{hook="h",module="framework",syscall="none"}"#;
    let mut after = |sum_ns| {
        let hooks = vec![hook("h", None, 4, Some(sum_ns))];
        value(&writer.text(&monitoring, &interval(hooks)), series)
    };
    assert_eq!(after(-10), 0.0);
    assert_eq!(after(2_000), 1e-6);
    assert_eq!(after(1_000), 1e-6);
    assert_eq!(after(4_000), 2e-6);
}

#[test]
fn sums_saturate() {
    let monitoring = monitoring(MonitorMode::Histogram);
    let mut hook = hook("h", None, u64::MAX, Some(i64::MAX));
    hook.histogram = vec![bucket(1, 2, u64::MAX), bucket(2, 4, 5), bucket(4, None, 7)];
    hook.errnos.insert("EPERM".to_owned(), u64::MAX);
    let most = Interval {
        lost: u64::MAX,
        ..interval(vec![hook.clone(), hook])
    };
    let text = text(&monitoring, &most);
    let all = format!(" {}\n", u64::MAX);
    assert!(text.contains(&format!("lsmeter_lost_calls_total{all}")));
    assert!(text.contains(&format!("module=\"framework\",errno=\"EPERM\"}}{all}")));
    assert!(text.contains(&format!(
        "hook=\"h\",module=\"framework\",le=\"+Inf\"}}{all}"
    )));
}

#[test]
fn hostile_labels_end_where_they_should() {
    let mut monitoring = monitoring(MonitorMode::Time);
    monitoring.scope = "command: sh -c \"echo \\\\ \\n\"\n# EOF\r\0\u{1b}[31m\u{202e}".to_owned();
    monitoring.release = "x".repeat(10_000);
    let name = "a\"} 1\nlsmeter_hook_calls_total{hook=\"b";
    let hooks = vec![hook(name, Some("\\"), 2, Some(2))];
    let text = text(&monitoring, &interval(hooks));
    let expected =
        r#"{hook="a\"} 1?lsmeter_hook_calls_total{hook=\"b",module="\\",syscall="openat"} 1"#;
    assert!(
        text.contains(&format!("\nlsmeter_hook_calls_total{expected}\n")),
        "{text}"
    );
    let expected = r#"scope="command: sh -c \"echo \\\\ \\n\"?# EOF???[31m?",mode="time""#;
    assert!(text.contains(expected), "{text}");
    assert_eq!(text.matches("\n# EOF").count(), 0);
    assert!(text.lines().all(|line| line.len() < 1_000), "{text}");
}

proptest! {
    #[test]
    fn histograms_are_cumulative(
        buckets in prop::collection::vec((any::<u64>(), any::<Option<u64>>(), any::<u64>()), 1..50)
    ) {
        let mut one = hook("h", None, 2, Some(2));
        one.histogram = buckets.into_iter().map(|(from, to, n)| bucket(from, to, n)).collect();
        let text = text(&monitoring(MonitorMode::Histogram), &interval(vec![one]));
        let values = |name: &str| -> Vec<f64> {
            let found = samples(&text).into_iter().filter(|sample| sample.0 == name);
            found.map(|sample| sample.2).collect()
        };
        let counts = values("lsmeter_hook_duration_seconds_bucket");
        prop_assert!(counts.is_sorted(), "{:?}", counts);
        let count = values("lsmeter_hook_duration_seconds_count");
        prop_assert_eq!(count.last(), counts.last());
    }
}

/// All strings under a key anywhere.
fn strings<'a>(value: &'a serde_json::Value, key: &str, found: &mut Vec<&'a str>) {
    match value {
        serde_json::Value::Object(map) => {
            for (name, value) in map {
                if let (true, Some(text)) = (name == key, value.as_str()) {
                    found.push(text);
                }
                strings(value, key, found);
            }
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| strings(value, key, found)),
        _ => {}
    }
}

#[test]
fn dashboard_asks_for_what_is_written() {
    let dashboard = include_str!("../../../docs/grafana/lsmeter.json");
    let dashboard: serde_json::Value = serde_json::from_str(dashboard).unwrap();
    let (monitoring, total) = whole();
    let text = text(&monitoring, &total);
    let known: BTreeSet<&str> = samples(&text).into_iter().map(|sample| sample.0).collect();
    let mut asked = Vec::new();
    for key in ["expr", "query", "definition"] {
        strings(&dashboard, key, &mut asked);
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = asked.iter().flat_map(|text| text.split(|c| !is_name(c)));
    let used: BTreeSet<&str> = words.filter(|word| word.starts_with("lsmeter_")).collect();
    let unknown: Vec<_> = used.difference(&known).collect();
    assert!(unknown.is_empty(), "{unknown:?} are not written");
    // The dashboard shows every metric, except sums and counts of histograms.
    let unused: Vec<_> = known.difference(&used).copied().collect();
    let adds_up = [
        "lsmeter_hook_duration_seconds_count",
        "lsmeter_hook_duration_seconds_sum",
    ];
    assert_eq!(unused, adds_up);
    let mut sources = Vec::new();
    strings(&dashboard["panels"], "uid", &mut sources);
    assert!(!sources.is_empty());
    assert!(
        sources.iter().all(|uid| *uid == "${datasource}"),
        "{sources:?}"
    );
}

#[test]
fn a_file_appears_whole_and_goes() {
    let dir = std::env::temp_dir().join(format!("lsmeter-textfile-{}", std::process::id()));
    std::fs::create_dir(&dir).unwrap();
    let (path, new) = (dir.join("a.prom"), dir.join("a.prom.new"));
    let precious = dir.join("precious");
    std::fs::write(&precious, "precious").unwrap();
    std::os::unix::fs::symlink(&precious, &new).unwrap();
    let (monitoring, total) = whole();
    let mut textfile = Textfile::new(path.clone());
    assert!(!path.exists());
    for _ in 0..2 {
        textfile.write(&monitoring, &total).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(value(&text, "lsmeter_lost_calls_total"), 3.0);
        assert!(!new.exists());
    }
    drop(textfile);
    assert!(!path.exists());
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
    std::fs::remove_dir_all(&dir).unwrap();
}
