// SPDX-License-Identifier: GPL-2.0-or-later
//! Input of placements: kernel trees or result files.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use model::{PlacementDocument, Stored as _};
use placement::{Request, Tree, analyse};

use crate::cli::ScopeArgs;
use crate::commands::documents;
use crate::config;
use crate::progress::Line;

/// A distribution's `.config` has about 300 KiB.
const CONFIG_LIMIT_BYTES: u64 = 16 << 20;

pub enum Input {
    Tree(Tree),
    Document(Box<PlacementDocument>),
}

impl Input {
    /// Opens a tree or a tarball, or reads a result file, which begins with `{`.
    pub fn open(path: &Path, cache: Option<PathBuf>, line: &Line) -> Result<Input> {
        let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        let file = is_file.then(|| File::open(path).ok()).flatten();
        if let Some(mut file) = file {
            let mut start = [0; 64];
            let read = file.read(&mut start).unwrap_or(0);
            if start[..read].trim_ascii_start().first() == Some(&b'{') {
                let named = || path.display().to_string();
                file.rewind().with_context(named)?;
                let document = PlacementDocument::read(file).with_context(named)?;
                return Ok(Input::Document(document.into()));
            }
        }
        Ok(Input::Tree(open_tree(path, cache, line)?))
    }

    pub fn placement(self, request: &Request) -> Result<PlacementDocument> {
        let mut document = match self {
            Input::Tree(tree) => return Ok(analyse(&tree, request)?),
            Input::Document(document) => *document,
        };
        let all = |list: &[String], name: &String| list.is_empty() || list.contains(name);
        document.retain(|call| {
            all(&request.fs, &call.filesystem) && all(&request.syscalls, &call.syscall)
        });
        Ok(document)
    }
}

pub fn open_tree(path: &Path, cache: Option<PathBuf>, line: &Line) -> Result<Tree> {
    let Some(cache) = cache else {
        return Ok(Tree::open(path)?);
    };
    let unpacking = || {
        let path = path.display();
        line.say(format!("unpacking {path} into the cache"));
    };
    Ok(Tree::open_kept(path, cache, unpacking)?)
}

pub fn cache(args: &ScopeArgs) -> Option<PathBuf> {
    (!args.no_cache).then(|| config::cache_dir().join("placement"))
}

pub fn request(args: &ScopeArgs) -> Result<Request> {
    Ok(Request {
        architecture: args.arch.unwrap_or_default(),
        syscalls: args.syscalls.clone(),
        all: args.all,
        fs: args.fs.clone(),
        config: args.config.as_deref().map(read_config).transpose()?,
        cache: cache(args),
        explain: true,
        ..Request::default()
    })
}

pub fn add(list: &mut Vec<String>, name: &String) {
    if !list.contains(name) {
        list.push(name.clone());
    }
}

/// Adds a result file's calls and file systems to an empty selection, to compare a tree with it.
pub fn like(mut request: Request, document: &PlacementDocument) -> Request {
    let (any_fs, any_call) = (
        request.fs.is_empty(),
        request.syscalls.is_empty() && !request.all,
    );
    request.architecture = document.architecture;
    for call in &document.syscalls {
        if any_fs {
            add(&mut request.fs, &call.filesystem);
        }
        if any_call {
            add(&mut request.syscalls, &call.syscall);
        }
    }
    request
}

fn read_config(path: &Path) -> Result<String> {
    let hint = "give the .config of a kernel, such as /boot/config-VERSION";
    documents::text(path, CONFIG_LIMIT_BYTES, hint, |text| {
        match text.lines().any(|line| line.starts_with("CONFIG_")) {
            true => Ok(()),
            false => Err("it sets no CONFIG_ option".to_owned()),
        }
    })
}
