// SPDX-License-Identifier: GPL-2.0-or-later
//! The hooks in a kernel's BTF (`include/uapi/linux/btf.h`).
//!
//! Read here, not by a library: one union of some hundred thousand types is wanted, and
//! a library for tools that trust the running kernel builds maps of all of them, sized
//! by what a header claims.

use super::HookListError;
use super::list::is_hook_name;
use super::{MAX_HOOK_NAME_LEN, MAX_HOOKS};
use crate::symbols::elf::{u16_at, u32_at};

const MAGIC: u16 = 0xeb9f;
const HEADER_LEN: usize = 24;
const TYPE_LEN: usize = 12;
const MEMBER_LEN: usize = 12;

const PTR: u8 = 2;
const STRUCT: u8 = 4;
const UNION: u8 = 5;
const TYPEDEF: u8 = 8;
const VOLATILE: u8 = 9;
const CONST: u8 = 10;
const RESTRICT: u8 = 11;
const FUNC: u8 = 12;
const FUNC_PROTO: u8 = 13;
const TYPE_TAG: u8 = 18;
/// Most typedefs and qualifiers around one type that are looked through.
const MAX_MODIFIERS: usize = 16;

/// `union security_list_options`: a function pointer for each hook, and from 6.12 on
/// `void *lsm_func_addr`, which is none.
const OPTIONS: &str = "security_list_options";
/// `struct security_hook_heads`, until 6.11: a list for each hook.
const HEADS: &str = "security_hook_heads";

fn bad(reason: &'static str, at: usize) -> HookListError {
    HookListError::BadBtf { reason, at }
}

/// The names of the hooks, in the order of the kernel's definitions.
pub(super) fn hooks(bytes: &[u8]) -> Result<Vec<String>, HookListError> {
    let types = Types::read(bytes)?;
    for (kind, name) in [(UNION, OPTIONS), (STRUCT, HEADS)] {
        for list in types.all().filter(|list| list.kind == kind) {
            if types.name(list.name_at)? == name {
                let hooks = types.hooks(&list, kind == UNION)?;
                if !hooks.is_empty() {
                    return Ok(hooks);
                }
            }
        }
    }
    Err(HookListError::NoHooks {
        source_name: "the kernel's BTF",
    })
}

/// Type ids of functions whose name begins with `prefix`, by the rest of the name.
pub(super) fn functions(bytes: &[u8], prefix: &str) -> Result<Vec<(String, u32)>, HookListError> {
    let types = Types::read(bytes)?;
    let mut found = Vec::new();
    for (id, function) in (1u32..).zip(types.all()) {
        if function.kind == FUNC
            && let Some(rest) = types.name(function.name_at)?.strip_prefix(prefix)
            && is_hook_name(rest)
            && found.len() < MAX_HOOKS
        {
            found.push((rest.to_owned(), id));
        }
    }
    Ok(found)
}

/// A type's fixed part.
struct Type {
    name_at: u32,
    kind: u8,
    /// Number of members, parameters or the like.
    count: usize,
    /// The type it refers to, for kinds that do; a size for others.
    refers: u32,
    /// Where its fixed part ends.
    end: usize,
}

struct Types<'a> {
    bytes: &'a [u8],
    strings: &'a [u8],
    /// Where each type begins; the first has id 1. At most one per [`TYPE_LEN`] bytes.
    starts: Vec<u32>,
}

