/** Requests: what is tried again, what is not, and which error a problem becomes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as sdk from "sandbox-agentd";
import { SandboxAgent } from "sandbox-agentd";
import { type Answer, hangUp, json, problem, scripted, type ScriptedServer } from "./servers.js";

const SENT = json({ turnId: "turn_1", queued: false }, 202);

function connect(server: ScriptedServer, options: Partial<sdk.ConnectOptions> = {}): Promise<SandboxAgent> {
  return SandboxAgent.connect({ baseUrl: server.baseUrl, token: "t", ...options });
}

test("every problem type is a class with its facts", async () => {
  for (const [type, Kind] of Object.entries(sdk.PROBLEMS)) {
    const server = await scripted(problem(type, 418, { sessionId: "s", agent: "mock", field: "offset" }));
    const client = await connect(server);
    await assert.rejects(client.getSession("s"), (error) => {
      assert.ok(error instanceof Kind && error instanceof sdk.Problem && error instanceof sdk.SandboxAgentError);
      assert.deepEqual(
        [error.constructor, error.name, error.type, error.status, error.message, error.sessionId, error.agent],
        [Kind, Kind.name, type, 418, `it was ${type}`, "s", "mock"],
      );
      assert.deepEqual(error.facts, { sessionId: "s", agent: "mock", field: "offset" });
      return true;
    });
  }
});

test("a client can be made without a request, and says what is wrong with its address", async () => {
  const server = await scripted(json({ status: "ok", version: sdk.VERSION }));
  const client = new SandboxAgent({ baseUrl: server.baseUrl });
  assert.deepEqual(server.requests, []);
  assert.equal((await client.getHealth()).status, "ok");
  assert.throws(() => new SandboxAgent({} as sdk.ConnectOptions), sdk.WrongUsage);
  assert.throws(() => new SandboxAgent({ baseUrl: "localhost" }), sdk.WrongUsage);
});

test("the address of a terminal holds the token", () => {
  const client = new SandboxAgent({ baseUrl: "https://daemon.example/", token: "t+1" });
  assert.equal(client.processes.terminalUrl("proc 1"), "wss://daemon.example/v1/processes/proc%201/terminal/ws?access_token=t%2B1");
});

test("a call on a machine can name the node that it is meant for", async () => {
  const server = await scripted(json({ processes: [] }), json({}), json({ from: "a", to: "b" }), json({}));
  const client = new SandboxAgent({ baseUrl: server.baseUrl });
  await client.processes.list({ owner: "user", node: "two" });
  await client.processes.get("proc_1", { node: "two" });
  await client.fs.move("a", "b", { node: "two" });
  await client.desktop.status();
  assert.deepEqual(
    server.requests.map((request) => request.path),
    [
      "/v1/processes?owner=user&node=two",
      "/v1/processes/proc_1?node=two",
      "/v1/fs/move?node=two",
      "/v1/desktop/status",
    ],
  );
});

test("a queue is read page by page", async () => {
  const page = (turnId: string, nextCursor?: string) => json({ messages: [{ turnId }], nextCursor });
  const server = await scripted(json({ sessionId: "s", eventCount: 0 }), page("turn_1", "1"), page("turn_2"));
  const session = await (await connect(server)).sessions.get("s");
  const waits: string[] = [];
  for await (const { turnId } of session.queue()) waits.push(turnId);
  assert.deepEqual(waits, ["turn_1", "turn_2"]);
  assert.equal(server.requests[2]?.path, "/v1/sessions/s/queue?cursor=1");
});

test("a problem of an unknown type is a plain problem", async () => {
  const client = await connect(await scripted(problem("out_of_coffee", 418)));
  await assert.rejects(client.getHealth(), (error) => {
    assert.ok(error instanceof sdk.Problem && error.constructor === sdk.Problem);
    assert.equal(error.type, "out_of_coffee");
    return true;
  });
});

test("an answer of another server is told apart from a daemon's", async () => {
  const proxy = await connect(await scripted(json("<html>", 502)), { maxRetries: 0 });
  await assert.rejects(proxy.getHealth(), {
    name: "DaemonUnreachable",
    message: /status 502: the daemon behind it cannot be reached/,
  });
  const page: Answer = (answer) => answer.end("<html>");
  for (const other of [json("<html>", 404), page]) {
    const client = await connect(await scripted(other));
    await assert.rejects(client.getHealth(), { name: "NotADaemon" });
  }
  const index = await scripted();
  await assert.rejects(connect(index, { fetch: async () => Response.json(["an", "index"]) }), { name: "NotADaemon" });
});

test("an installation tells how it gets on", async () => {
  const frames = [
    'event: progress\ndata: {"stage":"downloading","file":"claude","bytes":5,"total":10}\n\n',
    'event: result\ndata: {"alreadyInstalled":false,"version":"1.0","path":"/p","source":"npm"}\n\n',
  ];
  const install: Answer = (answer) => {
    answer.writeHead(200, { "content-type": "text/event-stream" });
    answer.end(frames.join(""));
  };
  const server = await scripted(install);
  const steps: sdk.Progress[] = [];
  const onProgress = (step: sdk.Progress): void => void steps.push(step);
  const installed = await (await connect(server)).installAgent("claude", {}, { onProgress });
  assert.deepEqual([installed.version, steps[0]?.stage, steps[0]?.bytes], ["1.0", "downloading", 5]);
  assert.equal(server.requests[0]?.headers.accept, "text/event-stream");
  frames[1] = 'event: problem\ndata: {"type":"urn:sandbox-agent:error:install_failed","detail":"no disk"}\n\n';
  await assert.rejects((await connect(server)).installAgent("claude", {}, { onProgress }), sdk.InstallFailed);
});

test("a process that exited tells its exit code and stderr", async () => {
  const stderr = { truncated: false, head: "boom" };
  const client = await connect(await scripted(problem("agent_process_exited", 500, { exitCode: 3, stderr })));
  await assert.rejects(client.listModels("codex"), (error) => {
    assert.ok(error instanceof sdk.AgentProcessExited);
    assert.deepEqual([error.exitCode, error.stderr], [3, stderr]);
    return true;
  });
});

test("what the daemon puts off is tried again, not before Retry-After", async () => {
  const later = problem("unavailable", 503, {}, { "retry-after": "1" });
  const server = await scripted(later, json({ sessionId: "s" }));
  const client = await connect(server);
  const began = performance.now();
  await client.newSession({ agent: "mock" });
  assert.ok(performance.now() - began >= 1000);
  assert.equal(server.requests.length, 2);
});

test("a wait that the daemon wants to be long is left to the program", async () => {
  const server = await scripted(problem("rate_limited", 429, {}, { "retry-after": "60" }));
  const client = await connect(server);
  await assert.rejects(client.getHealth(), (error) => error instanceof sdk.RateLimited && error.retryAfter === 60);
  assert.equal(server.requests.length, 1);
});

test("a message that got no answer is sent again under the same key", async () => {
  const server = await scripted(hangUp, hangUp, SENT);
  const client = await connect(server);
  assert.deepEqual(await client.sendMessage("s", "hello"), { turnId: "turn_1", queued: false });
  const keys = server.requests.map((request) => request.headers["idempotency-key"]);
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
});

test("two messages have two keys, and a key of the program's is kept", async () => {
  const server = await scripted(SENT);
  const client = await connect(server);
  await client.sendMessage("s", "one");
  await client.sendMessage("s", "two");
  await client.sendMessage("s", { message: "three", fresh: true }, { idempotencyKey: "mine" });
  const keys = server.requests.map((request) => request.headers["idempotency-key"]);
  assert.equal(new Set(keys).size, 3);
  assert.deepEqual([keys[2], server.requests[2]?.body], ["mine", '{"message":"three","fresh":true}']);
});

/** The connection is lost in the middle of the answer. */
const cutOff: Answer = (answer) => {
  answer.writeHead(200, { "content-type": "application/json", "content-length": "100" });
  answer.write('{"status":', () => answer.destroy());
};

