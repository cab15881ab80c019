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

export function draftOf(key: string): Draft | null {
  return drafts.get(key) ?? null;
}

export function keepDraft(key: string, draft: Draft | null): void {
  drafts.delete(key);
  if (draft) drafts.set(key, draft);
  const [oldest] = drafts.keys();
  if (drafts.size > KEPT && oldest !== undefined) drafts.delete(oldest);
}
