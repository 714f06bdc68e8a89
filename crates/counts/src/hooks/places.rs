// SPDX-License-Identifier: GPL-2.0-or-later
//! Determines whether nodes of a call tree are inside hooks, outside hooks, or the start of a hook.

use super::framework::direct_module;
use super::{Framework, base_name};
use crate::calltree::{CallNode, CallTree};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place<'a> {
    Outside,
    Call(Call<'a>),
    /// A split-off part of the function of the hook that began above.
    Part(Call<'a>),
    Inside,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Call<'a> {
    pub hook: &'a str,
    /// Without compiler suffixes.
    pub function: &'a str,
    /// The module, if the kernel calls it without the framework.
    pub direct: Option<&'static str>,
}

impl<'a> Place<'a> {
    pub fn call(self) -> Option<Call<'a>> {
        match self {
            Self::Call(call) | Self::Part(call) => Some(call),
            Self::Outside | Self::Inside => None,
        }
    }
}

pub(super) fn places<'a>(tree: &'a CallTree, framework: &'a Framework) -> Vec<Place<'a>> {
    let nodes = tree.nodes();
    let mut places: Vec<Place<'a>> = Vec::with_capacity(nodes.len());
    for (at, node) in nodes.iter().enumerate() {
        let Some(&parent) = places.get(node.parent).filter(|_| at > 0) else {
            places.push(Place::Outside);
            continue;
        };
        let place = if let Some(call) = parent.call().filter(|_| is_part(node, nodes)) {
            Place::Part(call)
        } else if let Some(call) = framework_call(node, framework) {
            Place::Call(call)
        } else if parent != Place::Outside {
            Place::Inside
        } else {
            direct_call(node).map_or(Place::Outside, Place::Call)
        };
        places.push(place);
    }
    places
}

/// Code that the compiler split off its caller.
fn is_part(node: &CallNode, nodes: &[CallNode]) -> bool {
    let name = base_name(&node.function);
    name.len() < node.function.len()
        && nodes
            .get(node.parent)
            .is_some_and(|parent| base_name(&parent.function) == name)
}

fn framework_call<'a>(node: &'a CallNode, framework: &'a Framework) -> Option<Call<'a>> {
    Some(Call {
        hook: framework.hook_of(&node.function)?,
        function: base_name(&node.function),
        direct: None,
    })
}

fn direct_call(node: &CallNode) -> Option<Call<'_>> {
    let function = base_name(&node.function);
    Some(Call {
        hook: function,
        function,
        direct: Some(direct_module(function)?),
    })
}

impl Framework {
    #[must_use]
    pub fn in_hooks(&self, tree: &CallTree) -> Vec<bool> {
        let places = places(tree, self);
        places
            .iter()
            .map(|place| *place != Place::Outside)
            .collect()
    }

    /// The hook that begins at a node, as in [`HookCost::hook`](model::HookCost), including hooks
    /// that are called without the framework. None for split-off parts of a function that began
    /// above, and for invalid indices.
    ///
    /// It needs only the nodes above, so it works while a tree is being built.
    #[must_use]
    pub fn hook_at<'a>(&'a self, tree: &'a CallTree, node: usize) -> Option<&'a str> {
        let nodes = tree.nodes();
        let found = nodes.get(node).filter(|_| node > 0)?;
        if let Some(hook) = self.hook_of(&found.function) {
            return (!is_part(found, nodes)).then_some(hook);
        }
        let call = direct_call(found)?;
        let mut at = found.parent;
        while at != 0 {
            let above = nodes.get(at)?;
            if self.hook_of(&above.function).is_some() || direct_call(above).is_some() {
                return None;
            }
            at = above.parent;
        }
        Some(call.hook)
    }
}
