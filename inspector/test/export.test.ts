/** Every recording as a document. */
import { foldTranscript, type SessionInfo } from "sandbox-agentd";
import { expect, test } from "vitest";
import { asMarkdown } from "../src/export/markdown";
import { recordings } from "../../sdks/react/test/recordings";

const info = { sessionId: "s", agent: "mock", directory: "/work", createdAt: "2026-01-27T19:10:11.123Z" } as SessionInfo;

test.each(recordings())("$name: all that was said is in the document", ({ events }) => {
  const transcript = foldTranscript(events);
  const document = asMarkdown(transcript, info, "A title");
  expect(document).toMatch(/^# A title\n\nmock · /);
  for (const entry of transcript.entries) if (entry.kind === "message") expect(document).toContain(entry.text);
  for (const entry of transcript.entries) if (entry.kind === "error") expect(document).toContain(entry.message);
});

test("attached files are named, and what took no time shows none", () => {
  const envelope = { event_id: "evt_1", session_id: "s", native_session_id: null, source: "daemon", synthetic: true, raw: null };
  const content = [{ type: "text", text: "Look at these" }, { type: "image", path: "/data/a/plan.png", mime: "image/png" }];
  const prompt = { item_id: "itm_1", native_item_id: null, parent_id: null, kind: "message", role: "user", status: "completed", content };
  const events = [
    { ...envelope, sequence: 1, time: info.createdAt, type: "turn.started", data: { turn_id: "turn_1" } },
    { ...envelope, sequence: 2, time: info.createdAt, type: "item.completed", data: { item: prompt } },
    { ...envelope, sequence: 3, time: info.createdAt, type: "turn.ended", data: { turn_id: "turn_1", metadata: { stop_reason: "end_turn" } } },
  ];
  const document = asMarkdown(foldTranscript(events as never), info, "A title");
  expect(document).toContain("## User\n\nLook at these\n\n*Attached: plan.png*\n\n*end turn*\n");
});

test("a fence in an output does not end the fence around it", () => {
  const call = { item_id: "itm_1", native_item_id: null, parent_id: null, role: "assistant", status: "completed" };
  const envelope = { event_id: "evt_1", time: info.createdAt, session_id: "s", native_session_id: null, source: "agent", synthetic: false, raw: null };
  const events = [
    { ...envelope, sequence: 1, type: "item.completed", data: { item: { ...call, kind: "tool_call", content: [{ type: "tool_call", name: "bash", arguments: '{"command":"cat a"}', call_id: "c", kind: "command", title: "cat a" }] } } },
    { ...envelope, sequence: 2, type: "item.completed", data: { item: { ...call, item_id: "itm_2", kind: "tool_result", role: "tool", content: [{ type: "tool_result", call_id: "c", output: "```\ninside\n```\n" }] } } },
  ];
  expect(asMarkdown(foldTranscript(events as never), info, "A title")).toContain("### bash\n\n```sh\ncat a\n```\n\n````\n```\ninside\n```\n````");
});
