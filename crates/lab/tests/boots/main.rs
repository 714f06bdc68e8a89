// SPDX-License-Identifier: GPL-2.0-or-later
//! Boots agents with other runners. SLOW: minutes of boots.
//!
//! Needs QEMU, a C compiler, the programs that make file systems, and the kernels debian:6.1 and
//! debian:6.12 in the cache of the user who runs the tests (`lsmeter kernel fetch debian:6.1
//! debian:6.12`).

#[path = "../common/mod.rs"]
mod common;
mod faults;
mod modules;

use std::fs;
use std::path::PathBuf;

use common::{agent_objects, compile, guest, of_tests};
use kernels::{Kernel, Store};
use lab::qemu::Qemu;

struct Laboratory {
    dir: tempfile::TempDir,
    store: Store,
    qemu: Qemu,
}

impl Laboratory {
    fn new() -> Laboratory {
        let dir = tempfile::tempdir().unwrap();
        let cache = match std::env::var_os("XDG_CACHE_HOME") {
            Some(cache) => PathBuf::from(cache),
            None => PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache"),
        };
        let plugin = lab::write_plugin(dir.path()).unwrap();
        Laboratory {
            store: Store::open(&cache.join("lsmeter")).unwrap(),
            qemu: Qemu::probe(None, &plugin, kernels::arch::native()).unwrap(),
            dir,
        }
    }

    fn kernel(&self, name: &str) -> Kernel {
        let kernel = self.store.resolve(&name.parse().unwrap());
        kernel.unwrap_or_else(|error| panic!("{error}: lsmeter kernel fetch {name}"))
    }

    /// An agent with this C file of the tests instead of `guest/runner.c`, whose `run_cells` it
    /// calls `sound_run_cells`.
    fn agent_with(&self, runner: &str) -> Vec<u8> {
        let object = self.dir.path().join("runner.o");
        let renamed = ["-Drun_cells=sound_run_cells", "-c"];
        compile(&object, &renamed, &[guest().join("runner.c")]);
        let mut files = agent_objects(&["runner"]);
        files.extend([of_tests(runner), object]);
        let agent = self.dir.path().join("agent");
        compile(&agent, &["-s"], &files);
        fs::read(agent).unwrap()
    }
}
