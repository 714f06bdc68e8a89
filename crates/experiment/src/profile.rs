// SPDX-License-Identifier: GPL-2.0-or-later
//! What LSM hooks cost inside an operation, and the document that holds it.

use std::io::{Read, Write};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::configuration::Tuning;
use crate::document::{
    self, Document, DocumentError, DocumentFault, DocumentKind, check_warnings, json, lines,
    printable,
};
use crate::run::{Environment, Tool, Warning};
use crate::words::{Integrity, Policy, Status};

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
    /// Who called it, by name; empty in documents of an older lsmeter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub called_by: Vec<HookCaller>,
}

/// A function that called a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookCaller {
    /// Its name.
    pub function: String,
    /// Its calls of the hook.
    pub calls: u64,
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

/// The hooks of many operations: `lsmeter profile --json`. See
/// [`ProfileDocument::read`] and [`ProfileDocument::write`].
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

impl ProfileDocument {
    /// Reads a document of this or an older schema version. Keys it does not know are
    /// skipped: a later lsmeter may add some without a new schema version.
    ///
    /// # Errors
    /// [`DocumentError`], which says where. Reads at most
    /// [`DOCUMENT_LIMIT_BYTES`](crate::DOCUMENT_LIMIT_BYTES).
    pub fn read(reader: impl Read) -> Result<ProfileDocument, DocumentError> {
        document::read(reader)
    }

    /// Reads a document that is in memory. Like [`ProfileDocument::read`].
    ///
    /// # Errors
    /// [`DocumentError`].
    pub fn parse(bytes: &[u8]) -> Result<ProfileDocument, DocumentError> {
        document::parse(bytes)
    }

    /// Writes the document: one line per profile and per warning, so that line tools
    /// work on it. The same document gives the same bytes.
    ///
    /// # Errors
    /// [`DocumentFault::Io`] when the writer fails. Flushes at the end.
    pub fn write(&self, writer: impl Write) -> Result<(), DocumentError> {
        document::write(self, writer)
    }
}

impl Document for ProfileDocument {
    const KIND: DocumentKind = DocumentKind::Profile;

    fn check(&self) -> Result<(), DocumentFault> {
        for (index, profile) in self.profiles.iter().enumerate() {
            if let Some(message) = profile.contradiction() {
                let path = format!("profiles[{index}]");
                return Err(DocumentFault::Contradiction { path, message });
            }
        }
        check_warnings(&self.warnings, self.profiles.len(), "profile")
    }

    fn write_keys(&self, w: &mut impl Write) -> Result<(), DocumentFault> {
        // Taken apart in full, so that a new key cannot be forgotten here.
        let ProfileDocument {
            schema_version,
            tool,
            environment,
            profiles,
            warnings,
        } = self;
        write!(w, "{{\n\"schema_version\": {schema_version},\n\"tool\": ")?;
        json(w, tool)?;
        w.write_all(b",\n\"environment\": ")?;
        json(w, environment)?;
        w.write_all(b",\n\"profiles\": ")?;
        lines(w, profiles)?;
        w.write_all(b",\n\"warnings\": ")?;
        lines(w, warnings)?;
        Ok(w.write_all(b"\n}\n")?)
    }
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
    /// Integrity subsystems at work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub integrity: Vec<Integrity>,
    /// What the modules decided with.
    #[serde(default)]
    pub policy: Policy,
    /// Sizes of policies.
    #[serde(default, skip_serializing_if = "Tuning::is_default")]
    pub tuning: Tuning,
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
    /// Did at least half of the windows take the profiled path, also in the baseline, and
    /// were at least as many clean as dirty? If not, the operation has no one path that
    /// could be compared.
    pub fn is_stable(&self) -> bool {
        let base = self.baseline.as_ref();
        self.windows >= self.dirty
            && 2 * self.path_windows >= self.windows
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

    /// What contradicts itself in the profile, if anything. Sums in a type that holds
    /// whatever a hostile document adds up.
    fn contradiction(&self) -> Option<String> {
        if self.stack.is_empty() {
            return Some("the stack is empty".to_owned());
        }
        if self.status != Status::Ok {
            return None;
        }
        if self.path_windows > self.windows {
            return Some(format!(
                "{} of {} windows took the path",
                self.path_windows, self.windows
            ));
        }
        let own = sums(self.total, self.hooked, &self.hooks);
        let Some(base) = &self.baseline else {
            let compared = self.residual.is_some() || !self.residual_functions.is_empty();
            return own.or_else(|| compared.then(|| "a residual without a baseline".to_owned()));
        };
        let of_base = sums(base.total, base.hooked, &base.hooks);
        let of_base = of_base.map(|message| format!("in the baseline {message}"));
        if let Some(message) = own.or(of_base) {
            return Some(message);
        }
        let Some(residual) = self.residual else {
            return Some("a baseline without a residual".to_owned());
        };
        let outside = |total, hooked| i128::from(total) - i128::from(hooked);
        let difference = outside(self.total, self.hooked) - outside(base.total, base.hooked);
        if i128::from(residual) != difference {
            return Some(format!(
                "the residual is {residual}, but outside hooks the totals differ by {difference}"
            ));
        }
        let functions = self.residual_functions.iter();
        let sum: i128 = functions.map(|f| i128::from(f.difference)).sum();
        (i128::from(residual) != sum)
            .then(|| format!("the residual is {residual}, its functions sum up to {sum}"))
    }
}

/// What contradicts itself in a path's figures, if anything.
fn sums(total: u64, hooked: u64, hooks: &[HookCost]) -> Option<String> {
    if hooked > total {
        return Some(format!("{hooked} of {total} instructions are in hooks"));
    }
    for hook in hooks {
        for (what, part) in [
            ("exclusive", hook.exclusive),
            ("dispatch", hook.dispatch),
            ("outermost", hook.outermost),
        ] {
            if part > hook.inclusive {
                return Some(format!(
                    "{}: {what} is {part}, inclusive {}",
                    printable(&hook.function),
                    hook.inclusive
                ));
            }
        }
    }
    let sum: u128 = hooks.iter().map(|hook| u128::from(hook.outermost)).sum();
    (sum != u128::from(hooked))
        .then(|| format!("{hooked} instructions are in hooks, which sum up to {sum}"))
}
