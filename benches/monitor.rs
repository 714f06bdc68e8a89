// SPDX-License-Identifier: GPL-2.0-or-later
//! Cost of `lsmeter monitor` per hook call, compared with bpftrace, and a check for lost calls.
//!
//! ```text
//! cargo bench -p lsmeter --bench monitor -- cost [KERNEL]
//! cargo bench -p lsmeter --bench monitor -- stress [KERNEL [SECONDS]]
//! ```
//!
//! `cost` needs bpftrace, and both need the tools of the tests in VMs. The kernel must be in the
//! cache (`lsmeter kernel fetch debian:6.12`).

#[path = "../crates/lsmeter/tests/machine/vm/mod.rs"]
mod vm;

use std::error::Error;
use std::ffi::CString;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use model::Document;
use serde_json::Value;
use vm::Vm;

const OPERATION: &str = "stat:AA/BB/CC/DD";
/// Watched hook calls in it: `inode_permission`, once per component.
const CALLS: f64 = 4.0;
/// Watching commands by name; empty for none.
const WATCHERS: [(&str, &str); 9] = [
    ("nothing", ""),
    (
        "empty pair",
        "bpftrace -e 'kfunc:HOOK { $x = 1; } kretfunc:HOOK { $x = 1; }'",
    ),
    (
        "count, lsmeter",
        "lsmeter monitor --plain --count --hooks inode_permission",
    ),
    (
        "count, bpftrace",
        "bpftrace -e 'kfunc:HOOK { @ = count(); }'",
    ),
    (
        "time, lsmeter",
        "lsmeter monitor --plain --hooks inode_permission",
    ),
    (
        "time, bpftrace",
        "bpftrace -e 'kfunc:HOOK { @t[tid] = nsecs; } \
         kretfunc:HOOK /@t[tid]/ { @ = stats(nsecs - @t[tid]); delete(@t[tid]); }'",
    ),
    (
        "histogram, lsmeter",
        "lsmeter monitor --plain --histogram --hooks inode_permission",
    ),
    (
        "histogram, bpftrace",
        "bpftrace -e 'kfunc:HOOK { @t[tid] = nsecs; } \
         kretfunc:HOOK /@t[tid]/ { @ = hist(nsecs - @t[tid]); delete(@t[tid]); }'",
    ),
    // Not called by the operation.
    (
        SYSTEM_CALL,
        "lsmeter monitor --plain --system-calls --hooks task_alloc",
    ),
];
/// Its cost is per system call.
const SYSTEM_CALL: &str = "system call as a whole";

const THREADS: u64 = 8;
const WORKLOAD: &str = "/bin/workload";
/// System calls that no program loader makes, so that all are the workload's.
const FILES: u64 = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"));
    let what = arguments.next().unwrap_or_else(|| "cost".to_owned());
    if what == "workload" {
        return workload(arguments.next().ok_or("how long?")?.parse()?);
    }
    let kernel = arguments.next().unwrap_or_else(|| "debian:6.12".to_owned());
    match what.as_str() {
        "cost" => cost(&kernel),
        "stress" => stress(&kernel, arguments.next().map_or(Ok(300), |s| s.parse())?),
        _ => Err(format!("unknown command {what}: expected cost or stress").into()),
    }
}

/// The guest's clock counts instructions, so a nanosecond is one instruction.
fn cost(kernel: &str) -> Result<(), Box<dyn Error>> {
    let mut script = "mkdir -p /tmp/work\n".to_owned();
    for (number, (_, watcher)) in WATCHERS.iter().enumerate() {
        let watcher = watcher.replace("HOOK", "security_inode_permission");
        // Sleeping takes no time here.
        if !watcher.is_empty() {
            script += &format!("{watcher} >/out/{number}.log 2>&1 & watcher=$!\nsleep 60\n");
            script += "kill -0 $watcher || exit 90\n";
        }
        script += &format!(
            "lsmeter run --on host --dir /tmp/work --bench {OPERATION} --json >/out/{number}.json \
             2>/out/{number}.err || exit 91\n"
        );
        if !watcher.is_empty() {
            script += "kill -INT $watcher; sleep 20; kill -KILL $watcher; sleep 1\n";
        }
    }
    script += "true\n";
    let outcome = Vm::new(kernel)
        .lsm("capability")
        .icount()
        .memory_mib(3072)
        .minutes(30)
        .program("bpftrace")
        .run(&script);
    let mut nothing = None;
    println!(
        "{kernel}, {OPERATION}: instructions for each of {CALLS} calls of the hook, or for it"
    );
    for (number, (name, _)) in WATCHERS.iter().enumerate() {
        if outcome.status != 0 {
            return Err(outcome.summary().into());
        }
        let run: Value = serde_json::from_slice(&outcome.file(&format!("{number}.json")))?;
        let cell = &run["cells"][0];
        let estimate = &cell["evidence"]["timed"]["estimate"];
        let median = estimate["median"].as_f64().ok_or("no median")?;
        let without = *nothing.get_or_insert(median);
        let calls = if *name == SYSTEM_CALL { 1.0 } else { CALLS };
        let added = (median - without) / calls;
        let n = &estimate["n"];
        println!("{name:<22} {added:>8.1}   ({median:.1} an operation, n = {n})");
    }
    Ok(())
}

