// Drives a session with the protocol's own SDK over HTTP or WebSocket, and prints what it saw.
//   node sdk.mjs NODE_MODULES http|ws HOST:PORT/PATH DIRECTORY
import { pathToFileURL } from "node:url";

const [modules, transport, address, cwd] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${modules}/@agentclientprotocol/sdk/dist/${name}.js`));
const { client, methods } = await load("v1/stable/acp");
const { createHttpStream } = await load("transports/http-stream");
const { createWebSocketStream } = await load("transports/ws-stream");
const stream = () => transport === "http" ? createHttpStream(`http://${address}`) : createWebSocketStream(`ws://${address}`);

let updates = [];
const of = (kind) => updates.filter(({ update }) => update.sessionUpdate === kind).map(({ update }) => update);
const text = (kind = "agent_message_chunk") => of(kind).map(({ content }) => content.text);
const until = async (holds) => {
  const deadline = Date.now() + 15_000;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`it never came: ${JSON.stringify(updates)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

const first = (field) => field.oneOf ? field.oneOf[0].const : [field.items.anyOf[0].const];
const editor = () => client({ name: "test" })
  .onNotification(methods.client.session.update, ({ params }) => void updates.push(params))
  .onRequest(methods.client.session.requestPermission, ({ params }) =>
    ({ outcome: { outcome: "selected", optionId: params.options[0].optionId } }))
  .onRequest(methods.client.elicitation.create, ({ params }) => ({
    action: "accept",
    content: Object.fromEntries(Object.entries(params.requestedSchema.properties)
      .filter(([, field]) => field.oneOf || field.items)
      .map(([key, field]) => [key, first(field)])),
  }));
const initialize = { protocolVersion: 1, clientCapabilities: { elicitation: { form: {} } } };
const said = {};

await editor().connectWith(stream(), async (ctx) => {
  const { agent } = methods;
  const prompt = (sessionId, text) =>
    ctx.request(agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  said.protocol = (await ctx.request(agent.initialize, initialize)).protocolVersion;
  const { sessionId } = await ctx.request(agent.session.new, { cwd, mcpServers: [] });
  said.session = sessionId;
  said.stop = (await prompt(sessionId, "multi")).stopReason;
  said.text = text().join("");
  updates = [];
  await prompt(sessionId, "permission hello");
  said.permitted = text().join("");
  updates = [];
  const slow = prompt(sessionId, "slow");
  await until(() => text().length > 0);
  await ctx.notify(agent.session.cancel, { sessionId });
  said.cancelled = (await slow).stopReason;
  await ctx.request(agent.session.setMode, { sessionId, modeId: "plan" });
  await until(() => of("current_mode_update").length > 0);
  said.mode = of("current_mode_update")[0].currentModeId;
  const { sessions } = await ctx.request(agent.session.list, { cwd });
  said.listed = sessions.some((each) => each.sessionId === sessionId);
  said.unknown = await prompt("no-such-session", "hello").catch(({ code }) => code);
});

updates = [];
await editor().connectWith(stream(), async (ctx) => {
  const { agent } = methods;
  await ctx.request(agent.initialize, initialize);
  await ctx.request(agent.session.load, { sessionId: said.session, cwd, mcpServers: [] });
  await until(() => text("user_message_chunk").length === 3);
  said.replayed = text("user_message_chunk");
});

console.log(JSON.stringify(said));
process.exit(0);
