/** Streams: a lost connection is made again, and every event comes once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DaemonUnreachable,
  type Event,
  SandboxAgent,
  SessionNotFound,
  type StreamConnection,
  Unavailable,
} from "sandbox-agentd";
import { ending, events, hangUp, nothingMore, problem, scripted, type ScriptedServer } from "./servers.js";

function connect(server: ScriptedServer, reconnectTimeoutMs = 20_000): Promise<SandboxAgent> {
  return SandboxAgent.connect({ baseUrl: server.baseUrl, token: "t", reconnectTimeoutMs });
}

async function sequencesUntil(stream: AsyncIterable<Event>, last: number): Promise<number[]> {
  const seen: number[] = [];
  for await (const event of stream) {
    seen.push(event.sequence);
    if (event.sequence === last) break;
  }
  return seen;
}

test("a stream goes on after the last event that was handed out, however the connection ends", async () => {
  const server = await scripted(
    events([1, 2], "break"),
    hangUp,
    problem("unavailable", 503),
    events([3], "end"),
    events([4, 5], "stay"),
  );
  const client = await connect(server);
  assert.deepEqual(await sequencesUntil(client.streamEvents("s"), 5), [1, 2, 3, 4, 5]);
  const asked = server.requests.map((request) => request.headers["last-event-id"]);
  assert.deepEqual(asked, [undefined, "2", "2", "2", "3"]);
});

test("a reader of all sessions who is cut off before the first event goes on from where it began", async () => {
  const server = await scripted((answer) => {
    answer.writeHead(200, { "content-type": "text/event-stream" });
    answer.write("retry: 3000\n\n: position 41\nid: 41\n\n", () => answer.destroy());
  }, events([42], "stay"));
  const client = await connect(server);
  for await (const entry of client.streamAllEvents()) {
    assert.ok(entry.kind === "event" && entry.position === 42);
    break;
  }
  assert.equal(server.requests[1]?.headers["last-event-id"], "41");
});

test("a stream tells when its connection is there and when it is not, and tries again when it is asked to", async () => {
  const server = await scripted(events([1], "break"), problem("unavailable", 503, {}, { "retry-after": "20" }), events([2], "stay"));
  const client = await connect(server);
  const told: string[] = [];
  const onConnection = (connection: StreamConnection): void => {
    told.push(connection.state);
    if (connection.state !== "waiting") return;
    assert.ok(connection.error instanceof (told.length === 2 ? DaemonUnreachable : Unavailable));
    // Without it the test would take 20 seconds.
    if (connection.retryAt > Date.now() + 10_000) connection.retry();
  };
  const began = Date.now();
  assert.deepEqual(await sequencesUntil(client.streamEvents("s", { onConnection }), 2), [1, 2]);
  assert.deepEqual(told, ["open", "waiting", "waiting", "open"]);
  assert.ok(Date.now() - began < 15_000);
});

test("a stream of all sessions that does not resume begins with what comes next", async () => {
  const server = await scripted(events([5], "break"), events([3], "stay"));
  const client = await connect(server);
  const positions: number[] = [];
  for await (const entry of client.streamAllEvents({ resume: false })) {
    if (entry.kind === "event") positions.push(entry.position);
    if (positions.length === 2) break;
  }
  assert.deepEqual(positions, [5, 3]);
  assert.deepEqual(server.requests.map((request) => request.headers["last-event-id"]), [undefined, undefined]);
});

test("a connection that is silent for too long is replaced", async () => {
  const server = await scripted(events([1], "stay"), events([2], "stay"));
  const client = await SandboxAgent.connect({ baseUrl: server.baseUrl, silenceTimeoutMs: 200 });
  assert.deepEqual(await sequencesUntil(client.streamEvents("s"), 2), [1, 2]);
});

test("an event that comes again is left out", async () => {
  const server = await scripted(events([1, 2, 3], "break"), events([2, 3, 4], "stay"));
  const client = await connect(server);
  assert.deepEqual(await sequencesUntil(client.streamEvents("s"), 4), [1, 2, 3, 4]);
});

test("a stream begins after the offset", async () => {
  const server = await scripted(events([8], "stay"));
  const client = await connect(server);
  assert.deepEqual(await sequencesUntil(client.streamEvents("s", { offset: 7, includeRaw: true }), 8), [8]);
  assert.equal(server.requests[0]?.path, "/v1/sessions/s/events/sse?offset=7&includeRaw=true");
});

test("a streamed message is sent again under its key, and its events come once", async () => {
  const started = events([5], "break", "turn.started");
  const server = await scripted(started, events([5, 6], "end", "turn.ended"));
  const client = await connect(server);
  assert.deepEqual(await sequencesUntil(client.streamMessage("s", "hello"), 6), [5, 6]);
  const keys = server.requests.map((request) => request.headers["idempotency-key"]);
  assert.ok(keys[0]);
  assert.equal(keys[0], keys[1]);
});

test("a stream ends with the session", async () => {
  const server = await scripted(events([9], "stay", "session.ended"));
  const client = await connect(server);
  assert.deepEqual(await sequencesUntil(client.streamEvents("s"), -1), [9]);
});

test("a stream is over when the daemon says that nothing more comes", async () => {
  const server = await scripted(ending([8, 9]));
  const client = await connect(server);
  assert.deepEqual(await sequencesUntil(client.streamEvents("s", { offset: 7 }), -1), [8, 9]);
  assert.equal(server.requests.length, 1);
});

test("a reader who comes back and has everything is done", async () => {
  const server = await scripted(events([8], "break"), nothingMore);
  const client = await connect(server);
  assert.deepEqual(await sequencesUntil(client.streamEvents("s", { offset: 7 }), -1), [8]);
  assert.equal(server.requests[1]?.headers["last-event-id"], "8");
});

test("what cannot get better is thrown at once", async () => {
  const server = await scripted(events([1], "break"), problem("session_not_found", 404));
  const client = await connect(server);
  await assert.rejects(sequencesUntil(client.streamEvents("s"), -1), SessionNotFound);
});

test("a daemon that does not come back is given up", async () => {
  const server = await scripted(events([1], "break"), hangUp);
  const client = await connect(server, 300);
  await assert.rejects(sequencesUntil(client.streamEvents("s"), -1), (error) => {
    assert.ok(error instanceof DaemonUnreachable);
    assert.match(error.message, /the stream broke, and .* did not come back/);
    return true;
  });
});

test("a signal ends a stream that waits, and one that tries to come back", async () => {
  for (const answer of [events([1], "stay"), events([1], "break")]) {
    const client = await connect(await scripted(answer, hangUp));
    const control = new AbortController();
    const reason = new Error("enough");
    const reading = sequencesUntil(client.streamEvents("s", { signal: control.signal }), -1);
    setTimeout(() => control.abort(reason), 100);
    await assert.rejects(reading, reason);
  }
});

test("a reader who leaves closes the connection", async () => {
  let closed = (): void => {};
  const gone = new Promise<void>((resolve) => (closed = resolve));
  const stay = events([1], "stay");
  const server = await scripted((answer, seen) => {
    answer.on("close", () => closed());
    stay(answer, seen);
  });
  const client = await connect(server);
  assert.deepEqual(await sequencesUntil(client.streamEvents("s"), 1), [1]);
  await gone;
});

test("a frame may have many megabytes and come in many pieces", async () => {
  const text = "x".repeat(16 << 20);
  const server = await scripted((answer) => {
    answer.writeHead(200, { "content-type": "text/event-stream" });
    answer.write(`id: 1\ndata: ${JSON.stringify({ sequence: 1, type: "item.delta", data: { delta: text } })}\n\n`);
  });
  const client = await connect(server);
  for await (const event of client.streamEvents("s")) {
    assert.ok(event.type === "item.delta" && event.data.delta === text);
    break;
  }
});

test("a connection that is silent before its answer is replaced too", async () => {
  const server = await scripted(() => undefined, events([1], "stay"));
  const client = await SandboxAgent.connect({ baseUrl: server.baseUrl, silenceTimeoutMs: 200 });
  assert.deepEqual(await sequencesUntil(client.streamEvents("s"), 1), [1]);
});

test("an error of onConnection reaches the reader", async () => {
  const server = await scripted(events([1], "break"));
  const client = await connect(server);
  const reason = new Error("a bug of the program");
  const onConnection = (connection: StreamConnection): void => {
    if (connection.state === "waiting") throw reason;
  };
  await assert.rejects(sequencesUntil(client.streamEvents("s", { onConnection }), 2), reason);
});

test("a page of another server is not a stream", async () => {
  const server = await scripted((answer) => answer.end("<html>"));
  const client = await connect(server);
  await assert.rejects(sequencesUntil(client.streamEvents("s"), 1), { name: "NotADaemon" });
  await assert.rejects(async () => void (await client.fs.watch().next()), { name: "NotADaemon" });
});
