/** What a session without a title is called. */
import { type Entry, type Event, foldTranscript, Operations, type SessionInfo } from "sandbox-agentd";
import { expect, test } from "vitest";
import { firstPrompt, SessionNames } from "../src/state/sessionNames";
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

test("a name that could not be read is read again", async () => {
  let answers = false;
  const client = new Operations({
    baseUrl: "http://a",
    maxRetries: 0,
    fetch: async () => {
      if (!answers) throw new TypeError("refused");
      return Response.json({ events: recorded(), hasMore: false });
    },
  });
  const names = new SessionNames(client);
  const session = { sessionId: "s", title: null, turns: 9, eventCount: 900 } as SessionInfo;
  await names.find(session);
  expect(names.of(session)).toBe("s");
  answers = true;
  await names.find(session);
  expect(names.of(session)).toBe(firstPrompt(foldTranscript(recorded()).entries));
});

function recorded(): readonly Event[] {
  const found = recordings().find(({ events }) => firstPrompt(foldTranscript(events).entries) !== "");
  return found?.events.slice(0, 50) ?? [];
}
