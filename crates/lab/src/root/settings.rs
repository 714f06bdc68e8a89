// SPDX-License-Identifier: GPL-2.0-or-later
//! A container image's settings of its program: defaults of a workload.

use std::path::Path;

use model::{Failure, Workload};
use serde::Deserialize;

use super::account::Account;
use crate::error::LabError;
use crate::programs::ENVIRONMENT;

/// The part of `config` in an image's configuration that concerns a program's start.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Settings {
    entrypoint: Option<Vec<String>>,
    cmd: Option<Vec<String>>,
    env: Option<Vec<String>>,
    user: Option<String>,
    #[serde(rename = "WorkingDir")]
    pub cwd: Option<String>,
}

impl Settings {
    /// Adds the image's settings to a workload; a user becomes a number, looked up in the root.
    pub(super) fn complete(&self, workload: &mut Workload, root: &Path) -> Result<(), LabError> {
        if workload.argv.is_empty() {
            let words = [&self.entrypoint, &self.cmd]
                .into_iter()
                .flatten()
                .flatten();
            workload.argv = words.cloned().collect();
            if workload.argv.is_empty() {
                return Err(Failure::usage(
                    "no workload for the root, which is not an image with a default program",
                    "give a command after --, or in [[workloads]]",
                )
                .into());
            }
        }
        if workload.name.is_empty() {
            workload.name = Workload::name_of(&workload.argv);
        }
        if workload.env.is_none() && self.env.is_some() {
            workload.env = self.environment();
        }
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        if workload.cwd.is_none() {
            workload.cwd = given(&self.cwd);
        }
        if workload.user.is_none() {
            workload.user = given(&self.user);
        }
        if let Some(user) = &mut workload.user {
            *user = Account::find(user, root)?.to_string();
        }
        workload.check().map_err(|error| {
            Failure::usage(error.to_string(), "check the image's configuration").into()
        })
    }

    fn environment(&self) -> Option<Vec<String>> {
        let mut variables: Vec<String> = self.env.iter().flatten().cloned().collect();
        for variable in ENVIRONMENT {
            let name = variable.split('=').next();
            if !variables
                .iter()
                .any(|other| other.split('=').next() == name)
            {
                variables.push(variable.to_owned());
            }
        }
        Some(variables)
    }
}
