// SPDX-License-Identifier: GPL-2.0-or-later
//! Result files as tables (terminal, Markdown, CSV) and figures (SVG).
//!
//! A table is a list of [`Columns`]: names, and functions from a row to a value. [`Records`] are
//! for programs ([`csv`]); a [`Table`] is for readers ([`terminal`], [`markdown`], [`page`]).
//!
//! [`report`] and [`run_records`] are for runs; functions for other kinds of result files are named
//! after the kind ([`profile_report`], [`profile_records`] …). [`callgrind`], [`folded`] and
//! [`hook_trace`] write call trees for other programs; [`ktap`] and [`junit`] write a gate's
//! result. All text from a result file is escaped or made printable, because it may come from a
//! malicious guest or from any source tree.

mod architectures;
mod callgrind;
mod cells;
mod column;
mod comparison;
mod estimate;
mod export;
mod figure;
mod format;
mod gather;
mod glance;
mod group;
mod hook_trace;
mod kinds;
mod layouts;
mod markdown;
mod monitor;
mod page;
mod placement;
mod policies;
mod prediction;
mod profile;
mod program;
mod residual;
mod run;
mod sensitivity;
mod stacks;
mod table;
mod terminal;
mod text {
    pub(crate) use model::{harmless, printable};

    pub(crate) fn short(text: &str) -> String {
        printable(text, crate::table::TEXT_LIMIT)
    }
}
mod tree;
mod verdict;

pub use crate::callgrind::{callgrind, folded};
pub use crate::column::{Columns, Records, csv, raw_csv};
pub use crate::comparison::{
    ComparisonOptions, change_line, comparison_records, comparison_report, comparison_summary,
    junit, ktap,
};
pub use crate::figure::{Bar, Bars, Chart, Figure, Flame, Frame, Lines, Point, Series};
pub use crate::gather::{Content, Gathered, Source, figures};
pub use crate::glance::depth_tables;
pub use crate::hook_trace::hook_trace;
pub use estimate::{estimate_records, estimate_report};
pub use export::{Rows, exported, run_records};
pub use markdown::{markdown, markdown_page};
pub use model::printable;
pub use monitor::{interval_report, monitor_records, monitor_report};
pub use page::{any_report, comparison_page, page, tables_page};
pub use placement::{
    ChecksOptions, DifferenceOptions, PlacementOptions, agreement_records, agreement_report,
    checks_records, checks_report, difference_records, difference_report, placement_records,
    placement_report,
};
pub use prediction::{prediction_records, prediction_report};
pub use profile::{ProfileView, coverage_report, profile_records, profile_report};
pub use run::report;
pub use sensitivity::{sensitivity_records, sensitivity_report};
pub use table::{Align, Heading, Report, Row, Table};
pub use table::{Datum, Kind, Tone, Typed, Value};
pub use terminal::{Layout, WIDTH_MIN, terminal};
pub use tree::call_tables;
pub use verdict::{Verdict, verdict};
