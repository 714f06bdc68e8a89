// SPDX-License-Identifier: GPL-2.0-or-later

use crate::apt::Apt;
use crate::arch::Arch;
use crate::entry::Kernel;
use crate::error::Error;
use crate::files::Lock;
use crate::mirrors::Mirrors;
use crate::name::{DebianKernel, debian_name};
use crate::package;
use crate::packages::{self, Candidate};
use crate::store::{FetchEvent, Store};

/// The number of ABIs to try, newest first. Archives drop packages that their index still lists;
/// for an unsupported series, these may be the packages of several years (5.10 for arm64: the
/// newest seven).
const MOST_CANDIDATES: usize = 32;

impl Store {
    /// Fetches a stock Debian kernel unless it is cached: the newest of the series, or the pinned
    /// one. The index is fetched if it is a day old or `refresh` is set. Nothing is cached on
    /// error.
    pub fn fetch(
        &self,
        kernel: &DebianKernel,
        mirrors: &Mirrors,
        refresh: bool,
        events: &mut dyn FnMut(FetchEvent),
    ) -> Result<Kernel, Error> {
        if let Some(cached) = self.cached(kernel, kernel.abi(), events) {
            return Ok(cached);
        }
        self.with_apt(kernel.arch(), mirrors, refresh, events, |apt, events| {
            let names = apt.names()?;
            let names = || names.iter().map(String::as_str);
            let candidates = packages::candidates(kernel, names());
            let found = self.try_candidates(apt, kernel, &candidates, events)?;
            found.map_err(|mut reasons| {
                let series = packages::series(names(), kernel.arch());
                if candidates.is_empty() {
                    reasons.push("the mirror's index has no such kernel".into());
                }
                Error::NoPackage {
                    name: kernel.to_string(),
                    reasons,
                    hint: if series.is_empty() {
                        "use a mirror with the full Debian archive".into()
                    } else {
                        format!("the mirror has kernels of the series {}", series.join(", "))
                    },
                }
            })
        })
    }

    /// Runs `attempt` with apt for `arch`. The index is fetched first if it is a day old or
    /// `refresh` is set; otherwise it is fetched after [`Error::NoPackage`], and `attempt` runs
    /// again.
    pub(crate) fn with_apt<T>(
        &self,
        arch: &'static Arch,
        mirrors: &Mirrors,
        refresh: bool,
        events: &mut dyn FnMut(FetchEvent),
        mut attempt: impl FnMut(&Apt, &mut dyn FnMut(FetchEvent)) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let lock_path = self.dir().join("fetch.lock");
        let _lock = Lock::take(&lock_path, &mut || events(FetchEvent::Waiting))?;
        let dir = match arch.is_native() {
            true => "apt".to_owned(),
            false => format!("apt-{arch}"),
        };
        let apt = Apt::prepare(&self.dir().join(dir), mirrors, arch)?;
        if !refresh && !apt.is_stale() {
            match attempt(&apt, events) {
                // The archive may have changed since the index was fetched.
                Err(Error::NoPackage { .. }) => {}
                ended => return ended,
            }
        }
        events(FetchEvent::Updating);
        apt.update(events)?;
        attempt(&apt, events)
    }

    fn try_candidates(
        &self,
        apt: &Apt,
        kernel: &DebianKernel,
        candidates: &[Candidate],
        events: &mut dyn FnMut(FetchEvent),
    ) -> Result<Result<Kernel, Vec<String>>, Error> {
        let mut reasons = Vec::new();
        for candidate in candidates.iter().take(MOST_CANDIDATES) {
            if let Some(cached) = self.cached(kernel, Some(&candidate.abi), events) {
                return Ok(Ok(cached));
            }
            for set in &candidate.sets {
                let reason = match self.try_set(apt, kernel, &candidate.abi, set, events) {
                    Ok(kernel) => return Ok(Ok(kernel)),
                    Err(Error::NoPackage { reasons, .. }) => reasons.concat(),
                    Err(e @ (Error::Damaged { .. } | Error::Unsupported { .. })) => e.to_string(),
                    Err(e) => return Err(e),
                };
                reasons.push(format!("{}: {reason}", set[0]));
                events(FetchEvent::Skipped {
                    packages: set.clone(),
                    reason,
                });
            }
        }
        Ok(Err(reasons))
    }

    fn try_set(
        &self,
        apt: &Apt,
        kernel: &DebianKernel,
        abi: &str,
        set: &[String],
        events: &mut dyn FnMut(FetchEvent),
    ) -> Result<Kernel, Error> {
        events(FetchEvent::Downloading(set.to_vec()));
        let scratch = self.scratch()?;
        let debs = apt.download(set, scratch.path(), events)?;
        events(FetchEvent::Unpacking);
        let entry = scratch.subdirectory("entry")?;
        let packages = package::open(&debs)?;
        let packages = packages.ok_or_else(|| Error::damaged(&set[0], "it is not a package"))?;
        let origin = package::unpack(&packages, &entry)?;
        let name = debian_name(abi, kernel.arch());
        self.install(&scratch, &entry, &name, origin)
    }

    fn cached(
        &self,
        kernel: &DebianKernel,
        abi: Option<&str>,
        events: &mut dyn FnMut(FetchEvent),
    ) -> Option<Kernel> {
        let kernel = self.load_verified(&debian_name(abi?, kernel.arch())).ok()?;
        events(FetchEvent::Cached(kernel.name.clone()));
        Some(kernel)
    }
}
