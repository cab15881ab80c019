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
