//! Sessions whose records are messages: what the agent says and calls is gathered until its message ends.

use carryover_core::transcript::{Body, Call, text_of};
use serde_json::Value;

use super::entry_order;
use super::losses::count_loss;
use super::native_records::NativeRecords;
use super::session_lines::LineChain;
use crate::{CarriedEntry, Loss, WriteRequest};

/// A session in the making.
pub(crate) struct SessionDraft<'a> {
    pub request: &'a WriteRequest<'a>,
    pub chain: LineChain,
    /// The message that the agent is in the midst of.
    pub open: OpenMessage,
    pub losses: Vec<Loss>,
}

/// A message of the agent's in the making.
#[derive(Default)]
pub(crate) struct OpenMessage {
    pub agent: &'static str,
    pub blocks: Vec<Value>,
    pub entries: Vec<usize>,
    /// Whether it calls tools.
    pub has_calls: bool,
}

impl<'a> SessionDraft<'a> {
    pub(crate) fn new(request: &'a WriteRequest<'a>, chain: LineChain) -> Self {
        Self { request, chain, open: OpenMessage::default(), losses: Vec::new() }
    }

    fn is_empty(&self) -> bool {
        self.chain.lines.is_empty() && self.open.blocks.is_empty()
    }

    /// Adds a block to the agent's message.
    fn add_block(&mut self, carried: &CarriedEntry, block: Value, index: usize) {
        self.open.agent = carried.agent;
        self.open.blocks.push(block);
        self.open.entries.push(index);
    }
}

/// Records as one client has them.
pub(crate) trait MessageWriter<'a> {
    /// Why what another model thought is not written.
    const REASONING_LOSS_REASON: &'static str;

    fn draft(&mut self) -> &mut SessionDraft<'a>;
    fn make_text_block(&self, text: &str) -> Value;
    fn make_call_block(&mut self, call: &Call, carried: &CarriedEntry) -> Value;
    /// Writes the agent's message, which has ended.
    fn write_message(&mut self, message: OpenMessage);
    /// Writes anything that the agent did not say.
    fn write_input(&mut self, carried: &CarriedEntry, index: usize);
    /// From here on, the client's context begins.
    fn write_compaction(&mut self, summary: &str, entries: Vec<usize>);
    /// Whether a record of the client's own begins its context anew.
    fn is_compaction(&self, record: &Value) -> bool;
    /// Writes a record of the client's own: everything stays but what ties it to its old file.
    fn write_native(&mut self, record: Value, index: usize);

    /// Writes all that is carried.
    fn write_session(&mut self) {
        let request = self.draft().request;
        let mut order = entry_order::order_outcomes_first(request.entries);
        if let Some(brief) = request.brief {
            self.write_brief(brief, &mut order);
        }
        let mut own = NativeRecords::new(request.entries);
        for index in order {
            let carried = &request.entries[index];
            if let Some(line) = own.find_line(carried) {
                self.draft().chain.lines[line].entries.push(index);
            } else if let Some(record) = own.find_record(carried).and_then(|raw| self.parse_record(raw)) {
                self.end_message();
                own.note_line(carried, self.draft().chain.lines.len());
                self.write_native(record, index);
            } else {
                self.write_entry(carried, index);
            }
        }
        self.end_message();
    }

    /// The older part, and the summary that stood at its beginning.
    fn write_brief(&mut self, brief: &str, order: &mut Vec<usize>) {
        let entries = self.draft().request.entries;
        let first = order.first().map(|index| &entries[*index].entry.body);
        let Some(Body::Summary(before)) = first else { return self.write_compaction(brief, Vec::new()) };
        let index = order.remove(0);
        self.write_compaction(&format!("{}\n\n{brief}", text_of(before)), vec![index]);
    }

    /// The record to write back. A compaction begins the context anew: with anything before it, it must be told again,
    /// not repeated.
    fn parse_record(&mut self, raw: &str) -> Option<Value> {
        let record: Value = serde_json::from_str(raw).ok()?;
        (self.draft().is_empty() || !self.is_compaction(&record)).then_some(record)
    }

    fn write_entry(&mut self, carried: &CarriedEntry, index: usize) {
        match &carried.entry.body {
            Body::Reply(parts) => {
                let open = &self.draft().open;
                if !open.has_calls && !open.blocks.is_empty() {
                    self.end_message();
                }
                self.draft().chain.advance_time(carried.entry.at);
                let block = self.make_text_block(&text_of(parts));
                self.draft().add_block(carried, block, index);
            }
            Body::Call(call) => {
                self.draft().chain.advance_time(carried.entry.at);
                let block = self.make_call_block(call, carried);
                self.draft().add_block(carried, block, index);
                self.draft().open.has_calls = true;
            }
            Body::Reasoning(_) => count_loss(&mut self.draft().losses, "reasoning", Self::REASONING_LOSS_REASON),
            _ => {
                self.end_message();
                self.draft().chain.advance_time(carried.entry.at);
                self.write_input(carried, index);
            }
        }
    }

    /// Ends the agent's message, if there is any.
    fn end_message(&mut self) {
        let message = std::mem::take(&mut self.draft().open);
        if !message.blocks.is_empty() {
            self.write_message(message);
        }
    }
}
