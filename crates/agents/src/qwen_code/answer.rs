//! The user's answers to questions.

use carryover_core::transcript::{Answer, Call};

use super::dialect::WireQuestions;
use super::outcome::ANSWERS_PREFIX;
use super::wire::{WireOutput, WireRecord};

/// The answers, in the order of the questions; `record` is the outcome's. The client tells them in one text, each
/// answer behind the heading of its question.
pub(super) fn from_outcome(call: &Call, record: &str) -> Vec<Answer> {
    let Some(asked) = call.input.read_as::<WireQuestions>() else { return Vec::new() };
    let Some(output) = find_output(call, record) else { return Vec::new() };
    let Some(told) = output.strip_prefix(ANSWERS_PREFIX) else { return Vec::new() };
    let headings: Vec<String> = (1..)
        .zip(&asked.questions)
        .map(|(number, question)| match question.header.as_str() {
            "" => format!("\n**Question {number}**: "),
            header => format!("\n**{header}**: "),
        })
        .collect();
    let mut answers = Vec::new();
    for (question, heading) in asked.questions.into_iter().zip(&headings) {
        let Some((_, behind)) = told.split_once(heading.as_str()) else { continue };
        let end = headings.iter().filter_map(|next| behind.find(next.as_str())).min();
        let answer = behind[..end.unwrap_or(behind.len())].trim().to_owned();
        if !answer.is_empty() {
            answers.push(Answer { question: question.question, answer });
        }
    }
    answers
}

fn find_output(call: &Call, record: &str) -> Option<String> {
    let record: WireRecord<'_> = serde_json::from_str(record).ok()?;
    let message = record.message?;
    let mut responses = message.parts.iter().filter_map(|part| part.function_response.as_ref());
    let response = responses.find(|response| response.id.as_deref() == Some(&*call.id.0))?;
    serde_json::from_str::<WireOutput>(response.response?.get()).ok()?.output
}

#[cfg(test)]
mod tests {
    use carryover_core::json::Json;
    use carryover_core::transcript::{Action, CallForm, CallId, Question};
    use serde_json::{Value, json};

    use super::super::QwenCode;
    use super::*;
    use crate::Dialect;

    fn call(tool: &str, input: &Value) -> Call {
        Call { id: CallId("c".into()), tool: tool.into(), input: Json::from_value(input), form: CallForm::Function }
    }

    #[test]
    fn questions_are_answered_by_their_headings() {
        let options = json!([{ "label": "A", "description": "a" }, { "label": "B", "description": "b" }]);
        let call = call(
            "ask_user_question",
            &json!({ "questions": [
            { "question": "Which?", "header": "Kind", "options": options, "multiSelect": false },
            { "question": "Why?", "header": "Reason", "options": [], "multiSelect": false },
        ] }),
        );
        let asked = [("Which?", vec!["A", "B"]), ("Why?", vec![])].map(|(text, options)| Question {
            text: text.to_owned(),
            options: options.into_iter().map(str::to_owned).collect(),
        });
        assert_eq!(QwenCode.action(&call, None), Action::Ask(asked.to_vec()));
        let output = "User has provided the following answers:\n\n**Kind**: B\n**Reason**: for fun,\nand more";
        let response = json!({ "id": "c", "name": "ask_user_question", "response": { "output": output } });
        let message = json!({ "role": "user", "parts": [{ "functionResponse": response }] });
        let record = json!({ "type": "tool_result", "uuid": "u", "message": message }).to_string();
        let expected = [("Which?", "B"), ("Why?", "for fun,\nand more")]
            .map(|(question, answer)| Answer { question: question.to_owned(), answer: answer.to_owned() });
        assert_eq!(from_outcome(&call, &record), expected);
        assert_eq!(from_outcome(&call, "{}"), []);
    }

    #[test]
    fn a_plan_is_proposed() {
        let plan = call("exit_plan_mode", &json!({ "plan": "1. Look." }));
        assert_eq!(QwenCode.action(&plan, None), Action::Propose { plan: "1. Look.".to_owned() });
    }
}
