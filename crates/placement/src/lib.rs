// SPDX-License-Identifier: GPL-2.0-or-later
//! Finds which LSM hooks each system call can reach, and how often: on the success path, and at
//! most. It needs only a kernel tree, and no build. The method follows section 5.2.2 of *Analyzing
//! the Overhead of Filesystem Protection Using Linux Security Modules*.

mod analyse;
mod body;
mod checks;
mod clean;
mod compare;
mod condition;
mod config;
mod context;
mod error;
mod facts;
mod framework;
mod graph;
mod layers;
mod linked;
mod load;
mod lower;
mod maximum;
mod modules;
mod nominal;
mod program;
mod reach;
mod rewrite;
mod scan;
mod series;
mod source;
mod store;
mod tree;
mod words;

pub use analyse::{Request, analyse};
pub use compare::{compare, file_systems};
pub use model::placement::*;
pub use source::{ParsedSource, PartlyParsed, SourceParser};
pub use tree::Tree;
