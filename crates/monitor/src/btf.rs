// SPDX-License-Identifier: GPL-2.0-or-later
//! The functions of the running kernel, from its BTF (`include/uapi/linux/btf.h`).

use std::ops::Range;

/// Why a kernel's BTF cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{reason}, at byte {at}")]
pub struct BtfError {
    /// What is wrong with it.
    pub reason: &'static str,
    /// Where, from its beginning.
    pub at: usize,
}

const MAGIC: u16 = 0xeb9f;
const INT: u8 = 1;
const PTR: u8 = 2;
const ARRAY: u8 = 3;
const STRUCT: u8 = 4;
const UNION: u8 = 5;
const ENUM: u8 = 6;
const TYPEDEF: u8 = 8;
const VOLATILE: u8 = 9;
const CONST: u8 = 10;
const RESTRICT: u8 = 11;
const FUNC: u8 = 12;
const FUNC_PROTO: u8 = 13;
const VAR: u8 = 14;
const DATASEC: u8 = 15;
const DECL_TAG: u8 = 17;
const TYPE_TAG: u8 = 18;
const ENUM64: u8 = 19;
/// Bytes of a type before what its kind adds.
const FIXED: usize = 12;
/// Most typedefs and qualifiers around a type.
const AROUND: usize = 16;
/// Longest name that is looked for.
const NAME_MAX: usize = 128;
/// Most types; Linux 7.2 has some 140,000.
const TYPES_MAX: usize = 1 << 22;

/// What a function returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returns {
    /// Nothing.
    Void,
    /// An `int`: 0, or an errno below 0.
    Int,
    /// Something else: a pointer, a `bool`.
    Other,
}

/// A function of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its type's number, which programs attach to.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// What its arguments take, in words of 8 bytes.
    pub argument_words: u16,
    /// What it returns.
    pub returns: Returns,
}

#[derive(Clone, Copy)]
struct Type {
    at: usize,
    kind: u8,
    count: usize,
    name_at: usize,
    /// A size in bytes, or another type's number.
    value: u32,
}

/// The types of a kernel.
pub struct Types<'a> {
    bytes: &'a [u8],
    strings: &'a [u8],
    types: Vec<u32>,
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

impl<'a> Types<'a> {
    /// Reads the content of `/sys/kernel/btf/vmlinux`.
    ///
    /// # Errors
    ///
    /// [`BtfError`] if it is cut off, or none that this can read.
    pub fn read(bytes: &'a [u8]) -> Result<Types<'a>, BtfError> {
        let bad = |reason, at| BtfError { reason, at };
        let header = |at| word(bytes, at).ok_or(bad("its header is cut off", at));
        let first = header(0)?;
        if first & 0xffff != u32::from(MAGIC) || first >> 16 & 0xff != 1 {
            return Err(bad("it is no BTF of version 1", 0));
        }
        let part = |at| -> Result<Range<usize>, BtfError> {
            let (start, len) = (header(at)?, header(at + 4)?);
            let start = header(4)?.checked_add(start);
            let end = start.and_then(|start| start.checked_add(len));
            match (start, end) {
                (Some(start), Some(end)) if end as usize <= bytes.len() => {
                    Ok(start as usize..end as usize)
                }
                _ => Err(bad("a part of it lies outside", at)),
            }
        };
        let (types, strings) = (part(8)?, part(16)?);
        let mut read = Types {
            bytes: &bytes[..types.end],
            strings: &bytes[strings],
            types: Vec::new(),
        };
        let mut at = types.start;
        while at < types.end {
            let found = read.type_at(at).ok_or(bad("a type is cut off", at))?;
            let more = added(&found).ok_or(bad("a type is of an unknown kind", at))?;
            if read.types.len() >= TYPES_MAX {
                return Err(bad("it has too many types", at));
            }
            read.types
                .push(u32::try_from(at).map_err(|_| bad("it is too long", at))?);
            at += FIXED + more;
        }
        if at > types.end {
            return Err(bad("its last type is cut off", types.end));
        }
        Ok(read)
    }

    fn type_at(&self, at: usize) -> Option<Type> {
        let info = word(self.bytes, at.checked_add(4)?)?;
        Some(Type {
            at,
            kind: (info >> 24 & 0x1f) as u8,
            count: (info & 0xffff) as usize,
            name_at: word(self.bytes, at)? as usize,
            value: word(self.bytes, at.checked_add(8)?)?,
        })
    }

    fn numbered(&self) -> impl Iterator<Item = (u32, Type)> {
        (1u32..).zip(
            self.types
                .iter()
                .filter_map(|&at| self.type_at(at as usize)),
        )
    }

    /// None for void, number 0.
    fn by_number(&self, number: u32) -> Option<Type> {
        let at = usize::try_from(number.checked_sub(1)?).ok()?;
        self.type_at(*self.types.get(at)? as usize)
    }

    fn name(&self, at: usize) -> Option<&'a str> {
        let rest = self.strings.get(at..)?;
        let end = rest.iter().take(NAME_MAX + 1).position(|&byte| byte == 0)?;
        str::from_utf8(&rest[..end]).ok()
    }

