// SPDX-License-Identifier: GPL-2.0-or-later
//! Names of documents: when, what, which: `20260228T100000Z_v6.12_91a3c5f0.json`.

/// Longest label, in bytes.
const LABEL_LIMIT: usize = 64;
/// Characters of a digest that stand in a name.
const DIGEST_SHOWN: usize = 12;

/// Can it be part of a file's name, on any file system?
pub(crate) fn is_label(label: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    !label.is_empty() && label.len() <= LABEL_LIMIT && label.chars().all(fits)
}

/// The name of a document's file. Names sort as their documents began.
pub(crate) fn file_name(started: &str, label: Option<&str>, digest: &str) -> String {
    let when: String = started
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(20)
        .collect();
    let digest: String = digest.chars().take(DIGEST_SHOWN).collect();
    match label {
        Some(label) => format!("{when}_{label}_{digest}.json"),
        None => format!("{when}_{digest}.json"),
    }
}

/// A document's name without what says that it is one, and how it is packed; None of any other file.
pub(crate) fn stem(file: &str) -> Option<&str> {
    let packed = [".xz", ".gz", ".zst"].into_iter();
    let plain = packed.filter_map(|ending| file.strip_suffix(ending)).next();
    plain.unwrap_or(file).strip_suffix(".json")
}

/// The label in a name that [`file_name`] made; None in any other.
pub(crate) fn label(file: &str) -> Option<&str> {
    let (rest, digest) = stem(file)?.rsplit_once('_')?;
    let (_, label) = rest.split_once('_')?;
    let is_digest = digest.len() == DIGEST_SHOWN && digest.chars().all(|c| c.is_ascii_hexdigit());
    (is_digest && is_label(label)).then_some(label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_hold_when_and_what() {
        let name = file_name(
            "2026-02-28T10:00:00Z",
            Some("v6.12_rc1"),
            "91a3c5f00d5eed01aa",
        );
        assert_eq!(name, "20260228T100000Z_v6.12_rc1_91a3c5f00d5e.json");
        assert_eq!(label(&name), Some("v6.12_rc1"));
        let bare = file_name("2026-02-28T10:00:00Z", None, "91a3c5f00d5eed01aa");
        assert_eq!(bare, "20260228T100000Z_91a3c5f00d5e.json");
        assert_eq!(label(&bare), None);
        assert_eq!(label(&(name + ".xz")), Some("v6.12_rc1"));
        assert_eq!(label("of_another_kind.json"), None);
        let stems = ["a.json", "a.json.zst", "a.xz", "a.json.bz2"].map(stem);
        assert_eq!(stems, [Some("a"), Some("a"), None, None]);
    }

    #[test]
    fn labels_are_no_paths() {
        for refused in ["", "a/b", "..\0", "a b", "é", &"x".repeat(65)] {
            assert!(!is_label(refused), "{refused}");
        }
    }

    proptest! {
        #[test]
        fn any_label_comes_back(text in "[A-Za-z0-9._+-]{1,64}", when in ".{0,40}") {
            let name = file_name(&when, Some(&text), "0123456789abcdef");
            prop_assert!(!name.contains('/'));
            prop_assert_eq!(label(&name), Some(text.as_str()));
        }
    }
}
