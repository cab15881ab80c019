/** The fold, fed with the universal events of every recording, and with a log as long as a long day. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  type Entry,
  type Event,
  foldTranscript,
  type ToolEntry,
  type Transcript,
  TranscriptFold,
} from "sandbox-agentd";
import { ROOT } from "./daemons.js";

const RECORDINGS = join(ROOT, "tests/transcripts");

/** The events of every recorded session; some recordings hold several. */
function recordings(): Map<string, Event[]> {
  const found = new Map<string, Event[]>();
  for (const path of readdirSync(RECORDINGS, { recursive: true, encoding: "utf8" })) {
    if (!path.endsWith("universal.jsonl")) continue;
    for (const event of eventsOf(path)) {
      const name = `${path} ${event.session_id}`;
      if (!found.has(name)) found.set(name, []);
      found.get(name)?.push(event);
    }
  }
  return found;
}

function eventsOf(path: string): Event[] {
  const lines = readFileSync(join(RECORDINGS, path), "utf8").trim().split("\n");
  return lines.filter(Boolean).map((line) => JSON.parse(line) as Event);
}

function demo(): Event[] {
  return eventsOf("mock/demo/universal.jsonl");
}

function flat(entries: readonly Entry[]): Entry[] {
  return entries.flatMap((entry) => [entry, ...(entry.kind === "tool" ? flat(entry.children) : [])]);
}

function entriesOf<Kind extends Entry["kind"]>(transcript: Transcript, kind: Kind): Extract<Entry, { kind: Kind }>[] {
  return flat(transcript.entries).filter((entry): entry is Extract<Entry, { kind: Kind }> => entry.kind === kind);
}

/** What the log says of itself, counted without the fold. */
function counted(events: Event[]) {
  const completed = events.flatMap((event) => (event.type === "item.completed" ? [event.data.item] : []));
  const parts = completed.flatMap((item) => item.content ?? []);
  const count = (type: Event["type"]): number => events.filter((event) => event.type === type).length;
  return {
    texts: completed
      .filter((item) => item.kind === "message" || item.kind === "system")
      .flatMap((item) => item.content?.flatMap((part) => (part.type === "text" ? [part.text] : [])) ?? []),
    reasoning: parts.flatMap((part) => (part.type === "reasoning" ? [part.text] : [])),
    outputs: new Map(parts.flatMap((part) => (part.type === "tool_result" ? [[part.call_id, part.output]] : []))),
    arguments: new Map(parts.flatMap((part) => (part.type === "tool_call" ? [[part.call_id, part.arguments]] : []))),
    diffs: completed
      .filter((item) => item.kind === "tool_result")
      .flatMap((item) => item.content?.flatMap((part) => (part.type === "file_ref" ? [part.path] : [])) ?? []),
    labels: completed
      .filter((item) => item.kind === "status")
      .flatMap((item) => item.content?.flatMap((part) => (part.type === "status" ? [part.label] : [])) ?? []),
    permissions: count("permission.requested"),
    questions: count("question.requested"),
    errors: count("error"),
    turns: [count("turn.started"), count("turn.ended")],
    ended: count("session.ended"),
  };
}

function shown(transcript: Transcript): ReturnType<typeof counted> {
  const tools = entriesOf(transcript, "tool");
  return {
    texts: entriesOf(transcript, "message").map((entry) => entry.text),
    reasoning: entriesOf(transcript, "reasoning").map((entry) => entry.text),
    outputs: new Map(tools.map((tool) => [tool.callId, tool.output])),
    arguments: new Map(tools.map((tool) => [tool.callId, tool.arguments])),
    diffs: tools.flatMap((tool) => tool.files.map((file) => file.path)),
    labels: entriesOf(transcript, "status").map((entry) => entry.label),
    permissions: entriesOf(transcript, "permission").length,
    questions: entriesOf(transcript, "question").length,
    errors: entriesOf(transcript, "error").length,
    turns: [entriesOf(transcript, "turn_started").length, entriesOf(transcript, "turn_ended").length],
    ended: entriesOf(transcript, "session_ended").length,
  };
}

