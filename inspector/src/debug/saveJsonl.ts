/** Saves all events of a session, with their native payloads, as a file. */
import type { Operations } from "sandbox-agentd";
import { saveFile } from "../export/saveFile";

export async function saveJsonl(client: Operations, sessionId: string): Promise<void> {
  const lines: string[] = [];
  for (let offset = 0, more = true; more; ) {
    const page = await client.getEvents(sessionId, { offset, limit: 1000, includeRaw: true });
    lines.push(...page.events.map((event) => `${JSON.stringify(event)}\n`));
    offset = page.events.at(-1)?.sequence ?? offset;
    more = page.hasMore && page.events.length > 0;
  }
  saveFile(`${sessionId}.jsonl`, lines, "application/jsonl");
}
