// SPDX-License-Identifier: GPL-2.0-or-later
//! Code sections of a guest's modules: the payload of a `modules` frame.

use std::collections::BTreeSet;

const SECTIONS_LIMIT: usize = 4096;
/// The limit for names of modules and sections; the kernel allows 55 bytes for modules
/// (`MODULE_NAME_LEN`, `include/linux/moduleparam.h`).
const NAME_LIMIT_BYTES: usize = 128;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleSection {
    pub module: String,
    pub section: String,
    /// 0 if the kernel hides it (`kptr_restrict`).
    pub address: u64,
}

pub(super) fn parse(payload: &[u8]) -> Result<Vec<ModuleSection>, &'static str> {
    let lines = str::from_utf8(payload)
        .ok()
        .and_then(|text| text.strip_suffix('\n'))
        .ok_or("not lines of text")?;
    let mut seen = BTreeSet::new();
    let mut sections = Vec::new();
    for line in lines.split('\n') {
        let section = module_section(line).ok_or("not a module, a section and an address")?;
        if sections.len() == SECTIONS_LIMIT {
            return Err("too many sections");
        }
        let names = line.rsplit_once(' ').map(|(names, _)| names);
        if !seen.insert(names) {
            return Err("the same section twice");
        }
        sections.push(section);
    }
    Ok(sections)
}

fn module_section(line: &str) -> Option<ModuleSection> {
    let mut words = line.split(' ');
    let mut name = || {
        let sound = |word: &&str| {
            (1..=NAME_LIMIT_BYTES).contains(&word.len())
                && word.bytes().all(|byte| byte.is_ascii_graphic())
        };
        words.next().filter(sound).map(str::to_owned)
    };
    let (module, section) = (name()?, name()?);
    let digits = words.next()?.strip_prefix("0x")?;
    // from_str_radix accepts a sign.
    if words.next().is_some() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    Some(ModuleSection {
        module,
        section,
        address: u64::from_str_radix(digits, 16).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Decoder, MODULES, Message, ProtocolError, encode};
    use super::*;
    use proptest::prelude::*;

    fn modules(text: &str) -> Result<Vec<ModuleSection>, ProtocolError> {
        let messages = Decoder::default().push(&encode(MODULES, text.as_bytes()))?;
        let [Message::Modules(sections)] = &messages[..] else {
            panic!("{messages:?}");
        };
        Ok(sections.clone())
    }

    #[test]
    fn what_is_no_list_of_sections_is_refused() {
        let long = format!("{} .text 0x1\n", "m".repeat(NAME_LIMIT_BYTES + 1));
        let many: String = (0..=SECTIONS_LIMIT)
            .map(|i| format!("m{i} .t 0x1\n"))
            .collect();
        for text in [
            "",
            "\n",
            "brd .text 0x1",
            "brd .text\n",
            "brd  .text 0x1\n",
            "brd .text 0x1 more\n",
            "brd .text 1\n",
            "brd .text 0x\n",
            "brd .text 0x+1\n",
            "brd .text 0x10000000000000000\n",
            "brd .text 0x1\n\n",
            "brd .te\txt 0x1\n",
            "br\u{e4} .text 0x1\n",
            "brd .text 0x1\nbrd .text 0x2\n",
            &long,
            &many,
        ] {
            let error = modules(text).unwrap_err();
            assert!(
                matches!(error, ProtocolError::Payload { kind: MODULES, .. }),
                "{text}: {error}"
            );
        }
        assert!(modules("brd .text 0x1\nbrd .text.unlikely 0x1\n").is_ok());
    }

    proptest! {
        #[test]
        fn sections_read_back(
            addresses in proptest::collection::btree_map(
                ("[!-~]{1,128}", "[!-~]{1,128}"), any::<u64>(), 1..60,
            ),
        ) {
            let text: String = addresses
                .iter()
                .map(|((module, section), address)| format!("{module} {section} {address:#x}\n"))
                .collect();
            let expected: Vec<ModuleSection> = addresses
                .into_iter()
                .map(|((module, section), address)| ModuleSection { module, section, address })
                .collect();
            prop_assert_eq!(modules(&text), Ok(expected));
        }
    }
}
