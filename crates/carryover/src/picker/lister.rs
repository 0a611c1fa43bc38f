//! Finds all sessions, and reads of each what a row tells beyond that: rows come as they are found.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use carryover_engine::sessions::catalog;
use carryover_engine::sessions::copies::Copies;
use carryover_engine::sessions::glance::{Glance, GlanceCache, read_glance};
use carryover_engine::sessions::list::{self, Filter, ListedSession, Listing};

use super::adapter::{self, RowMaker};
use super::model::Row;
use super::update::Event;
use super::worker::Shared;

/// How long rows are gathered before they are shown.
const GATHER: Duration = Duration::from_millis(60);

/// How often what was read is written down: a client that is started ends us at once.
const SAVE_INTERVAL: Duration = Duration::from_secs(3);

/// Sessions from this size on wait until the others were read.
const READ_LATER_FROM_BYTES: u64 = 8 << 20;

pub(super) struct Lister<'a> {
    shared: &'a Shared,
    copies: Copies,
}

impl<'a> Lister<'a> {
    pub(super) fn new(shared: &'a Shared) -> Self {
        Self { shared, copies: Copies::load(&shared.context) }
    }

    pub(super) fn list(&self) {
        let context = &self.shared.context;
        let mut listing = self.find_sessions();
        if self.shared.is_over() {
            return;
        }
        let mut cache = GlanceCache::load(context);
        let glances: Vec<Option<Glance>> =
            listing.sessions.iter().map(|session| cache.find(&session.found.source)).collect();
        for (session, glance) in listing.sessions.iter_mut().zip(&glances) {
            count_messages(session, glance.as_ref(), &cache);
        }
        self.tell_all(&listing, &glances);
        // Losing it costs time only.
        catalog::save_listing(context, &listing).ok();
        let unread = glances.iter().enumerate().filter(|(_, glance)| glance.is_none()).map(|(index, _)| index);
        if self.read_glances(&mut listing, unread.collect(), &mut cache) {
            catalog::save_listing(context, &listing).ok();
        }
    }

    /// Looks into all stores.
    fn find_sessions(&self) -> Listing {
        let maker = RowMaker::new(&self.shared.context, &self.copies);
        let (mut sessions, mut since) = (Vec::new(), Instant::now());
        let listing = list::list_sessions_with(&self.shared.context, &Filter::default(), &mut |session| {
            sessions.push(session.clone());
            if since.elapsed() < GATHER {
                return ControlFlow::Continue(());
            }
            since = Instant::now();
            let rows = sessions.iter().map(|session| maker.make_row(session, None)).collect();
            self.shared.keep_sessions(std::mem::take(&mut sessions));
            self.shared.tell(Event::Rows(rows));
            if self.shared.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.shared.keep_sessions(listing.sessions.iter().cloned());
        listing
    }

    fn tell_all(&self, listing: &Listing, glances: &[Option<Glance>]) {
        let maker = RowMaker::new(&self.shared.context, &self.copies);
        let known = listing.sessions.iter().zip(glances);
        let rows: Vec<Row> = known.map(|(session, glance)| maker.make_row(session, glance.as_ref()).fold()).collect();
        let found = rows.iter().map(|row| row.key.clone()).collect();
        let warnings = adapter::listing_warnings(&self.shared.context, listing);
        self.shared.tell(Event::Rows(rows));
        self.shared.tell(Event::Listed { found, warnings });
    }

    /// Reads the sessions that nothing is remembered of, newest first and big ones last; false where nobody waits for it
    /// any more.
    fn read_glances(&self, listing: &mut Listing, mut unread: Vec<usize>, cache: &mut GlanceCache) -> bool {
        let maker = RowMaker::new(&self.shared.context, &self.copies);
        let (mut rows, mut since, mut saved) = (Vec::new(), Instant::now(), Instant::now());
        unread.sort_by_key(|index| listing.sessions[*index].found.bytes >= READ_LATER_FROM_BYTES);
        for index in unread {
            let session = &mut listing.sessions[index];
            // One that cannot be read has no figures; its preview tells why.
            if let Ok(Some(read)) = read_glance(session, &|| self.shared.is_over()) {
                cache.remember(&session.found.source, &read);
                session.found.messages = session.found.messages.or(Some(read.glance.messages));
                rows.push(maker.make_row(session, Some(&read.glance)).fold());
            }
            if since.elapsed() >= GATHER {
                since = Instant::now();
                self.shared.tell(Event::Rows(std::mem::take(&mut rows)));
            }
            if self.shared.is_over() {
                break;
            }
            if saved.elapsed() >= SAVE_INTERVAL {
                saved = Instant::now();
                cache.save(&self.shared.context).ok();
            }
        }
        self.shared.tell(Event::Rows(rows));
        cache.save(&self.shared.context).ok();
        !self.shared.is_over()
    }
}

fn count_messages(session: &mut ListedSession, glance: Option<&Glance>, cache: &GlanceCache) {
    let found = &mut session.found;
    let counted = || glance.map(|glance| glance.messages).or_else(|| cache.find_messages(&found.source));
    if found.messages.is_none() {
        found.messages = counted();
    }
}
