// SPDX-License-Identifier: GPL-2.0-or-later
//! A recording that is served, and a real Prometheus that scrapes it. SLOW: some seconds.
//!
//! Needs prometheus and promtool (Debian's package prometheus).

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::common::{Place, signal, wait_for};
use experiment::{
    Bucket, Calls, Document, Interval, WatchedHook, WatchedSystemCall, WholeSystemCall,
};
use rustix::process::Signal;

/// A process that ends with the test. Whatever it says on a pipe has somebody to hear it.
struct Process(Child, Option<BufReader<ChildStderr>>);

impl Process {
    fn start(command: &mut Command) -> Process {
        let what = format!("{command:?}");
        let child = command.spawn();
        let mut child = child.unwrap_or_else(|error| panic!("cannot start {what}: {error}"));
        let stderr = child.stderr.take().map(BufReader::new);
        Process(child, stderr)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn bucket(from_ns: u64, count: u64) -> Bucket {
    Bucket {
        from_ns,
        to_ns: Some(2 * from_ns),
        count,
    }
}

fn calls(count: u64, errors: u64, sum_ns: i64) -> Calls {
    Calls {
        count,
        errors,
        sum_ns: Some(sum_ns),
        ..Calls::default()
    }
}

fn hook(name: &str, module: Option<&str>, openat: u64, none: u64) -> WatchedHook {
    let of = |system_call: &str, count: u64| WatchedSystemCall {
        system_call: system_call.to_owned(),
        calls: calls(count, 0, 300 * count as i64),
    };
    let count = openat + none;
    WatchedHook {
        hook: name.to_owned(),
        function: format!("{}_{name}", module.unwrap_or("security")),
        module: module.map(str::to_owned),
        calls: calls(count, 0, 300 * count as i64),
        errnos: BTreeMap::from([("EACCES".to_owned(), 3), ("ENOENT".to_owned(), 1)]),
        histogram: vec![bucket(256, count - 10), bucket(1024, 9), bucket(4096, 1)],
        system_calls: vec![of("openat", openat), of("none", none)],
    }
}

/// A hook whose name would break a line and a label.
const HOSTILE: &str = "a\"b\\c\nd";

fn recording() -> Document {
    let golden = include_str!("../../../experiment/tests/golden/monitor.json");
    let mut document = Document::parse(golden.as_bytes()).unwrap();
    let interval = |begin_s, hooks, lost| Interval {
        begin_s,
        seconds: 1.0,
        hooks,
        lost,
        system_calls: vec![WholeSystemCall {
            system_call: "openat".to_owned(),
            count: 60,
            sum_ns: 90_000,
        }],
    };
    let permission = |openat| hook("inode_permission", None, openat, 40);
    let selinux = hook("inode_permission", Some("selinux"), 60, 40);
    let monitor = document.monitor.as_ref().unwrap();
    let first = interval(0.0, vec![permission(60), selinux], 0);
    let other = interval(1.0, vec![permission(160), hook(HOSTILE, None, 10, 0)], 5);
    document.cells = vec![monitor.cell(0, first), monitor.cell(1, other)];
    document
}

/// lsmeter serving the recording, and where.
fn serve(place: &Place) -> (Process, SocketAddr) {
    let mut bytes = Vec::new();
    recording().write(&mut bytes).unwrap();
    place.write("recording.json", bytes);
    let asked = ["--replay", "recording.json", "--prometheus", "127.0.0.1:0"];
    let mut command = place.command(&[&["monitor"], &asked[..]].concat());
    let mut served = Process::start(command.stderr(Stdio::piped()));
    let mut line = String::new();
    served.1.as_mut().unwrap().read_line(&mut line).unwrap();
    let address = line.strip_prefix("serving http://");
    let address = address.and_then(|rest| rest.strip_suffix("/metrics\n"));
    let address = address.unwrap_or_else(|| panic!("not told where: {line}"));
    let address = address.parse().unwrap();
    (served, address)
}

/// The body of what is there; None if nobody listens or it is refused.
fn get(address: SocketAddr, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    let request = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (header, body) = answer.split_once("\r\n\r\n")?;
    let status = header.split(' ').nth(1)?;
    (status == "200").then(|| body.to_owned())
}

fn json(address: SocketAddr, path: &str) -> Option<serde_json::Value> {
    serde_json::from_str(&get(address, path)?).ok()
}

/// Prometheus scraping `target`, and where it answers.
fn prometheus(place: &Place, target: SocketAddr) -> (Process, SocketAddr) {
    let config = format!(
        "global:\n  scrape_interval: 1s\n  scrape_timeout: 1s\n\
         scrape_configs:\n- job_name: lsmeter\n  static_configs:\n  - targets: ['{target}']\n"
    );
    place.write("prometheus.yml", config);
    let free = || {
        TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
    };
    // Somebody else may take a port that was free.
    let mut address = free();
    let start = |address: SocketAddr| {
        Process::start(
            Command::new("prometheus")
                .arg("--config.file=prometheus.yml")
                .arg("--storage.tsdb.path=data")
                .arg(format!("--web.listen-address={address}"))
                .current_dir(place.path())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(std::fs::File::create(place.join("prometheus.log")).unwrap()),
        )
    };
    let mut running = start(address);
    wait_for("Prometheus that is ready", || {
        if running.0.try_wait().unwrap().is_some() {
            address = free();
            running = start(address);
        }
        get(address, "/-/ready")
    });
    (running, address)
}

/// All of a query's results: their labels, and their values.
fn query(prometheus: SocketAddr, query: &str) -> Vec<(serde_json::Value, f64)> {
    let mut path = "/api/v1/query?query=".to_owned();
    for byte in query.bytes() {
        path += &format!("%{byte:02x}");
    }
    let answer = json(prometheus, &path).unwrap_or_else(|| panic!("{query} was refused"));
    let results = answer["data"]["result"].as_array().unwrap().iter();
    let value = |result: &serde_json::Value| result["value"][1].as_str().unwrap().parse().unwrap();
    results
        .map(|result| (result["metric"].clone(), value(result)))
        .collect()
}

#[track_caller]
fn assert_close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-9 * expected.abs(),
        "{found}, not {expected}"
    );
}

