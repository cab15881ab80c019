/** Every event of every recording, in the list of events. */
import { describe, expect, test } from "vitest";
import { recordings } from "../../sdks/react/test/recordings";
import { eventText } from "../src/debug/eventText";

describe.each(recordings())("$name", ({ events }) => {
  test("every event has its words in the list of events", () => {
    const silent = new Set(["session.started", "turn.started"]);
    for (const event of events) if (!silent.has(event.type)) expect(eventText(event), event.type).not.toBe("");
  });
});
