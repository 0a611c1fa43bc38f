//! As much of HTTP/1.1 as the clients need: one request and one response per connection.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// A request as it came over the wire.
pub(super) struct HttpRequest {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl HttpRequest {
    pub(super) fn read_from(stream: &TcpStream) -> io::Result<Option<Self>> {
        let mut reader = BufReader::new(stream);
        let mut first = String::new();
        if reader.read_line(&mut first)? == 0 {
            return Ok(None);
        }
        let mut words = first.split_whitespace();
        let method = words.next().unwrap_or_default().to_owned();
        let path = words.next().unwrap_or_default().to_owned();
        let headers = read_headers(&mut reader)?;
        let mut incoming = Self { method, path, headers, body: Vec::new() };
        if incoming.header("expect").is_some() {
            let mut stream = stream;
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        incoming.body = read_body(&mut reader, &incoming)?;
        Ok(Some(incoming))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The path without its query.
    pub(super) fn route(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }
}

fn read_headers(reader: &mut impl BufRead) -> io::Result<Vec<(String, String)>> {
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            return Ok(headers);
        }
        if let Some((key, value)) = line.split_once(':') {
            headers.push((key.trim().to_lowercase(), value.trim().to_owned()));
        }
    }
}

fn read_body(reader: &mut impl BufRead, incoming: &HttpRequest) -> io::Result<Vec<u8>> {
    let chunked = incoming.header("transfer-encoding").is_some_and(|value| value.contains("chunked"));
    if chunked {
        return read_chunks(reader);
    }
    let length = incoming.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(body)
}

fn read_chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).map_err(io::Error::other)?;
        reader.take(size).read_to_end(&mut body)?;
        reader.read_line(&mut String::new())?;
        if size == 0 {
            return Ok(body);
        }
    }
}

/// A response, written whole: nothing here needs to be seen half-streamed.
pub(super) struct HttpResponse {
    status: u16,
    content_type: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl HttpResponse {
    pub(super) fn from_json(status: u16, value: &Value) -> Self {
        let body = value.to_string().into_bytes();
        Self { status, content_type: "application/json", headers: Vec::new(), body }
    }

    pub(super) fn from_events(events: &[Value]) -> Self {
        let mut body = Vec::new();
        for event in events {
            let name = event["type"].as_str().unwrap_or_default();
            body.extend_from_slice(format!("event: {name}\ndata: {event}\n\n").as_bytes());
        }
        Self { status: 200, content_type: "text/event-stream", headers: Vec::new(), body }
    }

    /// Events without names, and what ends the stream.
    pub(super) fn from_chunks(chunks: &[Value], end: &str) -> Self {
        let mut body = Vec::new();
        for chunk in chunks {
            body.extend_from_slice(format!("data: {chunk}\n\n").as_bytes());
        }
        body.extend_from_slice(end.as_bytes());
        Self { status: 200, content_type: "text/event-stream", headers: Vec::new(), body }
    }

    pub(super) fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn write_to(&self, mut stream: &TcpStream, with_body: bool) -> io::Result<()> {
        let Self { status, content_type, body, .. } = self;
        let length = body.len();
        let mut head = format!(
            "HTTP/1.1 {status} Scripted\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\nconnection: close\r\n"
        );
        for (name, value) in &self.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        head.push_str("\r\n");
        stream.write_all(head.as_bytes())?;
        if with_body {
            stream.write_all(body)?;
        }
        stream.flush()
    }
}
