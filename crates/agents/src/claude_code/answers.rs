//! The user's answers to a call.

use std::collections::BTreeMap;

use carryover_core::transcript::{Action, Answer, Call};
use serde_json::Value;

use super::dialect;
use super::wire::{WireContent, WireRecord};

/// Stands before the words of a user who refuses a call, or a plan, and says what to do instead.
const REFUSAL_WORDS_MARK: &str = "the user said:\n";

/// The client's words for a user who wants to talk about the questions first.
const CLARIFY_START: &str = "The user wants to clarify these questions.";

/// The part of an outcome's record that holds the answers.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireAnswered {
    tool_use_result: WireAnswers,
}

#[derive(serde::Deserialize)]
struct WireAnswers {
    answers: BTreeMap<String, Value>,
    #[serde(default)]
    annotations: BTreeMap<String, WireAnnotation>,
}

#[derive(serde::Deserialize)]
struct WireAnnotation {
    #[serde(default)]
    notes: Option<String>,
}

/// The user's answers, in the order of the questions. An answer to no question is what the user said in
/// refusing the call.
pub(super) fn read_answers(call: &Call, outcome: &str) -> Vec<Answer> {
    let mut answers = match serde_json::from_str::<WireAnswered>(outcome) {
        Ok(answered) => chosen_answers(&answered.tool_use_result),
        Err(_) => refusal_words(call, outcome).map(|words| parse_refusal(&words)).unwrap_or_default(),
    };
    if let Action::Ask(questions) = dialect::interpret_call(call, None) {
        let place = |answer: &Answer| questions.iter().position(|question| question.text == answer.question);
        answers.sort_by_key(|answer| place(answer).unwrap_or(usize::MAX));
    }
    answers
}

fn chosen_answers(wire: &WireAnswers) -> Vec<Answer> {
    let noted = |question: &str| wire.annotations.get(question).and_then(|annotation| annotation.notes.as_deref());
    let answer = |(question, value): (&String, &Value)| {
        let texts = [Some(answer_text(value)), noted(question).map(str::to_owned)];
        let texts: Vec<String> = texts.into_iter().flatten().filter(|text| !text.is_empty()).collect();
        Answer { question: question.clone(), answer: texts.join("\n") }
    };
    wire.answers.iter().map(answer).filter(|answer| !answer.answer.is_empty()).collect()
}

fn answer_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(answer_text).collect::<Vec<_>>().join(", "),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The words with which the user refused the call, according to its outcome.
fn refusal_words(call: &Call, outcome: &str) -> Option<String> {
    let record: WireRecord<'_> = serde_json::from_str(outcome).ok()?;
    let WireContent::Blocks(blocks) = &record.message.as_ref()?.content else { return None };
    let block = blocks.iter().find(|block| block.tool_use_id.as_deref() == Some(&*call.id.0))?;
    let text = match block.content.as_ref()? {
        WireContent::Text(text) => &**text,
        WireContent::Blocks(blocks) => blocks.iter().find_map(|block| block.text.as_deref())?,
    };
    let is_refusal = block.is_error == Some(true) && text.starts_with("The user doesn't want to");
    let (_, words) = text.split_once(REFUSAL_WORDS_MARK).filter(|_| is_refusal)?;
    Some(words.trim().to_owned()).filter(|words| !words.is_empty())
}

fn parse_refusal(words: &str) -> Vec<Answer> {
    if !words.starts_with(CLARIFY_START) {
        return vec![Answer { question: String::new(), answer: words.to_owned() }];
    }
    let mut answers = Vec::new();
    let mut question = "";
    for line in words.lines().map(str::trim) {
        if let Some(asked) = line.strip_prefix("- \"").and_then(|rest| rest.strip_suffix('"')) {
            question = asked;
        } else if let Some(answer) = line.strip_prefix("Answer: ") {
            answers.push(Answer { question: question.to_owned(), answer: answer.to_owned() });
        }
    }
    answers
}

#[cfg(test)]
mod tests {
    use carryover_core::json::Json;
    use carryover_core::transcript::{CallForm, CallId};
    use serde_json::json;

    use super::*;

    fn call(tool: &str, input: &Value) -> Call {
        Call { id: CallId("c".into()), tool: tool.into(), input: Json::from_value(input), form: CallForm::Function }
    }

    fn ask() -> Call {
        let questions = ["Which shapes?", "Which colour?"].map(|text| json!({ "question": text, "options": [] }));
        call("AskUserQuestion", &json!({ "questions": questions }))
    }

    fn check(call: &Call, outcome: &Value, expected: &[(&str, &str)]) {
        let answers = read_answers(call, &outcome.to_string());
        let told: Vec<_> = answers.iter().map(|answer| (answer.question.as_str(), answer.answer.as_str())).collect();
        assert_eq!(told, expected);
    }

    fn refused(words: &str) -> Value {
        let text = format!("The user doesn't want to proceed with this tool use. To tell you how to proceed, {words}");
        let block = json!({ "type": "tool_result", "tool_use_id": "c", "is_error": true, "content": text });
        json!({ "type": "user", "message": { "role": "user", "content": [block] }, "toolUseResult": "Error: x" })
    }

    #[test]
    fn answers_come_from_the_record_in_the_order_of_the_questions() {
        let record = json!({ "toolUseResult": {
            "answers": { "Which colour?": "Blue", "Which shapes?": ["Circle", "Square"] },
            "annotations": { "Which colour?": { "notes": "a dark one" } },
        } });
        check(&ask(), &record, &[("Which shapes?", "Circle, Square"), ("Which colour?", "Blue\na dark one")]);
        check(&ask(), &json!({ "toolUseResult": "User rejected tool use" }), &[]);
    }

    #[test]
    fn what_the_user_said_in_refusing_is_an_answer_to_no_question() {
        let plan = call("ExitPlanMode", &json!({ "plan": "1. paint it red" }));
        check(&plan, &refused("the user said:\nmake it green"), &[("", "make it green")]);
        check(&plan, &refused("wait."), &[]);
    }

    #[test]
    fn who_wants_to_talk_first_has_answered_what_was_chosen() {
        let words = "the user said:\nThe user wants to clarify these questions.\n  Questions asked:\n\
                     - \"Which shapes?\"\n  (No answer provided)\n- \"Which colour?\"\n  Answer: Blue";
        check(&ask(), &refused(words), &[("Which colour?", "Blue")]);
    }
}
