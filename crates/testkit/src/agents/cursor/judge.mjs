// Reads a store with the vendor's own code and prints what it shows, a line of JSON.
// Arguments: the store, a folder for what the vendor's code keeps beside it, and the project.

import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Agent } from "@cursor/sdk";
import { SqliteLocalAgentStore } from "@cursor/sdk/sqlite";

const [storeFile, stateRoot, cwd] = process.argv.slice(2);

/** What the store says of itself: JSON in hexadecimal. */
function readNote() {
  const database = new DatabaseSync(storeFile, { readOnly: true });
  const row = database.prepare("SELECT value FROM meta WHERE key = '0'").get();
  database.close();
  return JSON.parse(Buffer.from(row.value, "hex").toString());
}

/** Makes the store one of the SDK's own, which looks for it by a digest of the id. */
async function adoptStore() {
  const { agentId, latestRootBlobId, name } = readNote();
  const folder = join(stateRoot, "agents", `agent-${createHash("sha256").update(agentId).digest("hex")}`);
  mkdirSync(folder, { recursive: true });
  copyFileSync(storeFile, join(folder, "store.db"));
  const store = await SqliteLocalAgentStore.open({ stateRoot, workspaceRef: cwd });
  const latestCheckpoint = { schemaVersion: 1, rootBlobId: latestRootBlobId };
  const agent = { agentId, cwd, status: "idle", name, createdAt: 1, updatedAt: 1, latestCheckpoint };
  await store.agents.create({ agent });
  return { agentId, store };
}

function* shownItems(turn) {
  const { userMessage, steps = [] } = turn.agentConversationTurn ?? turn;
  if (userMessage?.text) yield { kind: "prompt", text: userMessage.text };
  for (const step of steps) {
    if (step.assistantMessage) yield { kind: "reply", text: step.assistantMessage.text };
    const command = step.toolCall?.shellToolCall?.args?.command;
    if (command !== undefined) yield { kind: "command", text: command };
  }
}

const { agentId, store } = await adoptStore();
const messages = await Agent.messages.list(agentId, { runtime: "local", cwd, store });
const plain = JSON.parse(JSON.stringify(messages, (_, value) => (typeof value === "bigint" ? Number(value) : value)));
const items = plain.flatMap(({ message }) => [...shownItems(message)]);
process.stdout.write(`${JSON.stringify(items)}\n`);
process.exit(0);
