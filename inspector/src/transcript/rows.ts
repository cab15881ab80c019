/** Which entries of a transcript are shown, in which order and how deep. Pure, and tested on every recording. */
import type { Entry } from "sdk/transcript";

export interface Row {
  readonly entry: Entry;
  /** How many sub-agents lie above it. */
  readonly depth: number;
}

/** Status items that tell a person something; the others are for machines, and are shown on demand. */
const TELLING = new Set([
  "compaction",
  "injected",
  "notice",
  "permission_denied",
  "pi.notify",
  "plan",
  "refusal",
  "resume_lost",
  "retry",
  "review",
  "title",
]);

export function rowsOf(entries: readonly Entry[], unfolded: ReadonlySet<string>, showAll: boolean): Row[] {
  const rows: Row[] = [];
  collect(entries, 0);
  return rows;

  function collect(level: readonly Entry[], depth: number): void {
    for (const entry of level) {
      if (!isShown(entry, showAll)) continue;
      rows.push({ entry, depth });
      if (entry.kind === "tool" && entry.children.length > 0 && unfolded.has(entry.id)) collect(entry.children, depth + 1);
    }
  }
}

/** Whether it waits for somebody's answer. */
export function asks(entry: Entry): boolean {
  return (entry.kind === "permission" || entry.kind === "question") && entry.state === "requested";
}

function isShown(entry: Entry, showAll: boolean): boolean {
  if (entry.kind === "turn_started") return false;
  if (showAll || entry.kind !== "status") return true;
  return TELLING.has(entry.label);
}
