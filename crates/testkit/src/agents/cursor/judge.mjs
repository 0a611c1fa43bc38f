// Reads a store with the vendor's own code and prints what it shows, a line of JSON.
// Arguments: the store, a folder for what the vendor's code keeps beside it, and the project.

import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Agent } from "@cursor/sdk";
import { SqliteLocalAgentStore } from "@cursor/sdk/sqlite";

const [storeFile, stateRoot, cwd] = process.argv.slice(2);

/** The rows that a database answers with. */
function query(file, sql) {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare(sql).all();
  database.close();
  return rows;
}

function folderName(agentId) {
  return `agent-${createHash("sha256").update(agentId).digest("hex")}`;
}

/** What the index says of a store of the SDK's own; what another says of itself: JSON in hexadecimal. */
function readNote() {
  const index = join(dirname(storeFile), "..", "..", "index.db");
  if (existsSync(index)) {
    const agents = query(index, "SELECT agent_id, name, latest_checkpoint_ref_json AS checkpoint FROM agents");
    const agent = agents.find((row) => folderName(row.agent_id) === basename(dirname(storeFile)));
    const { blobId, rootBlobId = blobId } = JSON.parse(agent.checkpoint);
    return { agentId: agent.agent_id, latestRootBlobId: rootBlobId, name: agent.name };
  }
  const [row] = query(storeFile, "SELECT value FROM meta WHERE key = '0'");
  return JSON.parse(Buffer.from(row.value, "hex").toString());
}

/** Makes the store one of the SDK's own, which looks for it by a digest of the id. */
async function adoptStore() {
  const { agentId, latestRootBlobId, name } = readNote();
  const folder = join(stateRoot, "agents", folderName(agentId));
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
