/** Sessions against a real daemon: turns, answers, the queue, and what a program that is wrong gets to read. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { after, test } from "node:test";
import {
  type Event,
  METHODS,
  NotFound,
  SandboxAgent,
  type Session,
  SessionAlreadyExists,
  SessionNotFound,
  TokenInvalid,
  WrongUsage,
} from "sandbox-agentd";
import { TestDaemon } from "./daemons.js";

const daemon = await TestDaemon.running();
const client = await daemon.connect();
after(() => daemon.stop());

function mock(): Promise<Session> {
  return client.sessions.create({ agent: "mock" });
}

/** The error's words, all of them: they are the help that the program gets. */
async function words(failing: Promise<unknown> | (() => unknown)): Promise<string> {
  try {
    await (typeof failing === "function" ? failing() : failing);
  } catch (error) {
    assert.ok(error instanceof WrongUsage, String(error));
    return error.message;
  }
  return assert.fail("it did not fail");
}

test("an awaited turn is its result", async () => {
  const session = await mock();
  const result = await session.prompt("hello");
  assert.deepEqual(
    [result.stopReason, result.text, result.errors],
    ["end_turn", "You said: hello (message 1 of this conversation)", []],
  );
  assert.ok(result.durationMs !== null && result.usage?.output_tokens);
  const failed = await session.prompt("error", { throwOnError: false });
  assert.deepEqual([failed.stopReason, failed.errors.length], ["error", 1]);
});

test("the text of a turn is the agent's answer, without thinking, tools and sub-agents", async () => {
  for (const prompt of ["thinking", "subagent", "tool"]) {
    const pieces: string[] = [];
    for await (const piece of (await mock()).prompt(prompt).text()) pieces.push(piece);
    const { text } = await (await mock()).prompt(prompt);
    assert.ok(text);
    assert.equal(pieces.join(""), text.replaceAll("\n\n", ""), prompt);
  }
});

test("a turn whose text or events were read can be awaited for its result", async () => {
  const session = await mock();
  const turn = session.prompt("hello");
  for await (const piece of turn.text()) assert.ok(piece);
  const { stopReason, usage } = await turn;
  assert.deepEqual([stopReason, usage?.output_tokens], ["end_turn", (await turn).usage?.output_tokens]);
  const left = session.prompt("permission a");
  for await (const event of left) {
    if (event.type !== "permission.requested") continue;
    await session.replyPermission(event.data.permission_id, "once");
    break;
  }
  assert.equal((await left).text, "The command said: a");
});

test("a time limit that is longer than any timer is not over at once", async () => {
  const session = await mock();
  for (const timeoutMs of [2 ** 31, Infinity]) {
    assert.equal((await session.prompt("pace 5 20", { timeoutMs })).stopReason, "end_turn");
  }
});

test("a failed turn throws where its text is read, and not where its events are", async () => {
  const session = await mock();
  const pieces: string[] = [];
  await assert.rejects(async () => {
    for await (const piece of session.prompt("error").text()) pieces.push(piece);
  }, /^TurnFailed: the model is overloaded/);
  assert.equal(pieces.join(""), "I am about to fail.");
  for await (const event of session.prompt("error")) void event;
});

test("a turn that waits too long in the queue is withdrawn, and the running one goes on", async () => {
  const session = await mock();
  const running = session.prompt("pace 1000 50");
  await running.sent;
  await assert.rejects(async () => await session.prompt("second", { timeoutMs: 300 }), {
    name: "TurnTimeout",
    message: "the turn took longer than 300 ms",
  });
  assert.equal((await client.getQueue(session.id)).messages.length, 0);
  assert.equal((await session.info()).state, "running");
  await running.cancel();
  assert.equal((await running).stopReason, "interrupted");
});

test("a turn that has ended cancels no other", async () => {
  const session = await mock();
  const first = session.prompt("hello");
  await first.sent;
  const other = session.prompt("pace 1000 50");
  let isCancelled = false;
  for await (const event of other) {
    if (isCancelled || event.type !== "item.delta" || event.source !== "agent") continue;
    await first.cancel();
    assert.equal((await session.info()).state, "running");
    await other.cancel();
    isCancelled = true;
  }
  assert.ok(isCancelled);
  assert.equal((await first).stopReason, "end_turn");
});

