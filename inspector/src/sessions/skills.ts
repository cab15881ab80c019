/** Sources of skills as entered in the form, and as the daemon expects them. */
import type { SkillSource } from "../daemon/types";

export interface SourceDraft {
  readonly type: SkillSource["type"];
  readonly source: string;
  /** Branch, tag or commit; empty for the default branch. Not used for a folder. */
  readonly ref: string;
}

export const NO_SOURCE: SourceDraft = { type: "local", source: "", ref: "" };

export function sourcesOf(drafts: readonly SourceDraft[]): SkillSource[] {
  return drafts.map(({ type, source, ref }) => {
    if (!source.trim()) throw new Error("Each source of skills needs a folder, a repository or a URL.");
    return { type, source: source.trim(), ...(type !== "local" && ref.trim() && { ref: ref.trim() }) };
  });
}
