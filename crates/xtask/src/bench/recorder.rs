//! The cost of the recording proxy: a request's time and a long answer's speed, against the same without it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use carryover::ProxyProbe;
use carryover_agents::{Env, Os};
use carryover_core::time::Timestamp;
use carryover_engine::context::Context;
use carryover_engine::own::config::Config;

use super::Result;
use super::figure::Figure;

const N_REQUESTS: usize = 3_000;
/// As much as an agent sends in the midst of a session.
const REQUEST_BYTES: usize = 100_000;
const SMALL_ANSWER: usize = 1_000;
const LONG_ANSWER: usize = 512 << 20;

/// A copy of a request, on a machine that does nothing else.
const MAX_ADDED_TIME: Duration = Duration::from_millis(1);

pub(super) fn measure_all() -> Result<Vec<Figure>> {
    let home = tempfile::tempdir()?;
    let service = start_service()?;
    let context = make_context(home.path());
    let proxy = ProxyProbe::start(&context, &format!("http://127.0.0.1:{service}"))?;
    let (direct, through) = (Asker::new(&format!("http://127.0.0.1:{service}"))?, Asker::new(&proxy.address())?);
    let figures = measure(direct, through)?;
    proxy.finish()?;
    Ok(figures)
}

fn measure(mut direct: Asker, mut through: Asker) -> Result<Vec<Figure>> {
    let (mut direct_times, mut through_times) = (Vec::new(), Vec::new());
    for _ in 0..N_REQUESTS {
        direct_times.push(direct.ask(SMALL_ANSWER)?);
        through_times.push(through.ask(SMALL_ANSWER)?);
    }
    direct_times.sort();
    through_times.sort();
    let added = |part: usize| {
        let index = N_REQUESTS * part / 100;
        through_times[index].saturating_sub(direct_times[index])
    };
    let mut best = (Duration::MAX, Duration::MAX);
    for _ in 0..3 {
        best = (best.0.min(through.ask(LONG_ANSWER)?), best.1.min(direct.ask(LONG_ANSWER)?));
    }
    Ok(vec![
        Figure::from_time("record: time added to a request, p50", added(50), MAX_ADDED_TIME),
        Figure::from_time("record: time added to a request, p99", added(99), 5 * MAX_ADDED_TIME),
        Figure::from_ratio("record: an answer of 512 MB", best.0, best.1, 4.0, "the same without the proxy"),
    ])
}

fn make_context(home: &std::path::Path) -> Context {
    let env = Env {
        home: home.to_owned(),
        vars: std::collections::BTreeMap::new(),
        os: Os::Linux,
        now: Timestamp::from_millis(0),
        zone: jiff::tz::TimeZone::UTC,
        stores: std::collections::BTreeMap::new(),
        projects: Vec::new(),
    };
    Context::with_config(env, Config::default(), home.join("ours"), home.to_owned(), 1)
}

/// A service that answers each request with as many bytes as its path says. Its port.
fn start_service() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A connection ends with the one that asks.
            thread::spawn(move || serve(stream).ok());
        }
    });
    Ok(port)
}

fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let chunk = vec![b'x'; 64 << 10];
    loop {
        let (head, length) = read_head(&mut reader)?;
        reader.read_exact(&mut vec![0; length])?;
        let path = head.split(' ').nth(1).unwrap_or_default();
        let mut left: usize = path.rsplit('/').next().and_then(|size| size.parse().ok()).unwrap_or(0);
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {left}\r\n\r\n")?;
        while left > 0 {
            let part = left.min(chunk.len());
            stream.write_all(&chunk[..part])?;
            left -= part;
        }
    }
}

/// The first line of a head, and the length of its body.
fn read_head(reader: &mut impl BufRead) -> std::io::Result<(String, usize)> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            return Ok((first, length));
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
}

/// Asks by one connection, as clients do.
struct Asker {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
    host: String,
    path: String,
    body: Vec<u8>,
    buffer: Vec<u8>,
}

impl Asker {
    fn new(address: &str) -> Result<Self> {
        let place = address.trim_start_matches("http://");
        let (host, path) = place.split_once('/').map_or((place, ""), |(host, path)| (host, path));
        let stream = TcpStream::connect(host)?;
        stream.set_nodelay(true)?;
        let reader = BufReader::new(stream.try_clone()?);
        let path = if path.is_empty() { String::new() } else { format!("/{path}") };
        let (body, buffer) = (vec![b'y'; REQUEST_BYTES], vec![0; 1 << 20]);
        Ok(Self { stream, reader, host: host.to_owned(), path, body, buffer })
    }

    /// Asks for so many bytes, and tells how long that took.
    fn ask(&mut self, size: usize) -> Result<Duration> {
        let start = Instant::now();
        let Self { host, path, body, .. } = self;
        let head = format!("POST {path}/v1/{size} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {}\r\n\r\n", body.len());
        self.stream.write_all(head.as_bytes())?;
        self.stream.write_all(&self.body)?;
        let (first, length) = read_head(&mut self.reader)?;
        if length != size {
            return Err(format!("answered {first}").into());
        }
        let mut left = length;
        while left > 0 {
            let part = left.min(self.buffer.len());
            self.reader.read_exact(&mut self.buffer[..part])?;
            left -= part;
        }
        Ok(start.elapsed())
    }
}