test("an answer that is cut off is like none", async () => {
  const server = await scripted(cutOff, json({ status: "ok" }), cutOff);
  const client = await connect(server);
  assert.equal((await client.getHealth()).status, "ok");
  await assert.rejects(client.newSession({ agent: "mock" }), sdk.DaemonUnreachable);
  assert.equal(server.requests.length, 3);
});

test("what could be done twice is not tried again when no answer came", async () => {
  const server = await scripted(hangUp);
  const client = await connect(server);
  await assert.rejects(client.newSession({ agent: "mock" }), sdk.DaemonUnreachable);
  await assert.rejects(client.replyPermission("s", "perm_1", { reply: "once" }), sdk.DaemonUnreachable);
  assert.equal(server.requests.length, 2);
});

test("a daemon that refuses for good is given up, and the error says where it should be", async () => {
  const server = await scripted(hangUp);
  const client = await connect(server, { maxRetries: 1 });
  await assert.rejects(client.getHealth(), (error) => {
    assert.ok(error instanceof sdk.DaemonUnreachable);
    assert.match(error.message, /no answer from http:\/\/127\.0\.0\.1:\d+.*is the daemon running there\?/);
    return true;
  });
  assert.equal(server.requests.length, 2);
});

test("a signal ends a request, and the wait before its next try", async () => {
  const server = await scripted(problem("unavailable", 503, {}, { "retry-after": "20" }));
  const client = await connect(server);
  const reason = new Error("enough");
  const control = new AbortController();
  const health = client.getHealth({ signal: control.signal });
  setTimeout(() => control.abort(reason), 50);
  await assert.rejects(health, reason);
});

test("ids are encoded, so that none can leave its place", async () => {
  const server = await scripted(json({}));
  const client = await connect(server);
  await client.getSession("..agents?x=#");
  assert.equal(server.requests[0]?.path, "/v1/sessions/..agents%3Fx%3D%23");
  // `DELETE /v1/sessions/s/queue/..` would delete the session, and a slash names a resource even if it is encoded.
  for (const id of ["..", ".", "", "../agents", "x/y"]) await assert.rejects(client.withdrawMessage("s", id), sdk.WrongUsage);
  assert.equal(server.requests.length, 1);
});

test("a number that JSON cannot express is refused, because null would remove a limit", async () => {
  const server = await scripted(json({}));
  const client = await connect(server);
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
    await assert.rejects(client.updateSession("s", { limits: { maxCostUsd: value } }), sdk.WrongUsage);
  }
  assert.equal(server.requests.length, 0);
  await client.updateSession("s", { limits: { maxCostUsd: null } });
  assert.equal(server.requests[0]?.body, '{"limits":{"maxCostUsd":null}}');
});

test("another version of the daemon is told once", async () => {
  const told: string[] = [];
  const answer = json({}, 200, { "x-sandbox-agent-version": "9.9.9" });
  const client = await connect(await scripted(answer), { onWarning: (message) => told.push(message) });
  await client.getHealth();
  await client.getHealth();
  assert.deepEqual(told, [`the daemon is version 9.9.9, this client is ${sdk.VERSION}: something may not work`]);
});
