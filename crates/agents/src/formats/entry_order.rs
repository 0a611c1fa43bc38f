//! Calls and their outcomes, brought together: most APIs take nothing between the two.

use std::collections::BTreeMap;

use carryover_core::transcript::{Body, CallId};

use crate::CarriedEntry;

/// The order in which entries are written: the outcomes of a message's calls follow that message at once, and what was
/// said between them comes after.
pub fn order_outcomes_first(entries: &[CarriedEntry]) -> Vec<usize> {
    let mut outcomes: BTreeMap<&CallId, usize> = BTreeMap::new();
    for (index, carried) in entries.iter().enumerate() {
        if let Body::Outcome(outcome) = &carried.entry.body {
            outcomes.entry(&outcome.call).or_insert(index);
        }
    }
    let mut moved = vec![false; entries.len()];
    let mut order = Vec::with_capacity(entries.len());
    let mut message = 0;
    for (index, carried) in entries.iter().enumerate() {
        if moved[index] {
            continue;
        }
        order.push(index);
        if !is_agent_part(carried) || entries.get(index + 1).is_some_and(is_agent_part) {
            continue;
        }
        let asked = entries[message..=index].iter().filter_map(call_id);
        let mut answered: Vec<usize> = asked.filter_map(|id| outcomes.remove(id)).filter(|at| *at > index).collect();
        answered.sort_unstable();
        message = index + 1;
        for at in answered {
            moved[at] = true;
            order.push(at);
        }
    }
    order
}

/// Part of a message of the agent's.
fn is_agent_part(carried: &CarriedEntry) -> bool {
    matches!(carried.entry.body, Body::Reply(_) | Body::Reasoning(_) | Body::Call(_))
}

fn call_id(carried: &CarriedEntry) -> Option<&CallId> {
    match &carried.entry.body {
        Body::Call(call) => Some(&call.id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use carryover_core::json::Json;
    use carryover_core::transcript::{Action, Call, CallForm, Entry, EntryKey, Origin, Outcome, Status};

    use super::*;

    /// `p` is a prompt, `r` a reply, a capital letter a call, the small one after `=` its outcome.
    fn entries(script: &str) -> Vec<CarriedEntry> {
        let body = |word: &str| match word {
            "p" => Body::Prompt(Vec::new()),
            "r" => Body::Reply(Vec::new()),
            _ if word.starts_with('=') => Body::Outcome(Box::new(Outcome {
                call: CallId(word[1..].into()),
                status: Status::Done,
                exit_code: None,
                parts: Vec::new(),
            })),
            _ => Body::Call(Box::new(Call {
                id: CallId(word.into()),
                tool: String::new(),
                input: Json::empty_object(),
                form: CallForm::Function,
            })),
        };
        let key = EntryKey { file: 0, offset: 0, part: 0, length: 0 };
        let entry = |word| Entry { key, at: None, origin: Origin::Agent, side: false, node: None, body: body(word) };
        let carried = |word| CarriedEntry {
            entry: entry(word),
            agent: "other",
            action: Action::Other,
            native: None,
            clipped: false,
        };
        script.split(' ').map(carried).collect()
    }

    fn check_order(script: &str, expected: &str) {
        let words: Vec<&str> = script.split(' ').collect();
        let order: Vec<&str> = order_outcomes_first(&entries(script)).into_iter().map(|index| words[index]).collect();
        assert_eq!(order.join(" "), expected);
    }

    #[test]
    fn nothing_stands_between_a_call_and_its_outcome() {
        check_order("p r A B =A =B r", "p r A B =A =B r");
        check_order("p A B =B =A r", "p A B =B =A r");
        check_order("p A p =A r", "p A =A p r");
        check_order("p A B =A p r =B r", "p A B =A =B p r r");
        check_order("A =A B p C =B =C", "A =A B =B p C =C");
        check_order("=X p A r =A", "=X p A r =A");
    }
}