impl<'a> Types<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, HookListError> {
        let cut_off = || bad("it is cut off in its header", bytes.len());
        let magic = u16_at(bytes, 0).ok_or_else(cut_off)?;
        if magic == MAGIC.swap_bytes() {
            return Err(bad("it is big-endian", 0));
        }
        if magic != MAGIC {
            return Err(bad("it does not begin with the magic number", 0));
        }
        let version = *bytes.get(2).ok_or_else(cut_off)?;
        if version != 1 {
            return Err(bad("its version is not 1", 2));
        }
        let field = |at| {
            let value = u32_at(bytes, at).ok_or_else(cut_off)?;
            usize::try_from(value).map_err(|_| bad("a length is too large", at))
        };
        let header_len = field(4)?;
        if header_len < HEADER_LEN {
            return Err(bad("its header is too short", 4));
        }
        let part = |at| {
            let start = header_len.checked_add(field(at)?);
            let end = start.and_then(|start| start.checked_add(field(at + 4).ok()?));
            match (start, end) {
                (Some(start), Some(end)) if end <= bytes.len() => Ok(start..end),
                _ => Err(bad("a part lies outside it (is it cut off?)", at)),
            }
        };
        let (types, strings) = (part(8)?, part(16)?);
        let mut read = Self {
            bytes: &bytes[..types.end],
            strings: &bytes[strings],
            starts: Vec::new(),
        };
        let mut at = types.start;
        while at < types.end {
            let start = u32::try_from(at).map_err(|_| bad("it is too long", at))?;
            let found = read.at(at).ok_or_else(|| bad("a type is cut off", at))?;
            let rest = rest_len(&found).ok_or_else(|| bad("a type is of an unknown kind", at))?;
            at = found.end + rest;
            read.starts.push(start);
        }
        if at != types.end {
            return Err(bad("the last type is cut off", at));
        }
        Ok(read)
    }

    fn at(&self, at: usize) -> Option<Type> {
        let info = u32_at(self.bytes, at.checked_add(4)?)?;
        Some(Type {
            name_at: u32_at(self.bytes, at)?,
            // struct btf_type: bits 0-15 vlen, 24-28 kind.
            kind: (info >> 24 & 0x1f) as u8,
            count: (info & 0xffff) as usize,
            refers: u32_at(self.bytes, at.checked_add(8)?)?,
            end: at.checked_add(TYPE_LEN)?,
        })
    }

    fn all(&self) -> impl Iterator<Item = Type> {
        self.starts.iter().filter_map(|&at| self.at(at as usize))
    }

    fn by_id(&self, id: u32) -> Option<Type> {
        // 0 is void.
        let at = usize::try_from(id.checked_sub(1)?).ok()?;
        self.at(*self.starts.get(at)? as usize)
    }

    /// The type with this id, without typedefs and qualifiers around it.
    fn resolve(&self, mut id: u32) -> Option<Type> {
        for _ in 0..MAX_MODIFIERS {
            let found = self.by_id(id)?;
            if !matches!(found.kind, TYPEDEF | VOLATILE | CONST | RESTRICT | TYPE_TAG) {
                return Some(found);
            }
            id = found.refers;
        }
        None
    }

    /// A name of at most [`MAX_HOOK_NAME_LEN`] bytes; a longer one is none that is
    /// looked for, and reads as empty.
    fn name(&self, at: u32) -> Result<&'a str, HookListError> {
        let start = at as usize;
        let outside = || bad("a name lies outside the strings", start);
        let name = self.strings.get(start..).ok_or_else(outside)?;
        let name = &name[..name.len().min(MAX_HOOK_NAME_LEN + 1)];
        let Some(end) = name.iter().position(|&byte| byte == 0) else {
            return Ok("");
        };
        str::from_utf8(&name[..end]).map_err(|_| bad("a name is not text", start))
    }

    /// The members that stand for hooks: pointers to functions, or heads of lists.
    fn hooks(&self, list: &Type, pointers: bool) -> Result<Vec<String>, HookListError> {
        let mut hooks = Vec::new();
        for member in 0..list.count {
            let at = list.end + member * MEMBER_LEN;
            let field = |offset| {
                u32_at(self.bytes, at + offset).ok_or_else(|| bad("a member is cut off", at))
            };
            let (name_at, id) = (field(0)?, field(4)?);
            let Some(kind) = self.resolve(id) else {
                return Err(bad("a member's type does not exist", at));
            };
            let is_hook = if pointers {
                kind.kind == PTR
                    && self
                        .resolve(kind.refers)
                        .is_some_and(|pointed| pointed.kind == FUNC_PROTO)
            } else {
                // list_head until 4.17.
                kind.kind == STRUCT
                    && matches!(self.name(kind.name_at)?, "hlist_head" | "list_head")
            };
            if !is_hook {
                continue;
            }
            let name = self.name(name_at)?;
            if !is_hook_name(name) {
                return Err(bad("a hook's name is not one of C", at));
            }
            if hooks.len() >= MAX_HOOKS {
                return Err(HookListError::TooMany {
                    source_name: "the kernel's BTF",
                });
            }
            hooks.push(name.to_owned());
        }
        Ok(hooks)
    }
}

/// How many bytes follow a type's fixed part.
fn rest_len(found: &Type) -> Option<usize> {
    let entry = match found.kind {
        // INT, VAR, DECL_TAG
        1 | 14 | 17 => return Some(4),
        // ARRAY
        3 => return Some(12),
        // STRUCT, UNION, DATASEC, ENUM64
        4 | 5 | 15 | 19 => 12,
        // ENUM, FUNC_PROTO
        6 | 13 => 8,
        // PTR, FWD, TYPEDEF, VOLATILE, CONST, RESTRICT, FUNC, FLOAT, TYPE_TAG
        2 | 7..=12 | 16 | 18 => 0,
        _ => return None,
    };
    Some(found.count * entry)
}
