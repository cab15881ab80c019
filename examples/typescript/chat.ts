/** A chat in ten lines: `node build/chat.js claude`, then one prompt per line. */
import { createInterface } from "node:readline/promises";
import { SandboxAgent } from "sandbox-agentd";

const client = await SandboxAgent.start();
const session = await client.sessions.create({
  agent: process.argv[2] ?? "mock",
  onPermission: async ({ action }) => (await terminal.question(`allow ${action}? `)) === "yes",
  onQuestion: ({ prompt }) => terminal.question(`${prompt} `),
});
const terminal = createInterface({ input: process.stdin, output: process.stdout });
for await (const line of terminal) console.log((await session.prompt(line)).text);
await client.close();
