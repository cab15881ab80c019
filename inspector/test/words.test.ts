/** Small pure parts: the command of a call, what a request is as a command, addresses that people type. */
import { expect, test } from "vitest";
import { tidied } from "../src/daemon/arrival";
import { asCurl, RequestLog } from "../src/daemon/requestLog";
import { ago, bytes, clock, count, duration, moment, money } from "chat/parts/format";
import { parsed } from "../src/route";
import { draftsFrom, serversOf, wordsOf } from "../src/sessions/mcp";
import { conditionsOf, rulesOf } from "../src/sessions/rules";
import { sourcesOf } from "../src/sessions/skills";
import { commandOf } from "chat/transcript/commandOf";
import { messageOf, outcomeOf } from "chat/transcript/outcome";

test.each([
  ["command", { command: ["git", "status"] }, "git status"],
  ["command", { cmd: "ls\nrm x" }, "ls\nrm x"],
  ["command", null, null],
  ["edit", { command: "create", path: "/a" }, null],
] as const)("a call of kind %s with %j runs %j", (toolKind, input, command) => {
  expect(commandOf({ toolKind, input })).toBe(command);
});

test("a request as a command names the token and quotes the rest", () => {
  const log = new RequestLog();
  log.begin({
    method: "POST",
    url: "http://127.0.0.1:2468/v1/sessions",
    headers: { "Content-Type": "application/json" },
    body: `{"title":"it's"}`,
    authorized: true,
    stream: false,
  });
  const [request] = log.snapshot;
  expect(request && asCurl(request)).toBe(
    [
      "curl -s",
      "-X POST",
      "'http://127.0.0.1:2468/v1/sessions'",
      '-H "Authorization: Bearer $SANDBOX_AGENT_TOKEN"',
      "-H 'Content-Type: application/json'",
      `-d '{"title":"it'\\''s"}'`,
    ].join(" \\\n  "),
  );
});

test("a file that was sent is a file in the command", () => {
  const log = new RequestLog();
  log.begin({ method: "POST", url: "http://a/b", headers: {}, body: "<3 bytes>", file: true, authorized: false, stream: false });
  const [request] = log.snapshot;
  expect(request && asCurl(request)).toBe("curl -s \\\n  -X POST \\\n  'http://a/b' \\\n  --data-binary @FILE");
});

test.each([
  ["127.0.0.1:2468", "http://127.0.0.1:2468"],
  [" https://a.example/ ", "https://a.example"],
  ["http://a.example:1/ui/", "http://a.example:1"],
  ["http://a.example:1/v1/sessions", "http://a.example:1"],
])("the address %s is %s", (typed, endpoint) => {
  expect(tidied(typed)).toBe(endpoint);
});

test.each([
  ["#/sessions/a%3Ab", { sessionId: "a:b", sequence: null }],
  ["#/sessions/x/events/12", { sessionId: "x", sequence: 12 }],
  ["#/", { sessionId: null, sequence: null }],
  ["#token=abc", { sessionId: null, sequence: null }],
  ["#/sessions/cut%E0%A4", { sessionId: "cut%E0%A4", sequence: null }],
])("the route %s", (hash, route) => {
  expect(parsed(hash)).toEqual(route);
});

test("MCP servers may come with the name that settings files give them", () => {
  expect(draftsFrom('{"mcpServers":{"a":{"command":"b"}}}')).toEqual([{ name: "a", target: "b", pairs: [] }]);
  expect(() => draftsFrom("{")).toThrow("not JSON");
  expect(() => draftsFrom("[]")).toThrow("must be an object");
});

test("MCP servers come out of the form as they went in", () => {
  const servers = {
    files: { command: "my server", args: ["--root", "it's here", 'a"b\\c', ""], env: { KEY: "a b" } },
    web: { url: "https://mcp.example/a", headers: { Authorization: "Bearer x" } },
  };
  expect(serversOf(draftsFrom(JSON.stringify(servers)))).toEqual(servers);
  expect(wordsOf(`a "b \\"c\\" d" 'e f'g h\\ i`)).toEqual(["a", 'b "c" d', "e fg", "h i"]);
  expect(() => serversOf([{ name: "", target: "x", pairs: [] }])).toThrow("needs a name");
});

