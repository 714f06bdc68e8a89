// SPDX-License-Identifier: GPL-2.0-or-later
//! A recording as a text file, read by a real `node_exporter`, which a real Prometheus scrapes. SLOW:
//! seconds.
//!
//! Needs Debian's packages prometheus and prometheus-node-exporter.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use crate::common::{Place, signal, wait_for, words};
use model::Document;
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

/// Three intervals. One has a hook whose name would break a line and a label.
fn recording() -> Document {
    let golden = include_str!("../../../model/tests/golden/monitor.json");
    let hostile = golden.replace("task_alloc\\u001b[31m|\u{202e}<b>", r#"a\"b\\c\nd"#);
    let mut document = Document::parse(hostile.as_bytes()).unwrap();
    let mut again = document.intervals().next().unwrap().clone();
    again.begin_s = 1.5;
    // An error that is not a denial.
    let errnos = &mut again.hooks[0].errnos;
    errnos.insert("ENOENT".to_owned(), 1);
    let monitor = document.monitor.as_ref().unwrap();
    document.cells.push(monitor.cell(2, again));
    document
}

/// Runs lsmeter, which writes the text file of the recording.
fn write(place: &Place) -> Process {
    let mut bytes = Vec::new();
    recording().write(&mut bytes).unwrap();
    place.write("recording.json", bytes);
    std::fs::create_dir_all(place.join("text")).unwrap();
    let line = "monitor --replay recording.json --textfile text/lsmeter.prom";
    let mut command = place.command(&words(line));
    let written = Process::start(&mut command);
    wait_for("text file", || {
        place.join("text/lsmeter.prom").exists().then_some(())
    });
    written
}

/// The body of a response; None on errors.
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

/// Starts a server, and waits until it answers at `ready`.
fn serve(place: &Place, program: &str, arguments: &[&str], ready: &str) -> (Process, SocketAddr) {
    // Another process may take the port.
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

/// `node_exporter` with the text file, Prometheus, and their addresses.
fn prometheus(place: &Place) -> [(Process, SocketAddr); 2] {
    let collector = "--collector.disable-defaults --collector.textfile \
                     --collector.textfile.directory=text";
    let program = "prometheus-node-exporter";
    let exporter = serve(place, program, &words(collector), "/metrics");
    let config = format!(
        "global: {{scrape_interval: 1s, scrape_timeout: 1s}}\n\
         scrape_configs: [{{job_name: lsmeter, static_configs: [{{targets: ['{}']}}]}}]\n",
        exporter.1
    );
    place.write("prometheus.yml", config);
    let files = ["--config.file=prometheus.yml", "--storage.tsdb.path=data"];
    [exporter, serve(place, "prometheus", &files, "/-/ready")]
}

/// Labels and values of a query's results.
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

#[test]
fn prometheus_scrapes_a_recording_and_the_dashboard_shows_it() {
    let place = Place::new();
    let written = write(&place);
    let [(_exporter, exporter), (_prometheus, at)] = prometheus(&place);
    wait_for("third scrape", || {
        let scrapes = query(at, "count_over_time(lsmeter_build_info[1m])");
        scrapes.first().filter(|(_, count)| *count >= 3.0).map(drop)
    });

    // 8 of SELinux's 10 calls took [128, 256) ns.
    let calls = "lsmeter_hook_calls_total{hook='inode_permission',";
    let seconds = "lsmeter_hook_seconds_total{hook='inode_permission',module='framework'}";
    let denied = "lsmeter_hook_errors_total{hook='inode_permission',errno='EACCES'}";
    let durations = "lsmeter_hook_duration_seconds_bucket{module='selinux'}";
    for (asked, expected) in [
        (format!("{calls}module='framework',syscall='openat'}}"), 6.0),
        (format!("{calls}module='framework',syscall='none'}}"), 4.0),
        (format!("sum({calls}module='selinux'}})"), 10.0),
        (format!("sum({seconds})"), 48e-6),
        (format!("sum({denied})"), 4.0),
        ("lsmeter_lost_calls_total".to_owned(), 3.0),
        (
            "lsmeter_monitor_overhead_seconds{kind='added'}".to_owned(),
            180e-9,
        ),
        ("lsmeter_monitor_memory_bytes".to_owned(), 1_048_576.0),
        (
            format!("histogram_quantile(0.5, {durations})"),
            128e-9 * (1.0 + 5.0 / 8.0),
        ),
        (
            format!("histogram_quantile(0.75, {durations})"),
            128e-9 * (1.0 + 7.5 / 8.0),
        ),
    ] {
        let [(_, found)] = query(at, &asked)[..] else {
            panic!("{asked}: {:?}", query(at, &asked));
        };
        let is_close = (found - expected).abs() <= 1e-9 * expected;
        assert!(is_close, "{asked}: {found}, not {expected}");
    }

    let build = &query(at, "lsmeter_build_info")[..];
    assert_eq!((build.len(), build[0].1), (1, 1.0));
    assert_eq!(build[0].0["version"], env!("CARGO_PKG_VERSION"));
    let monitored = &query(at, "lsmeter_monitored_info")[0].0;
    assert_eq!(monitored["lsms"], "capability,selinux");
    assert_eq!(monitored["mode"], "histogram");
    let hostile = query(at, "lsmeter_hook_calls_total{hook=~'a.*',syscall='clone'}");
    assert_eq!(hostile[0].0["hook"], "a\"b\\c?d");

    // All metrics have types.
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

    let expressions = dashboard();
    assert!(!expressions.is_empty());
    for expression in expressions {
        assert!(!query(at, &expression).is_empty(), "{expression}");
    }

    // lsmeter opens no port.
    let open = std::fs::read_dir(format!("/proc/{}/fd", written.0.id())).unwrap();
    let open = open.filter_map(|file| std::fs::read_link(file.unwrap().path()).ok());
    let sockets: Vec<_> = open
        .filter(|to| to.to_string_lossy().starts_with("socket:"))
        .collect();
    assert!(sockets.is_empty(), "{sockets:?}");
    end(&place, written, Signal::INT);
}

/// lsmeter removes the file at any end.
fn end(place: &Place, mut written: Process, how: Signal) {
    signal(written.0.id(), how);
    assert!(written.0.wait().unwrap().success());
    assert_eq!(std::fs::read_dir(place.join("text")).unwrap().count(), 0);
}

/// The dashboard's expressions, with Grafana's values for variables.
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
fn names_keep_to_the_conventions() {
    let place = Place::new();
    let written = write(&place);
    let text = std::fs::read_to_string(place.join("text/lsmeter.prom")).unwrap();
    let mut promtool = Command::new("promtool");
    promtool.args(["check", "metrics"]).stdin(Stdio::piped());
    let promtool = promtool.stdout(Stdio::piped()).stderr(Stdio::piped());
    let promtool = promtool.spawn();
    let mut promtool = promtool.expect("promtool (Debian package prometheus)");
    // promtool reads all its input before it prints.
    let mut stdin = promtool.stdin.take().unwrap();
    stdin.write_all(text.as_bytes()).unwrap();
    drop(stdin);
    let ended = promtool.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert!(
        ended.status.success() && errors.is_empty(),
        "{errors}\n{text}"
    );
    end(&place, written, Signal::TERM);
}
