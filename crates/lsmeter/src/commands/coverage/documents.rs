// SPDX-License-Identifier: GPL-2.0-or-later
//! What was measured before: documents whose cells tell hooks apart.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::Result;
use kernels::Kernel;
use model::{Document, Kind, Origin};

use crate::cli::CoverageArgs;
use crate::commands::documents::{ANY, read_as};
use crate::failure::usage;

/// The only document that is given, if it says already what is asked for: then the kernel need
/// not be here.
pub fn covered(args: &CoverageArgs) -> Result<Option<Document>> {
    let ([path], None) = (&args.documents[..], &args.source) else {
        return Ok(None);
    };
    let document = read_as(path, ANY, Document::parse)?;
    let of = |document: &Document| Some(document.coverage.as_ref()?.kernel.clone());
    let named = args.kernel.is_none() || args.kernel == of(&document);
    Ok(Some(document).filter(|document| document.coverage.is_some() && named))
}

/// The cells of one kernel in these documents, as one, and the kernel.
pub fn read(paths: &[PathBuf], kernel: Option<&str>) -> Result<(Document, String)> {
    let mut documents = Vec::new();
    for path in paths {
        let document = read_as(path, ANY, Document::parse)?;
        if document.hooked().next().is_none() {
            return Err(usage(
                format!("{} tells of no hooks", path.display()),
                "give a document of `lsmeter profile` or `lsmeter coverage`, or one of whole programs \
                 by `lsmeter run`",
            ));
        }
        documents.push(document);
    }
    let hooked = documents.iter().flat_map(Document::hooked);
    let names: BTreeSet<&str> = hooked.map(|(cell, ..)| cell.key.kernel.as_str()).collect();
    let listed = Vec::from_iter(names.iter().copied()).join(", ");
    let kernel = match (kernel, names.len()) {
        (Some(kernel), _) if names.contains(kernel) => kernel.to_owned(),
        (Some(kernel), _) => {
            return Err(usage(
                format!("no document tells of hooks of {kernel}"),
                format!("they tell of {listed}"),
            ));
        }
        (None, 1) => listed,
        (None, _) => {
            return Err(usage(
                format!("the documents are of several kernels: {listed}"),
                "name one with --kernel",
            ));
        }
    };
    Ok((joined(documents, &kernel), kernel))
}

/// What documents have of a kernel, each cell with what it was measured on.
fn joined(documents: Vec<Document>, kernel: &str) -> Document {
    let mut origins: Vec<Origin> = Vec::new();
    let environment = documents[0].environment.clone();
    let mut all = Document::new(Kind::Coverage, environment);
    for document in documents {
        for (at, cell) in document.cells.iter().enumerate() {
            if cell.key.kernel != kernel {
                continue;
            }
            let environment = document.environment_of(at);
            let position = all.cells.len() as u32;
            match origins.iter_mut().find(|of| of.environment == *environment) {
                Some(origin) => origin.cells.push(position),
                None => origins.push(Origin {
                    environment: environment.clone(),
                    cells: vec![position],
                }),
            }
            all.cells.push(cell.clone());
        }
        let digest = document.kernel_digests.get(kernel);
        all.kernel_digests
            .extend(digest.map(|digest| (kernel.to_owned(), digest.clone())));
        all.setups.extend(document.setups);
        for mut warning in document.warnings {
            // Their positions are those of one document.
            warning.cells = Vec::new();
            if !all.warnings.contains(&warning) {
                all.warnings.push(warning);
            }
        }
    }
    if let [first, ..] = &origins[..] {
        all.environment = first.environment.clone();
    }
    if origins.len() > 1 {
        all.environments = origins;
    }
    all
}

/// Is the kernel that is here the one that was measured?
pub fn check_kernel(document: &Document, kernel: &Kernel, name: &str) -> Result<()> {
    match document.kernel_digests.get(name) {
        Some(digest) if *digest != kernel.digest => Err(usage(
            format!("the {name} that is here is another than the one that was measured"),
            format!(
                "here is {}: fetch or build the other one, or measure anew",
                kernel.release
            ),
        )),
        _ => Ok(()),
    }
}