test("figures are short", () => {
  expect([duration(12), duration(1500), duration(61_000), duration(3_700_000)]).toEqual(["12 ms", "1.5 s", "1 min 1 s", "1 h 1 min"]);
  expect([duration(9_960), duration(59_700), duration(119_600), duration(3_599_900)]).toEqual(["10 s", "1 min", "2 min", "1 h"]);
  expect([count(9999), count(12_345), count(2_500_000)]).toEqual(["9,999", "12.3k", "2.5M"]);
  expect([money(0), money(0.00003), money(0.00017), money(1.234)]).toEqual(["$0", "< $0.0001", "$0.0002", "$1.23"]);
  expect([ago(0, 10_000), ago(0, 120_000), ago(0, 7_200_000), ago(0, 200_000_000)]).toEqual(["now", "2 min", "2 h", "2 d"]);
});

test.each([
  [{ effect: "deny", kind: "command", pattern: " rm -rf ", reason: "" }, { effect: "deny", kind: "command", command: "rm -rf" }],
  [{ effect: "ask", kind: "", pattern: "**/.env", reason: "Secrets." }, { effect: "ask", path: "**/.env", reason: "Secrets." }],
  [{ effect: "allow", kind: "fetch", pattern: "", reason: "" }, { effect: "allow", kind: "fetch" }],
] as const)("the rule %j is sent as %j", (draft, rule) => {
  expect(rulesOf([draft])).toEqual([rule]);
});

test.each([
  [{ effect: "deny" }, "everything"],
  [{ effect: "deny", agent: "claude", kind: "edit", path: "src/**", reason: "no" }, "agent claude, kind edit, path src/**"],
] as const)("the rule %j is about %s", (rule, words) => {
  expect(conditionsOf(rule)).toBe(words);
});

test("a source of skills is a folder without a ref, or a repository with one", () => {
  const sources = sourcesOf([
    { type: "local", source: " /srv/skills ", ref: "left over" },
    { type: "github", source: "owner/name", ref: "v2" },
    { type: "git", source: "https://host/a.git", ref: "" },
  ]);
  expect(sources).toEqual([
    { type: "local", source: "/srv/skills" },
    { type: "github", source: "owner/name", ref: "v2" },
    { type: "git", source: "https://host/a.git" },
  ]);
  expect(() => sourcesOf([{ type: "git", source: " ", ref: "" }])).toThrow("needs a folder");
});

test.each([
  [{ state: "reject", decidedBy: "rule", rule: { list: "operator", index: 0, reason: "No." }, message: "No." }, "Denied by rule: No.", null],
  [{ state: "accept", decidedBy: "rule", rule: { list: "session", index: 1 }, message: null }, "Allowed by rule", null],
  [{ state: "accept", decidedBy: "rule", rule: null, message: null }, "Allowed once by an earlier “always”", null],
  [{ state: "reject", decidedBy: "client", rule: null, message: "No." }, "Rejected", "No."],
])("the permission %j reads: %s", (permission, outcome, message) => {
  expect(outcomeOf(permission as never)).toBe(outcome);
  expect(messageOf(permission as never)).toBe(message);
});

test("a time has its date unless it is today's", () => {
  const time = new Date(2026, 0, 27, 19, 10, 11);
  expect(moment(time.getTime(), new Date(2026, 0, 27, 23))).toBe(clock(time.getTime()));
  expect(moment(time.getTime(), new Date(2026, 0, 28, 1))).toContain("27");
});

test("a figure never rounds up to the next unit", () => {
  const before = (seconds: number) => ago(0, seconds * 1000);
  expect([3_569, 3_570, 84_599, 84_600].map(before)).toEqual(["59 min", "1 h", "23 h", "1 d"]);
  expect([99_949, 99_950, 999_499, 999_500].map(count)).toEqual(["99.9k", "100k", "999k", "1.0M"]);
  expect([1023, 1024, 2 ** 20 - 1, 5 * 2 ** 30].map(bytes)).toEqual(["1023 B", "1.0 KB", "1.0 MB", "5.0 GB"]);
});
