/** The universal events of every recording of every agent; a recording may hold several sessions. */
import type { Event } from "sandbox-agentd";

const FILES = import.meta.glob<string>("../../../tests/transcripts/*/*/universal.jsonl", {
  query: "?raw",
  import: "default",
  eager: true,
});

export interface Recording {
  readonly name: string;
  readonly events: readonly Event[];
}

export function recordings(): Recording[] {
  return Object.entries(FILES).flatMap(([path, text]) => {
    const [agent, recording] = path.split("/").slice(-3);
    const events = text.split("\n").filter(Boolean).map((line) => JSON.parse(line) as Event);
    const sessions = [...new Set(events.map((event) => event.session_id))];
    return sessions.map((session) => ({
      name: [agent, recording, ...(sessions.length > 1 ? [session] : [])].join("/"),
      events: events.filter((event) => event.session_id === session),
    }));
  });
}
