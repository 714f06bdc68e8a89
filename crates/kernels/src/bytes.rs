// SPDX-License-Identifier: GPL-2.0-or-later
//! Little-endian numbers in records. They panic where bytes are missing.

/// Of the four bytes from `at` on.
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Of the eight bytes from `at` on.
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