test("a time limit holds for a daemon that does not answer", async () => {
  const mortal = await TestDaemon.running();
  const session = await (await mortal.connect()).sessions.create({ agent: "mock" });
  mortal.signal("SIGSTOP");
  await assert.rejects(async () => await session.prompt("hello", { timeoutMs: 500 }), {
    name: "TurnTimeout",
    message: /the daemon has not taken the message yet/,
  });
  await mortal.kill();
});

test("a time limit holds while the daemon is away", async () => {
  const mortal = await TestDaemon.running();
  const session = await (await mortal.connect({ maxRetries: 1 })).sessions.create({ agent: "mock" });
  const turn = session.prompt("pace 1000 50", { timeoutMs: 1500 });
  await turn.sent;
  await mortal.kill();
  await assert.rejects(async () => await turn, {
    name: "TurnTimeout",
    message: /longer than 1500 ms, and could not be cancelled/,
  });
});

test("a turn that nobody reads runs all the same", async () => {
  const session = await mock();
  const { turnId } = await session.prompt("hello").sent;
  for await (const event of session.events()) {
    if (event.type === "turn.ended" && event.data.turn_id === turnId) break;
  }
});

test("a prompt's events are its own turn, also when it waited in the queue and others read ahead", async () => {
  const session = await mock();
  const ahead = (async () => {
    for await (const event of session.events()) if (event.type === "session.ended") return;
  })();
  const turns = await Promise.all(
    ["pace 5 20", "one", "two"].map(async (message) => {
      const events: Event[] = [];
      for await (const event of session.prompt(message)) events.push(event);
      return events.map((event) => event.type).filter((type) => type.startsWith("turn."));
    }),
  );
  assert.deepEqual(turns, Array(3).fill(["turn.started", "turn.ended"]));
  await session.terminate();
  await ahead;
});

test("a message that is withdrawn gives a turn without a start", async () => {
  const session = await mock();
  const running = session.prompt("slow 60");
  await running.sent;
  const waiting = session.prompt("later");
  const { turnId, queued } = await waiting.sent;
  assert.ok(queued);
  const waits: string[] = [];
  for await (const message of session.queue()) waits.push(message.turnId);
  assert.deepEqual(waits, [turnId]);
  await client.withdrawMessage(session.id, turnId);
  assert.equal((await waiting).stopReason, null);
  await session.cancel();
  assert.equal((await running).stopReason, "interrupted");
});

test("handlers answer at once or later, with words or with more, and the nearest one is asked", async () => {
  const far = await daemon.connect({
    onPermission: () => assert.fail("a nearer one is there"),
    onQuestion: () => "Blue",
  });
  const session = await far.sessions.create({
    agent: "mock",
    onPermission: async () => ({ reply: "reject", message: "no" }),
  });
  assert.equal((await session.prompt("permission")).text, "You did not allow bash (no), so I leave it.");
  assert.equal((await session.prompt("permission a", { onPermission: () => true })).text, "The command said: a");
  assert.match((await session.prompt("question")).text, /You chose: Blue/);
  const several = await session.prompt("multi", { onQuestion: () => ["Small", ["Cheese", "Basil"], "tomorrow"] });
  assert.equal(several.text, "You chose: Small; Cheese, Basil; tomorrow.");
});

test("what was answered with always is not asked again", async () => {
  const session = await mock();
  let asked = 0;
  const onPermission = () => ((asked += 1), "always" as const);
  for (const _ of [1, 2]) assert.equal((await session.prompt("permission a", { onPermission })).stopReason, "end_turn");
  assert.equal(asked, 1);
});

test("a loop may answer by itself", async () => {
  const session = await mock();
  const texts: string[] = [];
  for await (const event of session.prompt("demo", { answerTimeoutMs: 0 })) {
    if (event.type === "permission.requested") await session.replyPermission(event.data.permission_id, "once");
    if (event.type === "question.requested") await session.replyQuestion(event.data.question_id, "Green");
    if (event.type === "question.resolved") texts.push(event.data.response ?? "");
  }
  assert.deepEqual(texts, ["Green"]);
});

