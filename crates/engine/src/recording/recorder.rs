//! Writes a recording while it is made, on a thread of its own: nobody who passes bytes on waits for the disk.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use carryover_core::time::Timestamp;

use super::body::{self, Bases, BodyRecord, BodyWriter};
use super::clean::{strip_header, strip_path};
use super::exchange::{Ending, Exchange, RequestHead, ResponseHead};
use super::manifest::Manifest;
use crate::context::Context;
use crate::own::private;

/// The file of lines.
pub(super) const EXCHANGES: &str = "exchanges.jsonl";

/// So many bytes may wait for the disk; what comes then is passed on and not kept.
const MAX_BACKLOG_BYTES: usize = 64 << 20;

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A recording that is being made.
pub struct Recorder {
    manifest: Manifest,
    folder: PathBuf,
    shared: Arc<Shared>,
    writer: Option<JoinHandle<RecorderSummary>>,
}

struct Shared {
    events: Mutex<Option<Sender<Event>>>,
    backlog: AtomicUsize,
    next_number: AtomicU64,
    clock: Clock,
}

/// A count of what was kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecorderSummary {
    pub exchanges: u64,
    /// Exchanges of which bytes are missing.
    pub with_gaps: u64,
    /// Exchanges whose service could not be reached or did not answer, and the first reason.
    pub failed: u64,
    pub failure: Option<String>,
    /// The first thing that went wrong with the disk.
    pub trouble: Option<String>,
}

enum Event {
    Begin { number: u64, service: usize, at: Timestamp, head: RequestHead },
    RequestBytes { number: u64, chunk: Vec<u8> },
    Response { number: u64, head: ResponseHead },
    ResponseBytes { number: u64, chunk: Vec<u8> },
    Gap { number: u64 },
    End { number: u64, at: Timestamp, ending: Ending, reason: Option<String> },
}

impl Recorder {
    /// Begins a recording: `describe` fills in what is known of it.
    pub fn start(
        context: &Context,
        agent: &str,
        clock: Clock,
        describe: impl FnOnce(&mut Manifest),
    ) -> io::Result<Self> {
        let (id, folder) = create_folder(context)?;
        let mut manifest = Manifest::new(id, agent, context.env.now);
        describe(&mut manifest);
        manifest.save(&folder)?;
        private::create_folder(&folder.join(body::FOLDER))?;
        let lines = private::open_file(&folder.join(EXCHANGES))?;
        let (sender, receiver) = mpsc::channel();
        let shared = Arc::new(Shared {
            events: Mutex::new(Some(sender)),
            backlog: AtomicUsize::new(0),
            next_number: AtomicU64::new(1),
            clock,
        });
        let writer = Writer::new(&folder, lines, Arc::clone(&shared));
        let writer = thread::Builder::new().name("recorder".to_owned()).spawn(move || writer.run(&receiver))?;
        Ok(Self { manifest, folder, shared, writer: Some(writer) })
    }

    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The recording's own folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A handle by which exchanges are begun, from any thread.
    pub fn handle(&self) -> RecorderHandle {
        RecorderHandle(Arc::clone(&self.shared))
    }

    /// Ends the recording: all that was heard is on disk when this returns. Exchanges that still run are left out.
    pub fn finish(mut self, exit_code: Option<i32>) -> io::Result<(Manifest, RecorderSummary)> {
        let summary = self.stop();
        self.manifest.ended_at = Some((self.shared.clock)());
        self.manifest.exit_code = exit_code;
        self.manifest.save(&self.folder)?;
        Ok((self.manifest.clone(), summary))
    }

