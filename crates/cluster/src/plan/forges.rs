// SPDX-License-Identifier: GPL-2.0-or-later
//! GitLab's and GitHub's pipelines: a job for each shard, and one that merges.

use super::{JobPlan, scalar};

/// What a job may end with besides 0: cells failed, and the document says which.
const SAVED: &str = "|| [ $? -eq 4 ]";

fn note(plan: &JobPlan) -> &'static str {
    if plan.exclusive {
        "# Times are taken: let all runners be of one kind, with one job at a time.\n"
    } else {
        ""
    }
}

/// `.gitlab-ci.yml`.
pub fn gitlab(plan: &JobPlan) -> String {
    let command = plan.command("$CI_NODE_INDEX/$CI_NODE_TOTAL", "shard-$CI_NODE_INDEX.json");
    let (image, document) = (scalar(&plan.image), scalar(&format!("{}.json", plan.name)));
    format!(
        "{note}shard:\n\
         \x20 image: {image}\n\
         \x20 parallel: {shards}\n\
         \x20 retry: 2\n\
         \x20 script:\n\
         \x20   - {run}\n\
         \x20 artifacts:\n\
         \x20   when: always\n\
         \x20   paths:\n\
         \x20     - \"shard-*.json\"\n\
         \n\
         merge:\n\
         \x20 image: {image}\n\
         \x20 stage: deploy\n\
         \x20 needs: [\"shard\"]\n\
         \x20 script:\n\
         \x20   - {merge}\n\
         \x20 artifacts:\n\
         \x20   paths:\n\
         \x20     - {document}\n",
        note = note(plan),
        shards = plan.shards,
        run = scalar(&format!("{command} {SAVED}")),
        merge = scalar(&plan.merge("shard-*.json")),
    )
}

/// A workflow of GitHub's, for `.github/workflows/`.
pub fn github(plan: &JobPlan) -> String {
    let shard = "${{ matrix.shard }}";
    let command = plan.command(
        &format!("{shard}/{}", plan.shards),
        &format!("shard-{shard}.json"),
    );
    let numbers: Vec<String> = (1..=plan.shards).map(|shard| shard.to_string()).collect();
    let (image, label) = (scalar(&plan.image), plan.label());
    let document = format!("{}.json", plan.name);
    format!(
        "{note}name: {label}\n\
         on:\n\
         \x20 workflow_dispatch: {{}}\n\
         jobs:\n\
         \x20 shard:\n\
         \x20   runs-on: ubuntu-latest\n\
         \x20   container: {image}\n\
         \x20   strategy:\n\
         \x20     fail-fast: false\n\
         \x20     matrix:\n\
         \x20       shard: [{numbers}]\n\
         \x20   steps:\n\
         \x20     - uses: actions/checkout@v4\n\
         \x20     - run: {run}\n\
         \x20     - uses: actions/upload-artifact@v4\n\
         \x20       with:\n\
         \x20         name: shard-{shard}\n\
         \x20         path: shard-*.json\n\
         \x20 merge:\n\
         \x20   needs: shard\n\
         \x20   runs-on: ubuntu-latest\n\
         \x20   container: {image}\n\
         \x20   steps:\n\
         \x20     - uses: actions/download-artifact@v4\n\
         \x20       with:\n\
         \x20         pattern: shard-*\n\
         \x20         merge-multiple: true\n\
         \x20     - run: {merge}\n\
         \x20     - uses: actions/upload-artifact@v4\n\
         \x20       with:\n\
         \x20         name: {label}\n\
         \x20         path: {document}\n",
        note = note(plan),
        numbers = numbers.join(", "),
        run = scalar(&format!("{command} {SAVED}")),
        merge = scalar(&plan.merge("shard-*.json")),
        document = scalar(&document),
    )
}