/** Items are in the order of their ends in the log, and of their starts in the transcript: compare without order. */
function sorted(facts: ReturnType<typeof counted>) {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [name, typeof value === "number" ? value : [...value].sort()]),
  );
}

test("every recording folds into all that its events say, and nothing stays open", () => {
  const all = recordings();
  assert.ok(all.size > 300, `${all.size} recordings`);
  for (const [path, events] of all) {
    const transcript = foldTranscript(events);
    assert.deepEqual(sorted(shown(transcript)), sorted(counted(events)), path);
    const open = flat(transcript.entries).filter((entry) => "status" in entry && entry.status === "in_progress");
    assert.deepEqual([open, transcript.pending, transcript.turnId], [[], [], null], path);
    assert.equal(transcript.state, transcript.ended ? "ended" : "idle", path);
    assert.equal(transcript.totals.events, events.length, path);
    const ids = flat(transcript.entries).map((entry) => entry.id);
    assert.equal(new Set(ids).size, ids.length, `${path}: ids are unique`);
  }
});

test("tools and permissions have the kind and the title that the events say", () => {
  const transcript = foldTranscript(demo());
  const tools = transcript.entries.flatMap((entry) => (entry.kind === "tool" ? [[entry.toolKind, entry.title]] : []));
  assert.deepEqual(tools, [
    ["command", "seq 3"],
    ["command", "echo hello from the mock agent"],
    ["edit", "/tmp/ws/mock-edit.txt"],
    ["task", "Count the files"],
  ]);
  const asked = entriesOf(transcript, "permission").map(({ toolKind, title }) => [toolKind, title]);
  assert.deepEqual(asked, tools.slice(1, 3));
});

test("what an old log says without a kind and a title is told by its name", () => {
  const old = JSON.parse(JSON.stringify(demo()), (name, value: unknown) =>
    name === "kind" && ["command", "edit", "task"].includes(String(value)) ? undefined : name === "title" ? undefined : value,
  ) as Event[];
  const transcript = foldTranscript(old);
  const told = [...entriesOf(transcript, "tool"), ...entriesOf(transcript, "permission")];
  assert.deepEqual(new Set(told.map(({ toolKind }) => toolKind)), new Set(["other"]));
  assert.deepEqual(new Set(told.map(({ title }) => title)), new Set(["bash", "edit", "task"]));
});

test("an event that was folded before changes nothing", () => {
  const fold = new TranscriptFold();
  const events = demo();
  for (const event of events) fold.apply(event);
  const before = fold.transcript;
  for (const event of events) fold.apply(event);
  assert.equal(fold.transcript, before);
});

test("a reader who begins in the middle sees whatever is completed from there on", () => {
  const events = demo();
  for (let first = 0; first < events.length; first += 1) {
    const rest = events.slice(first);
    assert.equal(foldTranscript(rest).lastSequence, events.at(-1)?.sequence);
  }
  const fromResult = foldTranscript(events.slice(47));
  assert.deepEqual(entriesOf(fromResult, "tool")[0]?.output, "1\n2\n3\n");
});

test("untouched entries keep their identity, changed ones and their parents are new objects", () => {
  const fold = new TranscriptFold();
  let before = fold.transcript;
  for (const event of demo()) {
    fold.apply(event);
    const now = fold.transcript;
    assert.notEqual(now, before);
    const changed = now.entries.filter((entry, index) => entry !== before.entries[index]);
    assert.ok(changed.length <= 2, `${event.type} changed ${changed.map((entry) => entry.kind).join(", ")}`);
    if (event.type === "item.delta") assert.equal(changed.length, 1);
    before = now;
  }
});

