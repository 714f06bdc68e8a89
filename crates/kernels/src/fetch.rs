// SPDX-License-Identifier: GPL-2.0-or-later
//! Fetching a stock kernel of Debian.

use crate::apt::Apt;
use crate::deb;
use crate::entry::Kernel;
use crate::error::{Error, ErrorKind};
use crate::files::Lock;
use crate::mirrors::Mirrors;
use crate::name::DebianKernel;
use crate::packages::{self, Candidate};
use crate::store::{FetchEvent, Store};
use std::fs;

/// ABIs that are tried, newest first: an archive drops packages that its index
/// still names, but hardly more than the last few.
const MOST_CANDIDATES: usize = 6;

impl Store {
    /// Fetches a stock kernel of Debian, the newest of the series unless the
    /// name pins one, unless it is here already. The package index is fetched
    /// when it is a day old.
    ///
    /// # Errors
    /// [`Error::Environment`] without apt, keyring or network;
    /// [`Error::NoPackage`] if no package of it can be downloaded and read;
    /// [`Error::Io`] if the cache cannot be written. Nothing is cached then.
    pub fn fetch(
        &self,
        kernel: &DebianKernel,
        mirrors: &Mirrors,
        events: &mut dyn FnMut(FetchEvent),
    ) -> Result<Kernel, Error> {
        self.fetch_from(kernel, mirrors, false, events)
    }

    /// As [`Store::fetch`], with the package index fetched anew.
    ///
    /// # Errors
    /// As [`Store::fetch`].
    pub fn fetch_refreshed(
        &self,
        kernel: &DebianKernel,
        mirrors: &Mirrors,
        events: &mut dyn FnMut(FetchEvent),
    ) -> Result<Kernel, Error> {
        self.fetch_from(kernel, mirrors, true, events)
    }

    fn fetch_from(
        &self,
        kernel: &DebianKernel,
        mirrors: &Mirrors,
        refresh: bool,
        events: &mut dyn FnMut(FetchEvent),
    ) -> Result<Kernel, Error> {
        if let Some(cached) = self.cached(kernel.abi(), events) {
            return Ok(cached);
        }
        let lock_path = self.dir().join("fetch.lock");
        let _lock = Lock::take(&lock_path, &mut || events(FetchEvent::Waiting))?;
        let apt = Apt::prepare(&self.dir().join("apt"), mirrors)?;
        let update_first = refresh || apt.is_stale();
        if update_first {
            events(FetchEvent::Updating);
            apt.update(events)?;
        }
        let mut names = apt.names()?;
        let find =
            |names: &[String]| packages::candidates(kernel, names.iter().map(String::as_str));
        let mut candidates = find(&names);
        let mut reasons = self.try_candidates(&apt, &candidates, events)?;
        if let (Err(_), false) = (&reasons, update_first) {
            // The archive may have moved on since the index was fetched.
            events(FetchEvent::Updating);
            apt.update(events)?;
            names = apt.names()?;
            candidates = find(&names);
            reasons = self.try_candidates(&apt, &candidates, events)?;
        }
        reasons.map_err(|mut reasons| {
            let series = packages::series(names.iter().map(String::as_str));
            if candidates.is_empty() {
                reasons.push("the mirror's index holds none".into());
            }
            Error::NoPackage {
                name: kernel.to_string(),
                reasons,
                hint: if series.is_empty() {
                    "see that the mirror is a full Debian archive".into()
                } else {
                    format!("the mirror has kernels of the series {}", series.join(", "))
                },
            }
        })
    }

    /// The first candidate that can be had, or why each could not.
    fn try_candidates(
        &self,
        apt: &Apt,
        candidates: &[Candidate],
        events: &mut dyn FnMut(FetchEvent),
    ) -> Result<Result<Kernel, Vec<String>>, Error> {
        let mut reasons = Vec::new();
        for candidate in candidates.iter().take(MOST_CANDIDATES) {
            if let Some(cached) = self.cached(Some(&candidate.abi), events) {
                return Ok(Ok(cached));
            }
            for set in &candidate.sets {
                match self.try_set(apt, &candidate.abi, set, events)? {
                    Ok(kernel) => return Ok(Ok(kernel)),
                    Err(reason) => {
                        reasons.push(format!("{}: {reason}", set[0]));
                        events(FetchEvent::Skipped {
                            packages: set.clone(),
                            reason,
                        });
                    }
                }
            }
        }
        Ok(Err(reasons))
    }

    fn try_set(
        &self,
        apt: &Apt,
        abi: &str,
        set: &[String],
        events: &mut dyn FnMut(FetchEvent),
    ) -> Result<Result<Kernel, String>, Error> {
        events(FetchEvent::Downloading {
            packages: set.to_vec(),
        });
        let scratch = self.scratch()?;
        let debs = match apt.download(set, scratch.path(), events)? {
            Ok(debs) => debs,
            Err(reason) => return Ok(Err(reason)),
        };
        events(FetchEvent::Unpacking);
        let entry = scratch.path().join("entry");
        fs::create_dir(&entry).map_err(Error::io("create", &entry))?;
        let mut version = None;
        let mut has_image = false;
        let unpacked = debs.iter().try_for_each(|path| {
            let extracted = deb::extract(path, &entry)?;
            has_image |= extracted.has_image;
            version = Some(extracted.control.version);
            Ok(())
        });
        let installed = unpacked.and_then(|()| {
            if !has_image {
                return Err(Error::damaged(&set[0], "it holds no kernel"));
            }
            self.install(&scratch, &entry, &format!("debian:{abi}"), version)
        });
        match installed {
            Ok(kernel) => Ok(Ok(kernel)),
            Err(e) if matches!(e.kind(), ErrorKind::Damaged | ErrorKind::Unsupported) => {
                Ok(Err(e.to_string()))
            }
            Err(e) => Err(e),
        }
    }

    fn cached(&self, abi: Option<&str>, events: &mut dyn FnMut(FetchEvent)) -> Option<Kernel> {
        let kernel = self.load(&format!("debian:{}", abi?)).ok()?;
        crate::entry::verify(&kernel).ok()?;
        events(FetchEvent::Cached {
            name: kernel.name.clone(),
        });
        Some(kernel)
    }
}
