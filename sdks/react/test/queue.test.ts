import { Operations } from "sandbox-agentd";
import { expect, test } from "vitest";
import { allWaiting } from "../src/composer/queueList.js";

test("a queue of several pages is read to its end", async () => {
  const pages: Readonly<Record<string, object>> = {
    "/v1/sessions/s/queue": { messages: [{ turnId: "turn_1" }], nextCursor: "a b" },
    "/v1/sessions/s/queue?cursor=a+b": { messages: [{ turnId: "turn_2" }] },
  };
  const client = new Operations({
    baseUrl: "http://a",
    fetch: async (url) => Response.json(pages[String(url).replace("http://a", "")]),
  });
  expect((await allWaiting(client, "s")).map(({ turnId }) => turnId)).toEqual(["turn_1", "turn_2"]);
});
