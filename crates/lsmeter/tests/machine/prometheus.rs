// SPDX-License-Identifier: GPL-2.0-or-later
//! A recording as a text file, a real `node_exporter` that reads it, and a real Prometheus that
//! scrapes that. SLOW: some seconds.
//!
//! Needs Debian's packages prometheus and prometheus-node-exporter.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use crate::common::{Place, signal, wait_for};
use model::{Bucket, Calls, Document, Interval, WatchedHook, WatchedSystemCall, WholeSystemCall};
use rustix::process::Signal;

/// A process that ends with the test.
struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Process {
        let what = format!("{command:?}");
        let child = command.spawn();
        Process(child.unwrap_or_else(|error| panic!("cannot start {what}: {error}")))
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
    let golden = include_str!("../../../model/tests/golden/monitor.json");
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

/// lsmeter keeping a text file of the recording.
fn write(place: &Place) -> Process {
    let mut bytes = Vec::new();
    recording().write(&mut bytes).unwrap();
    place.write("recording.json", bytes);
    let asked = [
        "--replay",
        "recording.json",
        "--textfile",
        "text/lsmeter.prom",
    ];
    std::fs::create_dir_all(place.join("text")).unwrap();
    let mut command = place.command(&[&["monitor"], &asked[..]].concat());
    let written = Process::start(&mut command);
    wait_for("text file", || {
        place.join("text/lsmeter.prom").exists().then_some(())
    });
    written
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

/// A server that listens where `arguments` say, and answers under `ready`.
fn serve(place: &Place, program: &str, arguments: &[&str], ready: &str) -> (Process, SocketAddr) {
    // Somebody else may take a port that was free.
    loop {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let log = std::fs::File::create(place.join(&format!("{program}.log"))).unwrap();
        let mut running = Process::start(
            Command::new(program)
                .args(arguments)
                .arg(format!("--web.listen-address={address}"))
                .current_dir(place.path())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(log),
        );
        let is_ready = wait_for(program, || match get(address, ready) {
            None if running.0.try_wait().unwrap().is_some() => Some(false),
            answer => answer.map(|_| true),
        });
        if is_ready {
            return (running, address);
        }
    }
}

/// `node_exporter` reading the text file, a Prometheus that scrapes it, and where each answers.
fn prometheus(place: &Place) -> [(Process, SocketAddr); 2] {
    let collector = [
        "--collector.disable-defaults",
        "--collector.textfile",
        "--collector.textfile.directory=text",
    ];
    let exporter = serve(place, "prometheus-node-exporter", &collector, "/metrics");
    let config = format!(
        "global:
  scrape_interval: 1s
  scrape_timeout: 1s
\
         scrape_configs:
- job_name: lsmeter
  static_configs:
  - targets: ['{}']
",
        exporter.1
    );
    place.write("prometheus.yml", config);
    let files = ["--config.file=prometheus.yml", "--storage.tsdb.path=data"];
    [exporter, serve(place, "prometheus", &files, "/-/ready")]
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
    let written = write(&place);
    let [(_exporter, exporter), (_prometheus, at)] = prometheus(&place);
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

    // It was all read, with its types.
    let text = get(exporter, "/metrics").unwrap();
    assert!(text.contains("\nnode_textfile_scrape_error 0\n"), "{text}");
    let types = json(at, "/api/v1/metadata").unwrap();
    for (metric, kind) in [
        ("lsmeter_hook_calls_total", "counter"),
        ("lsmeter_hook_seconds_total", "counter"),
        ("lsmeter_hook_errors_total", "counter"),
        ("lsmeter_lost_calls_total", "counter"),
        ("lsmeter_system_call_seconds_total", "counter"),
        ("lsmeter_hook_duration_seconds", "histogram"),
        ("lsmeter_monitor_memory_bytes", "gauge"),
    ] {
        assert_eq!(types["data"][metric][0]["type"], kind, "{metric}");
    }

    // lsmeter itself listens nowhere.
    let open = std::fs::read_dir(format!("/proc/{}/fd", written.0.id())).unwrap();
    let open = open.filter_map(|file| std::fs::read_link(file.unwrap().path()).ok());
    let sockets: Vec<_> = open
        .filter(|to| to.to_string_lossy().starts_with("socket:"))
        .collect();
    assert!(sockets.is_empty(), "{sockets:?}");
    end(&place, written, Signal::INT);
}

/// However it ends, it takes the file with it.
fn end(place: &Place, mut written: Process, how: Signal) {
    signal(written.0.id(), how);
    assert!(written.0.wait().unwrap().success());
    assert_eq!(std::fs::read_dir(place.join("text")).unwrap().count(), 0);
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
    let _written = write(&place);
    let [_exporter, (_prometheus, at)] = prometheus(&place);
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

#[test]
fn names_keep_to_the_conventions() {
    let place = Place::new();
    let written = write(&place);
    let text = std::fs::read_to_string(place.join("text/lsmeter.prom")).unwrap();
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
    end(&place, written, Signal::TERM);
}
