import type { Event } from "sdk/events";
import { expect, test } from "vitest";
import type { Daemon } from "../src/daemon/daemon";
import { Conversation } from "chat/state/conversation";

const event = (sequence: number) => ({ sequence, type: "agent.unknown", data: {}, time: "2026-01-01T00:00:00.000Z" }) as unknown as Event;

/** A daemon whose log grows, and whose pages can be held back after they were made. */
class Log {
  events: Event[] = [];
  release: (() => void)[] = [];

  daemon = {
    get: async (path: string) => {
      const events = this.events.slice(Number(new URL(path, "http://a").searchParams.get("offset")));
      await new Promise<void>((resolve) => this.release.push(resolve));
      return { events, hasMore: false };
    },
  } as unknown as Daemon;

  async answer(): Promise<void> {
    this.release.shift()?.();
    await new Promise((resolve) => setTimeout(resolve));
  }
}

const sequences = (conversation: Conversation) => conversation.snapshot.events.map(({ sequence }) => sequence);

test("an event that comes while an empty page is under way is not left out", async () => {
  const log = new Log();
  const conversation = new Conversation(log.daemon, "s");
  const caughtUp = conversation.catchUp();
  log.events.push(event(1));
  conversation.take(event(1));
  await log.answer();
  await log.answer();
  await caughtUp;
  expect(sequences(conversation)).toEqual([1]);
});

test("an event that the log does not have is not asked for for ever", async () => {
  const log = new Log();
  const conversation = new Conversation(log.daemon, "s");
  const caughtUp = conversation.catchUp();
  conversation.take(event(5));
  await log.answer();
  await log.answer();
  await caughtUp;
  expect(log.release).toEqual([]);
  expect(sequences(conversation)).toEqual([]);
});
