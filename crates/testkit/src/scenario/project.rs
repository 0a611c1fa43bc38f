//! The throw-away project: files whose content holds the words that outcomes are to show.

use std::path::Path;
use std::process::{Command, Stdio};

use fs_err as fs;

use super::{ActionKind, Scenario, make_png};
use crate::client::ClientError;

/// Where the script of the MCP server lies in the project.
pub(crate) const MCP_SCRIPT: &str = "lab/server.js";

/// Ends the endless commands that a client did not end.
pub(super) const STOP_FILE: &str = "data/stop";

/// A picture for prompts.
pub(crate) const PROMPT_IMAGE: &str = "data/prompt.png";

/// Answers `lookup` from the file that its key names.
const MCP_SERVER: &str = r"const fs = require('fs'), path = require('path');
const tool = { name: 'lookup', description: 'Looks a key up.', inputSchema: { type: 'object',
  properties: { key: { type: 'string' }, query: { type: 'string' } }, required: ['key', 'query'] } };
const answers = {
  initialize: (p) => ({ protocolVersion: p.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'lab', version: '1' } }),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': (p) => ({ content: [{ type: 'text',
    text: fs.readFileSync(path.join(__dirname, '../data', p.arguments.key + '.txt'), 'utf8') }] }),
};
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method] ? { result: answers[method](params || {}) } : { error: { code: -32601, message: 'unknown' } };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...result }) + '\n');
});
";

/// Writes the project anew.
pub(super) fn write_project(scenario: &Scenario, project: &Path) -> Result<(), ClientError> {
    fs::create_dir_all(project.join("data"))?;
    fs::create_dir_all(project.join("lab"))?;
    fs::write(project.join(MCP_SCRIPT), MCP_SERVER)?;
    fs::write(project.join(PROMPT_IMAGE), make_png(200, 30, 30))?;
    for action in scenario.actions() {
        if action.what == ActionKind::Run && action.words.len() == 1 {
            // An endless command makes its file itself, as a sign that it runs.
            continue;
        }
        let path = project.join(action.file_path());
        match action.what {
            ActionKind::Run | ActionKind::RunFailing | ActionKind::Search | ActionKind::Mcp => {
                let shown = format!("{} shows {}\n", action.word(0), action.word(1));
                // The word of the call must not come back in the outcome, except where a search found it.
                let shown = if action.what == ActionKind::Search { shown } else { format!("{}\n", action.word(1)) };
                fs::write(path, shown)?;
            }
            ActionKind::RunLong => fs::write(path, long_text(&action.words))?,
            ActionKind::Read => {
                fs::write(path, format!("first line\n{}\nold line of {}\n", action.word(0), action.key))?;
            }
            ActionKind::ViewImage => fs::write(path, make_png(30, 30, 200))?,
            _ => {}
        }
    }
    init_repository(project);
    Ok(())
}

/// About 40 KB with a word at its start, in its middle and at its end.
fn long_text(words: &[String]) -> String {
    let line = |number: usize| format!("line {number:04} of a long output, nothing to see\n");
    let lines = |from, to| (from..to).map(line).collect::<String>();
    let [first, middle, last] = words else { return lines(0, 1000) };
    format!("{first}\n{}{middle}\n{}{last}\n", lines(0, 500), lines(500, 1000))
}

/// A repository of its own keeps clients from looking at the one around it; without git they look, which does no harm.
fn init_repository(project: &Path) {
    let mut git = Command::new("git");
    git.args(["init", "--quiet", "--initial-branch=main"]).current_dir(project);
    git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    drop(git.status());
}
