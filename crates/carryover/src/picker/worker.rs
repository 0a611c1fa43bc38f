//! What takes time, in threads of its own: listing, previews, offers. Results come over the channel of the loop.
//!
//! A request takes the place of an earlier one of its kind that nobody has begun with. There are two readers, so that one
//! that is in the midst of a big session does not keep the next from being read.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use carryover_engine::context::Context;
use carryover_engine::sessions::catalog;
use carryover_engine::sessions::copies::Copies;
use carryover_engine::sessions::list::ListedSession;

use super::adapter::{self, RowMaker};
use super::lister::Lister;
use super::model::{Row, RowKey};
use super::update::Event;
use super::{FullText, Message};

const READERS: usize = 2;

/// The words for a reading that went wrong in a way that we did not think of.
const PANICKED: &str = "could not be read because of a bug of carryover";

/// The requests that nobody has begun with.
#[derive(Default)]
struct Requests {
    preview: Option<RowKey>,
    offers: Option<(RowKey, bool)>,
    search: Option<String>,
    is_over: bool,
    /// How many offers were asked for: estimates for earlier ones are of no use any more.
    n_offers: u64,
    n_previews: u64,
}

pub(super) struct Shared {
    pub(super) context: Arc<Context>,
    sender: Sender<Message>,
    full_text: Option<Box<dyn FullText>>,
    sessions: Mutex<BTreeMap<RowKey, ListedSession>>,
    requests: Mutex<Requests>,
    is_asked: Condvar,
}

pub(super) struct Worker {
    shared: Arc<Shared>,
}

impl Worker {
    pub(super) fn start(context: Arc<Context>, sender: Sender<Message>, full_text: Option<Box<dyn FullText>>) -> Self {
        let shared = Arc::new(Shared {
            context,
            sender,
            full_text,
            sessions: Mutex::default(),
            requests: Mutex::default(),
            is_asked: Condvar::new(),
        });
        for _ in 0..READERS {
            let shared = Arc::clone(&shared);
            spawn("reader", move || while read_next(&shared) {});
        }
        Self { shared }
    }

    /// The rows of the last listing, which are there at once.
    pub(super) fn remembered_rows(&self) -> Vec<Row> {
        let (sessions, rows) = load_remembered(&self.shared.context);
        self.shared.keep_sessions(sessions);
        rows
    }

    pub(super) fn start_listing(&self) {
        let shared = Arc::clone(&self.shared);
        spawn("listing", move || list_everything(&shared));
    }

    pub(super) fn read_preview(&self, session: RowKey) {
        self.shared.ask(|requests| {
            requests.preview = Some(session);
            requests.n_previews += 1;
        });
    }

    pub(super) fn make_offers(&self, session: RowKey, fork: bool) {
        self.shared.ask(|requests| {
            requests.offers = Some((session, fork));
            requests.n_offers += 1;
        });
    }

    pub(super) fn search_text(&self, words: String) {
        if self.shared.full_text.is_some() {
            self.shared.ask(|requests| requests.search = Some(words));
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.ask(|requests| requests.is_over = true);
    }
}

impl Shared {
    fn ask(&self, change: impl FnOnce(&mut Requests)) {
        change(&mut lock(&self.requests));
        self.is_asked.notify_all();
    }

    pub(super) fn tell(&self, event: Event) {
        // Nobody listens any more: the picker is closed, and so is this soon.
        self.sender.send(Message::Work(event)).ok();
    }

    pub(super) fn is_over(&self) -> bool {
        lock(&self.requests).is_over
    }

    fn find_session(&self, key: &RowKey) -> Option<ListedSession> {
        lock(&self.sessions).get(key).cloned()
    }