#[test]
fn prometheus_scrapes_a_recording() {
    let place = Place::new();
    let (mut served, target) = serve(&place);
    let (_prometheus, at) = prometheus(&place, target);
    let scraped = || {
        query(at, "up")
            .first()
            .filter(|(_, up)| *up == 1.0)
            .map(drop)
    };
    let up = std::panic::AssertUnwindSafe(|| wait_for("scrape", scraped));
    if let Err(panic) = std::panic::catch_unwind(up) {
        eprintln!("{:#?}", json(at, "/api/v1/targets"));
        std::panic::resume_unwind(panic);
    }
    let value = |asked: &str| match query(at, asked)[..] {
        [(_, value)] => value,
        ref results => panic!("{asked}: {results:?}"),
    };

    let calls = "lsmeter_hook_calls_total{hook='inode_permission',";
    assert_eq!(
        value(&format!("{calls}module='framework',syscall='openat'}}")),
        220.0
    );
    assert_eq!(
        value(&format!("{calls}module='framework',syscall='none'}}")),
        80.0
    );
    assert_eq!(value(&format!("sum({calls}module='selinux'}})")), 100.0);
    let seconds = "lsmeter_hook_seconds_total{hook='inode_permission',module='framework'}";
    assert_close(value(&format!("sum({seconds})")), 300.0 * 300e-9);
    let denied = "lsmeter_hook_errors_total{hook='inode_permission',errno='EACCES'}";
    assert_eq!(value(&format!("sum({denied})")), 9.0);
    assert_eq!(value("lsmeter_lost_calls_total"), 5.0);
    assert_close(
        value("lsmeter_monitor_overhead_seconds{kind='added'}"),
        180e-9,
    );
    assert_eq!(value("lsmeter_monitor_memory_bytes"), 1_048_576.0);

    // 100 calls: 90 in [256, 512), 9 in [1024, 2048), 1 in [4096, 8192).
    let durations = "lsmeter_hook_duration_seconds_bucket{module='selinux'}";
    let quantile = |q: &str| value(&format!("histogram_quantile({q}, {durations})"));
    assert_close(quantile("0.5"), 256e-9 * (1.0 + 50.0 / 90.0));
    assert_close(quantile("0.95"), 1024e-9 * (1.0 + 5.0 / 9.0));
    assert_close(quantile("1"), 8192e-9);

    let build = &query(at, "lsmeter_build_info")[..];
    assert_eq!((build.len(), build[0].1), (1, 1.0));
    assert_eq!(build[0].0["version"], env!("CARGO_PKG_VERSION"));
    let monitored = &query(at, "lsmeter_monitored_info")[0].0;
    assert_eq!(monitored["lsms"], "capability,selinux");
    assert_eq!(monitored["mode"], "histogram");
    let hostile = query(at, "lsmeter_hook_calls_total{hook=~'a.*',syscall='openat'}");
    assert_eq!(hostile[0].0["hook"], "a\"b\\c?d");

    // Ctrl-C is an end like another.
    signal(served.0.id(), Signal::INT);
    assert!(served.0.wait().unwrap().success());
}

