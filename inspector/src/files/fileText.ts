/** Bytes as text that can be edited and given back as it was. */

export interface TextFile {
  readonly text: string;
  readonly etag: string;
  readonly size: number;
  /** The file has more than is shown. */
  readonly isCut: boolean;
}

/** Null for what is not text. */
export function decodedText(content: ArrayBuffer, isCut: boolean): string | null {
  try {
    // The end of a part may be half a character.
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content, { stream: isCut });
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

/** How the lines end. Null where they end in several ways: an editor makes them all alike. */
export function breakOf(text: string): "\n" | "\r\n" | null {
  const breaks = new Set(text.match(/\r\n|\r|\n/g));
  if (breaks.size === 0) return "\n";
  const [one] = breaks;
  return breaks.size === 1 && one !== "\r" ? (one as "\n" | "\r\n") : null;
}

export function withBreaks(text: string, by: "\n" | "\r\n"): string {
  return text.replace(/\r\n|\n/g, by);
}
