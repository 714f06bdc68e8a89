// SPDX-License-Identifier: GPL-2.0-or-later
//! Finds QEMU and its features, and makes its command lines.

use kernels::child::die_with_parent;
use kernels::files::{digest, digest_file};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use kernels::arch::Arch;
use model::{Emulator, Failure, PluginApi};
use rustix::process::Signal;

use crate::error::LabError;
use crate::find::find_program;
use crate::initramfs::DiskFile;
use crate::root::Root;
use crate::vm::Boot;
use probe::first_line;

mod probe;

const MEMORY_MIB: u32 = 768;

#[derive(Debug, Clone)]
pub struct Qemu {
    pub path: PathBuf,
    pub arch: &'static Arch,
    pub version: String,
    pub plugin_api: Option<PluginApi>,
    /// The error with which it refused lsmeter's plugin; empty if it does not support plugins.
    plugin_refusal: String,
    /// Supports seccomp (`-sandbox`).
    pub sandbox: bool,
    pub kvm: bool,
    /// The emulated processor, if not the architecture's default.
    processor: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accelerator {
    /// The guest's clock counts its instructions, so boots for one measurement are identical.
    Tcg,
    Kvm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PluginMode {
    Counts,
    Traces,
    Events,
    Tasks,
}

fn plugin_argument(plugin: &Path, mode: PluginMode, boot: &Boot<'_>) -> OsString {
    let mut argument = join("", plugin);
    argument.push(join(",records=", &boot.scratch.join("records")));
    argument.push(join(",serve=", &boot.scratch));
    if let Ok(landmarks) = &boot.bootable.landmarks {
        argument.push(join(",symbols=", landmarks));
    }
    argument.push(match mode {
        PluginMode::Counts | PluginMode::Tasks => "",
        PluginMode::Traces => ",trace=on",
        PluginMode::Events => ",events=on",
    });
    if boot.processors.is_some() {
        let memory = memory_mib(boot.root, boot.bootable.disk.as_ref());
        argument.push(format!(",transfers={memory}"));
    }
    if let (PluginMode::Tasks, Some((functions, _))) = (mode, &boot.bootable.functions) {
        argument.push(join(",tasks=", functions));
    }
    argument
}

impl Qemu {
    /// Finds the QEMU for guests of `arch` (at `path`, or in PATH) and its features. `plugin` is
    /// lsmeter's plugin file.
    pub fn probe(
        path: Option<&Path>,
        plugin: &Path,
        arch: &'static Arch,
    ) -> Result<Qemu, LabError> {
        let program = Path::new(arch.machine.program);
        let hint = match path {
            None => format!("install QEMU: apt install {}", arch.machine.package),
            Some(_) => format!("give --qemu the path of {}", program.display()),
        };
        let path = path.unwrap_or(program).to_path_buf();
        let output = Command::new(&path)
            .arg("--version")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| {
                Failure::environment(format!("cannot run {}: {error}", path.display()), hint)
            })?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = text
            .split_once("QEMU emulator version ")
            .and_then(|(_, rest)| rest.split([' ', '\n']).next())
            .filter(|_| output.status.success())
            .ok_or_else(|| {
                let path = path.display();
                let message = first_line(&output.stderr);
                Failure::environment(
                    match message.as_str() {
                        "" => format!("{path} does not report a QEMU version"),
                        message => format!("{path} --version fails: {message}"),
                    },
                    format!("run `{path} --version`"),
                )
            })?
            .to_owned();
        let mut device = fs::File::options();
        let device = device.read(true).write(true);
        let mut qemu = Qemu {
            path,
            arch,
            version,
            plugin_api: None,
            plugin_refusal: String::new(),
            sandbox: false,
            kvm: arch.is_native() && device.open("/dev/kvm").is_ok(),
            processor: None,
        };
        match qemu.probe_plugin(plugin) {
            Ok(api) => qemu.plugin_api = Some(api),
            Err(refusal) => qemu.plugin_refusal = refusal,
        }
        qemu.sandbox = qemu.accepts(&["-sandbox", SANDBOX]);
        Ok(qemu)
    }

    /// A digest of the program, and of its firmware's names, sizes and times; None if unreadable.
    pub(crate) fn digest(&self) -> Option<String> {
        let found = self.path.to_str().filter(|name| !name.contains('/'));
        let found = found.map_or(Some(self.path.clone()), find_program);
        let mut all = digest_file(&found?).ok()?;
        let listed = Command::new(&self.path)
            .args(["-L", "help"])
            .output()
            .ok()?;
        for dir in String::from_utf8_lossy(&listed.stdout).lines() {
            let files = fs::read_dir(dir).into_iter().flatten().flatten();
            let mut files: Vec<String> = files
                .map(|file| format!("{:?} {:?}\n", file.file_name(), firmware(&file.path())))
                .collect();
            files.sort();
            all.extend(files);
        }
        Some(digest(all.as_bytes()))
    }

    pub fn describe(&self, accelerator: Accelerator, plugin: bool) -> Emulator {
        Emulator {
            version: self.version.clone(),
            cpu: self.cpu(accelerator).to_owned(),
            machine: self.arch.machine.board.to_owned(),
            plugin_api: self.plugin_api.filter(|_| plugin),
        }
    }

    /// The machine's command. The console, the agent's port and the plugin's records are files in the
    /// boot's scratch directory. It ends with lsmeter in any case.
    pub fn command(&self, boot: &Boot<'_>, initramfs: &Path) -> Command {
        let scratch = |name: &str| boot.scratch.join(name);
        // The agent starts the others.
        let one = if boot.processors > Some(1) {
            "maxcpus=1 "
        } else {
            ""
        };
        let cmdline = format!("{one}{} {}", boot.bootable.cmdline, boot.cmdline);
        let mut command = Command::new(&self.path);
        command
            .args([
                "-nodefaults",
                "-no-user-config",
                "-display",
                "none",
                "-monitor",
                "none",
            ])
            .args(["-no-reboot", "-nic", "none"])
            // A kernel without ACPI finds one processor in each socket, in the MP table.
            .args([
                "-smp",
                &format!("{0},sockets={0}", boot.processors.unwrap_or(1)),
            ])
            .args(["-cpu", self.cpu(boot.accelerator)])
            .arg("-chardev")
            .arg(join("file,id=console,path=", &scratch("console")))
            .args(["-serial", "chardev:console"])
            .arg("-chardev")
            .arg(join("file,id=agent,path=", &scratch("agent")))
            .args(match self.arch.machine.results_device {
                None => ["-serial".to_owned(), "chardev:agent".to_owned()],
                Some(device) => ["-device".to_owned(), format!("{device},chardev=agent")],
            })
            .arg("-kernel")
            .arg(&boot.bootable.image)
            .arg("-initrd")
            .arg(initramfs)
            .args([
                "-append",
                &format!("{} {}", self.base_cmdline(boot.accelerator), cmdline.trim()),
            ]);
        self.add_memory(&mut command, boot);
        match boot.accelerator {
            Accelerator::Kvm => {
                command.args(["-accel", "kvm"]);
            }
            Accelerator::Tcg => {
                command
                    .args(["-accel", "tcg,thread=single"])
                    .args(["-icount", "shift=0,sleep=off", "-seed", "1"])
                    .args(["-rtc", &format!("base={},clock=vm", clock_base(boot.root))]);
            }
        }
        if self.sandbox {
            // When the plugin copies the machine, it forbids the execution of programs itself.
            let spawn = if boot.plugin.is_some() {
                "allow"
            } else {
                "deny"
            };
            command.args(["-sandbox", &format!("{SANDBOX},spawn={spawn}")]);
        }
        if let Some((plugin, mode)) = boot.plugin {
            let argument = plugin_argument(plugin, mode, boot);
            command.arg("-plugin").arg(argument);
            if let Some(api) = self.plugin_api {
                command.env("LSMETER_PLUGIN_API", api.current.to_string());
            }
        }
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        die_with_parent(&mut command, Signal::KILL);
        command
    }

    /// Memory, and the disk as memory: QEMU maps a file privately (`share=off`). The kernel finds
    /// it by its command line and ignores ACPI's entry.
    fn add_memory(&self, command: &mut Command, boot: &Boot<'_>) {
        let board = self.arch.machine.board_argument();
        let disk = boot.bootable.disk.as_ref();
        let memory = memory_mib(boot.root, disk);
        let place = self.arch.machine.persistent_memory.as_ref();
        let Some((disk, place)) = disk.zip(place) else {
            command.args(["-m", &memory.to_string(), "-machine", &board]);
            return;
        };
        let address = place.address;
        // QEMU's device memory starts after RAM and includes the address.
        let most = u64::from(memory) + (address + disk.bytes).div_ceil(1 << 20);
        let mut object = OsString::from("memory-backend-file,id=disk,share=off");
        object.push(format!(",size={}", disk.bytes));
        object.push(join(",mem-path=", &disk.path));
        command
            .args(["-m", &format!("size={memory}M,slots=1,maxmem={most}M")])
            .args(["-machine", &format!("{board},nvdimm=on")])
            .arg("-object")
            .arg(object)
            .args(["-device", &format!("nvdimm,memdev=disk,addr={address}")]);
    }

    /// A model with features: `cortex-a72`, `max,pauth-impdef=on`.
    pub fn take_processor(&mut self, model: &str) -> Result<(), LabError> {
        let listed = Command::new(&self.path)
            .args(["-machine", self.arch.machine.board, "-cpu", "help"])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        let listed = listed.map_or_else(|_| Vec::new(), |output| output.stdout);
        let listed = String::from_utf8_lossy(&listed);
        let name = model.split(',').next().unwrap_or_default();
        if !listed.split_whitespace().any(|word| word == name) {
            let path = self.path.display();
            return Err(Failure::environment(
                format!("QEMU {} does not emulate processor `{name}`", self.version),
                format!("list its processors with `{path} -cpu help`"),
            )
            .into());
        }
        self.processor = Some(model.to_owned());
        Ok(())
    }

    fn cpu(&self, accelerator: Accelerator) -> &str {
        match accelerator {
            Accelerator::Tcg => {
                let own = self.processor.as_deref();
                own.unwrap_or(self.arch.machine.processor)
            }
            Accelerator::Kvm => "host",
        }
    }

    /// The hash tables for names and inodes are large: in small ones a benchmark's names may share
    /// a bucket with others, depending on addresses, and each lookup then takes one more step.
    /// Cipher self-tests are off: newer kernels run them in a thread parallel to init, and the
    /// larger prime groups keep that thread busy during all measurements.
    fn base_cmdline(&self, accelerator: Accelerator) -> String {
        let machine = &self.arch.machine;
        let emulated = match accelerator {
            Accelerator::Tcg => format!(
                " norandmaps {} dhash_entries=1048576 ihash_entries=1048576",
                machine.emulated_cmdline
            ),
            Accelerator::Kvm => String::new(),
        };
        format!(
            "console={} quiet panic=-1 oops=panic {} nokaslr rdinit=/init{emulated} \
             cryptomgr.notests=1",
            machine.console, machine.cmdline
        )
    }
}

/// Memory of a guest. It contains a root's image at most twice: first QEMU's initramfs and the file
/// unpacked from it, then that file and the disk. A separate disk is only in the page cache, and
/// each of its pages needs 64 bytes of kernel data. If the guest copies the root, there is one more
/// copy.
fn memory_mib(root: Option<&Root>, disk: Option<&DiskFile>) -> u32 {
    let image_mib = root.map_or(0, |root| root.bytes.div_ceil(1 << 20) + 64);
    let copied_mib = match root {
        Some(root) if root.is_copied() => image_mib,
        _ => 0,
    };
    let more = copied_mib
        + match disk {
            Some(disk) => image_mib + disk.bytes.div_ceil(64 << 20),
            None => 2 * image_mib,
        };
    MEMORY_MIB.saturating_add(u32::try_from(more).unwrap_or(u32::MAX))
}

/// The guest's time at boot. It is later than the times of all files, because programs may read
/// newer files again.
fn clock_base(root: Option<&Root>) -> String {
    const DAY_S: i64 = 86_400;
    let newest = root.map_or(0, |root| root.newest_s);
    let day = jiff::Timestamp::from_second((newest / DAY_S + 2) * DAY_S);
    match day {
        Ok(day) if root.is_some() => day.strftime("%Y-%m-%dT%H:%M:%S").to_string(),
        _ => "2024-01-01T00:00:00".to_owned(),
    }
}

const SANDBOX: &str = "on,obsolete=deny,elevateprivileges=deny";

fn join(text: &str, path: &Path) -> OsString {
    let mut joined = OsString::from(text);
    let mut parts = path.as_os_str().as_bytes().split(|&byte| byte == b',');
    joined.extend(parts.next().map(OsStr::from_bytes));
    for part in parts {
        joined.push(",,");
        joined.push(OsStr::from_bytes(part));
    }
    joined
}

/// Size and time of change.
fn firmware(path: &Path) -> Option<(u64, SystemTime)> {
    let found = fs::metadata(path).ok()?;
    Some((found.len(), found.modified().ok()?))
}
