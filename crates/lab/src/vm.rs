// SPDX-License-Identifier: GPL-2.0-or-later
//! One boot: a kernel under one stack, the agent, its measurements.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use counts::functions::FunctionTable;
use counts::program::ProgramReader;
use kernels::files::hex;
use sha2::{Digest as _, Sha256};

use crate::initramfs::{self, DiskFile};
use crate::port::Port;
use crate::prepare::Profiling;
use crate::process::{Process, end_of, end_of_file, explained};
use crate::qemu::{Accelerator, PluginMode, Qemu};
use crate::root::Root;
use crate::session::{AgentEvent, Break, Patience, Session};

#[derive(Debug, Clone)]
pub struct Bootable {
    pub image: PathBuf,
    pub initramfs: PathBuf,
    /// The disk, unless the initramfs has the file system; boots share it.
    pub disk: Option<DiskFile>,
    pub cmdline: String,
    /// Addresses of interrupts and context switches for the plugin, or why they are unknown.
    pub landmarks: Result<PathBuf, String>,
    /// The plugin checks the landmarks against this system call entry.
    pub syscall_entry: Option<u64>,
    /// Digest of all files above and of QEMU. If None, measurements are not cached.
    pub digest: Option<String>,
    pub functions: Option<(PathBuf, Arc<FunctionTable>)>,
    pub profiling: Option<Arc<Profiling>>,
}

impl Bootable {
    pub(crate) fn program_reader<'a>(
        &'a self,
        active_lsms: &'a [String],
    ) -> Option<ProgramReader<'a>> {
        let (_, functions) = self.functions.as_ref()?;
        let profiling = self.profiling.as_deref()?;
        Some(ProgramReader {
            functions,
            symbols: &profiling.symbols,
            framework: &profiling.framework,
            active_lsms,
            keep_trees: profiling.keep_trees,
        })
    }
}

/// Size limit of each of the console, the agent's file and the plugin's records. The plugin's own
/// limit (`records.c`) is a little lower.
pub(crate) const FILE_LIMIT_BYTES: u64 = (1 << 30) + (1 << 20);

#[derive(Debug)]
pub struct Boot<'a> {
    pub qemu: &'a Qemu,
    pub bootable: &'a Bootable,
    pub cmdline: String,
    pub accelerator: Accelerator,
    pub plugin: Option<(&'a Path, PluginMode)>,
    pub directives: String,
    /// See [`crate::Setup`].
    pub machine: u32,
    pub files: &'a [(String, Vec<u8>)],
    pub root: Option<&'a Root>,
    pub patience: Patience,
    /// With transfers; otherwise one.
    pub processors: Option<u32>,
    pub scratch: PathBuf,
}

impl Boot<'_> {
    /// Directives are part of the initramfs instead of being sent over the port, because the time
    /// at which the host writes is random and would affect the deterministic clock.
    fn last_archive(&self) -> Result<Vec<u8>, initramfs::Error> {
        initramfs::with_directives(&self.directives, self.files, self.machine)
    }

    /// Digest of everything that determines counts; the same for identical machines of this QEMU.
    /// None if it is unknown.
    pub(crate) fn digest(&self) -> Option<String> {
        let bootable = self.bootable;
        let plugin = self.plugin.map(|(path, _)| path);
        let disk = bootable.disk.as_ref().map(|disk| disk.path.as_path());
        let functions = bootable.functions.as_ref().map(|(path, _)| path.as_path());
        let landmarks = bootable.landmarks.as_deref().ok();
        let image = [bootable.image.as_path(), &self.scratch];
        let paths = [plugin, disk, functions, landmarks].into_iter().flatten();
        let paths = paths.chain(image).map(Path::to_str);
        let paths: Vec<&str> = paths.collect::<Option<_>>()?;
        // In QEMU's options, commas are doubled.
        let doubled: Vec<String> = paths.iter().map(|path| path.replace(',', ",,")).collect();
        let paths = doubled.iter().map(String::as_str).chain(paths);
        let paths: Vec<&str> = paths.collect();
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        add(bootable.digest.as_ref()?.as_bytes());
        add(&self.last_archive().ok()?);
        let command = self.qemu.command(self, Path::new("initramfs"));
        for argument in command.get_args() {
            // Contents are in the bootable's digest.
            let argument = argument.to_string_lossy().into_owned();
            add(paths
                .iter()
                .fold(argument, |text, path| text.replace(path, ""))
                .as_bytes());
        }
        Some(hex(&hash.finalize()))
    }
}

