/** Decodes bytes as text that can be edited and saved without other changes. */

export interface TextFile {
  readonly text: string;
  readonly etag: string;
  readonly size: number;
  /** The file is longer than what is shown. */
  readonly isCut: boolean;
}

/** Null if it is not text. */
export function decodedText(content: ArrayBuffer, isCut: boolean): string | null {
  try {
    // The last character may be cut off.
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content, { stream: isCut });
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

/** The line ending. Null if they are mixed: an editor would make them all the same. */
export function breakOf(text: string): "\n" | "\r\n" | null {
  const breaks = new Set(text.match(/\r\n|\r|\n/g));
  if (breaks.size === 0) return "\n";
  const [used] = breaks;
  return breaks.size === 1 && used !== "\r" ? (used as "\n" | "\r\n") : null;
}

export function withBreaks(text: string, by: "\n" | "\r\n"): string {
  return text.replace(/\r\n|\n/g, by);
}
