//! Who or what takes words that are handed over.

use carryover_agents::Target;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Where a handoff goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Destination {
    Target(Target),
    Clipboard,
    File,
}

/// Accepts ids and aliases of agents and editors, `clipboard` and `file`.
pub(crate) fn destination_parser() -> impl TypedValueParser<Value = Destination> {
    let places = [PossibleValue::new("clipboard"), PossibleValue::new("file")];
    PossibleValuesParser::new(target_values().chain(places)).try_map(|name| match name.as_str() {
        "clipboard" => Ok(Destination::Clipboard),
        "file" => Ok(Destination::File),
        name => Target::by_name(name).map(Destination::Target).ok_or("nobody of that name"),
    })
}

/// Accepts ids and aliases of agents and editors.
pub(crate) fn target_parser() -> impl TypedValueParser<Value = Target> {
    PossibleValuesParser::new(target_values()).try_map(|name| Target::by_name(&name).ok_or("nobody of that name"))
}

fn target_values() -> impl Iterator<Item = PossibleValue> {
    Target::all().map(|taker| PossibleValue::new(taker.id).aliases(taker.aliases.iter().copied()).help(taker.name))
}
