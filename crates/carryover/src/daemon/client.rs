//! Talking to the daemon: one request a connection, with a bound on how long that may take.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
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

/// Tells the daemon that a hook was called. Only where it said that it took it, it did.
pub(crate) fn send_event(
    context: &Context,
    agent: &str,
    event: &str,
    payload: &[u8],
    at_most: Duration,
) -> io::Result<()> {
    let is_plain = |word: &str| word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
    if !is_plain(agent) || !is_plain(event) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no name of an event"));
    }
    let path = format!("/hook/{agent}/{event}");
    let answer = send_request(context, "POST", &path, Some(&context.cwd), payload, at_most)?;
    if (200..300).contains(&answer.status) { Ok(()) } else { Err(io::Error::other("the daemon did not take it")) }
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

/// One request, in so much time in all. A connection can wait for its place without an end, so it is made in a thread that
/// nobody waits for.
fn send_request(
    context: &Context,
    method: &str,
    path: &str,
    folder: Option<&Path>,
    body: &[u8],
    at_most: Duration,
) -> io::Result<Answer> {
    let (sender, receiver) = mpsc::channel();
    let (context, method, path) = (context.clone(), method.to_owned(), path.to_owned());
    let (folder, body) = (folder.map(Path::to_owned), body.to_owned());
    std::thread::Builder::new().name("request".to_owned()).spawn(move || {
        let ask = || {
            let (mut stream, token) = connect(&context, at_most)?;
            let head = request_head(&method, &path, folder.as_deref(), token.as_deref(), body.len());
            exchange(&mut *stream, &head, &body)
        };
        // Whoever asked may have gone on.
        sender.send(ask()).ok();
    })?;
    receiver.recv_timeout(at_most).map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
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
    let folder = folder.map_or_else(String::new, |folder| format!("{FOLDER_HEADER}: {}\r\n", encode_folder(folder)));
    let token = token.map_or_else(String::new, |token| format!("authorization: Bearer {token}\r\n"));
    format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n{folder}{token}\r\n"
    )
}

/// A folder as a header can hold it: whatever is no plain letter stands as `%` and its two digits.
fn encode_folder(folder: &Path) -> String {
    let mut encoded = String::new();
    for byte in folder.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_graphic() && *byte != b'%' {
            encoded.push(char::from(*byte));
        } else {
            encoded.extend(['%', hex_digit(byte >> 4), hex_digit(byte & 0xf)]);
        }
    }
    encoded
}

fn hex_digit(value: u8) -> char {
    char::from_digit(u32::from(value), 16).unwrap_or('0')
}

/// The folder again; none where it is no name.
pub(super) fn decode_folder(encoded: &str) -> Option<PathBuf> {
    let mut bytes = Vec::new();
    let mut rest = encoded.as_bytes();
    while let [first, behind @ ..] = rest {
        let code = behind.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = &behind[2..];
        } else {
            bytes.push(*first);
            rest = behind;
        }
    }
    path_from_bytes(bytes)
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere not all bytes are a name")]
fn path_from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    Some(PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes)))
}

#[cfg(not(unix))]
fn path_from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    String::from_utf8(bytes).ok().map(PathBuf::from)
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

    #[test]
    fn every_folder_fits_into_a_header_and_comes_out_again() {
        for folder in ["/home/a b/Größe", "/100%25/\r\nhost: evil", "/plain"] {
            let encoded = encode_folder(Path::new(folder));
            assert!(encoded.bytes().all(|byte| byte.is_ascii_graphic()), "{encoded}");
            assert_eq!(decode_folder(&encoded).unwrap(), Path::new(folder));
        }
        assert_eq!(decode_folder("/50% off%2").unwrap(), Path::new("/50% off%2"));
    }
}
