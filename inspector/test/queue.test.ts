import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { allWaiting } from "../src/composer/queueList";
import { Daemon } from "../src/daemon/daemon";

test("a queue of several pages is read to its end", async () => {
  const pages: Record<string, object> = {
    "/v1/sessions/s/queue": { messages: [{ turnId: "turn_1" }], nextCursor: "a b" },
    "/v1/sessions/s/queue?cursor=a%20b": { messages: [{ turnId: "turn_2" }] },
  };
  const server = createServer((request, answer) => answer.end(JSON.stringify(pages[request.url ?? ""])));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const waiting = await allWaiting(new Daemon({ endpoint, token: null }), "s");
    expect(waiting.map(({ turnId }) => turnId)).toEqual(["turn_1", "turn_2"]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
