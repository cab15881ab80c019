/** Unsaved edits, kept while another file or tab is open. */
import type { TextFile } from "./fileText";

export interface Draft {
  readonly text: string;
  /** The file as it was when editing began. */
  readonly base: TextFile;
}

/** How many drafts are kept; beyond it, the oldest is dropped. */
const KEPT = 20;
const drafts = new Map<string, Draft>();

// They are in memory only, so the browser asks before it leaves the page.
window.addEventListener("beforeunload", (event) => drafts.size > 0 && event.preventDefault());

export function draftOf(key: string): Draft | null {
  return drafts.get(key) ?? null;
}

export function keepDraft(key: string, draft: Draft | null): void {
  drafts.delete(key);
  if (draft) drafts.set(key, draft);
  const [oldest] = drafts.keys();
  if (drafts.size > KEPT && oldest !== undefined) drafts.delete(oldest);
}
