/** Tools that are functions of the program, with a real daemon and the mock agent. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type ClientTool, type SandboxAgent, type ToolSpec, WrongUsage, toolImage } from "sandbox-agentd";
import { TestDaemon } from "./daemons.js";

const daemon = await TestDaemon.running();
const client = await daemon.connect();
after(() => daemon.stop());

const CALL = 'call weather {"city": "Bonn"}';
const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const weather = {
  name: "weather",
  description: "The weather in a city.",
  schema,
  run: ({ city }: { city: string }) => `rain in ${city}`,
} satisfies ClientTool;

async function said(tool: ClientTool, by: SandboxAgent = client): Promise<string> {
  const session = await by.sessions.create({ agent: "mock", tools: [tool] });
  return (await session.prompt(CALL)).text;
}

test("an object with a schema and `run` is enough", async () => {
  assert.equal(await said(weather), "weather returned: rain in Bonn");
  const { schema: inputSchema, ...rest } = weather;
  assert.equal(await said({ ...rest, inputSchema }), "weather returned: rain in Bonn");
  assert.equal(await said({ ...rest, schema: { toJSONSchema: () => schema } }), "weather returned: rain in Bonn");
});

test("what `run` returns becomes text, an error is one of the tool, and images go along", async () => {
  const returned: [() => unknown, string][] = [
    [() => undefined, "weather returned: "],
    [async () => ({ rain: true }), 'weather returned: {"rain":true}'],
    [() => ["a map", toolImage(new Uint8Array([1, 2]))], "weather returned: a map[image]"],
    [() => Promise.reject(new RangeError("no such city")), "weather failed: RangeError: no such city"],
    [() => 1n, "weather failed: TypeError: Do not know how to serialize a BigInt"],
    [() => ({ data: "%", mime: "image/png" }), "weather failed: the result of the tool was refused: an image is not"],
  ];
  const answers = await Promise.all(returned.map(([run]) => said({ ...weather, run })));
  answers.forEach((answer, index) => assert.ok(answer.startsWith(returned[index]?.[1] ?? "?"), answer));
});

test("a tool that cannot be offered is refused", async () => {
  const wrong: [unknown, RegExp][] = [
    [{ run: () => "" }, /a tool has a name/],
    [{ ...weather, run: "rain" }, /`run` of the tool `weather` is not a function/],
    [{ ...weather, schema: new Map() }, /schema of the tool `weather` is not a JSON Schema/],
  ];
  for (const [tool, message] of wrong) {
    await assert.rejects(said(tool as ClientTool), (error) => error instanceof WrongUsage && message.test(error.message));
  }
  await assert.rejects(client.sessions.create({ agent: "mock", tools: [weather, weather] }), /two tools are called/);
});

test("a call without a function waits, and a restarted program gives its functions again", async () => {
  const spec: ToolSpec = { name: "weather", inputSchema: schema };
  const session = await client.sessions.create({ agent: "mock", tools: [spec] });
  const turn = session.prompt(CALL, { answerTimeoutMs: 100, idempotencyKey: "one" });
  await assert.rejects(async () => await turn, {
    name: "AnswerNeeded",
    message: /the result of your tool `weather`.*`sessions.get`.*`session.replyToolCall`/,
  });
  const restarted = await (await daemon.connect()).sessions.get(session.id, { tools: [weather] });
  assert.equal((await restarted.prompt(CALL, { idempotencyKey: "one" })).text, "weather returned: rain in Bonn");
  assert.equal((await turn).text, "weather returned: rain in Bonn");
});

test("calls are served for a prompt of another client, and each runs once", async () => {
  let runs = 0;
  const counted = { ...weather, run: () => `run ${++runs}` };
  const session = await client.sessions.create({ agent: "mock", tools: [counted] });
  const served = session.serveTools();
  const other = await (await daemon.connect()).sessions.get(session.id);
  assert.equal((await other.prompt(CALL)).text, "weather returned: run 1");
  assert.equal((await session.prompt(CALL)).text, "weather returned: run 2");
  await session.terminate();
  await served;
  const stop = new AbortController();
  stop.abort(new Error("enough"));
  await assert.rejects(session.serveTools({ signal: stop.signal }), /enough/);
});

test("a cancelled turn does not wait for a function that runs", async () => {
  let done = (): void => {};
  const endless = { ...weather, run: () => new Promise<void>((resolve) => (done = resolve)) };
  const session = await client.sessions.create({ agent: "mock", tools: [endless] });
  const turn = session.prompt(CALL, { timeoutMs: 60_000 });
  for await (const event of turn) {
    if (event.type === "item.started" && event.data.item.kind === "status") await turn.cancel();
  }
  assert.equal((await session.info()).state, "idle");
  done();
});
