// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter doctor`: what works on this machine, and how to get the rest.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use indicatif::HumanBytes;
use kernels::Store;
use kernels::scratch::Scratch;
use lab::cache::Cache;
use lab::qemu::Qemu;
use lab::{environment, write_plugin};
use model::{Exit, Fault};
use report::printable;
use serde::Serialize;

use crate::cli::DoctorArgs;
use crate::config::{Config, cache_dir};
use crate::output;
use crate::progress::Line;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Ok,
    /// An optional feature does not work.
    Missing,
    /// A required feature does not work, so `lsmeter run` cannot either.
    Essential,
}

#[derive(Debug, Serialize)]
struct Finding {
    what: &'static str,
    verdict: Verdict,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Finding {
    fn ok(what: &'static str, found: impl Into<String>) -> Finding {
        Finding {
            what,
            verdict: Verdict::Ok,
            found: found.into(),
            hint: None,
        }
    }

    fn missing(what: &'static str, found: impl Into<String>, hint: &str) -> Finding {
        let hint = Some(hint.to_owned());
        Finding {
            what,
            verdict: Verdict::Missing,
            found: found.into(),
            hint,
        }
    }

    fn essential(what: &'static str, found: impl Into<String>, hint: &str) -> Finding {
        Finding {
            verdict: Verdict::Essential,
            ..Finding::missing(what, found, hint)
        }
    }
}

pub fn doctor(args: &DoctorArgs) -> Result<Exit> {
    if args.clear_cache {
        let stay = Cache::new(&Store::open(&cache_dir())?).clear();
        if stay > 0 {
            note!("kept cached counts for {stay} VMs that are in use or belong to another user");
        }
        return Ok(Exit::Fine);
    }
    let config = Config::read()?;
    let mut findings = qemu(args.qemu.as_deref().or(config.qemu.as_deref()));
    findings.extend(kernels(&config));
    findings.extend(cached());
    findings.extend(file_systems());
    findings.push(match environment::host_lsms() {
        Some(lsms) => Finding::ok("LSMs of this machine", lsms.join(",")),
        None => Finding::missing(
            "LSMs of this machine",
            "/sys/kernel/security/lsm cannot be read",
            "mount -t securityfs securityfs /sys/kernel/security (only needed for --on host)",
        ),
    });
    findings.push(watching());
    findings.push(delays());
    findings.push(Finding::ok("processors", environment::cores().to_string()));

    let is_missing = findings
        .iter()
        .any(|finding| finding.verdict == Verdict::Essential);
    let exit = if is_missing {
        Exit::Environment
    } else {
        Exit::Fine
    };
    if args.json {
        output::print_listing("findings", &findings)?;
        return Ok(exit);
    }
    let mut text = String::new();
    for finding in &findings {
        let mark = match finding.verdict {
            Verdict::Ok => "ok     ",
            Verdict::Missing => "missing",
            Verdict::Essential => "NEEDED ",
        };
        text.push_str(&format!("{mark}  {}: {}\n", finding.what, finding.found));
        if let Some(hint) = &finding.hint {
            text.push_str(&format!("         hint: {hint}\n"));
        }
    }
    output::print(&text)?;
    Ok(exit)
}

fn qemu(path: Option<&Path>) -> Vec<Finding> {
    let probed = Scratch::new()
        .map_err(anyhow::Error::from)
        .and_then(|dir| Ok((write_plugin(dir.path())?, dir)))
        .and_then(|(plugin, _dir)| Ok(Qemu::probe(path, &plugin, kernels::arch::native())?));
    let qemu = match probed {
        Ok(qemu) => qemu,
        Err(error) => {
            let hint = format!(
                "apt-get install {}",
                kernels::arch::native().machine.package
            );
            return vec![Finding::essential("QEMU", format!("{error:#}"), &hint)];
        }
    };
    let mut findings = vec![Finding::ok(
        "QEMU",
        format!("{} ({})", qemu.version, qemu.path.display()),
    )];
    findings.push(match qemu.plugin_api {
        Some(api) => Finding::ok(
            "counting instructions",
            format!(
                "lsmeter's plugin loads; QEMU serves plugin API {} to {}",
                api.min, api.current
            ),
        ),
        None => {
            let failure = qemu.no_plugin();
            let hint = failure.hint().unwrap_or_default();
            Finding::essential("counting instructions", failure.to_string(), &hint)
        }
    });
    findings.push(if qemu.sandbox {
        Finding::ok("confining QEMU", "with seccomp")
    } else {
        Finding::missing(
            "confining QEMU",
            "this QEMU has no seccomp",
            "not needed: virtual machines cannot access the network or files of this machine",
        )
    });
    findings.push(kvm(&qemu));
    findings
}

/// Boots a kernel, because /dev/kvm may open although no kernel boots with it.
fn kvm(qemu: &Qemu) -> Finding {
    let what = "KVM";
    if !qemu.kvm {
        return if Path::new("/dev/kvm").exists() {
            let hint = "adduser $USER kvm, and log in again";
            Finding::missing(what, "no permission to open /dev/kvm", hint)
        } else {
            let hint = "not needed to count instructions; measure time with --on um or --on host, or \
                 enable virtualisation in the firmware";
            Finding::missing(what, "no /dev/kvm", hint)
        };
    }
    let here = Store::open(&cache_dir()).and_then(|store| {
        let mut kernels = store.list()?.into_iter();
        let kernel = kernels.find(|kernel| !kernel.is_program && kernel.arch().is_native());
        Ok(kernel.map(|kernel| (store, kernel)))
    });
    let Ok(Some((store, kernel))) = here else {
        let found = "/dev/kvm opens, but there is no kernel in the cache to test KVM with";
        let hint = "lsmeter kernel fetch debian:6.12 && lsmeter doctor";
        return Finding::missing(what, found, hint);
    };
    let line = Line::new(false);
    line.say(format!("testing KVM with {}", kernel.name));
    let cancel = AtomicBool::new(false);
    let trial = lab::kvm::trial(qemu, &store, &kernel, lab::catalogue::agent(), &cancel);
    line.done();
    let reason = match trial {
        Ok(None) => return Finding::ok(what, format!("{} boots with KVM", kernel.name)),
        Ok(Some(reason)) => reason,
        Err(error) => error.to_string(),
    };
    Finding::missing(
        what,
        format!(
            "{} does not boot with KVM: {}",
            kernel.name,
            printable(&reason, 200)
        ),
        "not needed to count instructions; measure time with --on um or --on host",
    )
}

fn kernels(config: &Config) -> Vec<Finding> {
    let apt = Command::new("apt-get")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    let mut findings = vec![
        match (apt.is_ok_and(|status| status.success()), config.mirrors()) {
            (false, _) => Finding::missing(
                "fetching kernels",
                "apt-get is not installed",
                "give kernels by path: --kernel PATH",
            ),
            (true, Ok(_)) => Finding::ok(
                "fetching kernels",
                "with a private apt from Debian's mirror",
            ),
            (true, Err(error)) => Finding::missing(
                "fetching kernels",
                error.to_string(),
                error
                    .hint()
                    .unwrap_or("name a mirror in the configuration file"),
            ),
        },
    ];
    let found = Store::open(&cache_dir()).and_then(|store| store.list());
    findings.push(match found {
        Ok(kernels) if kernels.is_empty() => Finding::missing(
            "kernels",
            "none in the cache",
            "lsmeter kernel fetch debian:6.12 (`lsmeter run` fetches missing kernels too)",
        ),
        Ok(kernels) => {
            let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
            Finding::ok("kernels", names.join(" "))
        }
        Err(error) => Finding::essential(
            "kernels",
            error.to_string(),
            "set XDG_CACHE_HOME to a writable directory",
        ),
    });
    findings
}

fn cached() -> Option<Finding> {
    let store = Store::open(&cache_dir()).ok()?;
    let cache = Cache::new(&store);
    if let Some(why) = cache.doubt() {
        let hint = "set XDG_CACHE_HOME to a directory that you own; until then nothing is cached";
        return Some(Finding::missing("cached counts", why, hint));
    }
    let (machines, bytes) = cache.size();
    let limit = match lab::cache::limit() {
        Ok(limit) => limit,
        Err(error) => {
            let hint = error.hint().unwrap_or_default();
            return Some(Finding::missing("cached counts", error.to_string(), &hint));
        }
    };
    let [bytes, limit] = [bytes, limit].map(HumanBytes);
    let found = format!("{bytes} for {machines} machines; at most {limit} (LSMETER_CACHE_SIZE)");
    Some(Finding::ok("cached counts", found))
}

fn watching() -> Finding {
    let what = "watching hooks of this machine";
    match monitor::Monitor::try_here() {
        Ok(functions) => {
            let found = format!("eBPF programs load; {functions} hook functions found");
            Finding::ok(what, found)
        }
        Err(error) => {
            let hint = Fault::hint(&error);
            let hint = hint.as_deref();
            let hint = hint.unwrap_or("only needed for `lsmeter monitor`");
            Finding::missing(what, error.to_string(), hint)
        }
    }
}

fn delays() -> Finding {
    let what = "delaying hooks of this machine";
    match sensitivity::live::try_here(&std::env::temp_dir()) {
        Ok(()) => Finding::ok(what, "BPF LSM programs load and attach"),
        Err(error) => Finding::missing(
            what,
            error.to_string(),
            "only needed for `lsmeter sensitivity --on host`",
        ),
    }
}

fn file_systems() -> Vec<Finding> {
    [
        ("ext4", "mkfs.ext4", "e2fsprogs"),
        ("xfs", "mkfs.xfs", "xfsprogs"),
        ("btrfs", "mkfs.btrfs", "btrfs-progs"),
    ]
    .into_iter()
    .map(|(what, program, package)| {
        let hint = format!("apt-get install {package}");
        match lab::initramfs::find_program(program) {
            Some(path) => Finding::ok(what, path.display().to_string()),
            None if what == "ext4" => Finding::essential(what, format!("no {program}"), &hint),
            None => Finding::missing(what, format!("no {program}"), &hint),
        }
    })
    .collect()
}
