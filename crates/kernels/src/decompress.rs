// SPDX-License-Identifier: GPL-2.0-or-later
//! Bounded decompression of kernel images, modules and packages.

use crate::error::Error;
use liblzma::read::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use std::io::{self, BufRead, BufReader, Cursor, Read};

/// In bytes. `xz -9` needs 65 MiB, the kernel's `xz` invocation 32 MiB.
const DECODER_MEMORY: u64 = 256 << 20;
/// 128 MiB, as with the kernel's `zstd -22 --ultra`.
const ZSTD_WINDOW_LOG: u32 = 27;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Gzip,
    Xz,
    Zstd,
    /// `lz4 -l`, used by the kernel.
    Lz4Legacy,
    Lzma,
    /// Not supported.
    Bzip2,
    /// lzop; not supported.
    Lzo,
}

impl Format {
    pub fn detect(data: &[u8]) -> Option<Format> {
        const MAGICS: [(&[u8], Format); 7] = [
            (&[0x1f, 0x8b], Format::Gzip),
            (&[0xfd, b'7', b'z', b'X', b'Z', 0], Format::Xz),
            (&[0x28, 0xb5, 0x2f, 0xfd], Format::Zstd),
            (&[0x02, 0x21, 0x4c, 0x18], Format::Lz4Legacy),
            (&[0x5d, 0, 0], Format::Lzma),
            (b"BZh", Format::Bzip2),
            (&[0x89, b'L', b'Z', b'O'], Format::Lzo),
        ];
        MAGICS
            .iter()
            .find(|(magic, _)| data.starts_with(magic))
            .map(|&(_, format)| format)
    }

    pub fn name(self) -> &'static str {
        match self {
            Format::Gzip => "gzip",
            Format::Xz => "xz",
            Format::Zstd => "zstd",
            Format::Lz4Legacy => "lz4",
            Format::Lzma => "lzma",
            Format::Bzip2 => "bzip2",
            Format::Lzo => "lzo",
        }
    }
}

/// Reads only the first stream. Returns [`io::ErrorKind::Unsupported`] for bzip2 and lzo.
pub fn reader<'a>(format: Format, data: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    Ok(match format {
        Format::Gzip => Box::new(flate2::read::GzDecoder::new(data)),
        Format::Xz => Box::new(XzDecoder::new_stream(
            data,
            Stream::new_stream_decoder(DECODER_MEMORY, 0)?,
        )),
        Format::Lzma => Box::new(XzDecoder::new_stream(
            data,
            Stream::new_lzma_decoder(DECODER_MEMORY)?,
        )),
        Format::Zstd => Box::new(zstd(BufReader::new(data))?.single_frame()),
        Format::Lz4Legacy => Box::new(Lz4Legacy {
            block: Cursor::default(),
            source: data,
        }),
        Format::Bzip2 | Format::Lzo => {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!("{} compression is not supported", format.name()),
            ));
        }
    })
}

/// Like [`reader`], but reads all concatenated streams, as gzip(1), xz(1) and zstd(1) do. Parallel
/// compressors and some writers of container images make several.
fn reader_of_all<'a>(format: Format, data: impl BufRead + 'a) -> io::Result<Box<dyn Read + 'a>> {
    Ok(match format {
        Format::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(data)),
        Format::Xz => Box::new(liblzma::bufread::XzDecoder::new_stream(
            data,
            Stream::new_stream_decoder(DECODER_MEMORY, CONCATENATED)?,
        )),
        Format::Zstd => Box::new(zstd(data)?),
        other => reader(other, data)?,
    })
}

/// The contents of what may be compressed.
pub fn plain<'a>(data: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let mut data = BufReader::with_capacity(128 << 10, data);
    match Format::detect(data.fill_buf()?) {
        Some(format) => reader_of_all(format, data),
        None => Ok(Box::new(data)),
    }
}

/// The contents of a file that may be compressed, at most `limit` bytes.
pub fn unpacked(bytes: Vec<u8>, limit: u64) -> io::Result<Vec<u8>> {
    let Some(format) = Format::detect(&bytes) else {
        return Ok(bytes);
    };
    let mut unpacked = Vec::new();
    let reader = reader_of_all(format, &bytes[..])?;
    reader.take(limit).read_to_end(&mut unpacked)?;
    Ok(unpacked)
}

/// Returns [`io::ErrorKind::FileTooLarge`] if the output is longer than `limit` bytes.
pub fn decompress(format: Format, data: &[u8], limit: usize) -> io::Result<Vec<u8>> {
    read_bounded(&mut reader(format, data)?, limit)
}

