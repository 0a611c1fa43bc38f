//! Questions that extensions put to the user, and what was answered.
//!
//! The client has no tool for it. Those of its own examples and of a common extension are known by their names and by
//! what they are given.

use carryover_core::transcript::{Action, Answer, Call, Question};
use serde::Deserialize;

/// The input of such a tool: one question, or several.
#[derive(Deserialize, Default)]
#[serde(default)]
struct WireAsked {
    question: Option<String>,
    options: Vec<WireOption>,
    questions: Vec<WireQuestion>,
}

#[derive(Deserialize)]
struct WireQuestion {
    #[serde(default)]
    id: Option<String>,
    #[serde(alias = "prompt")]
    question: String,
    #[serde(default)]
    options: Vec<WireOption>,
}

/// A choice, by its words alone or with more about it.
#[derive(Deserialize)]
#[serde(untagged)]
enum WireOption {
    Words(String),
    Described {
        #[serde(alias = "title")]
        label: String,
    },
}

/// The part of an outcome's record that tells the answers.
#[derive(Deserialize)]
struct WireResult {
    message: WireMessage,
}

#[derive(Deserialize)]
struct WireMessage {
    details: WireDetails,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WireDetails {
    answer: Option<String>,
    response: Option<WireResponse>,
    answers: Vec<WireAnswer>,
    cancelled: bool,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WireResponse {
    selections: Vec<String>,
    text: Option<String>,
    comment: Option<String>,
}

#[derive(Deserialize)]
struct WireAnswer {
    id: String,
    label: String,
}

/// The questions of such a call; `None` for a tool that asks somebody else.
pub(super) fn ask_action(call: &Call) -> Option<Action> {
    let questions = read_questions(call)?;
    Some(Action::Ask(questions.into_iter().map(|(_, question)| question).collect()))
}

/// The questions of a call, with their names.
fn read_questions(call: &Call) -> Option<Vec<(Option<String>, Question)>> {
    let named = matches!(call.tool.as_str(), "question" | "questionnaire" | "ask_user" | "ask");
    let asked = call.input.read_as::<WireAsked>().filter(|_| named)?;
    // A tool of this name may as well search in documents.
    let is_put = call.tool != "ask" || !asked.options.is_empty();
    let one = asked.question.filter(|_| is_put).map(|text| (None, make_question(text, asked.options)));
    let several = asked.questions.into_iter().map(|one| (one.id, make_question(one.question, one.options)));
    Some(several.chain(one).collect::<Vec<_>>()).filter(|questions| !questions.is_empty())
}

fn make_question(text: String, options: Vec<WireOption>) -> Question {
    let words = |option| match option {
        WireOption::Words(words) | WireOption::Described { label: words } => words,
    };
    Question { text, options: options.into_iter().map(words).collect() }
}

/// The user's answers, from the record of the outcome.
pub(super) fn read_answers(call: &Call, outcome: &str) -> Vec<Answer> {
    let details = serde_json::from_str::<WireResult>(outcome).map(|result| result.message.details);
    let (Some(questions), Ok(details)) = (read_questions(call), details) else { return Vec::new() };
    if details.cancelled {
        return Vec::new();
    }
    let one = details.answer.or_else(|| details.response.and_then(join_response));
    let answered = |(id, question): (Option<String>, Question)| {
        let told = details.answers.iter().find(|answer| Some(&answer.id) == id.as_ref());
        let answer = told.map(|told| told.label.clone()).or_else(|| one.clone().filter(|_| id.is_none()))?;
        Some(Answer { question: question.text, answer })
    };
    questions.into_iter().filter_map(answered).collect()
}

fn join_response(response: WireResponse) -> Option<String> {
    let words = response.selections.into_iter().chain(response.text).chain(response.comment);
    Some(words.collect::<Vec<_>>().join(", ")).filter(|words| !words.is_empty())
}

#[cfg(test)]
mod tests {
    use carryover_core::json::Json;
    use carryover_core::transcript::{CallForm, CallId};
    use serde_json::{Value, json};

    use super::*;

    fn call(tool: &str, input: &Value) -> Call {
        let input = Json::from_value(input);
        Call { id: CallId("c".into()), tool: tool.into(), input, form: CallForm::Function }
    }

    fn answered(call: &Call, details: &Value) -> Vec<(String, String)> {
        let record = json!({ "message": { "role": "toolResult", "details": details } }).to_string();
        read_answers(call, &record).into_iter().map(|answer| (answer.question, answer.answer)).collect()
    }

    #[test]
    fn questions_of_extensions_are_asked_and_answered() {
        let one = call("question", &json!({ "question": "Which?", "options": [{ "label": "a" }, { "label": "b" }] }));
        let question = Question { text: "Which?".into(), options: vec!["a".into(), "b".into()] };
        assert_eq!(ask_action(&one), Some(Action::Ask(vec![question.clone()])));
        assert_eq!(answered(&one, &json!({ "answer": "b" })), [("Which?".to_owned(), "b".to_owned())]);
        assert_eq!(answered(&one, &json!({ "answer": null })), []);
        let user = call("ask_user", &json!({ "question": "Which?", "options": ["a", "b"] }));
        assert_eq!(ask_action(&user), Some(Action::Ask(vec![question])));
        let details = json!({ "response": { "kind": "selection", "selections": ["a"] }, "cancelled": false });
        assert_eq!(answered(&user, &details), [("Which?".to_owned(), "a".to_owned())]);
        let freeform = json!({ "response": { "kind": "freeform", "text": "neither" } });
        assert_eq!(answered(&user, &freeform), [("Which?".to_owned(), "neither".to_owned())]);
        let several = call("questionnaire", &json!({ "questions": [{ "id": "q1", "prompt": "How?", "options": [] }] }));
        let details = json!({ "answers": [{ "id": "q1", "label": "so" }], "cancelled": false });
        assert_eq!(answered(&several, &details), [("How?".to_owned(), "so".to_owned())]);
        assert_eq!(ask_action(&call("ask", &json!({ "question": "what the documents say" }))), None);
    }
}