    /// The type without typedefs and qualifiers; None for void.
    fn bare(&self, mut number: u32) -> Option<Type> {
        for _ in 0..AROUND {
            let found = self.by_number(number)?;
            if !matches!(found.kind, TYPEDEF | VOLATILE | CONST | RESTRICT | TYPE_TAG) {
                return Some(found);
            }
            number = found.value;
        }
        None
    }

    /// Functions whose name is `wanted`, in the order of their numbers. A function that
    /// cannot be described is left out.
    pub fn functions(&self, mut wanted: impl FnMut(&str) -> bool) -> Vec<Function> {
        let mut functions = Vec::new();
        for (id, found) in self.numbered().filter(|(_, found)| found.kind == FUNC) {
            let Some(name) = self.name(found.name_at).filter(|name| wanted(name)) else {
                continue;
            };
            let Some((argument_words, returns)) = self.signature(found.value) else {
                continue;
            };
            functions.push(Function {
                id,
                name: name.to_owned(),
                argument_words,
                returns,
            });
        }
        functions
    }

    fn signature(&self, prototype: u32) -> Option<(u16, Returns)> {
        let prototype = self.by_number(prototype)?;
        if prototype.kind != FUNC_PROTO {
            return None;
        }
        let mut words = 0u32;
        for argument in 0..prototype.count {
            let number = word(self.bytes, prototype.at + FIXED + 8 * argument + 4)?;
            // 0 stands for a variable number of arguments.
            let argument = self.bare(number)?;
            let bytes = match argument.kind {
                PTR => 8,
                INT | ENUM | ENUM64 | STRUCT | UNION => argument.value,
                _ => return None,
            };
            words = words.checked_add(bytes.div_ceil(8))?;
        }
        let returns = match self.bare(prototype.value) {
            None if prototype.value == 0 => Returns::Void,
            None => return None,
            Some(result) if result.kind == INT && result.value == 4 => {
                // BTF_INT_SIGNED; an unsigned number is no errno.
                let encoding = word(self.bytes, result.at + FIXED)?;
                match encoding >> 24 & 1 {
                    1 => Returns::Int,
                    _ => Returns::Other,
                }
            }
            Some(_) => Returns::Other,
        };
        Some((u16::try_from(words).ok()?, returns))
    }

    /// The names of the kernel's hooks: pointers to functions in
    /// `union security_list_options`.
    #[must_use]
    pub fn hooks(&self) -> Vec<String> {
        let Some((_, list)) = self.numbered().find(|(_, found)| {
            found.kind == UNION && self.name(found.name_at) == Some("security_list_options")
        }) else {
            return Vec::new();
        };
        let member = |number: usize| {
            let at = list.at + FIXED + 12 * number;
            let pointer = self.bare(word(self.bytes, at + 4)?)?;
            let is_hook = pointer.kind == PTR && self.bare(pointer.value)?.kind == FUNC_PROTO;
            let name = self.name(word(self.bytes, at)? as usize)?;
            is_hook.then(|| name.to_owned())
        };
        (0..list.count).filter_map(member).collect()
    }

    /// The number of a typedef, such as those of tracepoints.
    #[must_use]
    pub fn typedef(&self, name: &str) -> Option<u32> {
        self.numbered()
            .find(|(_, found)| found.kind == TYPEDEF && self.name(found.name_at) == Some(name))
            .map(|(id, _)| id)
    }
}

/// Bytes that follow the fixed part.
fn added(found: &Type) -> Option<usize> {
    Some(match found.kind {
        INT | VAR | DECL_TAG => 4,
        ARRAY => 12,
        STRUCT | UNION | DATASEC | ENUM64 => 12 * found.count,
        ENUM | FUNC_PROTO => 8 * found.count,
        // FWD is 7, FLOAT 16.
        PTR | 7..=FUNC | 16 | TYPE_TAG => 0,
        _ => return None,
    })
}
