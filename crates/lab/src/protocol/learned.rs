// SPDX-License-Identifier: GPL-2.0-or-later
//! What a policy has learned, as the agent tells it.

use super::{Message, u32_at};

/// A file of TOMOYO's, under `/sys/kernel/security/tomoyo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LearnedFile {
    /// `profile`
    Profile,
    /// `exception_policy`
    ExceptionPolicy,
    /// `domain_policy`
    DomainPolicy,
}

impl LearnedFile {
    /// In the order in which the agent tells and counts them.
    pub const ALL: [LearnedFile; 3] = [
        LearnedFile::Profile,
        LearnedFile::ExceptionPolicy,
        LearnedFile::DomainPolicy,
    ];
}

/// Which file, and whole lines of it: printable ASCII, as TOMOYO writes any name.
pub(super) fn parse(payload: &[u8]) -> Result<Message, &'static str> {
    if payload.len() < 4 {
        return Err("its length does not fit its type");
    }
    let all = LearnedFile::ALL;
    let file = all
        .get(u32_at(payload, 0) as usize)
        .ok_or("an unknown file")?;
    let lines = &payload[4..];
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n');
    if !lines.ends_with(b"\n") || !lines.iter().all(is_plain) {
        return Err("a policy that is no lines of text");
    }
    Ok(Message::Learned {
        file: *file,
        text: String::from_utf8_lossy(lines).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(which: u32, text: &[u8]) -> Result<Message, &'static str> {
        parse(&[&which.to_le_bytes(), text].concat())
    }

    #[test]
    fn files_are_told_in_whole_lines_of_plain_text() {
        let text = "<kernel> /lsmeter\nuse_profile 1\n".to_owned();
        let file = LearnedFile::DomainPolicy;
        assert_eq!(
            told(2, text.as_bytes()),
            Ok(Message::Learned { file, text })
        );
        for (which, wrong) in [
            (3, &b"a\n"[..]),
            (0, b"a"),
            (0, b""),
            (0, b"\x1b[31m\n"),
            (0, b"\xff\n"),
            (0, b"a\0\n"),
        ] {
            assert!(told(which, wrong).is_err(), "{which} {wrong:?}");
        }
        assert!(parse(&[0, 0, 0]).is_err());
    }
}
