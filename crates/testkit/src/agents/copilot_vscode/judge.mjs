// Has the vendor's own code open sessions that were written for it: code-server with its Copilot Chat, in a browser without
// a window, against a model on loopback. No account is needed, and nothing outside of loopback is reached.
//
//   node judge.mjs FOLDER CARRYOVER CHROMIUM SESSION...
//
// FOLDER has the packages code-server and puppeteer-core; node is the version that code-server asks for. Each session is
// carried into a desktop's store in a throw-away home. Its file and its entry in the list are then laid before code-server,
// which keeps the same list in the browser; it must list the session, open it, and send all of it with the next turn.

import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";

const [packages, carryover, chromium, ...sessions] = process.argv.slice(2).map((path) => resolve(path));
const { default: puppeteer } = await import(createRequire(join(packages, "package.json")).resolve("puppeteer-core"));

const TURN = "Go on from here (judge)";
const INDEX_KEY = "chat.ChatSessionStore.index";
const ROW = ".agent-sessions-viewer .monaco-list-row";
const START_MS = 60_000;

const home = mkdtempSync(join(tmpdir(), "judge-"));
const project = join(home, "project");
const editorData = join(home, ".local/share/code-server");
const desktop = join(home, ".config/Code/User/workspaceStorage/desktop");
const requests = [];
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** A model that says one thing, in pieces, as the chat completions API does. */
async function startModel() {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => (body += piece));
    request.on("end", () => {
      requests.push(JSON.parse(body || "{}"));
      const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "judge-1" };
      const say = (more) => response.write(`data: ${JSON.stringify({ ...chunk, ...more })}\n\n`);
      response.writeHead(200, { "content-type": "text/event-stream" });
      say({ choices: [{ index: 0, delta: { role: "assistant", content: "Understood." }, finish_reason: null }] });
      say({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
      say({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 } });
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return server;
}

function configureEditor(modelPort) {
  const user = join(editorData, "User");
  mkdirSync(user, { recursive: true });
  const settings = { "chat.disableAIFeatures": false, "telemetry.telemetryLevel": "off", "extensions.autoUpdate": false,
    "workbench.startupEditor": "none", "workbench.secondarySideBar.defaultVisibility": "visible" };
  writeFileSync(join(user, "settings.json"), JSON.stringify(settings));
  const url = `http://127.0.0.1:${modelPort}/v1/chat/completions`;
  const model = { id: "judge-1", name: "Judge", url, toolCalling: true, vision: true, maxInputTokens: 200000, maxOutputTokens: 8000 };
  const provider = { name: "Judge", vendor: "customendpoint", apiKey: "sk-fake", apiType: "chat-completions", models: [model] };
  writeFileSync(join(user, "chatLanguageModels.json"), JSON.stringify([provider]));
  return user;
}

async function startEditor(port) {
  const log = openSync(join(home, "editor.log"), "a");
  const args = [join(packages, "node_modules/code-server/out/node/entry.js"), "--auth", "none", "--bind-addr",
    `127.0.0.1:${port}`, "--user-data-dir", editorData, "--extensions-dir", join(home, "extensions"),
    "--disable-telemetry", "--disable-update-check", "--disable-workspace-trust", project];
  const env = { HOME: home, PATH: "/usr/bin:/bin", LANG: "C.UTF-8" };
  const editor = spawn(process.execPath, args, { env, cwd: project, stdio: ["ignore", log, log] });
  for (const end = Date.now() + START_MS; Date.now() < end; await sleep(250)) {
    if (await fetch(`http://127.0.0.1:${port}/healthz`).then(() => true, () => false)) return editor;
  }
  throw new Error("code-server did not start");
}

/** A desktop's folder for the project, as that makes it when a folder is opened. */
function makeDesktop() {
  mkdirSync(desktop, { recursive: true });
  mkdirSync(join(home, ".config/Code/User/globalStorage/github.copilot-chat"), { recursive: true });
  writeFileSync(join(desktop, "workspace.json"), JSON.stringify({ folder: `file://${project}` }));
  const database = new DatabaseSync(join(desktop, "state.vscdb"));
  database.exec("CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)");
  database.close();
}

function runCarryover(...args) {
  const env = { HOME: home, PATH: "/usr/bin:/bin" };
  return JSON.parse(execFileSync(carryover, [...args, "--json", "--no-redact"], { env, cwd: project, maxBuffer: 1 << 28 }));
}

/** Carries a session there; what a reader finds in it is what the model must be sent. */
function carry(session) {
  const copy = join(home, basename(session));
  copyFileSync(session, copy);
  const target = ["--target", "copilot-vscode", "--into-editor", "--fork", "--project", project, "--yes"];
  const { session_id: id, files } = runCarryover("resume", copy, ...target);
  const database = new DatabaseSync(join(desktop, "state.vscdb"), { readOnly: true });
  const { value } = database.prepare("SELECT value FROM ItemTable WHERE key = ?").get(INDEX_KEY);
  database.close();
  const { version, entries } = JSON.parse(value);
  const live = runCarryover("show", files[0]).entries.filter((entry) => entry.live);
  return { id, file: files[0], title: entries[id].title, index: JSON.stringify({ version, entries: { [id]: entries[id] } }), live };
}

/** Puts values into the browser's stores, from a page of the same origin on which no editor runs. */
async function putValues(page, origin, own, shared) {
  await page.goto(`${origin}/healthz`);
  await sleep(1_000);
  await page.evaluate(async (own, shared) => {
    const put = async (name, values) => {
      const wait = (asked) => new Promise((done, fail) => { asked.onsuccess = () => done(asked.result); asked.onerror = () => fail(asked.error); });
      const database = await wait(indexedDB.open(name));
      const store = database.transaction("ItemTable", "readwrite").objectStore("ItemTable");
      for (const [key, value] of Object.entries(values)) await wait(store.put(value, key));
      database.close();
    };
    const names = (await indexedDB.databases()).map((database) => database.name);
    const states = names.filter((name) => name.startsWith("vscode-web-state-db"));
    await put(states.find((name) => !name.includes("global")), own);
    await put("vscode-web-state-db-global", shared);
  }, own, shared);
}

async function findRow(page, title) {
  for (const end = Date.now() + START_MS / 3; Date.now() < end; await sleep(500)) {
    for (const row of await page.$$(ROW)) {
      if ((await row.evaluate((element) => element.textContent)).includes(title.slice(0, 30))) return row;
    }
  }
  throw new Error("it is not listed");
}

/** Opens the session from the list and types a turn; the request that is sent. */
async function goOn(page, url, title) {
  const before = requests.length;
  await page.goto(url);
  await page.waitForSelector(ROW, { timeout: START_MS });
  // The extension is up once the model that it brings is.
  await page.waitForFunction(() => document.querySelector(".interactive-session")?.textContent.includes("Judge"), { timeout: START_MS });
  await (await findRow(page, title)).click();
  await sleep(4_000);
  await (await page.$(".interactive-session .interactive-input-part .monaco-editor")).click();
  await page.keyboard.type(TURN, { delay: 5 });
  await sleep(500);
  await page.keyboard.press("Enter");
  const isMeant = (request) => JSON.stringify(request.messages ?? []).includes(TURN);
  for (const end = Date.now() + START_MS; Date.now() < end; await sleep(250)) {
    const sent = requests.slice(before).find(isMeant);
    if (sent) return sent;
  }
  throw new Error("no request was sent");
}

const textOf = (content) => (Array.isArray(content) ? content.map((part) => part.text ?? "").join("") : (content ?? ""));

/** What is in a request, in its order: kinds and words. */
function* sentItems({ messages }) {
  for (const { role, content, tool_calls: calls = [] } of messages.slice(1)) {
    const text = textOf(content).trim();
    if (role === "user") {
      const asked = /<userRequest>\n([\s\S]*)\n<\/userRequest>/.exec(text)?.[1] ?? /<conversation-summary>\n([\s\S]*?)\n<\/conversation-summary>/.exec(text)?.[1];
      if (asked !== undefined && !asked.includes(TURN)) yield { kind: "user", text: asked.trim() };
    } else if (role === "tool") yield { kind: "outcome", text };
    else if (text) yield { kind: "reply", text };
    for (const call of calls) yield { kind: "call", text: call.function.name };
  }
}

/** The same of a session as it is read. */
function meantItems(live) {
  const kinds = { prompt: "user", summary: "user", reply: "reply", call: "call", outcome: "outcome" };
  const words = (entry) => (entry.parts ?? []).map((part) => part.text ?? "").filter(Boolean).join("\n\n").trim();
  const items = live.filter((entry) => kinds[entry.kind]);
  return items.map((entry) => ({ kind: kinds[entry.kind], text: entry.kind === "call" ? entry.tool : words(entry), isSummary: entry.kind === "summary", images: (entry.parts ?? []).filter((part) => part.text === undefined).length }));
}

/** Everything that differs. An image that a tool gave back is shown in its own turn only, which the report of a resume says. */
function compare(meant, sent) {
  const squeeze = (text) => text.replace(/\s+/g, " ").trim();
  const wrong = [];
  for (let at = 0; at < Math.max(meant.length, sent.length); at++) {
    const [should, is] = [meant[at], sent[at]];
    const isShownBefore = should?.images > 0 && is?.text.includes("Image was previously shown");
    // Of a summary, the reader leaves out the advice that the extension puts behind one of its own.
    const isSame = should?.isSummary ? squeeze(is?.text ?? "").startsWith(squeeze(should.text)) : squeeze(should?.text ?? "") === squeeze(is?.text ?? "");
    if (should?.kind !== is?.kind || (!isSame && !isShownBefore)) {
      wrong.push(`${at}: ${JSON.stringify(should)?.slice(0, 200)} was sent as ${JSON.stringify(is)?.slice(0, 200)}`);
    }
  }
  return wrong;
}

let failed = 0;
mkdirSync(project);
makeDesktop();
const model = await startModel();
const user = configureEditor(model.address().port);
const port = 20_000 + Math.floor(Math.random() * 20_000);
const editor = await startEditor(port);
const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--window-size=1500,1000"];
const browser = await puppeteer.launch({ executablePath: chromium, headless: true, args, userDataDir: join(home, "browser"),
  env: { HOME: home, PATH: "/usr/bin:/bin" }, defaultViewport: { width: 1500, height: 1000 } });
try {
  const page = await browser.newPage();
  const origin = `http://127.0.0.1:${port}`;
  const url = `${origin}/?folder=${project}`;
  await page.goto(url);
  await page.waitForSelector(".monaco-workbench", { timeout: START_MS });
  await sleep(8_000);
  // As after the first use: the editor ships with the extension switched off.
  const context = { entitlement: 1, installed: true, disabled: false, untrusted: false, disabledInWorkspace: false };
  const enabled = { "extensionsIdentifiers/disabled": "[]", "chat.setupContext": JSON.stringify(context) };
  for (const session of sessions) {
    try {
      const { file, title, index, live } = carry(session);
      const chats = join(user, "workspaceStorage", readdirSync(join(user, "workspaceStorage"))[0], "chatSessions");
      mkdirSync(chats, { recursive: true });
      copyFileSync(file, join(chats, basename(file)));
      await putValues(page, origin, { [INDEX_KEY]: index }, enabled);
      const sent = await goOn(page, url, title);
      const [meant, is] = [meantItems(live), [...sentItems(sent)]];
      const wrong = compare(meant, is);
      console.log(`${wrong.length ? "FAILED" : "whole "}  ${basename(session)}: ${meant.length} facts live, ${is.length} sent`);
      for (const line of wrong) console.log(`        ${line}`);
      failed += wrong.length > 0;
    } catch (error) {
      failed += 1;
      await page.screenshot({ path: join(home, "failed.png") });
      console.log(`FAILED  ${basename(session)}: ${error.message}`);
    }
  }
} finally {
  await browser.close();
  editor.kill();
  model.close();
}
if (failed) console.log(`its home: ${home}`);
else rmSync(home, { recursive: true, force: true, maxRetries: 5 });
process.exit(failed ? 1 : 0);
