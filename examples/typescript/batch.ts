/**
 * The same prompts to several agents side by side, and a table of the results.
 *
 *     node build/batch.js claude,codex,opencode "explain this project" "find a bug"
 */
import { SandboxAgent, type TurnResult } from "sandbox-agentd";

const [agents = "mock,mock,mock", ...given] = process.argv.slice(2);
const prompts = given.length > 0 ? given : ["hello", "tool", "error"];

const client = await SandboxAgent.start();
const rows = await Promise.all(agents.split(",").map(run));
console.table(rows.flat());
await client.close();

/** One agent takes the prompts in turn, in one conversation; the agents do not wait for each other. */
async function run(agent: string): Promise<object[]> {
  const session = await client.sessions.create({ agent, permissionMode: "plan", onQuestion: () => null });
  const rows = [];
  for (const prompt of prompts) {
    // How a turn ended is a column of the table, not an exception.
    const result = await session.prompt(prompt, { onPermission: () => "reject", throwOnError: false });
    rows.push({ agent, prompt, ...summary(result) });
  }
  await session.terminate();
  return rows;
}

function summary({ stopReason, text, usage, durationMs, transcript, errors }: TurnResult): object {
  return {
    outcome: stopReason,
    seconds: ((durationMs ?? 0) / 1000).toFixed(1),
    tools: transcript.totals.toolCalls,
    tokens: (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0),
    dollars: usage?.cost_usd?.toFixed(4) ?? "",
    answer: (text || errors[0]?.message || "").slice(0, 60),
  };
}
