// SPDX-License-Identifier: GPL-2.0-or-later
//! The stream from the agent: a guest's serial port, or the standard output of a process.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode, OFlags};

/// How far a guest may be ahead of lsmeter: the pipe size limit of an ordinary user.
const AHEAD_BYTES: usize = 1 << 20;

#[derive(Debug)]
pub struct Port(File);

impl Port {
    /// Makes a FIFO for QEMU to write a guest's port to, byte by byte.
    ///
    /// The guest waits for each byte that cannot be written, and under the deterministic clock that
    /// time must not depend on the host: the FIFO has room for unread bytes. (A socket takes about
    /// 280 such bytes, each in a buffer of its own.)
    pub fn fifo(path: &Path) -> io::Result<Port> {
        rustix::fs::mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fifo = rustix::fs::open(path, flags, Mode::empty())?;
        grow(&fifo);
        Ok(Port(fifo.into()))
    }

    /// Waits at most `patience`. None: nothing came, or nobody has opened the other end; 0: end of
    /// file.
    pub fn read(&mut self, buffer: &mut [u8], patience: Duration) -> io::Result<Option<usize>> {
        let patience = Timespec::try_from(patience).map_err(io::Error::other)?;
        let nothing = |error: &io::Error| {
            matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
        };
        let waited = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&patience));
        let read = match waited.map_err(io::Error::from) {
            Ok(0) => return Ok(None),
            Ok(_) => self.0.read(buffer),
            Err(error) => Err(error),
        };
        match read {
            Ok(read) => Ok(Some(read)),
            Err(error) if nothing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }
}

impl From<OwnedFd> for Port {
    fn from(stream: OwnedFd) -> Port {
        Port(stream.into())
    }
}

/// Enlarges a pipe as far as the system allows; errors are ignored, because a small pipe matters
/// only if its reader is late.
pub(crate) fn grow(pipe: impl std::os::fd::AsFd) {
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, AHEAD_BYTES);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(10);
    const LATER: Duration = Duration::from_secs(10);

    #[test]
    fn a_writer_comes_speaks_and_goes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("port");
        let mut port = Port::fifo(&path).unwrap();
        let mut buffer = [0; 8];
        assert_eq!(port.read(&mut buffer, SOON).unwrap(), None);
        let mut writer = File::options().write(true).open(&path).unwrap();
        assert_eq!(port.read(&mut buffer, SOON).unwrap(), None);
        writer.write_all(b"ab").unwrap();
        assert_eq!(port.read(&mut buffer, LATER).unwrap(), Some(2));
        writer.write_all(b"c").unwrap();
        drop(writer);
        assert_eq!(port.read(&mut buffer, LATER).unwrap(), Some(1));
        assert_eq!(port.read(&mut buffer, LATER).unwrap(), Some(0));
    }

    #[test]
    fn who_writes_bytes_does_not_wait_for_the_reader() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("port");
        let mut port = Port::fifo(&path).unwrap();
        let flags = OFlags::WRONLY | OFlags::NONBLOCK;
        let mut writer = File::from(rustix::fs::open(&path, flags, Mode::empty()).unwrap());
        const BYTES: usize = 64 << 10;
        for _ in 0..BYTES {
            writer.write_all(b"x").unwrap();
        }
        let mut buffer = vec![0; 2 * BYTES];
        let mut read = 0;
        while read < BYTES {
            read += port.read(&mut buffer, LATER).unwrap().unwrap();
        }
        assert_eq!(read, BYTES);
    }
}
