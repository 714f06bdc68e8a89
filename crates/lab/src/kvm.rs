// SPDX-License-Identifier: GPL-2.0-or-later
//! Tests KVM with a boot: under some hypervisors `/dev/kvm` opens, but KVM cannot execute what a
//! kernel does early in its boot.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use model::FileSystem;

use crate::error::LabError;
use crate::prepare;
use crate::qemu::{Accelerator, Qemu};
use crate::session::{Break, Patience};
use crate::vm::{self, Boot};
use kernels::scratch::Scratch;
use kernels::{Kernel, Store};

/// Hardware boots a stock kernel in 1 to 2 s. Waiting for a processor does not count.
const PATIENCE: Duration = Duration::from_secs(5);

/// Boots `kernel` under KVM until `agent` sends hello. None on success or cancellation, otherwise
/// the reason for the failure.
pub fn trial(
    qemu: &Qemu,
    store: &Store,
    kernel: &Kernel,
    agent: &[u8],
    cancel: &AtomicBool,
) -> Result<Option<String>, LabError> {
    let scratch = Scratch::new().map_err(LabError::io("create", &std::env::temp_dir()))?;
    let prepared = scratch.path().join("prepared");
    std::fs::create_dir(&prepared).map_err(LabError::io("create", &prepared))?;
    let bootable = prepare::prepare(
        store,
        agent,
        kernel,
        FileSystem::Tmpfs.into(),
        None,
        qemu,
        &prepared,
    )?;
    let boot = Boot {
        qemu,
        bootable: &bootable,
        cmdline: String::new(),
        accelerator: Accelerator::Kvm,
        plugin: None,
        files: &[],
        root: None,
        directives: String::new(),
        machine: 0,
        processors: None,
        patience: Patience {
            boot: PATIENCE,
            cell: PATIENCE,
        },
        scratch: scratch.path().to_owned(),
    };
    let mut hello = false;
    let outcome = vm::boot(&boot, &[], cancel, &mut |_| {
        hello = true;
        Err("the trial boot is complete".to_owned())
    });
    Ok(match outcome {
        Err(Break::Failed(reason)) if !hello => {
            Some(reason.lines().next().unwrap_or_default().to_owned())
        }
        _ => None,
    })
}
