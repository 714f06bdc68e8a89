// SPDX-License-Identifier: GPL-2.0-or-later
//! A Parquet file of columns of plain values, each of which may lack some: `README.md`,
//! `Encodings.md` and `parquet.thrift` of apache/parquet-format.
//!
//! A library that also reads, and knows nested columns, takes as long to compile as what
//! measures. This is one page a column and row group, compressed with Snappy; texts that
//! repeat are in a dictionary.

use std::collections::HashMap;

use report::{Datum, Kind};

use super::thrift::{Struct, varint};
use crate::ExportError;

const MAGIC: &[u8] = b"PAR1";

// Types, encodings and the like, as parquet.thrift numbers them.
const BOOLEAN: i32 = 0;
const INT64: i32 = 2;
const DOUBLE: i32 = 5;
const BYTE_ARRAY: i32 = 6;
const OPTIONAL: i32 = 1;
const UTF8: i32 = 0;
const TIMESTAMP_MILLIS: i32 = 9;
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const RLE_DICTIONARY: i32 = 8;
const SNAPPY: i32 = 1;
const DATA_PAGE: i32 = 0;
const DICTIONARY_PAGE: i32 = 2;

/// The values of a column in one row group; `None` where there is none.
#[derive(Debug)]
pub enum Values {
    Text(Vec<Option<String>>),
    /// Moments too.
    Integer(Vec<Option<i64>>),
    Float(Vec<Option<f64>>),
    Flag(Vec<Option<bool>>),
}

/// A file in the making.
#[derive(Debug)]
pub struct File {
    columns: Vec<(String, Kind)>,
    bytes: Vec<u8>,
    groups: Vec<Struct>,
    rows: usize,
}

impl File {
    /// Of these columns, without rows.
    pub fn new(columns: Vec<(String, Kind)>) -> File {
        File {
            columns,
            bytes: MAGIC.to_vec(),
            groups: Vec::new(),
            rows: 0,
        }
    }

    /// Adds a row group: for each column equally many values, of its kind.
    ///
    /// # Errors
    /// [`ExportError::TooLarge`].
    pub fn group(&mut self, values: &[Values]) -> Result<(), ExportError> {
        debug_assert_eq!(self.columns.len(), values.len());
        let rows = values.first().map_or(0, Values::len);
        let start = self.bytes.len();
        let (mut chunks, mut plain) = (Vec::new(), 0);
        for ((name, _), values) in self.columns.iter().zip(values) {
            debug_assert_eq!(values.len(), rows);
            let chunk = Chunk::write(&mut self.bytes, values)?;
            plain += chunk.plain;
            chunks.push(chunk.metadata(name, values));
        }
        let group = Struct::default()
            .structs(1, chunks)
            .i64(2, plain as i64)
            .i64(3, rows as i64)
            .i64(5, start as i64)
            .i64(6, (self.bytes.len() - start) as i64);
        self.groups.push(group);
        self.rows += rows;
        Ok(())
    }

    /// The whole file.
    pub fn end(mut self, created_by: &str) -> Vec<u8> {
        let root = Struct::default()
            .text(4, "lsmeter")
            .i32(5, self.columns.len() as i32);
        let columns = self.columns.iter().map(|(name, kind)| schema(name, *kind));
        let footer = Struct::default()
            .i32(1, 1)
            .structs(2, std::iter::once(root).chain(columns))
            .i64(3, self.rows as i64)
            .structs(4, self.groups)
            .text(6, created_by)
            .end();
        self.bytes.extend(&footer);
        self.bytes.extend((footer.len() as u32).to_le_bytes());
        self.bytes.extend(MAGIC);
        self.bytes
    }
}

fn schema(name: &str, kind: Kind) -> Struct {
    let physical = match kind {
        Kind::Text => BYTE_ARRAY,
        Kind::Integer | Kind::Moment => INT64,
        Kind::Float => DOUBLE,
        Kind::Flag => BOOLEAN,
    };
    let column = Struct::default()
        .i32(1, physical)
        .i32(3, OPTIONAL)
        .text(4, name);
    let empty = Struct::default;
    match kind {
        Kind::Text => column.i32(6, UTF8).nested(10, empty().nested(1, empty())),
        Kind::Moment => {
            let milliseconds = empty().nested(1, empty());
            let timestamp = empty().bool(1, true).nested(2, milliseconds);
            column
                .i32(6, TIMESTAMP_MILLIS)
                .nested(10, empty().nested(8, timestamp))
        }
        Kind::Integer | Kind::Float | Kind::Flag => column,
    }
}

