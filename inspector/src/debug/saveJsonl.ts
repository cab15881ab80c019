/** All events of a session with their native payloads, as a file. */
import type { Event } from "sdk/events";
import { type Daemon, sessionPath } from "../daemon/daemon";
import { saveFile } from "../export/saveFile";

export async function saveJsonl(daemon: Daemon, sessionId: string): Promise<void> {
  const lines: string[] = [];
  for (let offset = 0, more = true; more; ) {
    const path = `${sessionPath(sessionId, "events")}?offset=${offset}&limit=1000&include_raw=true`;
    const page = await daemon.get<{ events: Event[]; hasMore: boolean }>(path);
    lines.push(...page.events.map((event) => `${JSON.stringify(event)}\n`));
    offset = page.events.at(-1)?.sequence ?? offset;
    more = page.hasMore && page.events.length > 0;
  }
  saveFile(`${sessionId}.jsonl`, lines, "application/jsonl");
}
