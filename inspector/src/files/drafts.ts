/** What was written and not saved yet, kept while one looks at another file or tab. */
import type { TextFile } from "./fileText";

export interface Draft {
  readonly text: string;
  /** The file as it was when one began to write. */
  readonly base: TextFile;
}

/** More are not written at once; the oldest goes. */
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
