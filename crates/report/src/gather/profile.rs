// SPDX-License-Identifier: GPL-2.0-or-later
//! Figures of profiles.

use model::{Cell, Document, HookedPath};

use super::Draft;
use super::hooks::{self, Operation};
use crate::cells::{operation, operation_title};
use crate::group::grouped;
use crate::text::short;

pub(super) fn drafts(document: &Document) -> Vec<Draft> {
    // Without a dominant path hooks mean little.
    let titled: Vec<(String, &Cell, &HookedPath)> = document
        .hooked()
        .filter(|(_, counted, _)| counted.is_comparable())
        .map(|(cell, _, path)| (cell.configuration_title(), cell, path))
        .collect();
    let groups = grouped(&titled, |(title, cell, _)| {
        let key = &cell.key;
        (key.kernel.as_str(), key.filesystem.as_str(), title.as_str())
    });
    let mut drafts = Vec::new();
    for ((kernel, filesystem, stack), cells) in groups {
        let operations: Vec<Operation<'_>> = cells
            .iter()
            .map(|(_, cell, path)| Operation {
                title: operation_title(operation(cell)),
                total: path.total,
                hooks: &path.hooks,
            })
            .collect();
        let place = format!("{}, {}", short(kernel), short(filesystem));
        drafts.extend(hooks::drafts(
            &operations,
            &place,
            stack,
            &[kernel, filesystem],
        ));
    }
    drafts
}