    fn stop(&mut self) -> RecorderSummary {
        self.shared.events.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.writer.take().and_then(|writer| writer.join().ok()).unwrap_or_default()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A name for a recording that begins now, and its folder.
fn create_folder(context: &Context) -> io::Result<(String, PathBuf)> {
    let parent = super::folder(context);
    private::create_folder(&parent)?;
    let at: String = context.env.now.to_string().chars().filter(char::is_ascii_digit).take(14).collect();
    let mut chance = context.seed;
    loop {
        let id = format!("{at}-{:08x}", chance & 0xffff_ffff);
        let folder = parent.join(&id);
        match crate::own::files::create_folder(&folder, true) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => chance = chance.wrapping_add(1),
            made => return made.map(|()| (id, folder)),
        }
    }
}

/// Begins exchanges.
#[derive(Clone)]
pub struct RecorderHandle(Arc<Shared>);

impl RecorderHandle {
    /// A request that begins. What its service is called is its place in the recording's list.
    pub fn begin(&self, service: usize, head: RequestHead) -> ExchangeTap {
        let number = self.0.next_number.fetch_add(1, Ordering::Relaxed);
        self.0.send(Event::Begin { number, service, at: (self.0.clock)(), head });
        ExchangeTap { number, shared: Arc::clone(&self.0), ending: Mutex::new((Ending::ClientHungUp, None)) }
    }
}

impl Shared {
    fn send(&self, event: Event) {
        if let Some(events) = &*self.events.lock().unwrap_or_else(PoisonError::into_inner) {
            // A writer that is gone has told why.
            events.send(event).ok();
        }
    }

    /// Sends bytes where there is room for them; else that some are missing.
    fn send_bytes(&self, number: u64, chunk: &[u8], to_event: impl FnOnce(Vec<u8>) -> Event) {
        let waiting = self.backlog.fetch_add(chunk.len(), Ordering::Relaxed);
        if waiting + chunk.len() > MAX_BACKLOG_BYTES {
            self.backlog.fetch_sub(chunk.len(), Ordering::Relaxed);
            return self.send(Event::Gap { number });
        }
        self.send(to_event(chunk.to_vec()));
    }
}

/// Hears one exchange, and ends it when dropped. Nothing here waits or fails.
pub struct ExchangeTap {
    number: u64,
    shared: Arc<Shared>,
    ending: Mutex<(Ending, Option<String>)>,
}

impl ExchangeTap {
    pub fn hear_request(&self, chunk: &[u8]) {
        let number = self.number;
        self.shared.send_bytes(number, chunk, |chunk| Event::RequestBytes { number, chunk });
    }

    pub fn hear_response_head(&self, head: ResponseHead) {
        self.shared.send(Event::Response { number: self.number, head });
    }

    pub fn hear_response(&self, chunk: &[u8]) {
        let number = self.number;
        self.shared.send_bytes(number, chunk, |chunk| Event::ResponseBytes { number, chunk });
    }

    /// How it will have ended; until something is said, the client has hung up.
    pub fn set_ending(&self, ending: Ending) {
        *self.ending.lock().unwrap_or_else(PoisonError::into_inner) = (ending, None);
    }

    /// That there was no answer, and why.
    pub fn set_failure(&self, ending: Ending, reason: String) {
        *self.ending.lock().unwrap_or_else(PoisonError::into_inner) = (ending, Some(reason));
    }
}

impl Drop for ExchangeTap {
    fn drop(&mut self) {
        let (ending, reason) = self.ending.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.shared.send(Event::End { number: self.number, at: (self.shared.clock)(), ending, reason });
    }
}

/// An exchange that has not ended.
struct OpenExchange {
    service: usize,
    started_at: Timestamp,
    request: RequestHead,
    request_body: Option<BodyWriter>,
    response: Option<ResponseHead>,
    response_body: Option<BodyWriter>,
    has_gaps: bool,
}

/// The thread that writes.
struct Writer {
    folder: PathBuf,
    lines: File,
    shared: Arc<Shared>,
    open: HashMap<u64, OpenExchange>,
    bases: BTreeMap<usize, Bases>,
    summary: RecorderSummary,
}

impl Writer {
    fn new(folder: &Path, lines: File, shared: Arc<Shared>) -> Self {
        let (open, bases, summary) = (HashMap::new(), BTreeMap::new(), RecorderSummary::default());
        Self { folder: folder.to_owned(), lines, shared, open, bases, summary }
    }

