//! Who or what takes words that are handed over.

use carryover_agents::Taker;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Where a handoff goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Destination {
    Taker(Taker),
    Clipboard,
    File,
}

/// Accepts ids and aliases of agents and editors, `clipboard` and `file`.
pub(crate) fn destination_parser() -> impl TypedValueParser<Value = Destination> {
    let places = [PossibleValue::new("clipboard"), PossibleValue::new("file")];
    PossibleValuesParser::new(takers().chain(places)).try_map(|name| match name.as_str() {
        "clipboard" => Ok(Destination::Clipboard),
        "file" => Ok(Destination::File),
        name => Taker::by_name(name).map(Destination::Taker).ok_or("nobody of that name"),
    })
}

/// Accepts ids and aliases of agents and editors.
pub(crate) fn taker_parser() -> impl TypedValueParser<Value = Taker> {
    PossibleValuesParser::new(takers()).try_map(|name| Taker::by_name(&name).ok_or("nobody of that name"))
}

fn takers() -> impl Iterator<Item = PossibleValue> {
    Taker::all().map(|taker| PossibleValue::new(taker.id).aliases(taker.aliases.iter().copied()).help(taker.name))
}
