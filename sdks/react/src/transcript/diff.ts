/** Parses unified diffs into lines, for a unified or side-by-side view. */

export type DiffLine =
  | { readonly kind: "hunk"; readonly text: string }
  | { readonly kind: "same" | "added" | "removed"; readonly text: string; readonly old: number | null; readonly new: number | null };

export interface Diff {
  readonly lines: readonly DiffLine[];
  readonly added: number;
  readonly removed: number;
}

/** One row of the side-by-side view. */
export interface DiffPair {
  readonly hunk: string | null;
  readonly left: DiffLine | null;
  readonly right: DiffLine | null;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

export function parsedDiff(text: string): Diff {
  const lines: DiffLine[] = [];
  let [old, next, added, removed] = [1, 1, 0, 0];
  // Where the hunk ends, on each side.
  let [oldEnd, nextEnd] = [0, 0];
  // The names come before the first hunk; a diff without hunks is all content.
  let inside = !/^@@ /m.test(text);
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const hunk = HUNK.exec(line);
    if (hunk) {
      [old, next, inside] = [Number(hunk[1]), Number(hunk[3]), true];
      [oldEnd, nextEnd] = [old + Number(hunk[2] ?? 1), next + Number(hunk[4] ?? 1)];
      lines.push({ kind: "hunk", text: line });
    } else if (!inside || line.startsWith("\\")) {
      continue;
    } else if (isHeader(line, old < oldEnd || next < nextEnd)) {
      inside = !line.startsWith("diff ") && inside;
    } else if (line.startsWith("+")) {
      added += 1;
      lines.push({ kind: "added", text: line.slice(1), old: null, new: next++ });
    } else if (line.startsWith("-")) {
      removed += 1;
      lines.push({ kind: "removed", text: line.slice(1), old: old++, new: null });
    } else {
      lines.push({ kind: "same", text: line.slice(1), old: old++, new: next++ });
    }
  }
  return { lines, added, removed };
}

/** In a hunk, `--- a/b` is the removed line `-- a/b`. Outside of one, a header still has a file's name. */
function isHeader(line: string, inHunk: boolean): boolean {
  if (/^(diff --git |index [0-9a-f]+\.\.)/.test(line)) return true;
  return !inHunk && /^(--- (a\/|\/|\.)|\+\+\+ (b\/|\/|\.))/.test(line);
}

export function sideBySide(diff: Diff): DiffPair[] {
  const pairs: DiffPair[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++) {
      pairs.push({ hunk: null, left: removed[at] ?? null, right: added[at] ?? null });
    }
    [removed, added] = [[], []];
  };
  for (const line of diff.lines) {
    if (line.kind === "removed") removed.push(line);
    else if (line.kind === "added") added.push(line);
    else {
      flush();
      pairs.push(line.kind === "hunk" ? { hunk: line.text, left: null, right: null } : { hunk: null, left: line, right: line });
    }
  }
  flush();
  return pairs;
}
