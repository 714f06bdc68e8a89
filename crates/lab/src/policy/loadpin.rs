// SPDX-License-Identifier: GPL-2.0-or-later
//! LoadPin: one kernel parameter.

use model::Policy;

use super::{PolicyError, Prepared, Request, tools};

/// It only restricts where modules are loaded from.
pub(super) fn prepare(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    let enforce = match request.configuration.policy {
        Policy::None => return Ok(Prepared::default()),
        Policy::Permissive => 0,
        Policy::Enforcing => 1,
    };
    tools::need(request, "LoadPin", "CONFIG_SECURITY_LOADPIN")?;
    tools::need(
        request,
        "module to load and so nothing to pin",
        "CONFIG_MODULES",
    )?;
    Ok(Prepared {
        kernel_arguments: vec![format!("loadpin.enforce={enforce}")],
        steps: vec![format!(
            "loadpin: loadpin.enforce={enforce} on the kernel's command line"
        )],
        ..Prepared::default()
    })
}
