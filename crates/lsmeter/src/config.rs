// SPDX-License-Identifier: GPL-2.0-or-later
//! The user's configuration file and directories.

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result};
use kernels::Mirrors;
use model::Fault;
use serde::Deserialize;

/// `$XDG_CONFIG_HOME/lsmeter/config.toml`; every key is optional.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Debian mirror, such as `http://MIRROR/debian`. Default: from the host's apt.
    mirror: Option<String>,
    /// `http://MIRROR/debian-security`.
    security_mirror: Option<String>,
    /// QEMU to run. Default: the one in PATH for this machine's architecture.
    pub qemu: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ConfigError(#[from] toml::de::Error);

impl Fault for ConfigError {}

fn xdg(variable: &str, fallback: &str) -> PathBuf {
    let base = match env::var_os(variable).map(PathBuf::from) {
        Some(path) if path.is_absolute() => path,
        _ => PathBuf::from(env::var_os("HOME").unwrap_or_else(|| "/".into())).join(fallback),
    };
    base.join("lsmeter")
}

pub fn path() -> PathBuf {
    xdg("XDG_CONFIG_HOME", ".config").join("config.toml")
}

/// Kernels and other files that lsmeter can fetch or build again.
pub fn cache_dir() -> PathBuf {
    xdg("XDG_CACHE_HOME", ".cache")
}

impl Config {
    /// A missing file is the same as an empty one.
    pub fn read() -> Result<Config> {
        let path = path();
        let named = || format!("configuration {}", path.display());
        match fs::read_to_string(&path) {
            Ok(text) => {
                let config = toml::from_str(&text).map_err(ConfigError::from);
                config.with_context(named)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Config::default()),
            Err(error) => Err(error).with_context(named),
        }
    }

    pub fn mirrors(&self) -> Result<Mirrors, kernels::Error> {
        match &self.mirror {
            Some(mirror) => Mirrors::new(mirror, self.security_mirror.as_deref()),
            None => Mirrors::from_apt(
                Path::new("/etc/apt"),
                Path::new("/usr/share/python-apt/templates/Debian.info"),
            ),
        }
    }
}
