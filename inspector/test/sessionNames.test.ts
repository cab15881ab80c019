/** What a session without a title is called. */
import { type Entry, foldTranscript } from "sandbox-agentd";
import { expect, test } from "vitest";
import { firstPrompt } from "../src/state/sessionNames";
import { recordings } from "../../sdks/react/test/recordings";

test.each(recordings())("$name: its name is the start of its first prompt", ({ events }) => {
  const { entries } = foldTranscript(events);
  const prompt = entries.find((entry) => entry.kind === "message" && entry.role === "user");
  const name = firstPrompt(entries);
  if (prompt?.kind !== "message") return expect(name).toBe("");
  expect(name).toMatch(/^\S.{0,79}$/u);
  expect(prompt.text.trim().replace(/\s+/g, " ")).toContain(name.replace(/…$/, ""));
});

const saying = (text: string, paths: readonly string[] = []) =>
  [{ kind: "message", role: "user", text, files: paths.map((path) => ({ path })), images: [] }] as unknown as Entry[];

test("a name is one line, and short", () => {
  expect(firstPrompt(saying("\n\n  Mend   the\tlogin \n and test it"))).toBe("Mend the login");
  expect(firstPrompt(saying("x".repeat(80)))).toBe("x".repeat(80));
  expect(firstPrompt(saying("x".repeat(81)))).toBe(`${"x".repeat(79)}…`);
  expect(firstPrompt(saying("😀".repeat(90)))).toBe(`${"😀".repeat(79)}…`);
});

test("files without a message name the session", () => {
  expect(firstPrompt(saying(" ", ["/tmp/a/one.png", "/tmp/b/two.txt"]))).toBe("one.png, two.txt");
  expect(firstPrompt([])).toBe("");
});
