//! Talking to the daemon: one request a connection, with a bound on how long that may take.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use carryover_engine::context::Context;

use super::place;
use super::routes::FOLDER_HEADER;
use super::status::StatusDocument;

/// A longer answer is none of the daemon's.
const MAX_ANSWER_BYTES: u64 = 4 << 20;
const STATUS_TIME: Duration = Duration::from_secs(2);

/// The daemon's answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// A connection of either kind.
trait Connection: Read + Write {}
impl<T: Read + Write> Connection for T {}

/// What the daemon says of itself; none where none runs, or where it does not answer.
pub(crate) fn query_status(context: &Context) -> Option<StatusDocument> {
    let answer = send_request(context, "GET", "/status", None, b"", STATUS_TIME).ok()?;
    serde_json::from_slice(&answer.body).ok()
}

/// Whether a daemon keeps the ledger fresh, so that nobody else need look at the stores.
pub(crate) fn is_keeping_ledger(context: &Context) -> bool {
    let status = place::is_running(context).then(|| query_status(context)).flatten();
    status.is_some_and(|status| status.last_kept_at.is_some() && status.changes_waiting <= 1)
}

/// Tells the daemon that a hook was called.
pub(crate) fn send_event(
    context: &Context,
    agent: &str,
    event: &str,
    payload: &[u8],
    at_most: Duration,
) -> io::Result<Answer> {
    let is_plain = |word: &str| word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
    if !is_plain(agent) || !is_plain(event) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no name of an event"));
    }
    send_request(context, "POST", &format!("/hook/{agent}/{event}"), Some(&context.cwd), payload, at_most)
}

/// Asks it to end.
pub(super) fn send_stop(context: &Context) -> io::Result<()> {
    send_request(context, "POST", "/stop", None, b"", STATUS_TIME).map(drop)
}

/// Whether the program at a port answers as we do to one without a token.
pub(super) fn is_carryover_at(port: u16) -> bool {
    let ask = || -> io::Result<Answer> {
        let mut stream = connect_port(port, STATUS_TIME)?;
        exchange(&mut stream, &request_head("GET", "/status", None, None, 0), b"")
    };
    ask().is_ok_and(|answer| answer.status == 401 && answer.body.starts_with(b"the token in ~/.carryover"))
}

fn send_request(
    context: &Context,
    method: &str,
    path: &str,
    folder: Option<&Path>,
    body: &[u8],
    at_most: Duration,
) -> io::Result<Answer> {
    let (mut stream, token) = connect(context, at_most)?;
    exchange(&mut *stream, &request_head(method, path, folder, token.as_deref(), body.len()), body)
}

#[cfg(unix)]
fn connect(context: &Context, at_most: Duration) -> io::Result<(Box<dyn Connection>, Option<String>)> {
    let stream = std::os::unix::net::UnixStream::connect(place::find_socket(context)?)?;
    stream.set_read_timeout(Some(at_most))?;
    stream.set_write_timeout(Some(at_most))?;
    Ok((Box::new(stream), None))
}

#[cfg(not(unix))]
fn connect(context: &Context, at_most: Duration) -> io::Result<(Box<dyn Connection>, Option<String>)> {
    let not_there = || io::Error::new(io::ErrorKind::NotFound, "the daemon has no port");
    let port = context.config.daemon.listening_port().ok_or_else(not_there)?;
    Ok((Box::new(connect_port(port, at_most)?), place::read_token(context)))
}

fn connect_port(port: u16, at_most: Duration) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), at_most)?;
    stream.set_read_timeout(Some(at_most))?;
    stream.set_write_timeout(Some(at_most))?;
    Ok(stream)
}

fn request_head(method: &str, path: &str, folder: Option<&Path>, token: Option<&str>, length: usize) -> String {
    // A name that no header can hold is left out; most agents tell their folder themselves.
    let folder = folder.and_then(Path::to_str).filter(|folder| folder.bytes().all(|byte| (b' '..0x7f).contains(&byte)));
    let folder = folder.map_or_else(String::new, |folder| format!("{FOLDER_HEADER}: {folder}\r\n"));
    let token = token.map_or_else(String::new, |token| format!("authorization: Bearer {token}\r\n"));
    format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n{folder}{token}\r\n"
    )
}

fn exchange(stream: &mut (impl Connection + ?Sized), head: &str, body: &[u8]) -> io::Result<Answer> {
    stream.write_all(&[head.as_bytes(), body].concat())?;
    let mut bytes = Vec::new();
    stream.take(MAX_ANSWER_BYTES).read_to_end(&mut bytes)?;
    parse_answer(&bytes).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no answer of the daemon's"))
}

fn parse_answer(bytes: &[u8]) -> Option<Answer> {
    let head_end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..head_end]).ok()?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, body: bytes[head_end + 4..].to_vec() })
}

/// Waits until something holds of the daemon, and looks ever more seldom.
pub(super) fn wait_until(at_most: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    let mut pause = Duration::from_millis(5);
    while !holds() {
        if start.elapsed() > at_most {
            return false;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(100));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_its_status_and_its_body() {
        let answer = parse_answer(b"HTTP/1.1 204 No Content\r\na: b\r\n\r\n").unwrap();
        assert_eq!((answer.status, answer.body.len()), (204, 0));
        let answer = parse_answer(b"HTTP/1.1 200 OK\r\n\r\nwords\r\n\r\nmore").unwrap();
        assert_eq!(answer.body, b"words\r\n\r\nmore");
        assert!(parse_answer(b"SSH-2.0").is_none());
    }
}
