/** A coding agent in a Daytona sandbox that is stopped between two prompts. */
import { pathToFileURL } from "node:url";
import { SandboxAgent, type SandboxProvider } from "sandbox-agentd";
import { daytona } from "sandbox-agentd/daytona";

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
  // The default snapshot does not contain the daemon, so it is copied into the sandbox.
  await main(daytona({ binary: "sandbox-agent-linux-x64" }), process.argv[2] ?? "mock");
}
