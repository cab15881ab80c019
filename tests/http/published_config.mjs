// Every config method of the published client, on a daemon and with a folder that are given.
import assert from "node:assert/strict";

const [, , module, baseUrl, token, directory] = process.argv;
const { SandboxAgent, SandboxAgentError } = await import(module);
const client = await SandboxAgent.connect({ baseUrl, token });

const refused = async (promise) => {
  const error = await promise.then(() => assert.fail("it was not refused"), (error) => error);
  assert.ok(error instanceof SandboxAgentError, String(error));
  return [error.status, error.problem.type.split(":").pop()];
};

const local = { type: "local", command: "npx", args: ["-y", "server"], env: { A: "b" }, cwd: "tools", enabled: true, timeoutMs: 5000 };
const remote = { type: "remote", url: "https://host/mcp", headers: { a: "b" }, envHeaders: { c: "D" }, bearerTokenEnvVar: "E", transport: "sse", enabled: false, timeoutMs: 1 };
for (const [mcpName, config] of Object.entries({ local, remote })) {
  assert.equal(await client.setMcpConfig({ directory, mcpName }, config), undefined);
  assert.deepEqual(await client.getMcpConfig({ directory, mcpName }), config);
}
const nulls = { type: "local", command: "x", cwd: null, enabled: null, env: null, timeoutMs: null };
await client.setMcpConfig({ directory, mcpName: "remote" }, nulls);
assert.deepEqual(await client.getMcpConfig({ directory, mcpName: "remote" }), { type: "local", command: "x" });
await client.deleteMcpConfig({ directory, mcpName: "remote" });
await client.deleteMcpConfig({ directory, mcpName: "remote" });
assert.deepEqual(await refused(client.getMcpConfig({ directory, mcpName: "remote" })), [404, "not_found"]);
assert.deepEqual(await refused(client.setMcpConfig({ directory, mcpName: "" }, local)), [400, "invalid_request"]);
assert.deepEqual(await refused(client.setMcpConfig({ directory: "", mcpName: "x" }, local)), [400, "invalid_request"]);
assert.deepEqual(await refused(client.setMcpConfig({ directory, mcpName: "x" }, { type: "remote", command: "x" })), [400, "invalid_request"]);
assert.deepEqual(await refused(client.setMcpConfig({ directory, mcpName: "x" }, { ...remote, oauth: { clientId: "x" } })), [400, "invalid_request"]);

const skills = { sources: [{ type: "github", source: "owner/name", ref: "main", subpath: "skills", skills: ["pdf"] }, { type: "local", source: "/srv" }] };
await client.setSkillsConfig({ directory, skillName: "mine" }, skills);
assert.deepEqual(await client.getSkillsConfig({ directory, skillName: "mine" }), skills);
await client.setSkillsConfig({ directory, skillName: "none" }, { sources: [{ type: "local", source: "/srv", ref: null, subpath: null, skills: null }] });
await client.deleteSkillsConfig({ directory, skillName: "mine" });
assert.deepEqual(await refused(client.getSkillsConfig({ directory, skillName: "mine" })), [404, "not_found"]);
await client.dispose();
console.log("done");
