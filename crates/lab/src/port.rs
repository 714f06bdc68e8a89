// SPDX-License-Identifier: GPL-2.0-or-later
//! The agent's output stream: a file of a guest's serial port, or a process's standard output.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Polling interval for a growing file.
const FILE_TICK: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub struct Port {
    stream: File,
    is_file: bool,
}

impl Port {
    /// A file to which QEMU writes the output of a guest's port. A guest never waits for its
    /// reader, because a wait would be visible under the deterministic clock.
    pub fn file(path: &Path) -> io::Result<Port> {
        Ok(Port {
            stream: File::open(path)?,
            is_file: true,
        })
    }

    /// Waits at most `patience`. None means that nothing arrived, and 0 that the stream has ended.
    pub fn read(&mut self, buffer: &mut [u8], patience: Duration) -> io::Result<Option<usize>> {
        if self.is_file {
            let read = self.stream.read(buffer)?;
            if read == 0 {
                std::thread::sleep(FILE_TICK.min(patience));
            }
            return Ok(Some(read).filter(|read| *read > 0));
        }
        let patience = Timespec::try_from(patience).map_err(io::Error::other)?;
        let nothing = |error: &io::Error| {
            matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
        };
        let waited = poll(
            &mut [PollFd::new(&self.stream, PollFlags::IN)],
            Some(&patience),
        );
        let read = match waited.map_err(io::Error::from) {
            Ok(0) => return Ok(None),
            Ok(_) => self.stream.read(buffer),
            Err(error) => Err(error),
        };
        match read {
            Ok(read) => Ok(Some(read)),
            Err(error) if nothing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }
}

impl From<OwnedFd> for Port {
    fn from(stream: OwnedFd) -> Port {
        Port {
            stream: stream.into(),
            is_file: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_it_grows() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("port");
        let mut writer = File::create(&path).unwrap();
        let mut port = Port::file(&path).unwrap();
        let mut buffer = [0; 8];
        let mut read = || port.read(&mut buffer, Duration::from_millis(1)).unwrap();
        assert_eq!(read(), None);
        writer.write_all(b"ab").unwrap();
        assert_eq!(read(), Some(2));
        assert_eq!(read(), None);
        writer.write_all(b"c").unwrap();
        assert_eq!(read(), Some(1));
    }
}
