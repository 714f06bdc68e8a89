// SPDX-License-Identifier: GPL-2.0-or-later
//! Analyses a small kernel tree in which one file is arbitrary; the first byte selects the file.
//! Findings go into the corpus, which `cargo test -p placement` also runs.

#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use model::{Exit, Fault as _};
use placement::{PlacementDocument, Request, Tree, analyse};

const FILES: [(&str, &str); 8] = [
    ("Makefile", include_str!("../../tests/tree/Makefile")),
    ("fs/namei.c", include_str!("../../tests/tree/fs/namei.c")),
    ("fs/stat.c", include_str!("../../tests/tree/fs/stat.c")),
    (
        "fs/toyfs/inode.c",
        include_str!("../../tests/tree/fs/toyfs/inode.c"),
    ),
    (
        "include/linux/fs.h",
        include_str!("../../tests/tree/include/linux/fs.h"),
    ),
    (
        "include/linux/lsm_hook_defs.h",
        include_str!("../../tests/tree/include/linux/lsm_hook_defs.h"),
    ),
    (
        "security/security.c",
        include_str!("../../tests/tree/security/security.c"),
    ),
    (
        "security/toy/toy_lsm.c",
        include_str!("../../tests/tree/security/toy/toy_lsm.c"),
    ),
];

fuzz_target!(|data: &[u8]| {
    let mut files: BTreeMap<String, Vec<u8>> = FILES
        .iter()
        .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()))
        .collect();
    if let Some((&which, text)) = data.split_first() {
        files.insert(
            FILES[usize::from(which) % FILES.len()].0.to_owned(),
            text.to_vec(),
        );
    }
    let request = Request {
        all: true,
        fs: vec!["toyfs".to_owned()],
        explain: true,
        ..Request::default()
    };
    match Tree::from_files("tree", files).and_then(|tree| analyse(&tree, &request)) {
        Ok(document) => {
            let mut bytes = Vec::new();
            document.write(&mut bytes).expect("memory takes it");
            PlacementDocument::parse(&bytes).expect("it is read back");
        }
        Err(error) => assert_ne!(error.exit(), Exit::Internal, "{error}"),
    }
});
