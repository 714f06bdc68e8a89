// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter run --shard`.

use clap::Args;
use model::Shard;

#[derive(Debug, Args)]
#[command(next_help_heading = "Where and how")]
pub struct ShardArgs {
    /// Measure shard I of N, such as 3/16, or slurm for the array task's
    #[arg(long, value_name = "I/N", conflicts_with_all = ["aa", "fail_above"], value_parser = shard)]
    pub shard: Option<Shard>,
}

fn shard(text: &str) -> Result<Shard, String> {
    if text == "slurm" {
        return of_array(|name| std::env::var(name).ok());
    }
    text.parse()
        .map_err(|error: model::ShardError| error.to_string())
}

/// The part of this task of a Slurm job array. An array may begin at any number, without gaps.
fn of_array(variable: impl Fn(&str) -> Option<String>) -> Result<Shard, String> {
    let number = |name: &str| -> Result<u32, String> {
        let value = variable(name).and_then(|text| text.parse().ok());
        value.ok_or_else(|| {
            format!("{name} is not set to a number: submit the job with sbatch --array=1-N")
        })
    };
    let [id, first, last, count] =
        ["ID", "MIN", "MAX", "COUNT"].map(|name| number(&format!("SLURM_ARRAY_TASK_{name}")));
    let (id, first, last, count) = (id?, first?, last?, count?);
    if !(first..=last).contains(&id) || u64::from(last - first) + 1 != u64::from(count) {
        return Err(format!(
            "task {id} of {count}, from {first} to {last}: a job array must number its tasks \
             without gaps, as in sbatch --array=1-16"
        ));
    }
    Shard::new(id - first + 1, count).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn array_variables_give_a_part() {
        for (values, expected) in [
            (["3", "1", "16", "16"], Ok("3/16")),
            (["0", "0", "4", "5"], Ok("1/5")),
            (["7", "5", "7", "3"], Ok("3/3")),
            (["3", "1", "5", "3"], Err("without gaps")),
            (["9", "1", "5", "5"], Err("without gaps")),
            (["1", "1", "2000", "2000"], Err("expected 1 to 1000")),
            (
                ["", "1", "5", "5"],
                Err("SLURM_ARRAY_TASK_ID is not set to a number"),
            ),
            (
                ["x", "1", "5", "5"],
                Err("SLURM_ARRAY_TASK_ID is not set to a number"),
            ),
            (["1", "2", "1", "5"], Err("without gaps")),
        ] {
            let names = ["ID", "MIN", "MAX", "COUNT"];
            let found = of_array(|name| {
                let at = names
                    .iter()
                    .position(|end| name == format!("SLURM_ARRAY_TASK_{end}"))?;
                Some(values[at].to_owned())
            });
            match expected {
                Ok(shard) => assert_eq!(found.unwrap().to_string(), shard),
                Err(error) => assert!(found.unwrap_err().contains(error), "{values:?}"),
            }
        }
    }
}
