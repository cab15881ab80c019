/** A coding agent in an E2B sandbox that is paused between two prompts. */
import { pathToFileURL } from "node:url";
import { SandboxAgent, type SandboxProvider } from "sandbox-agentd";
import { e2b } from "sandbox-agentd/e2b";

export async function main(sandbox: SandboxProvider, agent: string): Promise<void> {
  const { ANTHROPIC_API_KEY = "" } = process.env;
  const options = { sandbox, name: `example-${Date.now()}`, env: { ANTHROPIC_API_KEY } };
  let client = await SandboxAgent.start(options);
  try {
    const session = await client.sessions.create({ agent });
    console.log((await session.prompt("hello")).text);
    await client.pause();

    // The same name finds the sandbox again, with its files and conversations.
    client = await SandboxAgent.start(options);
    const again = await client.sessions.get(session.id);
    console.log((await again.prompt("hello again")).text);
  } finally {
    await client.kill();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  // The base template does not contain the daemon, so it is copied into the sandbox.
  await main(e2b({ binary: "sandbox-agent-linux-x64" }), process.argv[2] ?? "mock");
}