/// A started QEMU. Its output is in the scratch directory.
#[derive(Debug)]
pub(crate) struct Started {
    pub qemu: Process,
    /// QEMU's standard input: the plugin takes requests for copies from it.
    pub control: UnixStream,
    console: PathBuf,
    pub agent: PathBuf,
}

impl Started {
    pub fn new(boot: &Boot<'_>) -> Result<Started, Break> {
        let broken = |what: &str, error: std::io::Error| Break::Failed(format!("{what}: {error}"));
        let path = |name: &str| boot.scratch.join(name);
        let initramfs = path("initramfs");
        write_initramfs(boot, &initramfs)
            .map_err(|error| broken("writing the initramfs", error))?;
        let (control, theirs) =
            UnixStream::pair().map_err(|error| broken("creating a pair of sockets", error))?;
        let (console, agent) = (path("console"), path("agent"));
        File::create(&agent).map_err(|error| broken("creating the agent's file", error))?;
        let mut command = boot.qemu.command(boot, &initramfs);
        command.stdin(Stdio::from(OwnedFd::from(theirs)));
        let qemu = Process::start(command).map_err(|error| broken("QEMU does not start", error))?;
        qemu.limit_files(FILE_LIMIT_BYTES);
        Ok(Started {
            qemu,
            control,
            console,
            agent,
        })
    }

    /// Listens to the agent until it is done with `cells`, and returns its log.
    pub fn listen(
        &mut self,
        cells: &[u32],
        patience: Patience,
        cancel: &AtomicBool,
        listener: &mut dyn FnMut(AgentEvent) -> Result<(), String>,
    ) -> Result<String, Break> {
        let port = Port::file(&self.agent)
            .map_err(|error| Break::Failed(format!("cannot open the agent's file: {error}")))?;
        let session = Session {
            port,
            cells,
            patience,
            process: Some(self.qemu.id()),
            cancel,
        };
        let qemu = &mut self.qemu;
        let outcome = session.run(
            None,
            &mut || match qemu.status() {
                Some(status) => Some(end_of("QEMU", status)),
                None => kvm_failure(&qemu.stderr()).map(Break::Failed),
            },
            listener,
        );
        outcome.map_err(|end| {
            self.qemu.end();
            explained(
                end,
                &end_of_file(&self.console),
                &self.qemu.stderr(),
                "QEMU",
            )
        })
    }
}

/// Boots, measures, and returns the agent's log. A listener's error ends the boot.
///
/// # Errors
/// [`Break`] when the guest did not finish all its measurements, with the reason and the console's
/// last lines.
pub fn boot(
    boot: &Boot<'_>,
    cells: &[u32],
    cancel: &AtomicBool,
    listener: &mut dyn FnMut(AgentEvent) -> Result<(), String>,
) -> Result<String, Break> {
    let mut started = Started::new(boot)?;
    let log = started.listen(cells, boot.patience, cancel, listener)?;
    // The guest's reboot ends QEMU, on which nothing depends any more.
    started.qemu.wait_at_most(Duration::from_secs(2));
    Ok(log)
}

/// QEMU's message when KVM cannot run the guest further. The guest stops, but QEMU does not end.
fn kvm_failure(stderr: &str) -> Option<String> {
    stderr
        .lines()
        .find(|line| {
            [
                "KVM internal error",
                "KVM: entry failed",
                "error: kvm run failed",
            ]
            .iter()
            .any(|begin| line.starts_with(begin))
        })
        .map(|line| format!("KVM failed ({line})"))
}

fn write_initramfs(boot: &Boot<'_>, path: &Path) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    let mut base = File::open(&boot.bootable.initramfs)?;
    std::io::copy(&mut base, &mut file)?;
    file.write_all(&boot.last_archive().map_err(std::io::Error::other)?)
}
