// SPDX-License-Identifier: GPL-2.0-or-later
//! What bringing policies into force takes, from a document of `docs/results/policies.md`.

use model::{Clock, Document, PolicyPart};
use report::{Options, markdown, report};

const TITLE: &str = "What bringing policies into force takes";

fn document(name: &str) -> Document {
    let path = format!("{}/../../docs/results/{name}", env!("CARGO_MANIFEST_DIR"));
    Document::parse(&testing::unpack(&std::fs::read(path).unwrap())).unwrap()
}

fn has_table(document: &Document, details: bool) -> bool {
    markdown(&report(
        document,
        &Options {
            details,
            ..Options::default()
        },
    ))
    .contains(TITLE)
}

#[test]
fn larger_policies_take_longer() {
    let document = document("memory-policies.json.xz");
    let loading = |configuration: &str| {
        let of = |it: &&model::PolicyProof| it.configuration.title() == configuration;
        let proof = document.setups.iter().find(of).unwrap();
        proof.took.iter().map(|part| part.busy_ns).sum::<u64>()
    };
    let small = loading("capability,selinux (enforcing)");
    let large = loading("capability,selinux (enforcing, policy user_t)");
    assert!(small > 0 && large > 10 * small, "{small} {large}");
    assert!(has_table(&document, false));
}

#[test]
fn it_is_told_where_it_is_asked_for_and_exact() {
    let mut document = document("debian-policies.json.xz");
    for setup in &mut document.setups {
        setup.took.clear();
    }
    assert!(!has_table(&document, true), "nothing is known");
    document.setups[0].took.push(PolicyPart {
        module: "selinux".to_owned(),
        part: "loading".to_owned(),
        busy_ns: 1234,
    });
    assert!(has_table(&document, true) && !has_table(&document, false));
    document.environment.clock = Clock::Fast;
    assert!(!has_table(&document, true));
}
