//! `carryover conversations show`: one conversation, save by save.

use carryover_core::plain::strip_hidden;
use carryover_engine::context::Context;
use carryover_engine::conversations::Listing;
use carryover_engine::conversations::thread::list_saves;
use clap::Args;
use serde::Serialize;

use super::{ConversationRow, choose_conversation, write_conversation};
use crate::error::CommandError;
use crate::session_row::abbreviate_home;
use crate::ui::{COMMAND, DIM, Ui};

/// Show a conversation: its saves in order, and the document of the last one
#[derive(Args)]
pub(crate) struct ShowArgs {
    /// An id, or words of a title
    #[arg(value_name = "WORDS", required = true)]
    words: Vec<String>,
}

#[derive(Serialize)]
struct ShownConversation<'a> {
    schema: &'static str,
    conversation_id: &'a str,
    saves: Vec<ConversationRow<'a>>,
    document: Option<String>,
    warnings: &'a [String],
}

pub(super) fn show_conversation(
    ui: &mut Ui,
    context: &Context,
    listing: &Listing,
    args: &ShowArgs,
) -> Result<(), CommandError> {
    let all = &listing.conversations;
    let chosen = choose_conversation(all, &args.words.join(" "))?;
    let saves = list_saves(all, chosen);
    let document = chosen.read_document();
    if ui.is_json() {
        return Ok(ui.write_json(&ShownConversation {
            schema: "carryover.conversation-show/1",
            conversation_id: &chosen.id,
            saves: saves.iter().map(|save| ConversationRow::new(save, all)).collect(),
            document,
            warnings: &listing.warnings,
        })?);
    }
    for save in &saves {
        write_conversation(ui, context, save, 1)?;
        writeln!(ui.out(), "  {DIM}{}{DIM:#}", abbreviate_home(context, &save.folder))?;
        if !save.has_messages {
            writeln!(ui.out(), "  {DIM}its messages are not kept{DIM:#}")?;
        }
    }
    writeln!(ui.out(), "  {COMMAND}carryover resume {}{COMMAND:#}", chosen.id)?;
    if let Some(document) = document {
        writeln!(ui.out(), "\n{}", strip_hidden(&document).trim_end())?;
    }
    Ok(())
}
