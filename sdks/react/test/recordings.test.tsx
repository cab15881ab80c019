/** Every recording of every agent, through the fold, into rows, and onto the page. */
import { renderToStaticMarkup } from "react-dom/server";
import { type Entry, type Event, foldTranscript, Operations, TranscriptFold } from "sandbox-agentd";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { SessionContext } from "../src/session/sessionContext.js";
import { Connection } from "../src/state/connection.js";
import { Conversation } from "../src/state/conversation.js";
import { EntryView } from "../src/transcript/entryView.js";
import { Markdown } from "../src/transcript/markdown.js";
import { type Row, Rows } from "../src/transcript/rows.js";
import { recordings } from "./recordings";

const conversation = new Conversation(new Connection(new Operations({ baseUrl: "http://127.0.0.1:2468" })), "ses_1");

function drawn(row: Row): string {
  return renderToStaticMarkup(
    <SessionContext.Provider value={conversation}>
      <EntryView row={row} unfolded onFold={() => undefined} />
    </SessionContext.Provider>,
  );
}

// What reads Markdown is loaded when it is first drawn.
beforeAll(async () => {
  renderToStaticMarkup(<Markdown text="" />);
  await vi.dynamicImportSettled();
});

function everyId(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => [entry.id, ...(entry.kind === "tool" ? everyId(entry.children) : [])]);
}

const found = recordings();

describe.each(found)("$name", ({ events }) => {
  const transcript = foldTranscript(events);
  const all = new Rows().of(transcript.entries, { unfolded: new Set(everyId(transcript.entries)), showAll: true });
  const shown = new Rows().of(transcript.entries, { unfolded: new Set(), showAll: false });

  test("every message and every tool call has one row, sub-agents' too", () => {
    const started = (kind: string) => items(events, "item.started").filter((item) => item.kind === kind).map((item) => item.item_id);
    const rows = (kind: Entry["kind"]) =>
      all.filter((row) => row.entry.kind === kind && row.isFirst && !row.isResult).map((row) => row.entry.id);
    expect([...rows("message"), ...rows("reasoning")].sort()).toEqual([...started("message"), ...started("system")].sort());
    expect(rows("tool").sort()).toEqual(started("tool_call").sort());
    expect(new Set(all.map((row) => row.key)).size).toBe(all.length);
  });

  test("what is shown at first is a part of all, in the same order", () => {
    const keys = all.map((row) => row.key);
    const places = shown.map((row) => keys.indexOf(row.key));
    expect(places).toEqual([...places].sort((one, other) => one - other));
    expect(places).not.toContain(-1);
  });

  test("every row can be drawn, and says something", () => {
    for (const row of all) expect(drawn(row), row.entry.kind).not.toBe("");
  });

  test("a fold that is read after each event ends with the same transcript", () => {
    const fold = new TranscriptFold();
    for (const event of events) {
      fold.apply(event);
      void fold.transcript;
    }
    expect(fold.transcript).toEqual(transcript);
  });

  test("an event that comes twice changes nothing", () => {
    expect(foldTranscript(events.flatMap((event) => [event, event]))).toEqual(transcript);
  });
});

function items(events: readonly Event[], type: "item.started" | "item.completed") {
  return events.flatMap((event) => (event.type === type ? [event.data.item] : []));
}