/// Where a column of a row group is in the file.
struct Chunk {
    start: usize,
    dictionary: bool,
    /// Where its values are.
    data: usize,
    end: usize,
    /// Its bytes before they were compressed.
    plain: usize,
}

impl Chunk {
    fn write(to: &mut Vec<u8>, values: &Values) -> Result<Chunk, ExportError> {
        let rows = values.len();
        let start = to.len();
        let mut page = present(values);
        let (encoded, dictionary) = values.encode();
        let mut plain = 0;
        if let Some((entries, texts)) = &dictionary {
            let header = Struct::default().i32(1, *entries as i32).i32(2, PLAIN);
            plain += write_page(to, DICTIONARY_PAGE, (7, header), texts)
                .ok_or(ExportError::TooLarge { rows })?;
        }
        page.extend(encoded);
        let data = to.len();
        let encoding = if dictionary.is_some() {
            RLE_DICTIONARY
        } else {
            PLAIN
        };
        let header = Struct::default()
            .i32(1, rows as i32)
            .i32(2, encoding)
            .i32(3, RLE)
            .i32(4, RLE);
        plain +=
            write_page(to, DATA_PAGE, (5, header), &page).ok_or(ExportError::TooLarge { rows })?;
        Ok(Chunk {
            start,
            dictionary: dictionary.is_some(),
            data,
            end: to.len(),
            plain,
        })
    }

    /// The chunk as a row group lists it.
    fn metadata(&self, name: &str, values: &Values) -> Struct {
        let encodings: &[i32] = match self.dictionary {
            true => &[PLAIN, RLE, RLE_DICTIONARY],
            false => &[PLAIN, RLE],
        };
        let mut metadata = Struct::default()
            .i32(1, values.physical())
            .i32s(2, encodings)
            .texts(3, &[name])
            .i32(4, SNAPPY)
            .i64(5, values.len() as i64)
            .i64(6, self.plain as i64)
            .i64(7, (self.end - self.start) as i64)
            .i64(9, self.data as i64);
        if self.dictionary {
            metadata = metadata.i64(11, self.start as i64);
        }
        let missing = values.len() - values.present().filter(|is| *is).count();
        let statistics = Struct::default().i64(3, missing as i64);
        Struct::default()
            .i64(2, self.start as i64)
            .nested(3, metadata.nested(12, statistics))
    }
}

/// Writes a page behind its header, and tells how long both are when it is not compressed.
fn write_page(to: &mut Vec<u8>, kind: i32, header: (u8, Struct), page: &[u8]) -> Option<usize> {
    let compressed = snap::raw::Encoder::new().compress_vec(page).ok()?;
    let header = Struct::default()
        .i32(1, kind)
        .i32(2, i32::try_from(page.len()).ok()?)
        .i32(3, i32::try_from(compressed.len()).ok()?)
        .nested(header.0, header.1)
        .end();
    to.extend(&header);
    to.extend(compressed);
    Some(header.len() + page.len())
}

/// Definition levels: for each row whether it has a value, behind their length in bytes.
fn present(values: &Values) -> Vec<u8> {
    let levels = packed(values.present().map(u32::from), 1);
    let mut bytes = (levels.len() as u32).to_le_bytes().to_vec();
    bytes.extend(levels);
    bytes
}

/// Numbers of `width` bits, as one run of the RLE and bit-packing hybrid.
fn packed(numbers: impl Iterator<Item = u32>, width: u32) -> Vec<u8> {
    let (mut body, mut held, mut bits, mut count) = (Vec::new(), 0_u64, 0, 0_usize);
    for number in numbers {
        held |= u64::from(number) << bits;
        bits += width;
        count += 1;
        while bits >= 8 {
            body.push(held as u8);
            held >>= 8;
            bits -= 8;
        }
    }
    let groups = count.div_ceil(8);
    if bits > 0 {
        body.push(held as u8);
    }
    body.resize(groups * width as usize, 0);
    let mut run = Vec::with_capacity(body.len() + 4);
    varint(&mut run, (groups as u64) << 1 | 1);
    run.extend(body);
    run
}

