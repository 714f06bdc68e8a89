// SPDX-License-Identifier: GPL-2.0-or-later
//! Clients that ask, and clients that do not behave.

use std::io::{Read, Write};

use super::*;
use diagnostics::Fault;

const TEXT: &[u8] = b"# TYPE lsmeter_lost_calls counter\nlsmeter_lost_calls_total 0\n# EOF\n";

fn server() -> Server {
    let server = Server::bind(address("0").unwrap()).unwrap();
    server.publish(TEXT.into());
    server
}

fn connect(server: &Server) -> TcpStream {
    TcpStream::connect(server.address()).unwrap()
}

fn read(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// The answer to a request in which nothing is right but what is asked for.
fn ask(server: &Server, request: &[u8]) -> String {
    let mut stream = connect(server);
    stream.write_all(request).unwrap();
    read(stream)
}

#[track_caller]
fn assert_status(answer: &str, status: u32) {
    let begin = format!("HTTP/1.1 {status} ");
    assert!(answer.starts_with(&begin), "{answer}");
    let (header, body) = answer.split_once("\r\n\r\n").unwrap();
    let length = format!("\r\nContent-Length: {}\r\n", body.len());
    assert!(header.contains(&length), "{answer}");
    assert!(header.ends_with("\r\nConnection: close"), "{answer}");
}

#[test]
fn two_scrapes_see_what_was_published_last() {
    let server = server();
    let request = b"GET /metrics HTTP/1.1\r\nHost: here\r\nAccept: */*\r\n\r\n";
    let first = ask(&server, request);
    assert_status(&first, 200);
    assert!(first.ends_with(std::str::from_utf8(TEXT).unwrap()));
    let media_type = "\r\nContent-Type: application/openmetrics-text; version=1.0.0; \
                      charset=utf-8\r\n";
    assert!(first.contains(media_type), "{first}");
    server.publish(b"# EOF\n".as_slice().into());
    let second = ask(&server, b"GET /metrics?name=x HTTP/1.0\n\n");
    assert_status(&second, 200);
    assert!(second.ends_with("\r\n\r\n# EOF\n"), "{second}");
}

#[test]
fn nothing_was_published_yet() {
    let server = Server::bind(address("0").unwrap()).unwrap();
    assert_status(&ask(&server, b"GET /metrics HTTP/1.1\r\n\r\n"), 503);
}

#[test]
fn a_head_has_no_body() {
    let server = server();
    let answer = ask(&server, b"HEAD /metrics HTTP/1.1\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    let length = format!("\r\nContent-Length: {}\r\n", TEXT.len());
    assert!(answer.contains(&length), "{answer}");
    assert!(answer.ends_with("\r\n\r\n"), "{answer}");
}

#[test]
fn other_paths_and_methods_are_refused() {
    let server = server();
    for path in [
        "/metrics/",
        "/etc/passwd",
        "//metrics",
        "/%6detrics",
        "*",
        "http://here/metrics",
    ] {
        let request = format!("GET {path} HTTP/1.1\r\n\r\n");
        assert_status(&ask(&server, request.as_bytes()), 404);
    }
    for method in ["POST", "DELETE", "get", "PROPFIND"] {
        let request = format!("{method} /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc");
        let answer = ask(&server, request.as_bytes());
        assert_status(&answer, 405);
        assert!(answer.contains("\r\nAllow: GET, HEAD\r\n"), "{answer}");
    }
    let index = ask(&server, b"GET / HTTP/1.1\r\n\r\n");
    assert_status(&index, 200);
    assert!(index.contains("href=\"/metrics\""), "{index}");
}

#[test]
fn garbage_is_refused() {
    let server = server();
    for request in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"GET /metrics HTTP/9.9\r\n\r\n",
        b"GET /metrics\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nno header\r\n\r\n",
        b"\0\0\0\0",
        "GET /métrics HTTP/1.1\r\nA: \0\r\n\r\n".as_bytes(),
    ] {
        assert_status(&ask(&server, request), 400);
    }
    assert_status(&ask(&server, b"GET /metrics HTTP/1.1\r\n\r\n"), 200);
}

#[test]
fn oversized_requests_are_refused() {
    let server = server();
    let long = format!("GET /metrics HTTP/1.1\r\nA: {}", "a".repeat(20_000));
    assert_status(&ask(&server, long.as_bytes()), 431);
    let many = format!("GET /metrics HTTP/1.1\r\n{}\r\n", "A: a\r\n".repeat(65));
    assert_status(&ask(&server, many.as_bytes()), 431);
    let path = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(20_000));
    assert_status(&ask(&server, path.as_bytes()), 431);
    let endless = "\r\n".repeat(10_000);
    assert_status(&ask(&server, endless.as_bytes()), 431);
}

