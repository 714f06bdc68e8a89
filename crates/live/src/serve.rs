// SPDX-License-Identifier: GPL-2.0-or-later
//! Serves a page of metrics over HTTP, to Prometheus or whoever asks.
//!
//! Whoever may connect is not trusted: requests are bounded in size and time, and so are
//! connections in number. A connection serves one request.

mod answer;
mod connection;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;

use diagnostics::Failure;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};

/// Connections at a time. Prometheus has one.
const CONNECTIONS: usize = 8;

/// The bytes that are served; None before there are any.
type Page = Arc<Mutex<Option<Arc<[u8]>>>>;

/// Serves a page at `/metrics` until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    page: Page,
    stop: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens. Port 0 is any port that is free.
    ///
    /// # Errors
    /// If the address cannot be bound, with the reason and what to do.
    pub fn bind(address: SocketAddr) -> Result<Server, Failure> {
        let refuse = |error: io::Error| {
            let hint = match error.kind() {
                io::ErrorKind::AddrInUse => {
                    "end what listens there, or name another port; 0 is any that is free"
                }
                io::ErrorKind::AddrNotAvailable => {
                    "name an address of this machine, such as 127.0.0.1:9187"
                }
                io::ErrorKind::PermissionDenied => "name a port from 1024 on",
                _ => "name another address, such as 127.0.0.1:9187",
            };
            Failure::environment(format!("cannot serve metrics on {address}: {error}"), hint)
        };
        let listener = TcpListener::bind(address).map_err(refuse)?;
        // Between poll and accept a connection may vanish.
        listener.set_nonblocking(true).map_err(refuse)?;
        let address = listener.local_addr().map_err(refuse)?;
        let stop = eventfd(0, EventfdFlags::CLOEXEC).map_err(|errno| refuse(errno.into()))?;
        let stop = Arc::new(stop);
        let page = Page::default();
        let thread = std::thread::Builder::new().name("metrics".to_owned());
        let thread = thread.spawn({
            let (page, stop) = (Arc::clone(&page), Arc::clone(&stop));
            move || serve(&listener, &page, &stop)
        });
        Ok(Server {
            address,
            page,
            stop,
            thread: Some(thread.map_err(refuse)?),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves `text` from now on.
    pub fn publish(&self, text: Arc<[u8]>) {
        *self.page.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An eventfd that was never written to takes a 1.
        let told = rustix::io::write(&*self.stop, &1u64.to_ne_bytes());
        if let (Ok(_), Some(thread)) = (told, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

/// A connection that is being served. It ends with its thread, not when the next one comes.
struct Served {
    stream: Weak<TcpStream>,
    thread: JoinHandle<()>,
}

/// Takes connections until it is told to stop; then ends those that there are.
fn serve(listener: &TcpListener, page: &Page, stop: &OwnedFd) {
    let mut served: Vec<Served> = Vec::new();
    loop {
        let mut events = [
            PollFd::new(stop, PollFlags::IN),
            PollFd::new(listener, PollFlags::IN),
        ];
        match poll(&mut events, None) {
            Ok(_) if events[0].revents().is_empty() => {}
            Err(rustix::io::Errno::INTR) => continue,
            _ => break,
        }
        served.retain(|one| !one.thread.is_finished());
        match listener.accept() {
            Ok((stream, _)) if served.len() < CONNECTIONS => served.extend(start(stream, page)),
            Ok((stream, _)) => connection::refuse(stream),
            Err(error) if is_passing(&error) => {}
            // Out of descriptors: they come back as connections end.
            Err(_) => std::thread::sleep(std::time::Duration::from_millis(100)),
        }
    }
    for one in served {
        if let Some(stream) = one.stream.upgrade() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        let _ = one.thread.join();
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted
    )
}

fn start(stream: TcpStream, page: &Page) -> Option<Served> {
    let stream = Arc::new(stream);
    let weak = Arc::downgrade(&stream);
    let page = Arc::clone(page);
    let thread = std::thread::Builder::new().name("scrape".to_owned());
    let thread = thread.spawn(move || {
        // A client that goes away or is too slow is no news.
        let _ = connection::serve(&stream, &page);
    });
    Some(Served {
        stream: weak,
        thread: thread.ok()?,
    })
}

/// `9187`, `127.0.0.1:9187`, `[::1]:9187`: where to serve. A port alone, or that of
/// `localhost`, is on the loopback address: what a machine does is not everybody's business.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost").unwrap_or(text);
    let port = port.strip_prefix(':').unwrap_or(port);
    if let Ok(port) = port.parse() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    text.parse()
        .map_err(|_| "not a port or ADDRESS:PORT, such as 9187 or 127.0.0.1:9187".to_owned())
}

#[cfg(test)]
mod tests;
