// SPDX-License-Identifier: GPL-2.0-or-later
//! What transferred words belong to (`plugin/objects.h`), as the innermost frame of a call:
//! `[dentry.d_lockref]`, `[kmalloc-512+0x18]`, `[per-CPU runqueues]`.

use kernels::btf::Types;
use kernels::bytes::u64_at;
use kernels::symbols::SymbolTable;

/// `NAMES_MAX` in `plugin/objects.c`.
pub const MAX_WORDS: usize = 4096;

/// `WORD_MERGED` in `plugin/records.h`.
const MERGED: u8 = 0x80;

/// Types of the objects of slab caches, unless the names say it (`dentry`, `sock_inode_cache`).
const TYPES: [(&str, &str); 10] = [
    ("TCP", "tcp_sock"),
    ("UDP", "udp_sock"),
    ("UNIX", "unix_sock"),
    ("UNIX-STREAM", "unix_sock"),
    ("cred_jar", "cred"),
    ("filp", "file"),
    ("mnt_cache", "mount"),
    ("radix_tree_node", "xa_node"),
    ("skbuff_head_cache", "sk_buff"),
    ("sock_inode_cache", "socket_alloc"),
];

/// `enum word_kind`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Owner {
    Unknown,
    User,
    Image {
        address: u64,
    },
    PerCpu {
        /// 0: it is not static.
        address: u64,
    },
    Page,
    Mapped,
    Slab {
        cache: String,
        offset: u16,
        /// The cache has objects of several types.
        merged: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word(Owner);

impl Word {
    /// From a record of 32 bytes.
    pub(crate) fn from_record(record: &[u8]) -> Word {
        let address = u64_at(record, 8);
        Word(match record[1] & !MERGED {
            1 => Owner::User,
            2 => Owner::Image { address },
            3 => Owner::PerCpu { address },
            4 => Owner::Page,
            5 => Owner::Mapped,
            6 => {
                let name = record[8..].iter();
                let name = name.take_while(|byte| byte.is_ascii_graphic() && **byte != b';');
                Owner::Slab {
                    cache: name.map(|&byte| char::from(byte)).collect(),
                    offset: u16::from_le_bytes([record[2], record[3]]),
                    merged: record[1] & MERGED != 0,
                }
            }
            _ => Owner::Unknown,
        })
    }

    pub(crate) fn frame(&self, symbols: &SymbolTable, types: Option<&Types<'_>>) -> String {
        let name = match &self.0 {
            Owner::Unknown => "unnamed".to_owned(),
            Owner::User => "user memory".to_owned(),
            Owner::Page => "page".to_owned(),
            Owner::Mapped => "vmalloc".to_owned(),
            Owner::PerCpu { address: 0 } => "per-CPU".to_owned(),
            Owner::PerCpu { address } => format!("per-CPU {}", variable(symbols, *address)),
            Owner::Image { address } => variable(symbols, *address),
            Owner::Slab {
                cache,
                offset,
                merged,
            } => {
                let field = types
                    .filter(|_| !merged)
                    .and_then(|types| field(types, cache, (*offset).into()));
                field.unwrap_or_else(|| format!("{cache}+{offset:#x}"))
            }
        };
        format!("[{name}]")
    }
}

fn variable(symbols: &SymbolTable, address: u64) -> String {
    match symbols.below(address) {
        Some(symbol) if symbol.address == address => symbol.name.to_owned(),
        Some(symbol) => format!("{}+{:#x}", symbol.name, address - symbol.address),
        None => format!("{address:#x}"),
    }
}

fn field(types: &Types<'_>, cache: &str, offset: u32) -> Option<String> {
    let known = TYPES.iter().find(|(name, _)| *name == cache);
    let names = match (known, cache.strip_suffix("_cache")) {
        (Some((_, name)), _) => vec![(*name).to_owned()],
        (None, Some(object)) => ["", "_info", "_struct"]
            .map(|end| object.to_owned() + end)
            .to_vec(),
        (None, None) => vec![cache.to_owned()],
    };
    names.iter().find_map(|name| types.field_at(name, offset))
}
