import { afterEach, expect, test, vi } from "vitest";
import { drafts, history } from "../src/composer/memory.js";

afterEach(() => vi.restoreAllMocks());

test("a draft that the browser does not take is kept while the page is open", () => {
  drafts.set("s", "short");
  vi.spyOn(sessionStorage, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  drafts.set("s", "very long");
  expect(drafts.get("s")).toBe("very long");
  expect(sessionStorage.getItem("sandbox-agent.draft.s")).toBeNull();
  history.add("very long");
  expect(history.at(history.length - 1)).toBe("very long");
});

test("a message that is sent again has the same key until the draft changes or it has arrived", () => {
  drafts.set("s", "hello");
  const key = drafts.keyFor("s", "hello");
  drafts.set("s", "hello"); // the field is shown again
  expect([drafts.keyFor("s", "hello") === key, drafts.keyFor("other", "hello") === key]).toEqual([true, false]);
  const withFile = drafts.keyFor("s", "hello and a file");
  expect(withFile).not.toBe(key);
  drafts.set("s", "hello!");
  drafts.set("s", "hello");
  const rewritten = drafts.keyFor("s", "hello");
  expect([key, withFile]).not.toContain(rewritten);
  drafts.sent("s", "hello");
  drafts.set("s", "hello");
  expect(drafts.keyFor("s", "hello")).not.toBe(rewritten);
});

test("a message that was sent is no draft, also in a field that is open", () => {
  const told: string[] = [];
  const stop = drafts.onSent((sessionId, text) => told.push(`${sessionId}: ${text}`));
  drafts.set("s", "hello");
  drafts.set("other", "hello");
  drafts.sent("s", "hello");
  expect([drafts.get("s"), drafts.get("other")]).toEqual(["", "hello"]);
  drafts.set("s", "more");
  drafts.sent("s", "hello");
  expect(drafts.get("s")).toBe("more");
  stop();
  drafts.sent("s", "more");
  expect(told).toEqual(["s: hello", "s: hello"]);
});
