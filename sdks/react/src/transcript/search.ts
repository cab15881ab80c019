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
  const wanted = comparable(words.trim());
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
    .filter((row) => says(row, wanted))
    .map(({ key, entry, isResult }) => {
      const above = parents.get(entry.id) ?? [];
      const isFolded = entry.kind === "tool" || entry.kind === "reasoning";
      return { key, opens: isFolded || isResult ? [...above, entry.id] : above };
    });
}

/** Whether a row says it, as it is written or as it is read: nobody types the signs of Markdown between two words. */
function says(row: Row, wanted: string): boolean {
  const written = textOf(row);
  if (comparable(written).includes(wanted)) return true;
  return isMarkdown(row.entry) && comparable(withoutMarkup(written)).includes(wanted);
}

/** Prompts are shown as they were typed. */
function isMarkdown(entry: Entry): boolean {
  if (entry.kind === "message") return entry.role !== "user";
  return entry.kind === "reasoning" || (entry.kind === "question" && entry.isPlan);
}

function withoutMarkup(markdown: string): string {
  return markdown.replace(/\[([^[\]\n]*)\]\([^()\s]*\)/g, "$1").replace(/[*_`~]/g, "");
}

/** Without capitals, and with one kind of space. Every character keeps its place, which a few would lose in lower case. */
function comparable(text: string): string {
  const lower = text.toLowerCase();
  const inPlace = lower.length === text.length ? lower : text.replace(/[^]/g, lowerInPlace);
  return inPlace.replace(/[^\S ]/g, " ");
}

function lowerInPlace(sign: string): string {
  const lower = sign.toLowerCase();
  return lower.length === sign.length ? lower : sign;
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

/** Elements whose text is read apart from the text around them. */
const BLOCKS = "p, li, td, th, h3, h4, h5, h6, pre, dt, dd, legend, label, button, header, article, section, .sa-row";

/** Highlights matches in everything rendered below an element, in browsers that support it. */
export function mark(box: HTMLElement, words: string, current: string | null): void {
  if (!("highlights" in CSS)) return;
  for (const name of [FOUND, FOUND_HERE]) CSS.highlights.delete(name);
  const wanted = comparable(words.trim());
  if (!wanted) return;
  const [all, here] = [new Highlight(), new Highlight()];
  for (const nodes of textsByBlock(box)) {
    const row = nodes[0]?.parentElement?.closest<HTMLElement>(".sa-row");
    for (const range of rangesIn(nodes, wanted)) (row?.dataset.key === current ? here : all).add(range);
  }
  CSS.highlights.set(FOUND, all);
  CSS.highlights.set(FOUND_HERE, here);
}

/** The text nodes of each block: a phrase may begin in plain text and end in bold. */
function textsByBlock(box: HTMLElement): Text[][] {
  const blocks: Text[][] = [];
  let last: Element | null = null;
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const block = node.parentElement?.closest(BLOCKS) ?? null;
    if (block !== last || blocks.length === 0) blocks.push([]);
    blocks.at(-1)?.push(node as Text);
    last = block;
  }
  return blocks;
}

function* rangesIn(nodes: readonly Text[], wanted: string): Generator<Range> {
  const text = comparable(nodes.map(({ data }) => data).join(""));
  const placeOf = placesIn(nodes);
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
    const range = new Range();
    range.setStart(...placeOf(at));
    const [node, last] = placeOf(at + wanted.length - 1);
    range.setEnd(node, last + 1);
    yield range;
  }
}

/** Finds the node that contains a character of the joined text. Asked in ascending order, so that the nodes are walked once. */
function placesIn(nodes: readonly Text[]): (at: number) => [Text, number] {
  let [index, before] = [0, 0];
  return (at) => {
    for (let node = nodes[index]; node; node = nodes[++index]) {
      if (at < before + node.length) return [node, at - before];
      before += node.length;
    }
    throw new RangeError(`there is no character ${at}`);
  };
}