    fn run(mut self, events: &Receiver<Event>) -> RecorderSummary {
        for event in events {
            self.take(event);
        }
        self.summary
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Begin { number, service, at, head } => self.begin(number, service, at, head),
            Event::RequestBytes { number, chunk } => {
                self.shared.backlog.fetch_sub(chunk.len(), Ordering::Relaxed);
                self.write_body(number, |exchange| exchange.request_body.as_mut(), &chunk);
            }
            Event::Response { number, head } => self.begin_response(number, head),
            Event::ResponseBytes { number, chunk } => {
                self.shared.backlog.fetch_sub(chunk.len(), Ordering::Relaxed);
                self.write_body(number, |exchange| exchange.response_body.as_mut(), &chunk);
            }
            Event::Gap { number } => self.note_gap(number),
            Event::End { number, at, ending, reason } => self.end(number, at, ending, reason),
        }
    }

    fn begin(&mut self, number: u64, service: usize, started_at: Timestamp, head: RequestHead) {
        let headers = head.headers.into_iter().map(strip_header).collect();
        let request = RequestHead { path: strip_path(&head.path), headers, ..head };
        let request_body = Some(BodyWriter::chained(&self.folder, number));
        let (response, response_body, has_gaps) = (None, None, false);
        let open = OpenExchange { service, started_at, request, request_body, response, response_body, has_gaps };
        self.open.insert(number, open);
    }

    fn begin_response(&mut self, number: u64, head: ResponseHead) {
        let Some(exchange) = self.open.get_mut(&number) else { return };
        let headers = head.headers.into_iter().map(strip_header).collect();
        exchange.response = Some(ResponseHead { headers, ..head });
        match BodyWriter::streamed(&self.folder, number) {
            Ok(body) => exchange.response_body = Some(body),
            Err(error) => self.note_trouble(number, &error),
        }
    }

    fn write_body(
        &mut self,
        number: u64,
        choose: impl FnOnce(&mut OpenExchange) -> Option<&mut BodyWriter>,
        chunk: &[u8],
    ) {
        let body = self.open.get_mut(&number).and_then(choose);
        if let Some(Err(error)) = body.map(|body| body.write(chunk)) {
            self.note_trouble(number, &error);
        }
    }

    fn note_gap(&mut self, number: u64) {
        if let Some(exchange) = self.open.get_mut(&number) {
            exchange.has_gaps = true;
        }
    }

    fn note_trouble(&mut self, number: u64, error: &io::Error) {
        self.note_gap(number);
        self.summary.trouble.get_or_insert_with(|| error.to_string());
    }

    fn end(&mut self, number: u64, ended_at: Timestamp, ending: Ending, reason: Option<String>) {
        let Some(mut open) = self.open.remove(&number) else { return };
        let request_body = self.finish_body(open.request_body.take(), open.service, &mut open.has_gaps);
        let response_body = self.finish_body(open.response_body.take(), open.service, &mut open.has_gaps);
        let OpenExchange { service, started_at, request, response, has_gaps, .. } = open;
        let exchange = Exchange {
            number,
            service,
            started_at,
            ended_at,
            request,
            request_body,
            response,
            response_body,
            ending,
            reason,
            has_gaps,
        };
        self.summary.exchanges += 1;
        self.summary.with_gaps += u64::from(has_gaps);
        if let Some(reason) = &exchange.reason {
            self.summary.failed += 1;
            self.summary.failure.get_or_insert_with(|| reason.clone());
        }
        if let Err(error) = self.append_line(&exchange) {
            self.summary.exchanges -= 1;
            self.summary.trouble.get_or_insert_with(|| error.to_string());
        }
    }

    fn finish_body(&mut self, body: Option<BodyWriter>, service: usize, has_gaps: &mut bool) -> Option<BodyRecord> {
        let bases = self.bases.entry(service).or_default();
        body?.finish(bases).unwrap_or_else(|error| {
            *has_gaps = true;
            self.summary.trouble.get_or_insert_with(|| error.to_string());
            None
        })
    }

    /// Adds a whole line, or none: what a full disk has taken of it is cut off again.
    fn append_line(&mut self, exchange: &Exchange) -> io::Result<()> {
        let end = self.lines.seek(SeekFrom::End(0))?;
        let mut line = serde_json::to_vec(exchange)?;
        line.push(b'\n');
        let written = self.lines.write_all(&line).and_then(|()| self.lines.sync_data());
        if written.is_err() {
            self.lines.set_len(end)?;
        }
        written
    }
}
