import { Operations } from "sandbox-agentd";
import { expect, test, vi } from "vitest";
import { Connection } from "../src/state/connection.js";

test("a stream that is closed and opened again at once still tries again when the network is back", async () => {
  const page = new EventTarget();
  vi.stubGlobal("window", page);
  let tries = 0;
  const fetch = async () => {
    tries += 1;
    throw new Error("no network");
  };
  const connection = new Connection(new Operations({ baseUrl: "http://a", fetch }));
  connection.retain();
  connection.close();
  connection.retain();
  // Each wait is longer than the last: this one takes more than 1.5 s.
  await vi.waitFor(() => expect(tries).toBeGreaterThan(4), 5_000);
  const before = tries;
  page.dispatchEvent(new Event("online"));
  await vi.waitFor(() => expect(tries).toBeGreaterThan(before), 1_000);
  connection.close();
});
