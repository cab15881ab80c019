/**
 * The exact text that a user is asked to allow: characters that change the text direction or are invisible are shown by
 * name. Otherwise a command could look different from what it does.
 */
import type { ReactNode } from "react";

// Control characters except tab and line feed; directional marks, embeddings, overrides and isolates; zero-width characters.
const UNSEEN = /([\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff])/;

export function exact(text: string): ReactNode {
  if (!UNSEEN.test(text)) return text;
  return text.split(UNSEEN).map((part, index) => (index % 2 === 1 ? <Named key={index} sign={part} /> : part));
}

function Named({ sign }: { sign: string }) {
  return <mark className="sa-unseen">U+{(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}</mark>;
}
