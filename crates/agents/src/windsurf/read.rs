//! Reading a transcript.

use carryover_core::transcript::{Closing, Entry, EntryKey, Fact, Header};

use super::discover::session_id;
use super::project::ProjectFinder;
use super::{Windsurf, record};
use crate::formats::jsonl::{self, Line};
use crate::{AgentError, Bookmark, Reader, Sink, Source};

impl Reader for Windsurf {
    fn read_session(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        let path = source.path.as_path();
        // The editor writes the whole of it after every answer: a step that was not over then is another one now.
        let start = jsonl::find_resume_point(path, from, jsonl::digest_all, sink)?;
        let begun = sink.learn(Fact::Closing(Closing::Drop));
        let about = [Fact::Session(session_id(path)), Fact::File(path.to_path_buf())];
        if *from == Bookmark::Start && (begun.is_break() || about.into_iter().any(|fact| sink.learn(fact).is_break())) {
            return Ok(*from);
        }
        let mut projects = ProjectFinder::default();
        let end = jsonl::scan_records(path, start, record::parse_record, |mut parsed| {
            projects.add_project(&mut parsed);
            parsed.send_to_sink(sink)
        })?;
        Ok(jsonl::make_bookmark(path, end, jsonl::digest_all)?)
    }

    fn reload_entries(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        let text = self.read_record(header, key)?;
        let line = Line::from_bytes(key.offset, text.as_bytes());
        Ok(record::parse_record(line).map(|parsed| parsed.entries).unwrap_or_default())
    }
}
