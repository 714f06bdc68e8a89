// SPDX-License-Identifier: GPL-2.0-or-later
//! Changes outside hooks.

use model::{Counted, FunctionDifference};

/// Functions outside hooks whose cost differs from the baseline without a known reason, in an
/// operation with a dominant path.
pub fn unexplained(counted: &Counted) -> impl Iterator<Item = &FunctionDifference> {
    let comparable = counted.is_comparable();
    let functions = (counted.residual.iter()).flat_map(|residual| &residual.functions);
    functions.filter(move |function| comparable && function.explanation.is_none())
}