test("an answer that comes second is no error", async () => {
  const session = await mock();
  const result = await session.prompt("permission a", {
    onPermission: async ({ permission_id }) => {
      await session.replyPermission(permission_id, "once");
      return "reject" as const;
    },
  });
  assert.equal(result.text, "The command said: a");
});

test("the error of a handler is thrown where the turn is read", async () => {
  const session = await mock();
  const onPermission = (): never => {
    throw new Error("I do not know");
  };
  const turn = session.prompt("permission a", { onPermission });
  for (const _ of [1, 2]) await assert.rejects(async () => await turn, /I do not know/);
  await turn.cancel();
});

test("an error that a handler got from the daemon is thrown, too", async () => {
  const session = await mock();
  const onPermission = () => session.replyPermission("perm_nobody", "once").then(() => true);
  const turn = session.prompt("permission x", { onPermission, timeoutMs: 5000 });
  await assert.rejects(Promise.resolve(turn), NotFound);
  await turn.cancel();
});

test("a session that is deleted while a handler thinks ends its turn", async () => {
  const session = await mock();
  const onPermission = () => session.delete().then(() => true);
  const { stopReason } = await session.prompt("permission x", { onPermission });
  assert.equal(stopReason, "interrupted");
});

test("a signal ends the reading and not the turn", async () => {
  const session = await mock();
  const control = new AbortController();
  await assert.rejects(async () => {
    for await (const event of session.prompt("pace 20 20", { signal: control.signal })) {
      if (event.type === "item.delta") control.abort(new Error("enough"));
    }
  }, /enough/);
  for await (const event of session.events()) {
    if (event.type === "turn.ended") return assert.equal(event.data.metadata.stop_reason, "end_turn");
  }
});

test("a signal that has fired, and a session that is gone, are errors where the turn is read and nowhere else", async () => {
  const session = await mock();
  await assert.rejects(Promise.resolve(session.prompt("hello", { signal: AbortSignal.abort() })), { name: "AbortError" });
  await session.delete();
  const turn = session.prompt("hello");
  await turn.sent.catch(() => {});
  await assert.rejects(Promise.resolve(turn), SessionNotFound);
});

test("a key of the program's own finds a turn of the past", async () => {
  const session = await mock();
  const first = await session.prompt("hello", { idempotencyKey: "k1" });
  await session.prompt("more");
  const again = await (await client.sessions.get(session.id)).prompt("hello", { idempotencyKey: "k1" });
  assert.deepEqual([again.turnId, again.text], [first.turnId, first.text]);
});

test("a session that is there is found, listed, and its past read without waiting", async () => {
  const session = await mock();
  await session.prompt("hello");
  const found = await client.sessions.get(session.id);
  assert.equal((await found.prompt("again")).text, "You said: again (message 2 of this conversation)");
  const transcript = await found.transcript();
  assert.deepEqual([transcript.totals.turns, transcript.lastSequence], [2, (await found.info()).eventCount]);
  const ids: string[] = [];
  for await (const info of client.sessions.list()) ids.push(info.sessionId);
  assert.ok(ids.includes(session.id));
});

test("a reader who has seen the end of a session does not wait for more", async () => {
  const session = await mock();
  await session.terminate();
  const { eventCount } = await session.info();
  for (const offset of [0, eventCount]) {
    const seen: string[] = [];
    for await (const event of session.events({ offset })) seen.push(event.type);
    assert.deepEqual(seen, offset === 0 ? ["session.started", "session.ended"] : []);
  }
});

test("all sessions come in one stream", async () => {
  const watched: string[] = [];
  const control = new AbortController();
  const watching = (async () => {
    for await (const entry of client.streamAllEvents({ offset: 0, signal: control.signal })) {
      if (entry.kind === "session" && entry.session.deleted) return watched.push("deleted");
      if (entry.kind === "event" && entry.event.type === "session.ended") watched.push(entry.event.session_id);
    }
  })();
  const session = await mock();
  await session.delete();
  await watching;
  assert.equal(watched.at(-1), "deleted");
});

