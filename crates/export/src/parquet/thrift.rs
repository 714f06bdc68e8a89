// SPDX-License-Identifier: GPL-2.0-or-later
//! As much of Thrift's compact protocol as a Parquet file's headers are written in: see
//! `doc/specs/thrift-compact-protocol.md` of Apache Thrift.

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A struct in the making. Fields come in the order of their numbers, each at most 15 above
/// the one before.
#[derive(Debug, Default)]
pub struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

impl Struct {
    fn field(mut self, number: u8, kind: u8) -> Struct {
        debug_assert!((1..=15).contains(&number.wrapping_sub(self.last)));
        self.bytes.push((number - self.last) << 4 | kind);
        self.last = number;
        self
    }

    pub fn i32(self, number: u8, value: i32) -> Struct {
        let mut to = self.field(number, I32);
        zigzag(&mut to.bytes, value.into());
        to
    }

    pub fn i64(self, number: u8, value: i64) -> Struct {
        let mut to = self.field(number, I64);
        zigzag(&mut to.bytes, value);
        to
    }

    pub fn bool(self, number: u8, value: bool) -> Struct {
        self.field(number, if value { TRUE } else { FALSE })
    }

    pub fn text(self, number: u8, value: &str) -> Struct {
        let mut to = self.field(number, BINARY);
        text(&mut to.bytes, value);
        to
    }

    pub fn nested(self, number: u8, value: Struct) -> Struct {
        let mut to = self.field(number, STRUCT);
        to.bytes.extend(value.end());
        to
    }

    pub fn structs(self, number: u8, values: impl IntoIterator<Item = Struct>) -> Struct {
        self.list(number, STRUCT, values, |to, value| to.extend(value.end()))
    }

    pub fn i32s(self, number: u8, values: &[i32]) -> Struct {
        self.list(number, I32, values, |to, &value| zigzag(to, value.into()))
    }

    pub fn texts(self, number: u8, values: &[&str]) -> Struct {
        self.list(number, BINARY, values, |to, value| text(to, value))
    }

    fn list<T>(
        self,
        number: u8,
        kind: u8,
        values: impl IntoIterator<Item = T>,
        write: impl Fn(&mut Vec<u8>, T),
    ) -> Struct {
        let mut to = self.field(number, LIST);
        let (mut body, mut len) = (Vec::new(), 0);
        for value in values {
            write(&mut body, value);
            len += 1;
        }
        match len {
            0..15 => to.bytes.push((len as u8) << 4 | kind),
            _ => {
                to.bytes.push(0xf0 | kind);
                varint(&mut to.bytes, len);
            }
        }
        to.bytes.extend(body);
        to
    }

    /// All of it.
    pub fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

fn text(to: &mut Vec<u8>, value: &str) {
    varint(to, value.len() as u64);
    to.extend(value.as_bytes());
}

fn zigzag(to: &mut Vec<u8>, value: i64) {
    varint(to, ((value << 1) ^ (value >> 63)) as u64);
}

/// ULEB128.
pub fn varint(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures of the specification, and by hand.
    #[test]
    fn bytes_are_those_of_the_specification() {
        let bytes = |value: Struct| value.end();
        assert_eq!(bytes(Struct::default()), [0]);
        assert_eq!(
            bytes(Struct::default().i32(1, -1).i32(16, 50)),
            [0x15, 1, 0xf5, 100, 0]
        );
        assert_eq!(bytes(Struct::default().i64(3, 300)), [0x36, 0xd8, 4, 0]);
        assert_eq!(bytes(Struct::default().i64(1, i64::MIN))[1..11], {
            let mut most = [0xff; 10];
            most[9] = 1;
            most
        });
        assert_eq!(
            bytes(Struct::default().bool(1, true).bool(2, false)),
            [0x11, 0x12, 0]
        );
        assert_eq!(
            bytes(Struct::default().text(4, "ab")),
            [0x48, 2, b'a', b'b', 0]
        );
        let inner = Struct::default().i32(1, 0);
        assert_eq!(
            bytes(Struct::default().nested(2, inner)),
            [0x2c, 0x15, 0, 0, 0]
        );
        assert_eq!(
            bytes(Struct::default().i32s(1, &[1, 2])),
            [0x19, 0x25, 2, 4, 0]
        );
        let many = bytes(Struct::default().texts(1, &[""; 15]));
        assert_eq!(many[..3], [0x19, 0xf8, 15]);
        assert_eq!(many.len(), 3 + 15 + 1);
    }
}
