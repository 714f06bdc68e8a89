// SPDX-License-Identifier: GPL-2.0-or-later
//! Messages of a C library that calls back with a format and arguments.

use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

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

/// Passes the message of a callback such as `libbpf_print_fn_t` to `take`; it may contain invalid
/// UTF-8. Panics of `take` are caught: unwinding into C would abort.
///
/// # Safety
/// `format` and `arguments` are the callback's, valid for `vprintf`, and not used again.
pub unsafe fn heard(format: *const c_char, arguments: *mut c_void, take: impl FnOnce(&str)) {
    let mut bytes = [0u8; MESSAGE_LIMIT];
    // SAFETY: the buffer has as many bytes as it says; the rest is the caller's promise.
    let length = unsafe { vsnprintf(bytes.as_mut_ptr().cast(), bytes.len(), format, arguments) };
    let Ok(length) = usize::try_from(length) else {
        return;
    };
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let message = &bytes[..length.min(MESSAGE_LIMIT - 1)];
        take(&String::from_utf8_lossy(message));
    }));
}