test("a tool is its call, its result, its permission and what its sub-agent did", () => {
  const transcript = foldTranscript(demo());
  const task = transcript.entries.find((entry): entry is ToolEntry => entry.kind === "tool" && entry.name === "task");
  assert.ok(task);
  assert.deepEqual(task.input, { description: "Count the files", prompt: "How many files are there?" });
  assert.equal(task.output, "There are 42 files.");
  assert.deepEqual(
    task.children.map((child) => [child.kind, child.kind === "tool" ? child.output : ""]),
    [
      ["message", ""],
      ["tool", "42\n"],
    ],
  );
  const asked = entriesOf(transcript, "tool").filter((tool) => tool.permissionIds.length > 0);
  assert.deepEqual(
    asked.map((tool) => [tool.name, tool.exitCode, tool.permissionIds.length, tool.files.length]),
    [
      ["bash", 0, 1, 0],
      ["edit", null, 1, 1],
    ],
  );
});

test("requests tell their state and who decided", () => {
  const decided = (path: string) =>
    flat(foldTranscript(eventsOf(path)).entries).flatMap((entry) =>
      entry.kind === "permission" || entry.kind === "question" ? [[entry.kind, entry.state, entry.decidedBy]] : [],
    );
  assert.deepEqual(decided("mock/demo/universal.jsonl"), [
    ["permission", "accept", "client"],
    ["permission", "accept", "client"],
    ["question", "answered", "client"],
  ]);
  const fold = new TranscriptFold();
  for (const event of demo()) {
    fold.apply(event);
    const wanted = event.type === "permission.requested" || event.type === "question.requested";
    if (wanted) assert.deepEqual([fold.transcript.state, fold.transcript.pending.length], ["requires_action", 1]);
  }
});

test("plans of all agents read the same", () => {
  const plans = [...recordings()].flatMap(([path, events]) => {
    const { plan } = foldTranscript(events);
    return plan.length > 0 ? [[path.split("/")[0], plan[0]?.text, plan[0]?.status]] : [];
  });
  const planning = new Set(plans.map(([agent]) => agent));
  for (const agent of ["acp", "codex", "opencode"]) assert.ok(planning.has(agent), agent);
  for (const [agent, text, status] of plans) {
    assert.ok(text && (status === "in_progress" || status === "completed"), `${agent}: ${text} ${status}`);
  }
});

test("an event of an unknown type is kept", () => {
  const [first] = demo();
  const news = { ...first, sequence: 2, event_id: "evt_2", type: "session.paused", data: { why: "lunch" } };
  const entry = foldTranscript([first, news] as Event[]).entries[1];
  assert.deepEqual(entry?.kind === "other" && [entry.type, entry.data], ["session.paused", { why: "lunch" }]);
});

test("twenty thousand events fold while a page draws", () => {
  const [start, , ...message] = demo().slice(0, 5);
  const log = [start as Event];
  for (let index = 0; index < 5_000; index += 1) {
    for (const event of [message[0], message[1], message[1], message[2]]) {
      const text = JSON.stringify({ ...event, sequence: log.length + 1 }).replaceAll("itm_1", `itm_${index}`);
      log.push(JSON.parse(text) as Event);
    }
  }
  const fold = new TranscriptFold();
  const began = performance.now();
  for (const event of log) {
    fold.apply(event);
    if (event.sequence % 100 === 0) void fold.transcript.entries.length;
  }
  const took = performance.now() - began;
  assert.equal(fold.transcript.entries.length, 5_001);
  assert.ok(took < 2_000, `it took ${Math.round(took)} ms`);
});

test("a request waits even if only a newer daemon knows its state, until it is resolved", () => {
  const events = eventsOf("mock/rejected/universal.jsonl").map((event) =>
    event.type === "permission.requested" ? { ...event, data: { ...event.data, status: "escalated" } as never } : event,
  );
  const until = (type: string) => events.slice(0, events.findIndex((event) => event.type === type) + 1);
  const asked = foldTranscript(until("permission.requested"));
  assert.deepEqual([asked.state, asked.pending.length], ["requires_action", 1]);
  const resolved = foldTranscript(until("permission.resolved"));
  assert.deepEqual([resolved.state, resolved.pending.length], ["running", 0]);
});
