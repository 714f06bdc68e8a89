// SPDX-License-Identifier: GPL-2.0-or-later
//! A kernel's functions and hooks from BTF (`include/uapi/linux/btf.h`).
//!
//! No library is used, because libraries build maps of all types, whose sizes come from untrusted
//! headers, and lsmeter needs only a few names.

use crate::elf::{u16_at, u32_at};
use crate::hooks::{MAX_HOOK_NAME_LEN, is_hook_name};

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{reason}, at byte {at}")]
pub struct BtfError {
    pub reason: &'static str,
    /// Offset in bytes.
    pub at: usize,
}

mod fields;

const MAGIC: u16 = 0xeb9f;
const HEADER_LEN: usize = 24;
const TYPE_LEN: usize = 12;
const MEMBER_LEN: usize = 12;
const PARAMETER_LEN: usize = 8;

const INT: u8 = 1;
const PTR: u8 = 2;
const ARRAY: u8 = 3;
const STRUCT: u8 = 4;
const UNION: u8 = 5;
const ENUM: u8 = 6;
const FWD: u8 = 7;
const TYPEDEF: u8 = 8;
const VOLATILE: u8 = 9;
const CONST: u8 = 10;
const RESTRICT: u8 = 11;
const FUNC: u8 = 12;
const FUNC_PROTO: u8 = 13;
const VAR: u8 = 14;
const DATASEC: u8 = 15;
const FLOAT: u8 = 16;
const DECL_TAG: u8 = 17;
const TYPE_TAG: u8 = 18;
const ENUM64: u8 = 19;
/// Linux 7.2 has about 140,000.
const MAX_TYPES: usize = 1 << 22;
/// C guarantees this number of parameters.
const MAX_PARAMETERS: usize = 127;
const MAX_MODIFIERS: usize = 16;

/// `union security_list_options`: a function pointer per hook; from 6.12 on also `void
/// *lsm_func_addr`, which is not a hook.
const OPTIONS: &str = "security_list_options";
/// `struct security_hook_heads`, until 6.11: a list per hook.
const HEADS: &str = "security_hook_heads";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returns {
    Void,
    /// An `int`: 0 or a negative errno.
    Int,
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// BTF type id; programs attach to it.
    pub id: u32,
    pub name: String,
    /// In words of 8 bytes.
    pub argument_words: u16,
    pub returns: Returns,
}

#[derive(Clone, Copy)]
struct Type {
    name_at: u32,
    kind: u8,
    count: usize,
    refers: u32,
    end: usize,
}

#[derive(Debug)]
pub struct Types<'a> {
    bytes: &'a [u8],
    strings: &'a [u8],
    /// Offset of each type; the first has id 1. There is at most one per [`TYPE_LEN`] bytes.
    starts: Vec<u32>,
}

fn bad(reason: &'static str, at: usize) -> BtfError {
    BtfError { reason, at }
}

impl<'a> Types<'a> {
    pub fn read(bytes: &'a [u8]) -> Result<Self, BtfError> {
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
                _ => Err(bad("a section lies outside the data (is it cut off?)", at)),
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
            if read.starts.len() >= MAX_TYPES {
                return Err(bad("it has too many types", at));
            }
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

    fn all(&self, kind: u8) -> impl Iterator<Item = (u32, Type)> {
        let types = self.starts.iter().map(|&at| self.at(at as usize));
        (1..)
            .zip(types)
            .filter_map(|(id, found)| Some((id, found?)))
            .filter(move |(_, found)| found.kind == kind)
    }

    fn by_id(&self, id: u32) -> Option<Type> {
        // 0 is void.
        let at = usize::try_from(id.checked_sub(1)?).ok()?;
        self.at(*self.starts.get(at)? as usize)
    }

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

    /// Names longer than [`MAX_HOOK_NAME_LEN`] bytes read as empty.
    fn name(&self, at: u32) -> Result<&'a str, BtfError> {
        let start = at as usize;
        let outside = || bad("a name lies outside the strings", start);
        let name = self.strings.get(start..).ok_or_else(outside)?;
        let name = &name[..name.len().min(MAX_HOOK_NAME_LEN + 1)];
        let Some(end) = name.iter().position(|&byte| byte == 0) else {
            return Ok("");
        };
        str::from_utf8(&name[..end]).map_err(|_| bad("a name is not text", start))
    }

