/**
 * The exact text that a user is asked to allow: characters that change the text direction or are invisible are shown by
 * name. Otherwise a command could look different from what it does.
 */
import type { ReactNode } from "react";

// Control characters except tab and line feed; separators of lines; what sets the direction; what has no width or no
// shape, such as fillers and tags. Joiners have a meaning between the letters of some scripts and in emoji, but not after
// Latin letters.
const UNSEEN =
  /([\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]|[\u200c\u200d](?<=(?:^|[\x00-\u02ff\u200b-\u200d]).))/u;

export function exact(text: string): ReactNode {
  if (!UNSEEN.test(text)) return text;
  return text.split(UNSEEN).map((part, index) => (index % 2 === 1 ? <Named key={index} sign={part} /> : part));
}

function Named({ sign }: { sign: string }) {
  return <mark className="sa-unseen">U+{(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}</mark>;
}
