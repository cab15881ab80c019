/**
 * Permissions by policy: harmless commands and edits below the working directory are allowed, everything else is refused.
 *
 *     node build/approve-by-policy.js claude "count the lines of README.md, then delete it"
 */
import { resolve, sep } from "node:path";
import { type PermissionAnswer, type PermissionRequested, SandboxAgent } from "sandbox-agentd";

const HARMLESS = /^(ls|cat|head|tail|wc|grep|rg|echo|pwd|git (status|diff|log))\b[^;&|<>`$]*$/;
const directory = process.cwd();

function decide({ action, metadata }: PermissionRequested): PermissionAnswer {
  const { command } = (metadata.input ?? {}) as { command?: string };
  if (command !== undefined) {
    return HARMLESS.test(command) || { reply: "reject", message: "only commands that read are allowed" };
  }
  const paths = metadata.paths ?? [];
  const inside = paths.every((path) => resolve(directory, path).startsWith(directory + sep));
  if (paths.length > 0 && inside) return "once";
  return { reply: "reject", message: `${action} is not allowed outside of ${directory}` };
}

const [agent = "mock", ...prompts] = process.argv.slice(2);
const client = await SandboxAgent.start();
const session = await client.sessions.create({ agent, directory, onPermission: decide });
for (const prompt of prompts.length > 0 ? prompts : ["permission hello", "edit"]) {
  for await (const event of session.prompt(prompt)) {
    if (event.type === "permission.resolved") {
      console.log(`${event.data.status}: ${JSON.stringify(event.data.metadata.input)}`);
    }
  }
}
await client.close();
