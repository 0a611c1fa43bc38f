// Written by carryover; `carryover uninstall` takes it away again. It tells carryover what happens here and shows the
// model, once, what carryover has to say at the start of a new session. Whatever goes wrong in it is kept from pi.
import { spawn } from "node:child_process";

const PROGRAM = "{PROGRAM}";
const PATIENCE_MS = 2000;

/** Calls carryover and gives back what it prints; nothing where it fails or takes too long. */
function callCarryover(event: string, payload: object): Promise<string> {
  return new Promise((resolve) => {
    let printed = "";
    try {
      const child = spawn(PROGRAM, ["hook", "pi", event], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true });
      const timer = setTimeout(() => child.kill(), PATIENCE_MS);
      const finish = (text: string) => {
        clearTimeout(timer);
        resolve(text);
      };
      child.on("error", () => finish(""));
      child.on("close", (code: number | null) => finish(code === 0 ? printed : ""));
      child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify(payload));
    } catch {
      resolve("");
    }
  });
}

function describeSession(ctx: any): object {
  const session = ctx.sessionManager;
  const isHeadless = ctx.mode ? ctx.mode !== "tui" : !ctx.hasUI;
  return {
    session_id: session.getSessionId(),
    transcript_path: session.getSessionFile(),
    cwd: ctx.cwd,
    is_headless: isHeadless,
  };
}

/** pi says `startup` of a session that it goes on with, too. */
function findSource(reason: string, ctx: any): string {
  const hasMessages = ctx.sessionManager.getEntries().some((entry: any) => entry.type === "message");
  return reason === "startup" && hasMessages ? "resume" : reason;
}

export default function carryover(pi: any) {
  let words = "";

  /** Tells of an event; what is printed for it is of no use but at a start. */
  async function tell(event: string, ctx: any, more: object = {}): Promise<string> {
    try {
      return await callCarryover(event, { ...describeSession(ctx), ...more });
    } catch {
      return "";
    }
  }

  pi.on("session_start", async (event: any, ctx: any) => {
    words = await tell("session_start", ctx, { source: findSource(event.reason ?? "startup", ctx) });
  });
  pi.on("before_agent_start", async (_event: any, ctx: any) => {
    await tell("before_agent_start", ctx);
    const content = words;
    words = "";
    return content ? { message: { customType: "carryover", content, display: false } } : undefined;
  });
  pi.on("agent_end", async (event: any, ctx: any) => {
    const hasFailed = event.messages?.at(-1)?.stopReason === "error";
    await tell(hasFailed ? "agent_failure" : "agent_end", ctx);
  });
  pi.on("session_before_compact", async (_event: any, ctx: any) => {
    await tell("session_before_compact", ctx);
  });
  pi.on("session_shutdown", async (_event: any, ctx: any) => {
    await tell("session_shutdown", ctx);
  });
}
