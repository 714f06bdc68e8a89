// SPDX-License-Identifier: GPL-2.0-or-later
//! Kubernetes: an Indexed Job.

use std::fmt::Write as _;

use super::{JobPlan, scalar};

/// The manifest. Documents go to the volume of a claim `LABEL-results`, which is the user's
/// to make; an index that fails is tried again by itself, three times.
pub fn kubernetes(plan: &JobPlan) -> String {
    let (label, shards) = (plan.label(), plan.shards);
    let shard = "$((JOB_COMPLETION_INDEX + 1))";
    let command = plan.command(&format!("{shard}/{shards}"), &format!("shard-{shard}.json"));
    // What a lost attempt left is in the way of the next one. 4: some cells failed; another
    // try would not mend that.
    let script = format!("rm -f \"shard-{shard}.json.journal\"; {command} || [ $? -eq 4 ]");
    let script = scalar(&script);
    let mut text = format!(
        "# kubectl apply -f THIS; when the job is complete, where the volume is:\n\
         # {}\n\
         apiVersion: batch/v1\n\
         kind: Job\n\
         metadata:\n\
         \x20 name: {label}\n\
         spec:\n\
         \x20 completionMode: Indexed\n\
         \x20 completions: {shards}\n\
         \x20 parallelism: {shards}\n\
         \x20 backoffLimitPerIndex: 3\n\
         \x20 template:\n\
         \x20   metadata:\n\
         \x20     labels:\n\
         \x20       app: {label}\n\
         \x20   spec:\n\
         \x20     restartPolicy: Never\n",
        plan.merge("shard-*.json"),
    );
    if plan.exclusive {
        let _ = write!(
            text,
            "\x20     # Times are taken: one of these to a node. Keep other pods from these nodes, and\n\
             \x20     # let all of them be of one kind (nodeSelector).\n\
             \x20     affinity:\n\
             \x20       podAntiAffinity:\n\
             \x20         requiredDuringSchedulingIgnoredDuringExecution:\n\
             \x20           - topologyKey: kubernetes.io/hostname\n\
             \x20             labelSelector:\n\
             \x20               matchLabels:\n\
             \x20                 app: {label}\n"
        );
    }
    let _ = write!(
        text,
        "\x20     containers:\n\
         \x20       - name: lsmeter\n\
         \x20         image: {}\n\
         \x20         workingDir: /results\n\
         \x20         command: [\"/bin/sh\", \"-c\", {script}]\n\
         \x20         volumeMounts:\n\
         \x20           - name: results\n\
         \x20             mountPath: /results\n\
         \x20     volumes:\n\
         \x20       - name: results\n\
         \x20         persistentVolumeClaim:\n\
         \x20           claimName: {label}-results\n",
        scalar(&plan.image),
    );
    text
}
