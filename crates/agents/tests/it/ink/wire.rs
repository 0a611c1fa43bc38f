//! Records as the client writes them.

use serde::Deserialize;
use serde_json::value::RawValue;

/// One line. Everything that may be missing is optional, and what is not known is ignored.
#[derive(Deserialize)]
pub(super) struct WireRecord<'a> {
    /// A record without a kind is of one that we do not know, and is not rejected.
    #[serde(rename = "type", default)]
    pub kind: String,
    pub at: Option<String>,
    pub id: Option<String>,
    pub cwd: Option<String>,
    pub version: Option<String>,
    pub model: Option<String>,
    pub text: Option<String>,
    pub tool: Option<String>,
    #[serde(borrow)]
    pub input: Option<&'a RawValue>,
    pub output: Option<String>,
    pub exit: Option<i32>,
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
}
