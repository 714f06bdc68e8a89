// SPDX-License-Identifier: GPL-2.0-or-later
//! Checks untrusted experiment files, which must not choose files that this machine executes.

use std::path::{Component, Path};

use anyhow::Result;
use kernels::KernelName;
use model::{Place, Spec};

use crate::cli::{ProgramArgs, SelectionArgs};
use crate::failure::usage;

const SYSTEM: [&str; 4] = ["/bin/", "/opt/", "/sbin/", "/usr/"];

/// Refuses a spec that makes this machine execute a file not named by a flag.
///
/// # Errors
/// A UML kernel given by its path, or a program outside the system directories whose libraries
/// ldd(1) would list (the loader reads it as if to execute it).
pub fn check(
    spec: &Spec,
    place: Option<Place>,
    kernels: &SelectionArgs,
    programs: &ProgramArgs,
) -> Result<()> {
    let path_of_kernel = |name: &&String| matches!(name.parse(), Ok(KernelName::Path(_)));
    if place.or(spec.place) == Some(Place::Um)
        && kernels.kernels.is_empty()
        && let Some(kernel) = spec.kernels.iter().flatten().find(path_of_kernel)
    {
        return Err(usage(
            format!("the experiment file would execute the kernel {kernel} on this machine"),
            format!("if you trust it, add --kernel {kernel}"),
        ));
    }
    let own = programs.programs.is_empty() && programs.root.is_none();
    let root = spec.root.as_ref().filter(|_| own);
    if let Some(program) = root
        .into_iter()
        .flat_map(|root| &root.programs)
        .find(|program| program.contains('/') && !is_system(program))
    {
        return Err(usage(
            format!(
                "the experiment file would make ldd read {program}, outside the system directories"
            ),
            format!("if you trust it, add --programs {program}"),
        ));
    }
    let packages = spec.root.iter().flat_map(|root| &root.packages);
    if let Some(package) = packages.into_iter().find(|name| !is_package(name)) {
        return Err(usage(
            format!("invalid package name `{package}`"),
            "use lower-case letters, digits, +, - and ., for example packages = [\"sqlite3\"]",
        ));
    }
    Ok(())
}

/// Follows Debian policy 5.6.1, because a hint names packages in a command that users paste.
fn is_package(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.starts_with(plain) && name.chars().all(|c| plain(c) || "+-.".contains(c))
}

fn is_system(program: &str) -> bool {
    let path = Path::new(program);
    let real = path.canonicalize();
    let real = real.unwrap_or_else(|_| {
        path.components()
            .filter(|part| *part != Component::ParentDir)
            .collect()
    });
    path.is_absolute() && SYSTEM.iter().any(|directory| real.starts_with(directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_nothing_that_is_executed_here() {
        let selection = |kernels: &[&str]| SelectionArgs {
            kernels: kernels.iter().map(|name| (*name).to_owned()).collect(),
            ..SelectionArgs::default()
        };
        let none = ProgramArgs::default();
        let own = ProgramArgs {
            programs: vec!["./tool".to_owned()],
            ..ProgramArgs::default()
        };
        for (toml, kernels, programs, refused) in [
            (
                "where = \"um\"\nkernels = [\"./linux\"]",
                &[][..],
                &none,
                true,
            ),
            (
                "where = \"um\"\nkernels = [\"./linux\"]",
                &["./linux"],
                &none,
                false,
            ),
            (
                "where = \"um\"\nkernels = [\"build:um.1\"]",
                &[],
                &none,
                false,
            ),
            ("kernels = [\"./bzImage\"]", &[], &none, false),
            ("[root]\nprograms = [\"./tool\"]", &[], &none, true),
            (
                "[root]\nprograms = [\"/usr/../etc/passwd\"]",
                &[],
                &none,
                true,
            ),
            ("[root]\nprograms = [\"./tool\"]", &[], &own, false),
            (
                "[root]\nprograms = [\"sh\", \"/usr/bin/env\"]",
                &[],
                &none,
                false,
            ),
        ] {
            let spec = Spec::parse("x.toml", toml).unwrap();
            let found = check(&spec, None, &selection(kernels), programs);
            assert_eq!(found.is_err(), refused, "{toml} {kernels:?}");
        }
    }
}
