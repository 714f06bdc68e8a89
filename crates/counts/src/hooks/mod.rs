// SPDX-License-Identifier: GPL-2.0-or-later
//! What LSM hooks cost in a call tree, and what a stack costs outside them.
//!
//! A [`HookList`](kernels::hooks::HookList) names the hooks of one kernel; it comes from that kernel or its
//! sources. A [`Framework`] knows which function of the kernel serves which hook, and
//! sorts a [`CallTree`](crate::calltree::CallTree) into the hooks' costs and the
//! instructions [`outside`] them.
//!
//! # What cannot be told apart
//!
//! - A hook that has no function of its own (`inode_xattr_skipcap`, called by
//!   `security_inode_setxattr`) counts as dispatch and implementations of the function
//!   that calls it. So do the `*_free` hooks that an `*_alloc` function calls when it
//!   fails.
//! - An implementation that the compiler inlined into the framework's function counts
//!   as dispatch. Modules are called through pointers or static calls, so this can only
//!   happen to calls that name a function, as those of IMA and EVM before 6.8.

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

/// A function's name without what the compiler appends to those it clones or splits:
/// `.isra.0`, `.constprop.0`, `.part.0`, `.cold`. No name in C has a dot.
pub(crate) fn base_name(function: &str) -> &str {
    match function.find('.') {
        Some(end) if end > 0 => &function[..end],
        _ => function,
    }
}
