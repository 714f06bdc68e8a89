// SPDX-License-Identifier: GPL-2.0-or-later
//! Messages of a C library that calls back with a format and its arguments.

use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Longest message, in bytes; a longer one is cut.
const MESSAGE_LIMIT: usize = 4_096;

unsafe extern "C" {
    /// A `va_list` is a pointer to C functions on all architectures that lsmeter is built for.
    fn vsnprintf(
        buffer: *mut c_char,
        size: usize,
        format: *const c_char,
        arguments: *mut c_void,
    ) -> c_int;
}

/// Gives `take` the message of a callback such as `libbpf_print_fn_t`. The message may name
/// bytes of a file that are not UTF-8. A panic of `take` ends here: unwinding into C would abort.
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
        // The last byte is NUL.
        let message = &bytes[..length.min(MESSAGE_LIMIT - 1)];
        take(&String::from_utf8_lossy(message));
    }));
}
