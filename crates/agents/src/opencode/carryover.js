// Written by carryover; `carryover uninstall` takes it away again. It tells carryover what happens here and shows the
// model, once, what carryover has to say at the start of a new session. Whatever goes wrong in it is kept from OpenCode.
import { spawn } from "node:child_process"

const PROGRAM = "{PROGRAM}"
const PATIENCE_MS = 2000
const ID_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** An id that sorts right before this one: parts are shown to the model in the order of their ids. */
function precedingId(id) {
  return id.replace(/[1-9A-Za-z](?=0*$)/, (letter) => ID_LETTERS[ID_LETTERS.indexOf(letter) - 1])
}

/** Calls carryover and gives back what it prints; nothing where it fails or takes too long. */
function callCarryover(event, payload) {
  return new Promise((resolve) => {
    let printed = ""
    try {
      const child = spawn(PROGRAM, ["hook", "opencode", event], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
      const timer = setTimeout(() => child.kill(), PATIENCE_MS)
      const finish = (text) => {
        clearTimeout(timer)
        resolve(text)
      }
      child.on("error", () => finish(""))
      child.on("close", (code) => finish(code === 0 ? printed : ""))
      child.stdout.setEncoding("utf8").on("data", (text) => (printed += text))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(payload))
    } catch {
      resolve("")
    }
  })
}

export const Carryover = async ({ client, directory }) => {
  /** Sessions that were seen in this run, by id, with what is known of them. */
  const sessions = new Map()

  async function describeSession(id) {
    const known = sessions.get(id)
    if (known) return known
    const session = { session_id: id, cwd: directory }
    try {
      const { data } = await client.session.get({ path: { id } })
      if (data?.directory) session.cwd = data.directory
      // The session of a sub-agent is the child of another.
      if (data?.parentID) session.agent_id = id
    } catch {}
    sessions.set(id, session)
    return session
  }

  /** Why a session starts that is seen for the first time in this run. */
  async function findSource(id) {
    try {
      const { data } = await client.session.messages({ path: { id } })
      return data.length === 0 ? "startup" : "resume"
    } catch {
      return undefined
    }
  }

  /** Tells of a session's start with its first prompt: before that, OpenCode does not make it. */
  async function startSession(id, output) {
    const session = await describeSession(id)
    const text = await callCarryover("session.start", { ...session, source: await findSource(id) })
    const first = output.parts[0]
    if (!text || !first || session.agent_id) return
    const place = { id: precedingId(first.id), sessionID: id, messageID: first.messageID }
    output.parts.unshift({ ...place, type: "text", text, synthetic: true })
  }

  return {
    "chat.message": async (input, output) => {
      try {
        const isFirst = !sessions.has(input.sessionID)
        if (isFirst) await startSession(input.sessionID, output)
        await callCarryover("chat.message", await describeSession(input.sessionID))
      } catch {}
    },
    // A shell that calls carryover means the session that it was started in.
    "shell.env": async (input, output) => {
      try {
        if (input.sessionID) output.env.CARRYOVER_OPENCODE_SESSION = input.sessionID
      } catch {}
    },
    "experimental.session.compacting": async (input) => {
      try {
        await callCarryover("session.compacting", await describeSession(input.sessionID))
      } catch {}
    },
    event: async ({ event }) => {
      try {
        const id = event.properties?.sessionID
        const isTold = event.type === "session.idle" || event.type === "session.error"
        if (isTold && id) await callCarryover(event.type, await describeSession(id))
      } catch {}
    },
  }
}
