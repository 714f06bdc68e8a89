// SPDX-License-Identifier: GPL-2.0-or-later
//! Policies with arbitrary files: findings of a fuzzer, or its initial corpus.

#[path = "../../fuzz/anything.rs"]
mod anything;

use std::path::Path;

#[test]
fn corpus() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/policy");
    let (mut seen, mut made) = (0, 0);
    for entry in std::fs::read_dir(corpus).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        made += usize::from(anything::prepared(dir.path(), &bytes).is_ok());
        // Each file is also tried truncated at every byte, and as a policy of each other module.
        for cut in 0..bytes.len() {
            let _ = anything::prepared(dir.path(), &bytes[..cut]);
        }
        for module in 0..5 {
            let other = [&[module], bytes.get(1..).unwrap_or_default()].concat();
            let _ = anything::prepared(dir.path(), &other);
        }
        seen += 1;
    }
    assert!(
        seen >= 8 && made >= 4,
        "{made} of {seen} files are policies"
    );
}
