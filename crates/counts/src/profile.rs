// SPDX-License-Identifier: GPL-2.0-or-later
//! Computes what the hooks cost on each path of an operation.

use std::collections::{BTreeMap, HashMap};

use model::{Events, HookCost, IrqsOff, is_dominant};

use crate::calltree::CallTree;
use crate::counts::{Path, PathKey, counting, dominant_paths, paths};
use crate::hooks::{AskedCall, Framework, outside};
use crate::records::CellRecords;
use crate::trace::Block;
use crate::walk::{Counted, Functions, WalkError, call_tree};

pub const MAX_PATHS: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathProfile {
    pub path: Path,
    pub hooks: Vec<HookCost>,
    pub system_calls: BTreeMap<String, u64>,
    pub outside: BTreeMap<String, u64>,
    /// For whole programs: calls outside hooks by system call.
    pub asked: BTreeMap<String, AskedCall>,
    /// If counted.
    pub events: Option<Events>,
    /// The longest stretch without interrupts, if counted.
    pub irqs_off: Option<IrqsOff>,
    pub tree: Option<CallTree>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellProfile {
    /// One to [`MAX_PATHS`] paths, most frequent first. For a composite operation there is one,
    /// which consists of the dominant paths of all its regions.
    pub paths: Vec<PathProfile>,
    /// Clean measured regions (operations, if composite).
    pub regions: usize,
    /// Whether an operation has many measured regions.
    pub composite: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// The plugin limits the number of paths.
    #[error(
        "too many different paths to trace: the operation took {paths} paths, and the plugin \
         traced {traces} of them"
    )]
    NotTraced {
        paths: usize,
        /// The number of paths that the plugin wrote.
        traces: usize,
    },
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// The calls do not add up to the plugin's count.
    #[error("the calls on a path have {traced} instructions, but the plugin counted {counted}")]
    Sum { traced: u64, counted: u64 },
}

#[derive(Debug)]
pub struct Profiler<'a> {
    pub framework: &'a Framework,
    pub functions: Functions<'a>,
    pub active_lsms: Vec<String>,
    pub keep_trees: bool,
    pub counted: Counted,
    /// Whether a profile may be missing without an error.
    pub optional: bool,
}

impl Profiler<'_> {
    fn tree(&mut self, trace: &[u32], blocks: &[Block]) -> Result<CallTree, WalkError> {
        let framework = self.framework;
        let is_hook = |tree: &CallTree, node| framework.hook_at(tree, node).is_some();
        let functions = &mut self.functions;
        call_tree(trace, blocks, functions, &is_hook, self.counted)
    }

    fn path(&self, path: Path, tree: CallTree, keep: bool) -> Result<PathProfile, ProfileError> {
        if tree.total() != path.instructions {
            return Err(ProfileError::Sum {
                traced: tree.total(),
                counted: path.instructions,
            });
        }
        Ok(PathProfile {
            path,
            hooks: self.framework.costs(&tree, &self.active_lsms),
            system_calls: system_calls(&tree, self.functions.code()),
            events: tree.total_events(),
            irqs_off: tree.irqs_off.clone(),
            outside: outside(&tree, self.framework),
            asked: BTreeMap::new(),
            tree: keep.then_some(tree),
        })
    }
}

fn system_calls(tree: &CallTree, code: &kernels::arch::Code) -> BTreeMap<String, u64> {
    let mut calls = BTreeMap::new();
    for node in tree.nodes() {
        if let Some(name) = code.syscall_of(&node.function) {
            *calls.entry(name.to_owned()).or_default() += node.calls;
        }
    }
    calls
}

impl CellProfile {
    /// Returns a [`ProfileError`]: [`ProfileError::NotTraced`] if there is no clean region.
    pub fn new(
        cell: &CellRecords,
        blocks: &[Block],
        profiler: &mut Profiler<'_>,
    ) -> Result<CellProfile, ProfileError> {
        profiler.functions.name_words(&cell.words);
        let traces: HashMap<PathKey, &[u32]> = cell
            .traces
            .iter()
            .filter_map(|trace| Some((cell.regions.get(trace.window)?.key(), &trace.elements[..])))
            .collect();
        let not_traced = || ProfileError::NotTraced {
            paths: paths(cell.regions.iter()).len(),
            traces: traces.len(),
        };
        let trace_of = |key: &PathKey| traces.get(key).copied().ok_or_else(not_traced);
        if !cell.operations.is_empty() {
            let mut whole = CallTree::default();
            let (path, keys) = dominant_paths(cell).ok_or_else(not_traced)?;
            // Regions of one operation, by path.
            let mut times: BTreeMap<PathKey, u64> = BTreeMap::new();
            for key in keys {
                *times.entry(key).or_default() += 1;
            }
            for (key, times) in times {
                let tree = profiler.tree(trace_of(&key)?, blocks)?;
                whole.merge(&tree, times);
            }
            let keep = profiler.keep_trees;
            return Ok(CellProfile {
                regions: path.regions,
                composite: true,
                paths: vec![profiler.path(path, whole, keep)?],
            });
        }
        let mut profiled = Vec::new();
        for (key, path) in paths(cell.regions.iter()).into_iter().take(MAX_PATHS) {
            let trace = match trace_of(&key) {
                // The plugin may have dropped the trace of a rare path.
                Err(_) if !profiled.is_empty() => continue,
                trace => trace?,
            };
            let tree = profiler.tree(trace, blocks)?;
            let keep = profiler.keep_trees && profiled.is_empty();
            profiled.push(profiler.path(path, tree, keep)?);
        }
        if profiled.is_empty() {
            return Err(not_traced());
        }
        Ok(CellProfile {
            paths: profiled,
            regions: counting(cell.regions.iter()).count(),
            composite: false,
        })
    }

    pub fn dominant(&self) -> &PathProfile {
        &self.paths[0]
    }

    pub fn is_stable(&self) -> bool {
        is_dominant(self.dominant().path.regions as u64, self.regions as u64)
    }

    /// Indices of the paths to compare: the most frequent pair with the same work outside hooks,
    /// each of which covers a good part of its side's regions, or else the dominant paths.
    pub fn comparable(&self, other: &CellProfile) -> (usize, usize) {
        let stable = self.is_stable() && other.is_stable();
        let usual = |profile: &CellProfile, path: &PathProfile| {
            !stable || 4 * path.path.regions >= profile.regions
        };
        let mut best: Option<(usize, (usize, usize))> = None;
        for (i, a) in self
            .paths
            .iter()
            .enumerate()
            .filter(|(_, a)| usual(self, a))
        {
            for (k, b) in other.paths.iter().enumerate() {
                if !usual(other, b) || a.outside != b.outside {
                    continue;
                }
                let regions = a.path.regions.min(b.path.regions);
                if best.is_none_or(|(most, _)| regions > most) {
                    best = Some((regions, (i, k)));
                }
            }
        }
        best.map_or((0, 0), |(_, pair)| pair)
    }
}
