//! `carryover conversations show`: one conversation, save by save.

use carryover_core::plain::strip_hidden;
use carryover_core::render::saved::append_messages;
use carryover_engine::context::Context;
use carryover_engine::conversations::sealing::{is_sealed_by_passphrase, open_sealed};
use carryover_engine::conversations::thread::{list_saves, name_speaker};
use carryover_engine::conversations::{Conversation, Listing, read_messages};
use clap::Args;
use serde::Serialize;

use super::{ConversationRow, choose_conversation, write_conversation};
use crate::error::{CommandError, ErrorKind};
use crate::key_args::UnsealArgs;
use crate::session_row::abbreviate_home;
use crate::ui::{COMMAND, DIM, Ui};
use crate::wrap::wrap_prose;

/// Show a conversation: its saves in order, and the document of the last one
#[derive(Args)]
pub(crate) struct ShowArgs {
    /// An id, or words of a title
    #[arg(value_name = "WORDS", required = true)]
    words: Vec<String>,
    /// Show what was said in one that is sealed; its passphrase is asked for where none is given
    #[arg(long)]
    unseal: bool,
    #[command(flatten)]
    key: UnsealArgs,
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
    let is_asked = args.unseal || args.key.is_given();
    if is_asked && chosen.saved.sealed && !chosen.has_sealed {
        return Err(missing_sealed(context, chosen));
    }
    let is_opened = chosen.has_sealed && is_asked;
    let document = if is_opened { Some(unseal_document(ui, context, args, chosen)?) } else { chosen.read_document() };
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
        if !save.has_messages && !save.has_sealed && save.damage.is_none() {
            writeln!(ui.out(), "  {DIM}its messages are not kept{DIM:#}")?;
        }
    }
    writeln!(ui.out(), "  {COMMAND}carryover resume {}{COMMAND:#}", chosen.id)?;
    if chosen.has_sealed && !is_opened {
        writeln!(ui.out(), "  {COMMAND}carryover conversations show {} --unseal{COMMAND:#}", chosen.id)?;
    }
    if let Some(document) = document {
        let columns = ui.prose_columns();
        writeln!(ui.out(), "\n{}", wrap_prose(strip_hidden(&document).trim_end(), columns))?;
    }
    Ok(())
}

fn missing_sealed(context: &Context, chosen: &Conversation) -> CommandError {
    let file = abbreviate_home(context, &chosen.sealed_file());
    let message = format!("{file} is not here, and nothing else holds what was said");
    CommandError::new(ErrorKind::NotFound, message)
        .with_hint(format!("if it was committed, `git log -- {file}` tells where git has it"))
}

/// What is sealed, as the document of one that is not would tell it.
fn unseal_document(ui: &Ui, context: &Context, args: &ShowArgs, chosen: &Conversation) -> Result<String, CommandError> {
    let key = args.key.choose_key(context, is_sealed_by_passphrase(chosen)?)?;
    let opened = ui.while_doing("decrypting…", || open_sealed(context, chosen, &key))?;
    let saved = &opened.conversation.saved;
    let name = name_speaker(context, &opened.conversation.session_ref());
    let (messages, _) = read_messages(&opened.conversation)?.unwrap_or_default();
    let title = carryover_core::plain::one_line(&saved.title, 200);
    Ok(append_messages(&format!("# {title}\n"), &messages, name))
}
