// SPDX-License-Identifier: GPL-2.0-or-later
//! The answers to requests.

use std::sync::Arc;

use super::Page;

/// Longest request, without a body.
pub const REQUEST_LIMIT_BYTES: usize = 8 << 10;
/// Most headers in one.
const HEADERS: usize = 64;

const TEXT: &str = "text/plain; charset=utf-8";
const INDEX: &[u8] = b"<!DOCTYPE html><title>lsmeter</title><a href=\"/metrics\">metrics</a>\n";

/// A response.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// `200 OK`.
    status: &'static str,
    media_type: &'static str,
    body: Arc<[u8]>,
    /// The request was HEAD: the body is left out.
    head: bool,
}

impl Answer {
    fn new(status: &'static str, media_type: &'static str, body: impl Into<Arc<[u8]>>) -> Answer {
        Answer {
            status,
            media_type,
            body: body.into(),
            head: false,
        }
    }

    fn refusal(status: &'static str, why: &str) -> Answer {
        Answer::new(status, TEXT, format!("{why}\n").into_bytes())
    }

    /// To a request that did not end in time.
    pub fn too_late() -> Answer {
        Answer::refusal("408 Request Timeout", "the request did not end in time")
    }

    /// To one connection too many.
    pub fn busy() -> Answer {
        Answer::refusal("503 Service Unavailable", "too many connections")
    }

    /// To what was received so far; None if more is to come.
    pub fn to(request: &[u8], page: &Page) -> Option<Answer> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        match parsed.parse(request) {
            Ok(httparse::Status::Complete(_)) => {
                let method = parsed.method.unwrap_or_default();
                let target = parsed.path.unwrap_or_default();
                Some(Answer::to_request(method, target, page))
            }
            Ok(httparse::Status::Partial) if request.len() < REQUEST_LIMIT_BYTES => None,
            Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
                let status = "431 Request Header Fields Too Large";
                let why = "longer than any request that makes sense here";
                Some(Answer::refusal(status, why))
            }
            Err(error) => {
                let why = format!("no HTTP request: {error}");
                Some(Answer::refusal("400 Bad Request", &why))
            }
        }
    }

    fn to_request(method: &str, target: &str, page: &Page) -> Answer {
        let path = target.split_once('?').map_or(target, |(path, _)| path);
        let answer = match path {
            "/metrics" => Answer::metrics(page),
            "/" => Answer::new("200 OK", "text/html; charset=utf-8", INDEX),
            _ => Answer::refusal("404 Not Found", "there is only /metrics"),
        };
        match method {
            "GET" => answer,
            "HEAD" => Answer {
                head: true,
                ..answer
            },
            _ if answer.status.starts_with("404") => answer,
            _ => Answer::refusal("405 Method Not Allowed", "there is only GET and HEAD"),
        }
    }

    fn metrics(page: &Page) -> Answer {
        let page = page.lock().unwrap_or_else(|poison| poison.into_inner());
        match &*page {
            Some(text) => Answer::new("200 OK", crate::OPEN_METRICS_TYPE, Arc::clone(text)),
            None => Answer::refusal("503 Service Unavailable", "nothing was measured yet"),
        }
    }

    /// Status line and headers.
    pub fn header(&self) -> String {
        let allow = match self.status.starts_with("405") {
            true => "Allow: GET, HEAD\r\n",
            false => "",
        };
        format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{allow}\
             Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
             Connection: close\r\n\r\n",
            self.status,
            self.media_type,
            self.body.len(),
        )
    }

    /// What comes after them.
    pub fn body(&self) -> &[u8] {
        match self.head {
            true => &[],
            false => &self.body,
        }
    }
}
