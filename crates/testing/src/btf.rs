// SPDX-License-Identifier: GPL-2.0-or-later
//! Writes BTF (`include/uapi/linux/btf.h`).

fn words(fields: &[u32]) -> Vec<u8> {
    fields
        .iter()
        .flat_map(|field| field.to_le_bytes())
        .collect()
}

/// A BTF builder. Types get ids from 1 on, in the order in which they are added.
#[derive(Debug, Clone)]
pub struct Btf {
    pub types: Vec<u8>,
    pub strings: Vec<u8>,
    ids: u32,
}

impl Default for Btf {
    fn default() -> Self {
        Self {
            types: Vec::new(),
            strings: vec![0],
            ids: 0,
        }
    }
}

impl Btf {
    /// Returns the name's offset; 0 if it is empty.
    pub fn string(&mut self, name: &str) -> u32 {
        if name.is_empty() {
            return 0;
        }
        let at = self.strings.len() as u32;
        self.strings.extend(name.bytes().chain([0]));
        at
    }

    /// Adds a type of `kind` with `count` entries in `rest`; returns its id.
    pub fn add(&mut self, kind: u32, name: &str, count: u32, refers: u32, rest: &[u32]) -> u32 {
        let name = self.string(name);
        self.types
            .extend(words(&[name, kind << 24 | count, refers]));
        self.types.extend(words(rest));
        self.ids += 1;
        self.ids
    }

    pub fn int(&mut self, name: &str, bytes: u32, signed: bool) -> u32 {
        self.add(
            1,
            name,
            0,
            bytes,
            &[(u32::from(signed) << 24) | (bytes * 8)],
        )
    }

    /// `to` is 0 for void.
    pub fn pointer(&mut self, to: u32) -> u32 {
        self.add(2, "", 0, to, &[])
    }

    pub fn typedef(&mut self, name: &str, to: u32) -> u32 {
        self.add(8, name, 0, to, &[])
    }

    pub fn structure(&mut self, name: &str, bytes: u32) -> u32 {
        self.add(4, name, 0, bytes, &[])
    }

    pub fn prototype(&mut self, result: u32, arguments: &[u32]) -> u32 {
        let parameters: Vec<u32> = arguments.iter().flat_map(|&id| [0, id]).collect();
        self.add(13, "", arguments.len() as u32, result, &parameters)
    }

    pub fn function(&mut self, name: &str, prototype: u32) -> u32 {
        self.add(12, name, 0, prototype, &[])
    }

    pub fn hook(&mut self) -> u32 {
        let function = self.prototype(0, &[1, 1]);
        self.pointer(function)
    }

    /// Adds a structure (4) or union (5) with these members.
    pub fn members(&mut self, kind: u32, name: &str, members: &[(&str, u32)]) -> u32 {
        let mut rest = Vec::new();
        for &(name, id) in members {
            let name = self.string(name);
            rest.extend([name, id, 0]);
        }
        self.add(kind, name, members.len() as u32, 8, &rest)
    }

    pub fn write(&self) -> Vec<u8> {
        let (types, strings) = (self.types.len() as u32, self.strings.len() as u32);
        let mut bytes = words(&[0x0001_eb9f, 24, 0, types, types, strings]);
        bytes.extend(&self.types);
        bytes.extend(&self.strings);
        bytes
    }
}
