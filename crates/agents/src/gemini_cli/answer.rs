//! The user's answers to questions and plans.

use std::collections::BTreeMap;

use carryover_core::transcript::{Action, Answer, Call};

use super::dialect;
use super::wire::{WirePart, WireRecord, WireResponse};

/// The answers, by the numbers of their questions.
#[derive(serde::Deserialize)]
struct WireAnswers {
    answers: BTreeMap<String, String>,
}

/// The answers, in the order of the questions; `record` is the message with the call's outcome in it.
pub(super) fn from_outcome(call: &Call, record: &str) -> Vec<Answer> {
    let Some(output) = find_output(call, record) else { return Vec::new() };
    match dialect::interpret_call(call, None) {
        Action::Ask(questions) => {
            let Ok(WireAnswers { answers }) = serde_json::from_str(&output) else { return Vec::new() };
            let asked = questions.into_iter().enumerate();
            let given = asked.filter_map(|(index, question)| {
                let answer = answers.get(&index.to_string())?.trim().to_owned();
                (!answer.is_empty()).then_some(Answer { question: question.text, answer })
            });
            given.collect()
        }
        Action::Propose { plan } => {
            plan_feedback(&output).map(|answer| Answer { question: plan, answer }).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The user's words with the refusal of a plan.
fn plan_feedback(output: &str) -> Option<String> {
    let words = output.strip_prefix("Plan rejected. User feedback: ")?;
    Some(words.split("\n\nThe plan is stored at: ").next().unwrap_or(words).to_owned())
}

fn find_output(call: &Call, record: &str) -> Option<String> {
    let record: WireRecord<'_> = serde_json::from_str(record).ok()?;
    let shown = record.tool_calls.iter().flatten().filter_map(|shown| shown.result.as_ref());
    let mut parts = shown.flat_map(|result| &result.0).chain(&record.content.0);
    parts.find_map(|part| part_output(part, &call.id.0))
}

fn part_output(part: &WirePart<'_>, id: &str) -> Option<String> {
    let response = part.function_response.as_ref().filter(|response| response.id.as_deref() == Some(id))?;
    let response: WireResponse<'_> = serde_json::from_str(response.response?.get()).ok()?;
    response.output.map(|output| output.to_string())
}

#[cfg(test)]
mod tests {
    use carryover_core::json::Json;
    use carryover_core::transcript::{CallForm, CallId, Question};
    use serde_json::{Value, json};

    use super::*;

    fn call(tool: &str, input: &Value) -> Call {
        Call { id: CallId("c".into()), tool: tool.into(), input: Json::from_value(input), form: CallForm::Function }
    }

    fn record(output: &str) -> String {
        let response = json!({ "functionResponse": { "id": "c", "name": "x", "response": { "output": output } } });
        json!({ "id": "m", "type": "gemini", "content": "", "toolCalls": [{ "id": "c", "result": [response] }] })
            .to_string()
    }

    #[test]
    fn questions_are_answered_by_their_numbers() {
        let options = json!([{ "label": "A", "description": "a" }, { "label": "B", "description": "b" }]);
        let questions = json!({ "questions": [
            { "question": "Which?", "header": "W", "type": "choice", "options": options },
            { "question": "Why?", "header": "Y", "type": "text" },
        ] });
        let call = call("ask_user", &questions);
        let asked = [("Which?", vec!["A", "B"]), ("Why?", vec![])].map(|(text, options)| Question {
            text: text.to_owned(),
            options: options.into_iter().map(str::to_owned).collect(),
        });
        assert_eq!(dialect::interpret_call(&call, None), Action::Ask(asked.to_vec()));
        let given = from_outcome(&call, &record(r#"{"answers":{"1":"for fun","0":"B"}}"#));
        let expected = [("Which?", "B"), ("Why?", "for fun")]
            .map(|(question, answer)| Answer { question: question.to_owned(), answer: answer.to_owned() });
        assert_eq!(given, expected);
        assert_eq!(from_outcome(&call, &record("User dismissed ask_user dialog without answering.")), []);
    }

    #[test]
    fn a_refused_plan_tells_why() {
        let call = call("exit_plan_mode", &json!({ "plan_filename": "plan.md" }));
        assert_eq!(dialect::interpret_call(&call, None), Action::Propose { plan: "plan.md".to_owned() });
        let refused = "Plan rejected. User feedback: shorter\n\nThe plan is stored at: /p/plan.md\nRevise it.";
        let expected = Answer { question: "plan.md".to_owned(), answer: "shorter".to_owned() };
        assert_eq!(from_outcome(&call, &record(refused)), [expected]);
    }
}