/// Like [`decompress`]; `what` is for errors.
pub(crate) fn payload(
    format: Format,
    data: &[u8],
    limit: usize,
    what: &str,
) -> Result<Vec<u8>, Error> {
    decompress(format, data, limit).map_err(|e| match e.kind() {
        io::ErrorKind::Unsupported => Error::unsupported(what, e),
        _ => Error::damaged(what, format!("its {} payload: {e}", format.name())),
    })
}

pub(crate) fn read_bounded(reader: &mut dyn Read, limit: usize) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    reader.take(limit as u64 + 1).read_to_end(&mut out)?;
    if out.len() > limit {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("more than {limit} bytes"),
        ));
    }
    Ok(out)
}

pub(crate) fn damaged(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

fn zstd<'a, R: BufRead + 'a>(data: R) -> io::Result<zstd::Decoder<'a, R>> {
    let mut decoder = zstd::Decoder::with_buffer(data)?;
    decoder.window_log_max(ZSTD_WINDOW_LOG)?;
    Ok(decoder)
}

/// `lz4 -l`: a magic number, then blocks of at most 8 MiB, each after its compressed length.
/// The reader of `lz4_flex` refuses blocks that became longer by compression.
struct Lz4Legacy<R> {
    block: Cursor<Vec<u8>>,
    source: R,
}

impl<R: Read> Read for Lz4Legacy<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        const MAGIC: u32 = 0x184c_2102;
        const BLOCK: usize = 8 << 20;
        let limit = lz4_flex::block::get_maximum_output_size(BLOCK) as u64;
        loop {
            let read = self.block.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let mut word = Vec::with_capacity(4);
            (&mut self.source).take(4).read_to_end(&mut word)?;
            if word.is_empty() {
                return Ok(0);
            }
            let word: Result<[u8; 4], _> = word.try_into();
            let length = u32::from_le_bytes(word.map_err(|_| io::ErrorKind::UnexpectedEof)?);
            if length == MAGIC {
                continue;
            }
            let length = u64::from(length);
            let mut packed = Vec::new();
            let mut source = (&mut self.source).take(length.min(limit));
            source.read_to_end(&mut packed)?;
            match packed.len() as u64 {
                // The kernel's makefiles append the total length.
                0 => return Ok(0),
                n if n < length => return Err(io::ErrorKind::UnexpectedEof.into()),
                _ => {}
            }
            let block = lz4_flex::block::decompress(&packed, BLOCK);
            self.block = Cursor::new(block.map_err(|error| damaged(&error.to_string()))?);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::compress;

    const FORMATS: [Format; 5] = [
        Format::Gzip,
        Format::Xz,
        Format::Zstd,
        Format::Lz4Legacy,
        Format::Lzma,
    ];

    #[test]
    fn output_is_bounded() {
        let data = vec![7u8; 100_000];
        for format in FORMATS {
            let packed = compress(format, &data);
            assert_eq!(Format::detect(&packed), Some(format));
            assert_eq!(decompress(format, &packed, data.len()).unwrap(), data);
            let error = decompress(format, &packed, data.len() - 1).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::FileTooLarge, "{format:?}");
        }
    }

    #[test]
    fn streams_follow_each_other() {
        for format in [Format::Gzip, Format::Xz, Format::Zstd] {
            let mut packed = compress(format, b"one ");
            if format == Format::Zstd {
                packed.extend(b"\x50\x2a\x4d\x18\x03\0\0\0xyz");
            }
            packed.extend(compress(format, b"two"));
            let mut text = String::new();
            let all = reader_of_all(format, &packed[..]);
            all.unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "one two", "{format:?}");
            packed.pop();
            let cut = reader_of_all(format, &packed[..]).unwrap();
            assert!(io::read_to_string(cut).is_err(), "{format:?}");
        }
    }

    #[test]
    fn lz4_blocks_longer_than_one() {
        // Compression makes random bytes longer.
        let mut state = 1u64;
        let random = std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 56) as u8
        });
        let data: Vec<u8> = random.take((8 << 20) + 1).collect();
        let mut packed = compress(Format::Lz4Legacy, &data);
        assert!(packed.len() > data.len() + 4096);
        // As the kernel's makefiles do.
        packed.extend((data.len() as u32).to_le_bytes());
        assert_eq!(
            decompress(Format::Lz4Legacy, &packed, data.len()).unwrap(),
            data
        );
    }

    #[test]
    fn damaged_data_never_panics() {
        let data: Vec<u8> = (0..400u32).map(|at| (at * at) as u8).collect();
        for format in FORMATS {
            testing::damage(&compress(format, &data), |packed| {
                let _ = decompress(format, packed, 1 << 20);
            });
        }
    }
}
