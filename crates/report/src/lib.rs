// SPDX-License-Identifier: GPL-2.0-or-later
//! Documents as tables (terminal, Markdown, CSV) and figures (SVG).
//!
//! [`report`] turns a run into [`Report`]: tables of text, one for each kernel, file
//! system and metric. [`terminal`] and [`markdown`] lay a report out; [`csv`] writes
//! the cells themselves. [`profile_report`] and [`profile_csv`] do the same for what
//! LSM hooks cost; [`callgrind`], [`folded`] and [`hook_trace`] write the calls of an
//! operation for other programs and for a mail. [`sensitivity_report`] and
//! [`sensitivity_csv`] are about how often operations ask for authorisation,
//! [`latency_over_delay`] draws it. [`monitor_report`] and [`monitor_csv`] are about
//! recordings of live machines. [`placement_report`],
//! [`placement_csv`], [`dot`] and [`mermaid`] are about the hooks that system calls can reach,
//! [`agreement_report`] about what of that was measured, [`checks_report`] about checks made
//! twice and not by all, [`difference_report`] and [`placement_history_report`] about several
//! of them; [`history_report`] and [`history_csv`] are about runs over time. [`comparison_report`] and
//! [`comparison_csv`] are about what differs between two documents; [`ktap`], [`junit`] and
//! [`kcidb`] say for other machines what a gate says of it. [`instruments_report`] is about
//! whether instruments agree. All text from a document is made
//! harmless on the way: it may come from a guest that lies, or out of any tree.

mod callgrind;
mod cells;
mod check;
mod comparison;
mod csv;
mod details;
mod figure;
mod folded;
mod format;
mod framework;
mod gather;
mod group;
mod history;
mod hook_trace;
mod instruments;
mod latex;
mod markdown;
mod monitor;
mod order;
mod page;
mod placement;
mod profile;
pub mod published;
mod sensitivity;
mod table;
mod terminal;
mod text {
    pub(crate) use diagnostics::printable;
}
mod verdict;

pub use crate::callgrind::callgrind;
pub use crate::check::{Check, check};
pub use crate::comparison::{
    COMPARISON_CSV_COLUMNS, ComparisonOptions, JunitError, KcidbNames, comparison_csv,
    comparison_report, comparison_summary, junit, kcidb, ktap,
};
pub use crate::csv::{CSV_COLUMNS, CsvError, csv};
pub use crate::figure::{
    Bar, Bars, Chart, Figure, FigureOptions, Flame, Fonts, Frame, Lines, PdfError, Point, Series,
    latency_over_delay,
};
pub use crate::folded::folded;
pub use crate::gather::{Gathered, Source, figures};
pub use crate::hook_trace::hook_trace;
pub use diagnostics::printable;
pub use history::{
    HISTORY_CSV_COLUMNS, HistoryOptions, history_csv, history_figures, history_report,
};
pub use instruments::{InstrumentsOptions, instruments_report};
pub use latex::latex;
pub use markdown::{markdown, markdown_page};
pub use monitor::{
    MONITOR_CSV_COLUMNS, MonitorOptions, interval_report, monitor_csv, monitor_report,
};
pub use page::{any_report, page};
pub use placement::{
    AGREEMENT_CSV_COLUMNS, CHECKS_CSV_COLUMNS, ChecksOptions, DIFFERENCE_CSV_COLUMNS,
    DifferenceOptions, PLACEMENT_CSV_COLUMNS, PLACEMENT_HISTORY_CSV_COLUMNS,
    PlacementHistoryOptions, PlacementOptions, agreement_csv, agreement_report, checks_csv,
    checks_report, difference_csv, difference_report, dot, mermaid, placement_csv,
    placement_history_csv, placement_history_report, placement_report,
};
pub use profile::{PROFILE_CSV_COLUMNS, ProfileOptions, ProfileView, profile_csv, profile_report};
pub use sensitivity::{
    SENSITIVITY_CSV_COLUMNS, SensitivityOptions, sensitivity_csv, sensitivity_report,
};
pub use table::{Align, Column, Options, Report, Row, Table, Tone, Value, report};
pub use terminal::{Layout, WIDTH_MIN, terminal};
pub use verdict::{Verdict, verdict};
