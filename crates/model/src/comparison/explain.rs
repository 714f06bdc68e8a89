// SPDX-License-Identifier: GPL-2.0-or-later
//! Hooks that account for a difference in instructions or transfers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::FunctionDifference;

/// The difference of one operation, by hook. The hooks' differences and the residual add up to it.
/// All values are guest kernel instructions, or transfers, per operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// Position in `compared`, from 0.
    #[serde(rename = "measurement")]
    pub cell: u32,
    /// NEW minus BASE.
    pub difference: i64,
    pub hooked: i64,
    pub residual: i64,
    /// Largest difference first.
    pub hooks: Vec<HookChange>,
    /// Functions outside hooks that account for the residual, as far as known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub residual_functions: Vec<FunctionDifference>,
    /// Events of the operation's instructions that became more or less frequent, if both sides
    /// counted them (`--events`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventChange>,
    /// Words of memory that are transferred more or less often, if transfers are compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<WordChange>,
}

/// Transfers of one word of memory by one function, in BASE and NEW.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WordChange {
    /// `[dentry.d_lockref]`.
    pub word: String,
    pub function: String,
    pub base: u64,
    pub new: u64,
}

/// Number of one event in BASE and NEW.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventChange {
    /// A name in [`Events::KINDS`](crate::Events::KINDS).
    pub event: String,
    pub base: u64,
    pub new: u64,
}

impl Explanation {
    pub(super) fn contradiction(&self, cells: usize) -> Option<String> {
        if self.cell as usize >= cells {
            return Some(format!("there is no measurement {}", self.cell));
        }
        let hooks = self.hooks.iter();
        let hooked: i128 = hooks.map(|hook| i128::from(hook.difference)).sum();
        let parts = hooked + i128::from(self.residual);
        let stored = (i128::from(self.hooked), i128::from(self.difference));
        ((hooked, parts) != stored)
            .then(|| format!("its parts add up to {parts}, not {}", self.difference))
    }
}

/// Difference of one hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookChange {
    pub hook: String,
    pub function: String,
    pub base_calls: u64,
    pub new_calls: u64,
    /// Instructions added, in calls from outside other hooks. Summing over hooks counts nothing
    /// twice.
    pub difference: i64,
    /// Instructions added outside modules' functions: in the hook's function itself and in helpers.
    pub dispatch: i64,
    /// Module functions that it calls, the largest difference first.
    pub implementations: Vec<ImplementationChange>,
    /// Functions that call it, the largest difference in calls first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<CallerChange>,
    /// Events that became more or less frequent in its instructions and in everything that it
    /// calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventChange>,
}

/// Difference of one module's function below a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImplementationChange {
    pub module: String,
    pub function: String,
    pub base_calls: u64,
    pub new_calls: u64,
    /// Instructions added, from its calls to its returns.
    pub difference: i64,
}

/// Number of calls of a hook by a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallerChange {
    pub function: String,
    pub base_calls: u64,
    pub new_calls: u64,
}
