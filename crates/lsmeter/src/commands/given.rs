// SPDX-License-Identifier: GPL-2.0-or-later
//! Custom policies, from `--policy-file`.

use anyhow::Result;
use model::{Spec, given_stacks};

use crate::cli::CellArgs;
use crate::commands::measure::read_file;
use crate::failure::usage;

const KEYS: [&str; 2] = ["custom", "work_dir"];

pub fn flags(cells: &CellArgs) -> Result<Spec> {
    let Some(path) = &cells.policy_file else {
        return Ok(Spec::default());
    };
    let hint = "write tables [custom.NAME], with work_dir above them";
    let spec = read_file(path, hint)?;
    let path = path.display();
    if let Some(key) = spec.keys().into_iter().find(|key| !KEYS.contains(key)) {
        return Err(usage(
            format!("{path}: unknown key `{key}` in a policy file"),
            hint,
        ));
    }
    let Some(custom) = &spec.custom else {
        return Err(usage(format!("{path}: the file defines no policy"), hint));
    };
    let stacks = cells.stacks.is_empty().then(|| given_stacks(custom));
    Ok(Spec { stacks, ..spec })
}
