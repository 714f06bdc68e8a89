// SPDX-License-Identifier: GPL-2.0-or-later
//! Messages of libbpf, which calls back with a format and arguments.

use std::ffi::{c_char, c_int, c_void};
use std::panic::catch_unwind;
use std::sync::{Mutex, PoisonError};

/// In bytes; longer ones are truncated.
const MESSAGE_LIMIT: usize = 4_096;

unsafe extern "C" {
    /// On all supported architectures C functions receive `va_list` as a pointer.
    fn vsnprintf(
        buffer: *mut c_char,
        size: usize,
        format: *const c_char,
        arguments: *mut c_void,
    ) -> c_int;
}

/// Warnings of libbpf since the last [`take_libbpf_warnings`].
static WARNINGS: Mutex<String> = Mutex::new(String::new());
const WARNINGS_LIMIT: usize = 2_048;

/// A `libbpf_print_fn_t` that collects libbpf's warnings for [`take_libbpf_warnings`]. They may contain invalid
/// UTF-8.
///
/// # Safety
/// `format` and `arguments` must be valid for `vprintf`; they are not used after the call.
pub unsafe extern "C" fn collect_libbpf_warning(
    level: u32,
    format: *const c_char,
    arguments: *mut c_void,
) -> c_int {
    const WARNING: u32 = 0;
    let mut bytes = [0u8; MESSAGE_LIMIT];
    // SAFETY: the buffer has `bytes.len()` bytes; the caller guarantees the rest.
    let length = unsafe { vsnprintf(bytes.as_mut_ptr().cast(), bytes.len(), format, arguments) };
    if let Ok(length) = usize::try_from(length)
        && level == WARNING
    {
        // Unwinding into C would abort.
        let _ = catch_unwind(|| {
            let message = String::from_utf8_lossy(&bytes[..length.min(MESSAGE_LIMIT - 1)]);
            let mut warnings = WARNINGS.lock().unwrap_or_else(PoisonError::into_inner);
            if warnings.len() < WARNINGS_LIMIT {
                warnings.push_str(message.trim_start_matches("libbpf: "));
            }
        });
    }
    0
}

/// Takes the collected warnings of libbpf, in one line; may be empty.
pub fn take_libbpf_warnings() -> String {
    let warnings = std::mem::take(&mut *WARNINGS.lock().unwrap_or_else(PoisonError::into_inner));
    let lines = warnings.lines().map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    lines.join("; ")
}
