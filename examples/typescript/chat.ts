/** A chat: `node build/chat.js claude`, then one prompt per line. The end of the input ends it. */
import { createInterface } from "node:readline";
import { SandboxAgent, TurnFailed } from "sandbox-agentd";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** The next line; at the end of the input nothing. */
async function ask(text: string): Promise<string> {
  if (text) console.log(text);
  const { value, done } = await lines.next();
  return done ? "" : value;
}

const client = await SandboxAgent.start();
const session = await client.sessions.create({
  agent: process.argv[2] ?? "mock",
  onPermission: async ({ action, metadata }) => (await ask(`allow ${action}: ${metadata.title}? [yes/no]`)) === "yes",
  onQuestion: async ({ prompt, options }) => (await ask(`${prompt} [${options.join("/")}]`)) || null,
});
for (let line = await ask(""); line; line = await ask("")) {
  try {
    for await (const piece of session.prompt(line).text()) process.stdout.write(piece);
  } catch (error) {
    if (!(error instanceof TurnFailed)) throw error;
    process.stdout.write(`\n${error.message}`);
  }
  console.log();
}
await client.close();
