// SPDX-License-Identifier: GPL-2.0-or-later
//! The kernel's exception table, which lists where the kernel continues after an instruction that
//! faulted (`arch/x86/include/asm/extable.h`).

use object::endian::LittleEndian as Le;

use crate::bytes::u32_at;
use crate::elf::File;

/// Bytes per entry: two addresses relative to their own places, and the handler's type.
const ENTRY: usize = 12;
/// Kernels have a few thousand.
const ENTRIES_LIMIT: usize = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fixup {
    pub instruction: u64,
    pub resumes_at: u64,
}

/// Sorted by address; empty if the vmlinux has no readable table.
pub fn fixups(vmlinux: &[u8]) -> Vec<Fixup> {
    let mut found = read(vmlinux).unwrap_or_default();
    found.sort_unstable();
    found
}

fn read(vmlinux: &[u8]) -> Option<Vec<Fixup>> {
    let file = File::parse(vmlinux).ok()?;
    let (_, _, table) = file
        .named_sections()?
        .find(|(_, name, _)| *name == "__ex_table")?;
    Some(entries(file.contents(table)?, table.sh_addr.get(Le)))
}

fn entries(table: &[u8], address: u64) -> Vec<Fixup> {
    let entries = table.chunks_exact(ENTRY).take(ENTRIES_LIMIT);
    entries
        .zip((address..).step_by(ENTRY))
        .map(|(entry, at)| {
            let relative = |from: usize| {
                let offset = i64::from(u32_at(entry, from).cast_signed());
                at.wrapping_add(from as u64).wrapping_add_signed(offset)
            };
            Fixup {
                instruction: relative(0),
                resumes_at: relative(4),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_relative_to_themselves() {
        let mut table = Vec::new();
        for word in [-0x100i32, -0xf0, 3, 0x20, 0x1c, 3, 7] {
            table.extend_from_slice(&word.to_le_bytes());
        }
        let fixup = |instruction, resumes_at| Fixup {
            instruction,
            resumes_at,
        };
        // A partial entry at the end is ignored.
        assert_eq!(
            entries(&table, 0x1000),
            [fixup(0xf00, 0xf14), fixup(0x102c, 0x102c)]
        );
        assert_eq!(fixups(b"no kernel"), []);
    }
}