/// Compares a workload's own counts of calls, forks and executions with the monitor's.
fn stress(kernel: &str, seconds: u64) -> Result<(), Box<dyn Error>> {
    let own = fs::read(std::env::current_exe()?)?;
    let outcome = Vm::new(kernel)
        .lsm("capability,apparmor")
        .memory_mib(2048)
        .minutes(5 + 2 * seconds.div_ceil(60))
        .file(WORKLOAD, own, 0o755)
        .program("/bin/sh")
        .run(&format!(
            "(while sleep 5; do grep -h -E 'VmRSS|VmLck' /proc/$(pidof lsmeter)/status; done) >/out/memory 2>&1 &
             lsmeter monitor --histogram --record /out/seen.json -- {WORKLOAD} workload {seconds} >/out/table || exit 90
             cp /tmp/own /out/own; grep -h -E 'Slab|Percpu' /proc/meminfo",
        ));
    if outcome.status != 0 {
        return Err(outcome.summary().into());
    }
    let document = Document::parse(&outcome.file("seen.json"))?;
    for warning in &document.warnings {
        println!("{}: {}", warning.kind, warning.message);
    }
    let total = document.all_intervals();
    let seen = |function: &str, call: &str| -> u64 {
        let hooks = total.hooks.iter().filter(|hook| hook.function == function);
        let calls = hooks.flat_map(|hook| &hook.system_calls);
        calls
            .filter(|calls| calls.system_call == call)
            .map(|calls| calls.calls.count)
            .sum()
    };
    let own: Value = serde_json::from_slice(&outcome.file("own"))?;
    let mut wrong = 0;
    for (what, function, call) in [
        ("opens", "security_file_open", "open"),
        ("stats", "security_inode_getattr", "stat"),
        ("forks", "security_task_alloc", "fork"),
        ("execs", "security_bprm_committed_creds", "execve"),
    ] {
        let (own, seen) = (own[what].as_u64().unwrap_or(0), seen(function, call));
        // The command itself is executed once.
        let own = own + u64::from(what == "execs");
        println!("{what:<6} {own:>10}, seen {seen:>10} ({function} in {call})");
        wrong += u64::from(own != seen || own == 0);
    }
    let calls: u64 = total.hooks.iter().map(|hook| hook.calls.count).sum();
    println!("{calls} calls of hooks in all, {} lost", total.lost);
    let memory = String::from_utf8_lossy(&outcome.file("memory")).into_owned();
    let lines: Vec<&str> = memory.lines().filter(|line| line.contains("RSS")).collect();
    println!("at first {:?}, at last {:?}", lines.first(), lines.last());
    outcome.assert_no_kernel_warnings();
    match wrong + total.lost {
        0 => Ok(()),
        _ => Err("counts differ".into()),
    }
}

/// In the guest: threads that open, stat and make processes, and count these.
fn workload(seconds: u64) -> Result<(), Box<dyn Error>> {
    let end = Instant::now() + Duration::from_secs(seconds);
    let counts: [AtomicU64; 4] = Default::default();
    let failed = AtomicBool::new(false);
    let directory = "/tmp/stress/a/b";
    fs::create_dir_all(directory)?;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (counts, failed) = (&counts, &failed);
            scope.spawn(move || {
                let path = CString::new(format!("{directory}/{thread}")).unwrap_or_default();
                while Instant::now() < end && !failed.load(Ordering::Relaxed) {
                    if !round(&path, counts) {
                        failed.store(true, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let [opens, stats, forks, execs] = counts.map(AtomicU64::into_inner);
    let own = serde_json::json!({ "opens": opens, "stats": stats, "forks": forks, "execs": execs });
    fs::write("/tmp/own", own.to_string())?;
    match failed.into_inner() {
        true => Err("a system call of the workload failed".into()),
        false => Ok(()),
    }
}

/// Returns false if something failed.
fn round(path: &CString, counts: &[AtomicU64; 4]) -> bool {
    let program = c"/bin/busybox";
    let arguments = [c"true".as_ptr(), std::ptr::null()];
    let mut stat = [0u64; 32];
    for _ in 0..FILES {
        // SAFETY: the path ends with a NUL, and a struct stat is smaller than the buffer.
        let (fd, found) = unsafe {
            let flags = libc::O_RDWR | libc::O_CREAT | libc::O_CLOEXEC;
            let fd = libc::syscall(libc::SYS_open, path.as_ptr(), flags, 0o600);
            let found = libc::syscall(libc::SYS_stat, path.as_ptr(), stat.as_mut_ptr());
            libc::close(fd as i32);
            (fd, found)
        };
        if fd < 0 || found < 0 {
            return false;
        }
    }
    counts[0].fetch_add(FILES, Ordering::Relaxed);
    counts[1].fetch_add(FILES, Ordering::Relaxed);
    // SAFETY: the child calls nothing but execve and _exit, which are async-signal-safe;
    // arguments and program live on, in its copy of the memory.
    let child = unsafe {
        let child = libc::syscall(libc::SYS_fork);
        if child == 0 {
            libc::execve(
                program.as_ptr(),
                arguments.as_ptr(),
                [std::ptr::null()].as_ptr(),
            );
            libc::_exit(127);
        }
        child
    };
    let mut status = 0;
    // SAFETY: status points to an int.
    let ended = unsafe { libc::waitpid(child as i32, &mut status, 0) };
    counts[2].fetch_add(1, Ordering::Relaxed);
    counts[3].fetch_add(1, Ordering::Relaxed);
    child > 0 && ended == child as i32 && status == 0
}