/// Entries of a dictionary, and its page.
type Dictionary = (usize, Vec<u8>);

impl Values {
    /// None yet.
    pub fn new(kind: Kind) -> Values {
        match kind {
            Kind::Text => Values::Text(Vec::new()),
            Kind::Integer | Kind::Moment => Values::Integer(Vec::new()),
            Kind::Float => Values::Float(Vec::new()),
            Kind::Flag => Values::Flag(Vec::new()),
        }
    }

    /// Adds a row's value; one of another kind counts as missing.
    pub fn push(&mut self, datum: Datum) {
        match self {
            Values::Text(values) => values.push(match datum {
                Datum::Text(text) => Some(text),
                _ => None,
            }),
            Values::Integer(values) => values.push(match datum {
                Datum::Whole(number) => number.try_into().ok(),
                Datum::Moment(moment) => Some(moment.as_millisecond()),
                _ => None,
            }),
            Values::Float(values) => values.push(match datum {
                Datum::Number(number) => Some(number),
                _ => None,
            }),
            Values::Flag(values) => values.push(match datum {
                Datum::Flag(flag) => Some(flag),
                _ => None,
            }),
        }
    }

    fn len(&self) -> usize {
        match self {
            Values::Text(values) => values.len(),
            Values::Integer(values) => values.len(),
            Values::Float(values) => values.len(),
            Values::Flag(values) => values.len(),
        }
    }

    fn physical(&self) -> i32 {
        match self {
            Values::Text(_) => BYTE_ARRAY,
            Values::Integer(_) => INT64,
            Values::Float(_) => DOUBLE,
            Values::Flag(_) => BOOLEAN,
        }
    }

    fn present(&self) -> Box<dyn Iterator<Item = bool> + '_> {
        match self {
            Values::Text(values) => Box::new(values.iter().map(Option::is_some)),
            Values::Integer(values) => Box::new(values.iter().map(Option::is_some)),
            Values::Float(values) => Box::new(values.iter().map(Option::is_some)),
            Values::Flag(values) => Box::new(values.iter().map(Option::is_some)),
        }
    }

    /// The values that there are, without the others.
    fn encode(&self) -> (Vec<u8>, Option<Dictionary>) {
        match self {
            Values::Text(values) => texts(values),
            Values::Integer(values) => {
                let bytes = values
                    .iter()
                    .flatten()
                    .flat_map(|value| value.to_le_bytes());
                (bytes.collect(), None)
            }
            Values::Float(values) => {
                let bytes = values
                    .iter()
                    .flatten()
                    .flat_map(|value| value.to_le_bytes());
                (bytes.collect(), None)
            }
            Values::Flag(values) => {
                let values: Vec<bool> = values.iter().flatten().copied().collect();
                let byte = |flags: &[bool]| {
                    let bits = flags.iter().enumerate();
                    bits.fold(0, |byte, (at, &flag)| byte | u8::from(flag) << at)
                };
                (values.chunks(8).map(byte).collect(), None)
            }
        }
    }
}

/// Texts as they are or, if most of them are there more than once, as positions in a
/// dictionary.
fn texts(values: &[Option<String>]) -> (Vec<u8>, Option<Dictionary>) {
    let plain = |texts: &mut dyn Iterator<Item = &str>| {
        let mut bytes = Vec::new();
        for text in texts {
            bytes.extend((text.len() as u32).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        bytes
    };
    let mut known: HashMap<&str, u32> = HashMap::new();
    let (mut entries, mut positions) = (Vec::new(), Vec::new());
    for text in values.iter().flatten() {
        let position = *known.entry(text).or_insert_with(|| {
            entries.push(text.as_str());
            entries.len() as u32 - 1
        });
        positions.push(position);
    }
    if entries.len() * 2 >= positions.len() {
        return (
            plain(&mut values.iter().flatten().map(String::as_str)),
            None,
        );
    }
    let width = u32::BITS - (entries.len() as u32).saturating_sub(1).leading_zeros();
    let width = width.max(1);
    let mut bytes = vec![width as u8];
    bytes.extend(packed(positions.into_iter(), width));
    let count = entries.len();
    (bytes, Some((count, plain(&mut entries.into_iter()))))
}
