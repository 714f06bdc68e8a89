// SPDX-License-Identifier: GPL-2.0-or-later
//! Lets `lsm=` put capability anywhere. Since 5.1, Linux puts it first (`LSM_ORDER_FIRST`).

use super::overlay::edited;
use crate::error::Error;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const CAPABILITY: &str = "security/commoncap.c";
const MODULE: &str = "DEFINE_LSM(capability) = {\n";
const FIRST: &str = "\t.order = LSM_ORDER_FIRST,\n";

pub(super) fn changes(tree: &Path) -> Result<BTreeMap<PathBuf, String>, Error> {
    let text = edited(
        tree,
        CAPABILITY,
        edit,
        "cannot free the position of capability: this kernel does not put it first",
        "build the kernel without --any-order, or use Linux 5.1 or later, which puts capability \
         first",
    )?;
    Ok(BTreeMap::from([(PathBuf::from(CAPABILITY), text)]))
}

/// A module without an order may be anywhere (`LSM_ORDER_MUTABLE`, 0).
fn edit(text: &str) -> Option<String> {
    let module = text.find(MODULE)? + MODULE.len();
    let end = module + text[module..].find("};")?;
    let order = module + text[module..end].find(FIRST)?;
    Some(text[..order].to_owned() + &text[order + FIRST.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capability_loses_its_place_and_nothing_else() {
        let module = |name: &str, order: &str| {
            format!("DEFINE_LSM({name}) = {{\n\t.name = \"x\",\n{order}\t.init = x_init,\n}};\n")
        };
        let text = module("other", FIRST) + &module("capability", FIRST);
        assert_eq!(
            edit(&text),
            Some(module("other", FIRST) + &module("capability", ""))
        );
        assert_eq!(edit(&module("capability", "")), None);
        assert_eq!(
            edit(&(module("capability", "") + &module("other", FIRST))),
            None
        );
        assert_eq!(edit(""), None);
    }
}
