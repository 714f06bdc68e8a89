// SPDX-License-Identifier: GPL-2.0-or-later
//! Content addressed by digest.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use model::{Failure, printable};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use super::missing;
use crate::error::LabError;
use crate::root::unpack::damaged;

const TEXT_LIMIT: u64 = 4 << 20;

/// Hexadecimal SHA-256 with the prefix `sha256:`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Digest(String);

impl TryFrom<String> for Digest {
    type Error = String;

    fn try_from(text: String) -> Result<Digest, String> {
        let digits = text.strip_prefix("sha256:").unwrap_or_default();
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        match digits.len() == 64 && digits.bytes().all(is_digit) {
            true => Ok(Digest(text)),
            false => Err(format!("`{}` is no SHA-256 digest", printable(&text, 100))),
        }
    }
}

impl Digest {
    pub fn part(&self) -> String {
        format!("blobs/{}", self.0.replacen(':', "/", 1))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub(super) struct Verified<R> {
    reader: R,
    hash: Sha256,
}

impl<R: Read> Verified<R> {
    pub fn new(reader: R) -> Verified<R> {
        Verified {
            reader,
            hash: Sha256::new(),
        }
    }

    pub fn check(&self, digest: &Digest, title: &str) -> Result<(), LabError> {
        let found = kernels::files::hex(&self.hash.clone().finalize());
        let found = format!("sha256:{found}");
        match found == digest.0 {
            true => Ok(()),
            false => Err(Failure::environment(
                format!("{title} is damaged: its digest is {found} and not {digest}"),
                "save the image again",
            )
            .into()),
        }
    }
}

impl<R: Read> Read for Verified<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.hash.update(&buffer[..count]);
        Ok(count)
    }
}

pub(super) fn read<T: DeserializeOwned>(
    layout: &Path,
    part: &str,
    digest: Option<&Digest>,
) -> Result<T, LabError> {
    let path = layout.join(part);
    let title = path.display().to_string();
    let (reader, length) = open(&path)?;
    let bad = |reason: String| {
        Failure::environment(
            format!("cannot read {title}: {reason}"),
            "an image is an OCI image layout, as Docker 25 and later save it: see that it is whole",
        )
    };
    if length > TEXT_LIMIT {
        return Err(bad(format!("it is longer than {} MiB", TEXT_LIMIT >> 20)).into());
    }
    let mut reader = Verified::new(reader.take(TEXT_LIMIT));
    let mut text = Vec::new();
    reader
        .read_to_end(&mut text)
        .map_err(|error| damaged(&title, &error))?;
    if let Some(digest) = digest {
        reader.check(digest, &title)?;
    }
    Ok(serde_json::from_slice(&text).map_err(|error| bad(error.to_string()))?)
}

pub(super) fn open(path: &Path) -> Result<(File, u64), LabError> {
    let title = path.display().to_string();
    // Do not block on a pipe.
    let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let file = File::options().read(true).custom_flags(flags).open(path);
    let file = match file {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing(&title)),
        file => file.map_err(LabError::io("read", path))?,
    };
    let found = file.metadata().map_err(LabError::io("read", path))?;
    match found.is_file() {
        true => Ok((file, found.len())),
        false => Err(missing(&title)),
    }
}
