// SPDX-License-Identifier: GPL-2.0-or-later
//! Types of experiments and results: what to run, and what was measured.
//!
//! - [`Spec`]: an experiment as a user wrote it: TOML, a preset or flags. Every key is optional.
//!   Specs are merged, then resolved.
//! - [`Experiment`]: a resolved spec, with every key set and checked.
//! - [`Cell`]: one measurement: a [`Key`], and [`Evidence`] or the reason for its absence.
//! - [`Document`]: a result file: measurements, their experiment and environment, as JSON.
//! - [`Stored`]: other result files: [`PlacementDocument`] (hooks that system calls can reach),
//!   [`ComparisonDocument`] (differences between two result files), [`PredictionDocument`] (cost of
//!   other stacks for recorded calls), [`EstimateDocument`] (counts converted to nanoseconds).
//!
//! Nothing here opens a file or prints; callers pass readers and writers.

mod aa;
mod cell;
pub mod comparison;
mod configuration;
mod configure;
mod depth;
mod diagnostics;
mod document;
mod environment;
pub mod estimate;
mod event;
mod evidence;
mod experiment;
mod framework;
mod given;
mod glob;
mod hint;
mod key;
mod layout;
mod metric;
mod monitoring;
pub mod placement;
pub mod prediction;
mod preset;
mod program;
mod programs;
mod resolve;
mod select;
mod shard;
mod spec;
mod stack;
mod sweep;
mod text;
mod warning;
mod words;

pub use aa::{AaLayouts, AaMetric, AaReport};
pub use cell::{Cell, Outcome};
pub use comparison::ComparisonDocument;
pub use configuration::{Configuration, Settings, title as configuration_title};
pub use configure::DEFAULT_KERNEL;
pub use depth::{path_components, path_depth};
pub use diagnostics::{
    EXIT_STATUS_HELP, Exit, Failure, Fault, collect_libbpf_warning, harmless, listed, printable,
    take_libbpf_warnings,
};
pub use document::{
    DOCUMENT_LIMIT_BYTES, Document, DocumentError, DocumentFault, Kind, SCHEMA_VERSION, Stored,
    schema,
};
pub use environment::{
    CacheUse, Emulator, Environment, Origin, PluginApi, PolicyPart, PolicyProof, Tool,
};
pub use estimate::EstimateDocument;
pub use event::Event;
pub use evidence::{
    Bucket, Calls, Counted, Denials, DifferingHook, EntryHook, EntryModule, Estimate, EventKind,
    Events, Evidence, FunctionDifference, HookCaller, HookCost, HookedPath, Implementation,
    Interval, IrqsOff, PathCall, PathCount, PathTree, Paths, Percentiles, Program, ProgramEntry,
    ProgramResidual, ProgramRun, ProgramTask, Residual, Slope, SlopePoint, Timed, WatchedHook,
    WatchedSystemCall, WholeSystemCall, is_dominant,
};
pub use experiment::{Experiment, Samples};
pub use framework::IRREGULAR_FUNCTIONS;
pub use given::{
    Access, AccessError, AccessHow, CustomPolicy, is_guest_path, is_smack_label,
    stacks_of as given_stacks,
};
pub use glob::glob;
pub use hint::{excerpt, nearest};
pub use key::{Delay, Key, Subject, title as cell_title};
pub use layout::{is_kernel_pattern, layout, layouts_base};
pub use metric::Metric;
pub use monitoring::{LeftOutFunction, MonitorCost, Monitoring};
pub use placement::PlacementDocument;
pub use prediction::PredictionDocument;
pub use preset::{Preset, UnknownPreset, preset, presets};
pub use program::{Programs, RootSpec, Workload};
pub use select::{Choice, Pattern, PatternError, SelectError, Selection};
pub use shard::{Shard, ShardError, Share};
pub use spec::{Baseline, ConfigurationSpec, IntegrityList, SPEC_LIMIT_BYTES, Spec, SpecError};
pub use stack::{Stack, StackError};
pub use sweep::{ALL_HOOKS, DepthRule, Prediction, RepeatedQuestion, SweepFindings};
pub use warning::{Warning, WarningKind};
pub use words::{
    Architecture, AuditRecords, AuditRules, Caches, DelayModule, FileSystem, FirstAfter, ImaPolicy,
    Integrity, MonitorMode, Place, Policy, Select, SelinuxPolicy, Status, Suite, Unit, UnknownWord,
};
