//! Records as the client writes them.

use serde::Deserialize;
use serde_json::value::RawValue;

/// One line. Everything that may be missing is optional, and what is not known is ignored.
#[derive(Deserialize)]
pub(super) struct WireRecord<'a> {
    #[serde(rename = "type")]
    pub kind: String,
    pub at: Option<String>,
    pub id: Option<String>,
    pub cwd: Option<String>,
    pub model: Option<String>,
    pub text: Option<String>,
    pub tool: Option<String>,
    #[serde(borrow)]
    pub input: Option<&'a RawValue>,
    pub output: Option<String>,
    pub exit: Option<i32>,
}
