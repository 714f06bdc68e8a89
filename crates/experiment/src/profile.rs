// SPDX-License-Identifier: GPL-2.0-or-later
//! What LSM hooks cost inside an operation, and the document that holds it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::run::{Environment, Tool, Warning};
use crate::words::Status;

/// One LSM hook in one operation, on one path through the kernel. All figures are
/// guest kernel instructions per operation (a REP instruction counts once), or calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookCost {
    /// The hook: `inode_permission`. For what kernels call beside the framework
    /// (`ima_file_check` before 6.8) the function's name.
    pub hook: String,
    /// The function that calls the modules: `security_inode_permission`.
    pub function: String,
    /// Calls of that function.
    pub calls: u64,
    /// Instructions from its calls to its returns, whatever ran in between.
    pub inclusive: u64,
    /// The function's own instructions.
    pub exclusive: u64,
    /// Placement: `inclusive` less what the modules' implementations took.
    pub dispatch: u64,
    /// The part of `inclusive` of calls that did not come from inside another hook.
    /// Summed over hooks nothing counts twice.
    pub outermost: u64,
    /// What it called of the modules, by module, then by function.
    pub implementations: Vec<Implementation>,
}

/// A module's function behind a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Implementation {
    /// The module, as `/sys/kernel/security/lsm` names it: `selinux`.
    pub module: String,
    /// The function: `selinux_inode_permission`.
    pub function: String,
    /// Its calls by the hook.
    pub calls: u64,
    /// Instructions from its calls to its returns.
    pub inclusive: u64,
}

/// The hooks of many operations: `lsmeter profile --json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "lsmeter profile document")]
pub struct ProfileDocument {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// What wrote it.
    pub tool: Tool,
    /// What it ran on.
    pub environment: Environment,
    /// One for each kernel, stack, benchmark and variant, in the order of the suite.
    pub profiles: Vec<Profile>,
    /// Reasons to doubt it.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

/// The hooks of one operation in one cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Profile {
    /// Kernel as the user named it.
    pub kernel: String,
    /// `uname -r` as the guest reported it.
    pub release: String,
    /// The stack asked for, in order.
    pub stack: Vec<String>,
    /// What `/sys/kernel/security/lsm` listed.
    pub active_lsms: Vec<String>,
    /// File system worked on.
    pub filesystem: String,
    /// Benchmark.
    pub benchmark: String,
    /// Its variant; may be empty.
    pub variant: String,
    /// System calls of one operation, in order.
    pub syscalls: Vec<String>,
    /// How it ended; without figures unless ok.
    pub status: Status,
    /// Why it is not ok.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Guest kernel instructions of the profiled path.
    pub total: u64,
    /// Iterations of REP instructions on it, not part of `total`.
    pub rep_iterations: u64,
    /// Instructions inside hooks, nested ones counted once.
    pub hooked: u64,
    /// Every hook that was called, by name.
    pub hooks: Vec<HookCost>,
    /// What it is compared with (`--diff`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineProfile>,
    /// Instructions that differ from the baseline outside every hook: the difference
    /// of `total` less that of `hooked`. 0 proves that the hooks are all there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual: Option<i64>,
    /// The functions that hold instructions outside hooks which differ from the
    /// baseline's; they sum up to `residual`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub residual_functions: Vec<FunctionDifference>,
    /// Clean windows, of all paths.
    pub windows: u64,
    /// Of them those that took the profiled path.
    pub path_windows: u64,
    /// Windows dropped because something else ran in them.
    pub dirty: u64,
}

/// The baseline of a compared profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BaselineProfile {
    /// Its stack.
    pub stack: Vec<String>,
    /// Its `total`.
    pub total: u64,
    /// Its `hooked`.
    pub hooked: u64,
    /// Its hooks.
    pub hooks: Vec<HookCost>,
    /// Its clean windows that took the compared path.
    pub path_windows: u64,
    /// Its clean windows.
    pub windows: u64,
}

/// A function whose instructions outside hooks differ from the baseline's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionDifference {
    /// Its name.
    pub function: String,
    /// Instructions more than in the baseline.
    pub difference: i64,
    /// Why a stack makes a difference there, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
}

impl Profile {
    /// Did at least half of the windows take the profiled path, also in the baseline?
    /// If not, the operation has no one path that could be compared.
    pub fn is_stable(&self) -> bool {
        let base = self.baseline.as_ref();
        2 * self.path_windows >= self.windows
            && base.is_none_or(|base| 2 * base.path_windows >= base.windows)
    }

    /// Does the comparison leave something that should not be there: a function outside
    /// hooks that costs more or less than in the baseline, for no known reason, in an
    /// operation that takes one path?
    pub fn is_unexplained(&self) -> bool {
        let unexplained = |function: &FunctionDifference| function.explanation.is_none();
        self.is_stable() && self.residual_functions.iter().any(unexplained)
    }

    /// `benchmark:variant`, or `benchmark` if there is only one variant.
    pub fn title(&self) -> String {
        crate::cell::title(&self.benchmark, &self.variant)
    }
}
