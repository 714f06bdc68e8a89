// SPDX-License-Identifier: GPL-2.0-or-later
//! Which hooks account for a difference in instructions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::FunctionDifference;

/// The difference of one operation, by hook. The hooks' differences and the residual sum
/// up to it. All figures are guest kernel instructions per operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// Position of the cell in `compared`, from 0.
    #[serde(rename = "measurement")]
    pub cell: u32,
    /// NEW less BASE.
    pub difference: i64,
    pub hooked: i64,
    pub residual: i64,
    /// Hooks, that with the largest difference first.
    pub hooks: Vec<HookChange>,
    /// Functions outside hooks that hold the residual, as far as the documents know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub residual_functions: Vec<FunctionDifference>,
    /// What the operation's instructions do more or less often, if both documents say what
    /// they do (`--events`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventChange>,
}

/// How often something happens in BASE and in NEW.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventChange {
    /// What: a name in [`Events::KINDS`](crate::Events::KINDS).
    pub event: String,
    pub base: u64,
    pub new: u64,
}

impl Explanation {
    pub(super) fn contradiction(&self, cells: usize) -> Option<String> {
        if self.cell as usize >= cells {
            return Some(format!("there is no cell {}", self.cell));
        }
        let hooks = self.hooks.iter();
        let hooked: i128 = hooks.map(|hook| i128::from(hook.difference)).sum();
        let parts = hooked + i128::from(self.residual);
        let said = (i128::from(self.hooked), i128::from(self.difference));
        ((hooked, parts) != said)
            .then(|| format!("its parts sum up to {parts}, not {}", self.difference))
    }
}

/// How one hook differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookChange {
    pub hook: String,
    pub function: String,
    pub base_calls: u64,
    pub new_calls: u64,
    /// Instructions more than in BASE, of calls that did not come from inside another
    /// hook. Summed over hooks nothing counts twice.
    pub difference: i64,
    /// Instructions more than in BASE in the function itself, and in what is neither it
    /// nor a module's.
    pub dispatch: i64,
    /// Modules' functions that it called, the largest difference first.
    pub implementations: Vec<ImplementationChange>,
    /// Functions that called it, the largest difference in calls first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<CallerChange>,
    /// What its instructions, with all that it calls, do more or less often.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventChange>,
}

/// How one module's function behind a hook differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImplementationChange {
    pub module: String,
    pub function: String,
    pub base_calls: u64,
    pub new_calls: u64,
    /// Instructions more than in BASE, from its calls to its returns.
    pub difference: i64,
}

/// How often a function called a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallerChange {
    pub function: String,
    pub base_calls: u64,
    pub new_calls: u64,
}