    pub fn functions(&self, mut is_chosen: impl FnMut(&str) -> bool) -> Vec<Function> {
        let describe = |(id, found): (u32, Type)| {
            let name = self
                .name(found.name_at)
                .ok()
                .filter(|name| is_chosen(name))?;
            let (argument_words, returns) = self.signature(found.refers)?;
            Some(Function {
                id,
                name: name.to_owned(),
                argument_words,
                returns,
            })
        };
        self.all(FUNC).filter_map(describe).collect()
    }

    fn signature(&self, prototype: u32) -> Option<(u16, Returns)> {
        let prototype = self
            .by_id(prototype)
            .filter(|found| found.kind == FUNC_PROTO && found.count <= MAX_PARAMETERS)?;
        let mut words = 0u32;
        for parameter in 0..prototype.count {
            let id = u32_at(self.bytes, prototype.end + PARAMETER_LEN * parameter + 4)?;
            // 0 means a variable number of arguments.
            let argument = self.resolve(id)?;
            let bytes = match argument.kind {
                PTR => 8,
                INT | ENUM | ENUM64 | STRUCT | UNION => argument.refers,
                _ => return None,
            };
            words = words.checked_add(bytes.div_ceil(8))?;
        }
        let returns = match self.resolve(prototype.refers) {
            None if prototype.refers == 0 => Returns::Void,
            None => return None,
            // BTF_INT_SIGNED; an unsigned number is not an errno.
            Some(result)
                if (result.kind, result.refers) == (INT, 4)
                    && u32_at(self.bytes, result.end)? >> 24 & 1 == 1 =>
            {
                Returns::Int
            }
            Some(_) => Returns::Other,
        };
        Some((u16::try_from(words).ok()?, returns))
    }

    #[must_use]
    pub fn typedef(&self, name: &str) -> Option<u32> {
        let mut typedefs = self.all(TYPEDEF);
        let found = typedefs.find(|(_, found)| self.name(found.name_at) == Ok(name));
        found.map(|(id, _)| id)
    }

    /// Hook names in the order of definition: the function pointers of `union
    /// security_list_options`, else the lists in `struct security_hook_heads`
    /// (`include/linux/lsm_hooks.h`). Empty if it has neither.
    pub fn hooks(&self) -> Result<Vec<&'a str>, BtfError> {
        for (kind, name) in [(UNION, OPTIONS), (STRUCT, HEADS)] {
            for (_, list) in self.all(kind) {
                if self.name(list.name_at)? == name {
                    let hooks = self.members(&list)?;
                    if !hooks.is_empty() {
                        return Ok(hooks);
                    }
                }
            }
        }
        Ok(Vec::new())
    }

    /// Members for hooks: function pointers in a union, list heads in a structure.
    fn members(&self, list: &Type) -> Result<Vec<&'a str>, BtfError> {
        let mut hooks = Vec::new();
        for member in 0..list.count {
            let at = list.end + member * MEMBER_LEN;
            let field = |offset| {
                u32_at(self.bytes, at + offset).ok_or_else(|| bad("a member is cut off", at))
            };
            let (name_at, id) = (field(0)?, field(4)?);
            let Some(found) = self.resolve(id) else {
                return Err(bad("a member's type does not exist", at));
            };
            let is_hook = if list.kind == UNION {
                found.kind == PTR
                    && self
                        .resolve(found.refers)
                        .is_some_and(|pointed| pointed.kind == FUNC_PROTO)
            } else {
                found.kind == STRUCT && self.name(found.name_at)? == "hlist_head"
            };
            if !is_hook {
                continue;
            }
            let name = self.name(name_at)?;
            if !is_hook_name(name) {
                return Err(bad("a hook's name is not a C identifier", at));
            }
            hooks.push(name);
        }
        Ok(hooks)
    }
}

fn rest_len(found: &Type) -> Option<usize> {
    Some(match found.kind {
        INT | VAR | DECL_TAG => 4,
        ARRAY => 12,
        STRUCT | UNION | DATASEC | ENUM64 => MEMBER_LEN * found.count,
        ENUM | FUNC_PROTO => PARAMETER_LEN * found.count,
        PTR | FWD | TYPEDEF | VOLATILE | CONST | RESTRICT | FUNC | FLOAT | TYPE_TAG => 0,
        _ => return None,
    })
}
