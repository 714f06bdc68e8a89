// SPDX-License-Identifier: GPL-2.0-or-later
//! Slurm: a job array, as a script for sbatch.

use std::fmt::Write as _;

use super::{JobPlan, quoted};

/// The script that a user submits.
pub fn slurm(plan: &JobPlan) -> String {
    let (label, shards) = (plan.label(), plan.shards);
    let mut text = format!(
        "#!/bin/sh\n\
         #SBATCH --job-name={label}\n\
         #SBATCH --array=1-{shards}\n\
         #SBATCH --output=shard-%a.log\n"
    );
    if plan.exclusive {
        // Whole nodes: nothing else may run beside what is timed.
        text += "#SBATCH --exclusive\n";
    }
    let id = "$SLURM_ARRAY_TASK_ID";
    let _ = write!(
        text,
        "\n# When all have ended: {}\n\
         # What a lost attempt left is in the way of the next one.\n\
         rm -f \"shard-{id}.json.journal\"\n\
         # 4: some cells failed; the document says which.\n\
         {} || [ $? -eq 4 ]\n",
        plan.merge("shard-*.json"),
        plan.command(&format!("{id}/{shards}"), &format!("shard-{id}.json")),
    );
    text
}

/// The script of a job that `lsmeter run --slurm` submits and follows. In `directory`, which is
/// absolute and which all nodes share, are documents, journals and logs. A task may be started
/// several times, and a node that was given up may still be at work: each attempt writes files of
/// its own, begins with what the longest of the others has finished, and puts its document in
/// place whole.
pub fn slurm_job(plan: &JobPlan, directory: &str) -> String {
    let directory = quoted(directory);
    let shard = format!("$shard/{}", plan.shards);
    let run = plan.command(&shard, "$mine");
    format!(
        r#"#!/bin/sh
directory={directory}
shard=$SLURM_ARRAY_TASK_ID
document=$directory/shard-$shard.json
mine=$directory/shard-$shard.$SLURM_JOB_ID-${{SLURM_RESTART_COUNT:-0}}.json
[ ! -s "$document" ] || exit 0
run() {{ {run} "$@"; }}
# What a lost attempt has finished is not measured again, if it can stand beside the rest.
longest=$(ls -S "$directory/shard-$shard".*.json.journal 2>/dev/null | head -n 1)
status=2
if [ -n "$longest" ] && cp "$longest" "$mine.journal"; then
	run --resume
	status=$?
fi
if [ ! -s "$mine" ] && [ "$status" -eq 2 ]; then
	rm -f "$mine.journal"
	run
	status=$?
fi
[ ! -s "$mine" ] || mv "$mine" "$document"
exit "$status"
"#
    )
}
