import { expect, test } from "vitest";
import { allWaiting } from "chat/composer/queueList";
import type { Daemon } from "../src/daemon/daemon";

test("a queue of several pages is read to its end", async () => {
  const pages: Readonly<Record<string, object>> = {
    "/v1/sessions/s/queue": { messages: [{ turnId: "turn_1" }], nextCursor: "a b" },
    "/v1/sessions/s/queue?cursor=a%20b": { messages: [{ turnId: "turn_2" }] },
  };
  const daemon = { get: async (path: string) => pages[path] } as unknown as Daemon;
  expect((await allWaiting(daemon, "s")).map(({ turnId }) => turnId)).toEqual(["turn_1", "turn_2"]);
});
