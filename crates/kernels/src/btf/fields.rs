// SPDX-License-Identifier: GPL-2.0-or-later
//! Fields of structures, by offset.

use super::{
    ARRAY, ENUM, ENUM64, FLOAT, INT, MAX_MODIFIERS, MEMBER_LEN, PTR, STRUCT, Type, Types, UNION,
};
use crate::elf::u32_at;

/// Fields of larger types are named, too.
const WHOLE_BYTES: u32 = 16;

struct Field<'a> {
    /// Empty if the field has none.
    name: &'a str,
    id: u32,
    /// In bytes.
    offset: u32,
}

impl<'a> Types<'a> {
    fn structure(&self, name: &str) -> Option<Type> {
        let mut all = self.all(STRUCT).map(|(_, found)| found);
        all.find(|found| self.name(found.name_at) == Ok(name))
    }

    /// In bytes.
    #[must_use]
    pub fn size_of(&self, structure: &str) -> Option<u32> {
        Some(self.structure(structure)?.refers)
    }

    /// Offset of a structure's field in bytes.
    #[must_use]
    pub fn offset_of(&self, structure: &str, field: &str) -> Option<u32> {
        let mut fields = self.fields(self.structure(structure)?);
        let found = fields.find(|found| found.name == field);
        found.map(|field| field.offset)
    }

    /// The field at an offset in bytes: `dentry.d_lockref`, `aa_profile.label.count`. Members of an
    /// unnamed union are alternatives: `inode.i_pipe|i_cdev|i_link|i_dir_seq`.
    #[must_use]
    pub fn field_at(&self, structure: &str, mut offset: u32) -> Option<String> {
        let mut path = structure.to_owned();
        let mut within = self.structure(structure)?;
        for _ in 0..MAX_MODIFIERS {
            let mut fields = self.fields(within).filter(|field| {
                let end = field.offset.saturating_add(self.bytes(field.id));
                (field.offset..end).contains(&offset)
            });
            let field = fields.next()?;
            if !field.name.is_empty() {
                path = path + "." + field.name;
            }
            let inner = self.resolve(field.id)?;
            let follow = field.name.is_empty() || inner.refers > WHOLE_BYTES;
            if !matches!(inner.kind, STRUCT | UNION) || !follow {
                let others = fields.filter(|other| !other.name.is_empty());
                path.extend(others.flat_map(|other| ["|", other.name]));
                break;
            }
            offset -= field.offset;
            within = inner;
        }
        Some(path)
    }

    fn fields(&self, structure: Type) -> impl Iterator<Item = Field<'a>> {
        let (count, start) = (structure.count, structure.end);
        (0..count).map_while(move |number| {
            let at = start + MEMBER_LEN * number;
            Some(Field {
                name: self.name(u32_at(self.bytes, at)?).ok()?,
                id: u32_at(self.bytes, at + 4)?,
                // In bits; a bit field's length is above it.
                offset: (u32_at(self.bytes, at + 8)? & 0x00ff_ffff) / 8,
            })
        })
    }

    /// Size of a type in bytes; 0 if it has none.
    fn bytes(&self, mut id: u32) -> u32 {
        let mut elements = 1u32;
        for _ in 0..MAX_MODIFIERS {
            let Some(found) = self.resolve(id) else {
                break;
            };
            let field = |at| u32_at(self.bytes, found.end + at).unwrap_or(0);
            match found.kind {
                PTR => return elements.saturating_mul(8),
                INT | STRUCT | UNION | ENUM | ENUM64 | FLOAT => {
                    return elements.saturating_mul(found.refers);
                }
                ARRAY => (id, elements) = (field(0), elements.saturating_mul(field(8))),
                _ => break,
            }
        }
        0
    }
}
