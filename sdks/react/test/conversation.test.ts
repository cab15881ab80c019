import { type Event, Operations } from "sandbox-agentd";
import { expect, test, vi } from "vitest";
import { Connection } from "../src/state/connection.js";
import { Conversation } from "../src/state/conversation.js";

const event = (sequence: number) => ({ sequence, type: "agent.unknown", data: {}, time: "2026-01-01T00:00:00.000Z" }) as unknown as Event;

/** A daemon whose log grows, and whose pages can be held back after they were made. */
class Log {
  events: Event[] = [];
  release: (() => void)[] = [];
  /** What the information about the session waits for. */
  described: Promise<void> = Promise.resolve();

  conversation = new Conversation(new Connection(new Operations({ baseUrl: "http://a", fetch: (url) => this.#answer(new URL(String(url))) })), "s");

  async #answer({ pathname, searchParams }: URL): Promise<Response> {
    if (pathname === "/v1/sessions/s") {
      await this.described;
      return Response.json({ sessionId: "s", state: "idle" });
    }
    const events = this.events.slice(Number(searchParams.get("offset")));
    await new Promise<void>((resolve) => this.release.push(resolve));
    return Response.json({ events, hasMore: false });
  }

  /** Give the next page out, once it is asked for. */
  async answer(): Promise<void> {
    await vi.waitFor(() => expect(this.release).not.toEqual([]));
    this.release.shift()?.();
  }
}

const sequences = (conversation: Conversation) => conversation.snapshot.events.map(({ sequence }) => sequence);

test("an event that comes while an empty page is under way is not left out", async () => {
  const log = new Log();
  const { conversation } = log;
  const caughtUp = conversation.catchUp();
  log.events.push(event(1));
  conversation.take(event(1));
  await log.answer();
  await log.answer();
  await caughtUp;
  expect(sequences(conversation)).toEqual([1]);
});

test("an event that the log does not have is not requested forever", async () => {
  const log = new Log();
  const { conversation } = log;
  const caughtUp = conversation.catchUp();
  conversation.take(event(5));
  await log.answer();
  await log.answer();
  await caughtUp;
  expect(log.release).toEqual([]);
  expect(sequences(conversation)).toEqual([]);
});

test("an event that comes after the last page, while the session's information is under way, is not left out", async () => {
  const log = new Log();
  const { conversation } = log;
  let describe: () => void = () => undefined;
  log.described = new Promise((resolve) => (describe = resolve));
  log.events.push(event(1));
  const caughtUp = conversation.catchUp();
  await log.answer();
  await vi.waitFor(() => expect(sequences(conversation)).toEqual([1]));
  log.events.push(event(2));
  conversation.take(event(2));
  describe();
  await caughtUp;
  expect(sequences(conversation)).toEqual([1, 2]);
});

test("an event between a page and the opening of the stream is not left out", async () => {
  const log = new Log();
  const { conversation } = log;
  const caughtUp = conversation.catchUp();
  await vi.waitFor(() => expect(log.release).not.toEqual([]));
  log.events.push(event(1));
  // The stream is open now, and was not when the event came.
  void conversation.catchUp();
  await log.answer();
  await log.answer();
  await caughtUp;
  expect(sequences(conversation)).toEqual([1]);
});
