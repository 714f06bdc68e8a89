// SPDX-License-Identifier: GPL-2.0-or-later
//! The words of an experiment as types: what to run, and what was measured.
//!
//! - [`Spec`]: what a user wrote, in TOML, in a preset or as flags; every key may be
//!   missing. Specs are merged, then resolved.
//! - [`Experiment`]: a resolved spec: every key decided and checked.
//! - [`Run`]: the run document: the experiment, the environment it ran in and the
//!   cells that came out of it, as JSON with a schema.
//! - [`ProfileDocument`]: the profile document: what LSM hooks cost inside operations.
//! - [`PlacementDocument`]: the placement document: which hooks system calls can reach,
//!   from a kernel's sources; its parts are in [`placement`].
//! - [`History`]: the figures of many runs as series, and where these change.
//! - [`ComparisonDocument`]: the comparison document: what differs between two of the
//!   others, and whether it is real; its parts are in [`comparison`].
//! - [`CheckDocument`]: the check document: whether the instruments agree; its parts are
//!   in [`check`].
//! - [`AnyDocument`]: a document of whichever kind.
//! - [`journal`]: finished cells, one JSON line each, so that a killed run resumes.
//!
//! Nothing here opens a file or prints: readers and writers are the caller's.

mod aa;
mod any;
mod cell;
pub mod check;
pub mod comparison;
mod configuration;
mod configure;
mod depth;
mod document;
mod experiment;
mod framework;
mod hint;
mod history;
pub mod journal;
mod monitor;
pub mod placement;
mod preset;
mod profile;
mod resolve;
mod run;
mod select;
mod sensitivity;
mod shard;
mod spec;
mod stack;
mod words;

pub use aa::{AaMetric, AaReport};
pub use any::AnyDocument;
pub use cell::{Cell, CellKey, Counts, PathCount, title as cell_title};
pub use check::{CheckDocument, CountsDocument};
pub use comparison::ComparisonDocument;
pub use configuration::{Configuration, Tuning, title as configuration_title};
pub use depth::{path_components, path_depth};
pub use document::{
    DOCUMENT_LIMIT_BYTES, DocumentError, DocumentFault, DocumentKind, check_schema,
    comparison_schema, counts_schema, monitor_schema, placement_difference_schema,
    placement_history_schema, placement_schema, profile_schema, run_schema, sensitivity_schema,
};
pub use experiment::{Experiment, Samples};
pub use framework::IRREGULAR_FUNCTIONS;
pub use hint::nearest;
pub use history::{History, HistoryRun, Series, SeriesChange, SeriesPoint, history_schema};
pub use monitor::{
    Bucket, Calls, Interval, LeftOutFunction, MonitorCost, MonitorDocument, Monitoring,
    Percentiles, WatchedHook, WatchedSystemCall, WholeSystemCall,
};
pub use placement::PlacementDocument;
pub use preset::{Preset, UnknownPreset, preset, presets};
pub use profile::{
    BaselineProfile, FunctionDifference, HookCaller, HookCost, Implementation, Profile,
    ProfileDocument,
};
pub use run::{
    Emulator, Environment, Origin, PluginApi, PolicyProof, Run, SCHEMA_VERSION, Tool, Warning,
    WarningKind,
};
pub use select::{Pattern, PatternError, SelectError, Selectable, Selection};
pub use sensitivity::{
    ALL_HOOKS, DepthRule, Prediction, RepeatedQuestion, SensitivityDocument, Slope, SlopePoint,
};
pub use shard::{Shard, ShardError, Share};
pub use spec::{Baseline, ConfigurationSpec, IntegrityList, SPEC_LIMIT_BYTES, Spec, SpecError};
pub use stack::{Stack, StackError};
pub use words::{
    Caches, CheckVerdict, Clock, DelayModule, FileSystem, Instrument, InstrumentStatus, Integrity,
    Metric, MonitorMode, Place, Policy, Select, SelinuxPolicy, Status, Suite, Unit, UnknownWord,
};
