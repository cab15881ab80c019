/** Finds text in a transcript, including folded entries and those that are not rendered because they are out of view. */
import type { Entry } from "sandbox-agentd";
import { pretty } from "../parts/format.js";
import { type Row, Rows } from "./rows.js";

export interface Found {
  /** The row with the match, once everything above it is open. */
  readonly key: string;
  /** What must be open for the match to be visible. */
  readonly opens: readonly string[];
}

export function found(entries: readonly Entry[], words: string, rows: Rows): Found[] {
  const wanted = words.trim().toLowerCase();
  if (!wanted) return [];
  const all = new Set<string>();
  const parents = new Map<string, readonly string[]>();
  const visit = (level: readonly Entry[], above: readonly string[]) => {
    for (const entry of level) {
      parents.set(entry.id, above);
      if (entry.kind !== "tool" || entry.children.length === 0) continue;
      all.add(entry.id);
      visit(entry.children, [...above, entry.id]);
    }
  };
  visit(entries, []);
  return rows
    .of(entries, { unfolded: all, showAll: false })
    .filter((row) => textOf(row).toLowerCase().includes(wanted))
    .map(({ key, entry, isResult }) => {
      const above = parents.get(entry.id) ?? [];
      const isFolded = entry.kind === "tool" || entry.kind === "reasoning";
      return { key, opens: isFolded || isResult ? [...above, entry.id] : above };
    });
}

function textOf({ entry, piece, isResult, decision }: Row): string {
  switch (entry.kind) {
    case "message":
      return piece?.text ?? entry.text;
    case "reasoning":
      return entry.text;
    case "tool":
      if (isResult) return entry.output;
      return [
        entry.name,
        entry.title,
        entry.input === null ? entry.arguments : pretty(entry.input),
        entry.children.length > 0 ? "" : entry.output,
        ...entry.files.map((file) => `${file.path}\n${file.diff ?? ""}`),
        decision?.message,
      ].join("\n");
    case "permission":
      return [entry.toolName, entry.title, ...entry.paths, entry.message].join("\n");
    case "question":
      return [entry.prompt, ...entry.questions.map((question) => question.question), entry.response].join("\n");
    case "error":
      return entry.message;
    case "status":
      return [entry.label, entry.detail].join("\n");
    default:
      return "";
  }
}

/** The highlight names used in the style sheet. */
const FOUND = "sandbox-agent-found";
const FOUND_HERE = "sandbox-agent-found-here";

/** Highlights matches in everything rendered below an element, in browsers that support it. */
export function mark(box: HTMLElement, words: string, current: string | null): void {
  if (!("highlights" in CSS)) return;
  for (const name of [FOUND, FOUND_HERE]) CSS.highlights.delete(name);
  const wanted = words.trim().toLowerCase();
  if (!wanted) return;
  const [all, here] = [new Highlight(), new Highlight()];
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = (node.textContent ?? "").toLowerCase();
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      const row = node.parentElement?.closest<HTMLElement>(".sa-row");
      (row?.dataset.key === current ? here : all).add(range);
    }
  }
  CSS.highlights.set(FOUND, all);
  CSS.highlights.set(FOUND_HERE, here);
}
