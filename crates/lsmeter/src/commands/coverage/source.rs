// SPDX-License-Identifier: GPL-2.0-or-later
//! What the kernel's sources say of hooks that no operation calls.

use anyhow::Result;
use coverage::{Reached, reached as by_hook};
use kernels::Kernel;
use model::Document;
use placement::Request;

use crate::cli::CoverageArgs;
use crate::commands::placement::{Input, add, series};
use crate::config::cache_dir;
use crate::failure::usage;
use crate::progress::Line;

/// Opens the sources, if any are named.
pub fn open(args: &CoverageArgs, line: &Line) -> Result<Option<Input>> {
    let cache = || Some(cache_dir().join("placement"));
    let open = |path| Input::open(path, cache(), line);
    args.source.as_deref().map(open).transpose()
}

/// The system calls that can reach each hook, on the file systems that were measured.
pub fn reached(
    source: Option<Input>,
    document: &Document,
    kernel: &Kernel,
    line: &Line,
) -> Result<Option<Reached>> {
    let Some(source) = source else {
        return Ok(None);
    };
    line.say("analysing the sources");
    let mut request = Request {
        architecture: kernel.architecture,
        all: true,
        lenient: true,
        config: kernel
            .config
            .as_deref()
            .and_then(|path| std::fs::read_to_string(path).ok()),
        cache: Some(cache_dir().join("placement")),
        ..Request::default()
    };
    for cell in &document.cells {
        if !cell.key.filesystem.is_empty() {
            add(&mut request.fs, &cell.key.filesystem);
        }
    }
    let placement = source.placement(&request)?;
    if series(&placement.version) != series(&kernel.release) {
        return Err(usage(
            format!(
                "the sources are of Linux {}, the kernel is {}",
                report::printable(&placement.version, 60),
                report::printable(&kernel.release, 60)
            ),
            "give the sources that the kernel was built from",
        ));
    }
    Ok(Some(by_hook(&placement)))
}
