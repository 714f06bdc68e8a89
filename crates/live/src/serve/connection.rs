// SPDX-License-Identifier: GPL-2.0-or-later
//! One connection: a request in, an answer out, each in its time.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use super::Page;
use super::answer::{Answer, REQUEST_LIMIT_BYTES};

/// For a request, however slowly it comes.
const REQUEST_TIME: Duration = Duration::from_secs(5);
/// For an answer, however slowly it is read: as Prometheus waits by default.
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// For the client to close, and what it may send until then.
const CLOSE_TIME: Duration = Duration::from_secs(1);
const CLOSE_LIMIT_BYTES: usize = 64 << 10;

/// Answers one request.
///
/// # Errors
/// If the client goes away, or takes too long to read.
pub fn serve(stream: &TcpStream, page: &Page) -> io::Result<()> {
    let Some(answer) = receive(stream, page)? else {
        return Ok(());
    };
    send(stream, &answer)?;
    close(stream)
}

/// Tells one client too many, without waiting for it.
pub fn refuse(mut stream: TcpStream) {
    let answer = Answer::busy();
    // A socket's buffer holds so little.
    let _ = stream.set_nonblocking(true);
    let _ = stream.write_all(answer.header().as_bytes());
    let _ = stream.write_all(answer.body());
}

/// The answer to the request; None if the client sent nothing.
fn receive(stream: &TcpStream, page: &Page) -> io::Result<Option<Answer>> {
    let deadline = Instant::now() + REQUEST_TIME;
    let mut request = [0; REQUEST_LIMIT_BYTES];
    let mut length = 0;
    loop {
        match read(stream, &mut request[length..], deadline)? {
            None => return Ok(Some(Answer::too_late())),
            Some(0) => return Ok(None),
            Some(more) => length += more,
        }
        let answer = Answer::to(&request[..length], page);
        if answer.is_some() {
            return Ok(answer);
        }
    }
}

fn send(mut stream: &TcpStream, answer: &Answer) -> io::Result<()> {
    let deadline = Instant::now() + ANSWER_TIME;
    let header = answer.header();
    for mut part in [header.as_bytes(), answer.body()] {
        while !part.is_empty() {
            let left = left(deadline).ok_or(ErrorKind::TimedOut)?;
            stream.set_write_timeout(Some(left))?;
            match stream.write(part) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => part = &part[written..],
                Err(error) if is_wait(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// Ends a connection so that the answer arrives: were it closed with anything unread, the
/// client could be told of a reset before it has read.
fn close(stream: &TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let deadline = Instant::now() + CLOSE_TIME;
    let mut unread = [0; 4096];
    let mut length = 0;
    while length < CLOSE_LIMIT_BYTES
        && let Some(more @ 1..) = read(stream, &mut unread, deadline)?
    {
        length += more;
    }
    Ok(())
}

/// How much came; None if nothing did in time.
fn read(mut stream: &TcpStream, to: &mut [u8], deadline: Instant) -> io::Result<Option<usize>> {
    while let Some(left) = left(deadline) {
        stream.set_read_timeout(Some(left))?;
        match stream.read(to) {
            Err(error) if is_wait(&error) => {}
            read => return read.map(Some),
        }
    }
    Ok(None)
}

/// Time until then; None if it has passed.
fn left(deadline: Instant) -> Option<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    (!left.is_zero()).then_some(left)
}

fn is_wait(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}