    /// Keeps sessions for who asks for them by their rows.
    pub(super) fn keep_sessions(&self, sessions: impl IntoIterator<Item = ListedSession>) {
        lock(&self.sessions).extend(sessions.into_iter().map(|session| (adapter::key_of(&session), session)));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread that cannot be started is one that says nothing: what it would have read stays "reading…".
fn spawn(name: &str, work: impl FnOnce() + Send + 'static) {
    drop(std::thread::Builder::new().name(name.to_owned()).spawn(work));
}

/// The sessions of the last listing, and their rows.
pub(super) fn load_remembered(context: &Context) -> (Vec<ListedSession>, Vec<Row>) {
    let sessions = catalog::load_listing(context).map(|listing| listing.sessions).unwrap_or_default();
    let copies = Copies::load(context);
    let maker = RowMaker::new(context, &copies);
    let rows = sessions.iter().map(|session| maker.make_row(session, None)).collect();
    (sessions, rows)
}

fn list_everything(shared: &Shared) {
    let listed = catch_unwind(AssertUnwindSafe(|| Lister::new(shared).list()));
    if listed.is_err() {
        let found = lock(&shared.sessions).keys().cloned().collect();
        shared.tell(Event::Listed { found, warnings: vec![format!("sessions {PANICKED}")] });
    }
}

/// What one reader takes.
enum Job {
    Preview(RowKey, u64),
    Offers(RowKey, bool, u64),
    Search(String),
}

/// Waits for a request and answers it; false when the picker is closed.
fn read_next(shared: &Shared) -> bool {
    let mut requests = lock(&shared.requests);
    let job = loop {
        if requests.is_over {
            return false;
        }
        if let Some((session, fork)) = requests.offers.take() {
            break Job::Offers(session, fork, requests.n_offers);
        }
        if let Some(words) = requests.search.take() {
            break Job::Search(words);
        }
        if let Some(session) = requests.preview.take() {
            break Job::Preview(session, requests.n_previews);
        }
        requests = shared.is_asked.wait(requests).unwrap_or_else(PoisonError::into_inner);
    };
    drop(requests);
    match job {
        Job::Preview(session, number) => read_preview(shared, &session, number),
        Job::Offers(session, fork, number) => make_offers(shared, &session, fork, number),
        Job::Search(words) => {
            let found = shared.full_text.as_ref().map(|text| text.find_sessions(&words)).unwrap_or_default();
            shared.tell(Event::FoundInText { words, sessions: found });
        }
    }
    true
}

/// Reads what a session is about, then what would be carried of it, which takes longer.
fn read_preview(shared: &Shared, key: &RowKey, number: u64) {
    let Some(session) = shared.find_session(key) else { return };
    let read = catch_unwind(AssertUnwindSafe(|| adapter::read_preview(&shared.context, &session)));
    let preview = read.unwrap_or_else(|_| Err(PANICKED.to_owned()));
    shared.tell(Event::Previewed(key.clone(), preview.clone()));
    let is_wanted = {
        let requests = lock(&shared.requests);
        requests.n_previews == number && !requests.is_over
    };
    let Ok(mut preview) = preview else { return };
    if is_wanted {
        let carried = catch_unwind(AssertUnwindSafe(|| adapter::carried_section(&shared.context, &session)));
        preview.sections.extend(carried.unwrap_or_default());
        shared.tell(Event::Previewed(key.clone(), Ok(preview)));
    }
}

/// Tells the offers at once, and what each target would get as it is found out.
fn make_offers(shared: &Shared, key: &RowKey, fork: bool, number: u64) {
    let Some(session) = shared.find_session(key) else {
        let answer = Err("this session is no longer there".to_owned());
        return shared.tell(Event::Offered { session: key.clone(), fork, answer });
    };
    let made = catch_unwind(AssertUnwindSafe(|| adapter::OfferMaker::new(&shared.context, &session, fork)));
    let Ok(maker) = made else {
        return shared.tell(Event::Offered { session: key.clone(), fork, answer: Err(PANICKED.to_owned()) });
    };
    shared.tell(Event::Offered { session: key.clone(), fork, answer: Ok(maker.offers()) });
    for target in maker.targets() {
        if lock(&shared.requests).n_offers != number || shared.is_over() {
            return;
        }
        let estimated = catch_unwind(AssertUnwindSafe(|| maker.estimate(&shared.context, &session, target)));
        if let Ok(Some(estimate)) = estimated {
            shared.tell(Event::Estimated { session: key.clone(), fork, target, estimate });
        }
    }
}