test("every operation has a method that is there", () => {
  const found = (name: string): unknown =>
    name.split(".").reduce<unknown>((thing, part) => (thing as Record<string, unknown>)[part], client);
  const missing = Object.values(METHODS).filter((name) => typeof found(name) !== "function");
  assert.deepEqual(missing, []);
});

test("types of events narrow, and an unknown one is left over", async () => {
  const session = await mock();
  for await (const event of session.events({ follow: false })) {
    switch (event.type) {
      case "session.started":
        assert.equal(event.data.metadata?.agent, "mock");
        break;
      case "item.delta":
        event.data.delta satisfies string;
        break;
      case "session.ended":
      case "turn.started":
      case "turn.ended":
      case "item.started":
      case "item.completed":
      case "permission.requested":
      case "permission.resolved":
      case "question.requested":
      case "question.resolved":
      case "error":
      case "agent.unparsed":
        break;
      default:
        event.data satisfies unknown;
        // @ts-expect-error: nothing is known of it
        event.data.delta;
    }
  }
});

// -- programs that are wrong ---------------------------------------------------------------------

test("a wrong address says what one looks like", async () => {
  for (const baseUrl of ["127.0.0.1:2468", "", "ftp://x", "http://h/?x=1"]) {
    assert.match(await words(SandboxAgent.connect({ baseUrl })), /it should look like http:\/\/127\.0\.0\.1:2468/);
  }
  // @ts-expect-error: a program without types
  assert.match(await words(SandboxAgent.connect()), /say where the daemon is.*SandboxAgent\.start\(\)/);
});

test("a wrong token shows when the program connects", async () => {
  for (const options of [{ token: "wrong" }, {}]) {
    await assert.rejects(SandboxAgent.connect({ baseUrl: daemon.baseUrl, ...options }), (error) => {
      assert.ok(error instanceof TokenInvalid);
      assert.match(error.message, /give the daemon's token, as in connect\({ baseUrl, token }\)/);
      return true;
    });
  }
  assert.match(await words(SandboxAgent.connect({ baseUrl: daemon.baseUrl, token: "t\n" })), /use `\.trim\(\)`/);
});

test("an address without a daemon fails at once and says what to look at", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.close();
  await assert.rejects(SandboxAgent.connect({ baseUrl }), {
    name: "DaemonUnreachable",
    message: `no answer from ${baseUrl}: ECONNREFUSED; is the daemon running there?`,
  });
});

test("a session without an agent, and one that exists, are told so", async () => {
  // @ts-expect-error: a program without types
  assert.match(await words(client.sessions.create({})), /say which agent to run: client\.sessions\.create/);
  const session = await mock();
  await assert.rejects(client.sessions.create({ id: session.id, agent: "mock" }), (error) => {
    assert.ok(error instanceof SessionAlreadyExists);
    return error.sessionId === session.id;
  });
  // @ts-expect-error: a program without types
  assert.match(await words(client.getSession()), /session_id is missing/);
});

test("an empty prompt is told so", async () => {
  const session = await mock();
  assert.match(await words(() => session.prompt("")), /a prompt is a string that is not empty/);
});

test("a handler that returns nonsense is told what to return", async () => {
  const session = await mock();
  // @ts-expect-error: a program without types
  const permission = await words(async () => await session.prompt("permission a", { onPermission: () => undefined }));
  assert.match(permission, /it must be "once", "always" or "reject"/);
  await session.cancel();
  // @ts-expect-error: a program without types
  const question = await words(async () => await session.prompt("question", { onQuestion: () => 7 }));
  assert.match(question, /it must be a text, a list/);
  await session.cancel();
});

test("a turn that is read twice says where its events are", async () => {
  const session = await mock();
  const turn = session.prompt("hello");
  for await (const event of turn) void event;
  assert.match(await words(() => turn[Symbol.asyncIterator]()), /a turn can be read once.*session\.events\(\)/);
});
