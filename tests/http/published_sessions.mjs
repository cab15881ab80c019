// Drives the session methods of the published client, unmodified, and prints what it saw.
//   node published_sessions.mjs CLIENT_FOLDER ENDPOINT TOKEN DIRECTORY
import { strict as assert } from "node:assert";
import { pathToFileURL } from "node:url";

const [folder, baseUrl, token, cwd] = process.argv.slice(2);
const { SandboxAgent, Session, InMemorySessionPersistDriver } =
  await import(pathToFileURL(`${folder}/dist/index.js`));

// Which methods of the client have run.
const called = new Set();
for (const [name, { prototype }] of Object.entries({ SandboxAgent, Session }))
  for (const [method, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
    if (typeof value === "function" && method !== "constructor")
      prototype[method] = function (...given) {
        called.add(`${name}.${method}`);
        return value.apply(this, given);
      };
const persist = new InMemorySessionPersistDriver();
const connect = () => SandboxAgent.connect({ baseUrl, token, persist });
const client = await connect();
const said = {};

const kinds = (events) => events.map(({ sender, payload }) =>
  payload.params?.update?.sessionUpdate ?? payload.method ?? `${sender} answers`);
const text = (events) => events
  .filter(({ payload }) => payload.params?.update?.sessionUpdate === "agent_message_chunk")
  .map(({ payload }) => payload.params.update.content.text).join("");

// The client tells its listeners later than it answers a prompt, so wait for the event of the answer.
const turn = async (session, events, words) => {
  events.length = 0;
  const answer = await session.prompt([{ type: "text", text: words }]);
  const deadline = Date.now() + 10_000;
  while (events.at(-1)?.payload.result?.stopReason !== answer.stopReason) {
    assert(Date.now() < deadline, kinds(events).join());
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return answer.stopReason;
};

// Agents.
said.agents = (await client.listAgents()).agents.map(({ id }) => id).includes("mock");
const agent = await client.getAgent("mock", { config: true });
said.options = agent.configOptions.map(({ category }) => category);

// A session with everything chosen at once.
const session = await client.createSession({ agent: "mock", cwd, mode: "plan" });
said.mode = session.toRecord().modes?.currentModeId ?? (await session.getModes())?.currentModeId;
const events = [];
session.onEvent((event) => events.push(event));
said.stop = await turn(session, events, "thinking");
said.thinking = [kinds(events).includes("agent_thought_chunk"), text(events)];
const indices = events.map(({ eventIndex }) => eventIndex);
said.gapless = indices.every((index, n) => n === 0 || index === indices[n - 1] + 1);

// Modes, models, options.
await session.setMode("build");
const effort = (await session.getConfigOptions()).find(({ category }) => category === "thought_level").options.at(-1);
await session.setThoughtLevel(effort.value);
await session.setModel("mock-2");
said.refused = await session.setModel("no-such-model").catch(() => "refused");
await session.setConfigOption("permission_mode", "acceptEdits");
await session.setConfigOption("permission_mode", "default");
said.configured = (await session.getConfigOptions()).map(({ currentValue }) => currentValue);
said.getModes = (await session.getModes()).currentModeId;
await session.rawSend("session/set_mode", { modeId: "build" });
await session.apply(session.toRecord());

// Permissions.
const permitted = async (reply) => {
  const stop = session.onPermissionRequest(({ id }) => void session.respondPermission(id, reply));
  const reason = await turn(session, events, `permission ${reply}`);
  stop();
  return [reason, text(events)];
};
said.once = await permitted("once");
said.reject = await permitted("reject");
said.always = await permitted("always");

// A question is asked as a permission.
const stop = session.onPermissionRequest((asked) =>
  void session.rawRespondPermission(asked.id, { outcome: { outcome: "selected", optionId: asked.options[1].optionId } }));
await turn(session, events, "question");
stop();
said.question = text(events);

// An error of the turn is an error of the prompt, and the connection lives.
said.failed = await session.prompt([{ type: "text", text: "error" }]).catch((error) => [error.name, error.code]);

// Two sessions at once, and one destroyed in the middle of its turn.
const other = await client.createSession({ agent: "mock", cwd });
const slow = other.prompt([{ type: "text", text: "slow" }]);
const quick = await session.prompt([{ type: "text", text: "hello" }]);
await client.destroySession(other.id);
said.both = [quick.stopReason, (await slow).stopReason];
said.servers = (await client.listAcpServers()).servers.map(({ agent }) => agent);
said.ids = [session, other].map((each) => each.agentSessionId);

// What the client keeps.
said.kept = [
  (await client.listSessions()).items.length,
  (await client.getSession(session.id)).agentSessionId === session.agentSessionId,
  (await client.getEvents({ sessionId: session.id })).items.length > 0,
  (await session.refresh()).id === session.id,
  (await client.resumeOrCreateSession({ id: session.id, agent: "mock", cwd })).agentSessionId === session.agentSessionId,
];

// Resumed by another client.
await client.dispose();
const again = await connect();
const resumed = await again.resumeSession(session.id);
const seen = [];
resumed.onEvent((event) => seen.push(event));
said.resumed = await turn(resumed, seen, "once more");
said.resumedText = text(seen).endsWith("(message 1 of this conversation)");
said.resumedId = resumed.agentSessionId;
await again.dispose();

said.called = [...called];
assert(said.agents);
console.log(JSON.stringify(said));
process.exit(0);
