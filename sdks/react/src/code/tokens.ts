/** Splits code into highlighted tokens when the browser is idle. Until then, and for very long code, the text is plain. */
import { useEffect, useState } from "react";

export interface Token {
  readonly text: string;
  /** A class name, e.g. `sa-code-keyword`; empty for plain text. */
  readonly look: string;
}

/** How much code is highlighted: it takes a few frames, and more would be noticeable. */
const LONGEST_CODE = 40_000;
/** How many characters of highlighted code are cached, so that rows scrolled back into view are coloured at once. */
const KEPT = 1_000_000;

const done = new Map<string, readonly Token[]>();
let kept = 0;

export function useTokens(code: string, language: string): readonly Token[] | null {
  const key = `${language}\n${code}`;
  const wanted = language !== "" && code.length > 0 && code.length <= LONGEST_CODE;
  const [latest, setLatest] = useState<{ code: string; language: string; tokens: readonly Token[] } | null>(null);
  useEffect(() => {
    if (!wanted || done.has(key)) return;
    let current = true;
    void whenIdle().then(async () => {
      if (!current) return;
      // Without it, for example because the daemon does not answer, code stays plain.
      const grammars = await import("./grammars.js").catch(() => null);
      if (!current || !grammars) return;
      const markup = grammars.markedUp(code, language);
      if (markup === null) return;
      const tokens = tokensOf(markup);
      keep(key, tokens, code.length);
      setLatest({ code, language, tokens });
    });
    return () => {
      current = false;
    };
  }, [key, wanted, code, language]);
  if (!wanted) return null;
  const known = done.get(key);
  if (known) return known;
  // Code that is being streamed keeps the colours it has.
  if (!latest || latest.language !== language || !code.startsWith(latest.code)) return null;
  return [...latest.tokens, { text: code.slice(latest.code.length), look: "" }];
}

/** The tokens of each line. */
export function linesOf(tokens: readonly Token[]): Token[][] {
  const lines: Token[][] = [[]];
  for (const { text, look } of tokens) {
    for (const [index, part] of text.split("\n").entries()) {
      if (index > 0) lines.push([]);
      if (part) lines.at(-1)?.push({ text: part, look });
    }
  }
  return lines;
}

/** The language named by a fence, or by a file's name. */
export function languageOf(path: string): string {
  const name = path.split("/").at(-1)?.toLowerCase() ?? "";
  return name.includes(".") ? (name.split(".").at(-1) ?? "") : name;
}

const MARKUP = /<span class="([^"]*)">|<\/span>/g;
const ENTITIES: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'" };

export function tokensOf(markup: string): Token[] {
  const tokens: Token[] = [];
  const looks: string[] = [];
  let from = 0;
  const push = (raw: string) => {
    const text = raw.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => ENTITIES[entity] ?? entity);
    if (text) tokens.push({ text, look: looks.findLast(Boolean) ?? "" });
  };
  for (const tag of markup.matchAll(MARKUP)) {
    push(markup.slice(from, tag.index));
    from = tag.index + tag[0].length;
    if (tag[1] === undefined) looks.pop();
    else looks.push(lookOf(tag[1]));
  }
  push(markup.slice(from));
  return tokens;
}

/** The few styles that token types share; types not listed here are plain. */
const LOOKS: Readonly<Record<string, string>> = {
  addition: "added",
  attr: "name",
  attribute: "name",
  built_in: "type",
  "builtin-name": "type",
  bullet: "keyword",
  class: "type",
  code: "string",
  comment: "comment",
  deletion: "removed",
  doctag: "comment",
  keyword: "keyword",
  link: "string",
  literal: "number",
  meta: "comment",
  name: "keyword",
  number: "number",
  quote: "comment",
  regexp: "string",
  section: "title",
  "selector-class": "title",
  "selector-id": "title",
  "selector-tag": "keyword",
  string: "string",
  symbol: "number",
  tag: "keyword",
  title: "title",
  type: "type",
  variable: "name",
};

function lookOf(names: string): string {
  const look = LOOKS[names.split(" ")[0]?.replace(/^hljs-/, "") ?? ""];
  return look ? `sa-code-${look}` : "";
}

function keep(key: string, tokens: readonly Token[], length: number): void {
  done.set(key, tokens);
  kept += length;
  for (const oldest of done.keys()) {
    if (kept <= KEPT) return;
    done.delete(oldest);
    kept -= oldest.length - oldest.indexOf("\n") - 1;
  }
}

function whenIdle(): Promise<void> {
  return new Promise((resolve) => {
    if ("requestIdleCallback" in window) window.requestIdleCallback(() => resolve(), { timeout: 500 });
    else setTimeout(resolve, 30);
  });
}