/// All expressions of the dashboard, with what Grafana puts in the place of variables.
fn dashboard() -> Vec<String> {
    let dashboard = include_str!("../../../../docs/grafana/lsmeter.json");
    let dashboard: serde_json::Value = serde_json::from_str(dashboard).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
    let filled = targets.map(|target| {
        let mut text = target["expr"].as_str().unwrap().to_owned();
        for range in ["$__rate_interval", "$__range"] {
            text = text.replace(range, "1m");
        }
        for variable in ["$job", "$instance", "$module", "$hook"] {
            text = text.replace(variable, ".*");
        }
        assert!(!text.contains('$'), "{text}");
        text
    });
    filled.collect()
}

#[test]
fn dashboard_has_something_to_show() {
    let place = Place::new();
    let (_served, target) = serve(&place);
    let (_prometheus, at) = prometheus(&place, target);
    wait_for("third scrape", || {
        let scrapes = query(at, "count_over_time(lsmeter_build_info[1m])");
        scrapes.first().filter(|(_, count)| *count >= 3.0).map(drop)
    });
    let expressions = dashboard();
    assert!(!expressions.is_empty());
    for expression in expressions {
        let results = query(at, &expression);
        assert!(!results.is_empty(), "{expression}");
    }
}

/// promtool reads an older format, in which a counter's suffix is part of its name and
/// information is a gauge.
fn as_plain_text(open_metrics: &str) -> String {
    let mut plain = String::new();
    let kind = |name: &str| {
        let begin = format!("# TYPE {name} ");
        open_metrics
            .lines()
            .find_map(|line| line.strip_prefix(&begin))
    };
    for line in open_metrics.lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        plain += &match words[..] {
            ["#", what @ ("HELP" | "TYPE"), name, rest] => match (kind(name), what) {
                (Some("counter"), _) => format!("# {what} {name}_total {rest}\n"),
                (Some("info"), "TYPE") => format!("# {what} {name}_info gauge\n"),
                (Some("info"), _) => format!("# {what} {name}_info {rest}\n"),
                _ => format!("{line}\n"),
            },
            _ => format!("{line}\n"),
        };
    }
    plain
}

#[test]
fn names_keep_to_the_conventions() {
    let place = Place::new();
    let (_served, target) = serve(&place);
    // A busy machine may answer that there is nothing yet.
    let text = wait_for("metrics", || get(target, "/metrics"));
    let text = as_plain_text(&text);
    let mut promtool = Command::new("promtool");
    promtool.args(["check", "metrics"]).stdin(Stdio::piped());
    let promtool = promtool.stdout(Stdio::piped()).stderr(Stdio::piped());
    let promtool = promtool.spawn();
    let mut promtool = promtool.expect("promtool, of Debian's package prometheus");
    // It reads all before it says anything.
    let mut stdin = promtool.stdin.take().unwrap();
    stdin.write_all(text.as_bytes()).unwrap();
    drop(stdin);
    let ended = promtool.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success() && said.is_empty(), "{said}\n{text}");
}
