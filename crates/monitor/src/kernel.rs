// SPDX-License-Identifier: GPL-2.0-or-later
//! Calls of `bpf(2)` that libbpf-rs does not wrap: loads single programs, with patched code.

use std::ffi::{CStr, c_int};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

use libbpf_rs::libbpf_sys as sys;

use crate::error::Refused;

/// The kernel-internal `ENOTSUPP`, which user space does not define.
pub const ENOTSUPP: i32 = 524;
pub const EPERM: i32 = 1;
pub const ENOENT: i32 = 2;
pub const EBUSY: i32 = 16;
pub const EINVAL: i32 = 22;
pub const ENOSYS: i32 = 38;
const LOG_BYTES: usize = 16 << 10;
const LOG_SHOWN: usize = 400;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Entry,
    Exit,
    Tracepoint,
}

fn checked(result: c_int) -> io::Result<c_int> {
    match result {
        0.. => Ok(result),
        error => Err(io::Error::from_raw_os_error(-error)),
    }
}

/// Loads a program for the function or tracepoint with the BTF id `id`. The error has the end of
/// the verifier's log.
pub fn load(
    name: &CStr,
    place: Place,
    id: u32,
    instructions: &[sys::bpf_insn],
) -> Result<OwnedFd, Refused> {
    let mut options = sys::bpf_prog_load_opts {
        sz: size_of::<sys::bpf_prog_load_opts>() as sys::size_t,
        expected_attach_type: match place {
            Place::Entry => sys::BPF_TRACE_FENTRY,
            Place::Exit => sys::BPF_TRACE_FEXIT,
            Place::Tracepoint => sys::BPF_TRACE_RAW_TP,
        },
        attach_btf_id: id,
        ..Default::default()
    };
    let source = match load_with(name, instructions, &mut options) {
        Ok(program) => return Ok(program),
        Err(source) => source,
    };
    // The program is loaded again for the log, because a full log buffer would change the error.
    let mut log = vec![0u8; LOG_BYTES];
    options.log_level = 1;
    options.log_buf = log.as_mut_ptr().cast();
    options.log_size = LOG_BYTES as u32;
    drop(load_with(name, instructions, &mut options));
    let log = log_end(&log);
    Err(Refused { source, log })
}

fn load_with(
    name: &CStr,
    instructions: &[sys::bpf_insn],
    options: &mut sys::bpf_prog_load_opts,
) -> io::Result<OwnedFd> {
    // SAFETY: the strings end in 0; options, their log and the instructions outlive the call.
    let result = unsafe {
        sys::bpf_prog_load(
            sys::BPF_PROG_TYPE_TRACING,
            name.as_ptr(),
            c"GPL".as_ptr(),
            instructions.as_ptr(),
            instructions.len() as sys::size_t,
            options,
        )
    };
    // SAFETY: a new descriptor, which nobody else has.
    checked(result).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The last lines of a log in one line, after a colon; empty without any.
fn log_end(log: &[u8]) -> String {
    let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
    let text = String::from_utf8_lossy(&log[..end]);
    let lines = text
        .lines()
        .filter(|line| !line.starts_with("processed ") && !line.trim().is_empty());
    let mut shown = String::new();
    for line in lines.collect::<Vec<_>>().into_iter().rev() {
        if shown.len() + line.len() > LOG_SHOWN {
            break;
        }
        shown = match shown.is_empty() {
            true => line.trim().to_owned(),
            false => format!("{}; {shown}", line.trim()),
        };
    }
    match shown.is_empty() {
        true => shown,
        false => format!(": {shown}"),
    }
}

pub fn attach(program: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    // SAFETY: there is no name, because the program knows where it belongs.
    let result = unsafe { sys::bpf_raw_tracepoint_open(ptr::null(), program.as_raw_fd()) };
    // SAFETY: a new descriptor, which nobody else has.
    checked(result).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The kernel calls `bpf_fentry_test1` to `bpf_fentry_test8` once each.
pub fn run_test_functions(program: BorrowedFd<'_>) -> io::Result<()> {
    let mut options = sys::bpf_test_run_opts {
        sz: size_of::<sys::bpf_test_run_opts>() as sys::size_t,
        ..Default::default()
    };
    // SAFETY: the options outlive the call, and do not refer to memory.
    checked(unsafe { sys::bpf_prog_test_run_opts(program.as_raw_fd(), &raw mut options) })?;
    Ok(())
}

/// Runs skipped because the program was already running on the same processor.
pub fn missed_runs(program: BorrowedFd<'_>) -> io::Result<u64> {
    let mut info = sys::bpf_prog_info::default();
    let mut len = size_of::<sys::bpf_prog_info>() as u32;
    // SAFETY: info has that length, and does not request any of the arrays.
    checked(unsafe {
        sys::bpf_prog_get_info_by_fd(program.as_raw_fd(), &raw mut info, &raw mut len)
    })?;
    Ok(info.recursion_misses)
}

pub fn set_cgroup(map: c_int, cgroup: BorrowedFd<'_>) -> io::Result<()> {
    let (key, value) = (0u32, cgroup.as_raw_fd());
    // SAFETY: key and value have the types of this map, and outlive the call.
    checked(unsafe {
        sys::bpf_map_update_elem(map, (&raw const key).cast(), (&raw const value).cast(), 0)
    })?;
    Ok(())
}