#[test]
fn a_request_in_pieces_is_one() {
    let server = server();
    let mut stream = connect(&server);
    stream.set_nodelay(true).unwrap();
    for byte in b"GET /metrics HTTP/1.1\r\n\r\n" {
        stream.write_all(&[*byte]).unwrap();
    }
    assert_status(&read(stream), 200);
}

/// One client that says nothing, and one that never ends, do not keep others waiting.
#[test]
fn slow_clients_are_given_up() {
    let server = server();
    let silent = connect(&server);
    let mut slow = connect(&server);
    slow.write_all(b"GET /metrics HTTP/1.1\r\nA: ").unwrap();
    assert_status(&ask(&server, b"GET /metrics HTTP/1.1\r\n\r\n"), 200);
    assert_status(&read(silent), 408);
    assert_status(&read(slow), 408);
}

#[test]
fn a_client_that_goes_away_leaves_nothing() {
    let server = server();
    for _ in 0..4 * CONNECTIONS {
        let mut stream = connect(&server);
        stream.write_all(b"GET /met").unwrap();
        drop(stream);
    }
    served_again(&server);
}

#[test]
fn connections_are_bounded_in_number() {
    let server = server();
    let silent: Vec<TcpStream> = (0..CONNECTIONS).map(|_| connect(&server)).collect();
    assert_status(&read(connect(&server)), 503);
    drop(silent);
    served_again(&server);
}

/// Those before it may still be on their way out; who is one too many may see a reset.
fn served_again(server: &Server) {
    let served = || {
        let mut stream = connect(server);
        let mut answer = String::new();
        let request = stream.write_all(b"GET / HTTP/1.1\r\n\r\n");
        request.is_ok()
            && stream.read_to_string(&mut answer).is_ok()
            && answer.starts_with("HTTP/1.1 200 ")
    };
    while !served() {
        std::thread::yield_now();
    }
}

/// Nobody has to come after it.
#[test]
fn a_connection_that_is_kept_open_is_closed() {
    let server = server();
    let mut stream = connect(&server);
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
    let closed = (0..10_000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        stream.write_all(b".").is_err()
    });
    assert!(closed);
}

#[test]
fn it_stops_when_it_is_dropped() {
    let server = server();
    let at = server.address();
    let mut silent = connect(&server);
    // It is being served once another one after it was.
    assert_status(&ask(&server, b"GET / HTTP/1.1\r\n\r\n"), 200);
    drop(server);
    let mut nothing = Vec::new();
    assert_eq!(silent.read_to_end(&mut nothing).unwrap_or(0), 0);
    assert!(TcpStream::connect(at).is_err());
    // The port is free again.
    drop(Server::bind(at).unwrap());
}

#[test]
fn a_large_page_arrives_whole() {
    let server = server();
    let large = vec![b'a'; 16 << 20];
    server.publish(large.as_slice().into());
    let answer = ask(&server, b"GET /metrics HTTP/1.1\r\n\r\n");
    assert_status(&answer, 200);
}

#[test]
fn an_address_that_is_taken_is_told() {
    let server = server();
    let error = Server::bind(server.address()).unwrap_err();
    let expected = format!("cannot serve metrics on {}: ", server.address());
    assert!(error.to_string().starts_with(&expected), "{error}");
    assert!(error.hint().unwrap().starts_with("end what listens there"));
}

#[test]
fn ports_alone_are_on_loopback() {
    let read = |text: &str| address(text).map(|address| address.to_string());
    assert_eq!(read("9187").unwrap(), "127.0.0.1:9187");
    assert_eq!(read(":9187").unwrap(), "127.0.0.1:9187");
    assert_eq!(read("localhost:0").unwrap(), "127.0.0.1:0");
    assert_eq!(read("[::1]:9187").unwrap(), "[::1]:9187");
    assert_eq!(read("0.0.0.0:9187").unwrap(), "0.0.0.0:9187");
    for wrong in [
        "",
        "70000",
        "::1:9187",
        "example.org:9187",
        "127.0.0.1",
        "-1",
    ] {
        assert!(read(wrong).unwrap_err().contains("9187"), "{wrong}");
    }
}
