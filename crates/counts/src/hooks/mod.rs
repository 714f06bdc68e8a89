// SPDX-License-Identifier: GPL-2.0-or-later
//! Computes what LSM hooks cost in a call tree, and what a stack costs outside them.
//!
//! A [`HookList`](kernels::hooks::HookList) contains the hooks of one kernel. A [`Framework`] maps
//! its functions to hooks, and divides a [`CallTree`](crate::calltree::CallTree) into costs of
//! hooks and instructions [`outside`].
//!
//! # Limits
//!
//! - A hook without a function of its own (`inode_xattr_skipcap` in `security_inode_setxattr`)
//!   counts as dispatch and implementations of its caller. So do `*_free` hooks called by a failing
//!   `*_alloc` function.
//! - An implementation inlined into the framework's function counts as dispatch. Modules are called
//!   through pointers or static calls, so this only affects direct calls, as of IMA and EVM before
//!   6.9.

mod asked;
mod costs;
mod explain;
mod framework;
mod modules;
mod outside;
mod places;

#[cfg(test)]
mod tests;

pub use asked::{AskedCall, explain_asked};
pub use costs::outermost_sum;
pub use explain::{Extent, explain};
pub use framework::Framework;
pub use modules::module_of;
pub use outside::{differences, outside};

/// Without compiler suffixes: `.isra.0`, `.constprop.0`, `.part.0`, `.cold`. C names have no dots.
pub(crate) fn base_name(function: &str) -> &str {
    match function.find('.') {
        Some(end) if end > 0 => &function[..end],
        _ => function,
    }
}
