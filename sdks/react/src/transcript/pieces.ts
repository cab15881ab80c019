/**
 * Splits a long text into pieces that can be rendered one by one, so that rendering time does not grow with its length.
 *
 * A piece ends between two blocks of Markdown. A block that is too long itself is split between two lines, or within a
 * line; if that splits a fence, the fence is closed, and opened again in the next piece.
 */

export interface Piece {
  readonly text: string;
  /** It starts inside a fence that an earlier piece opened. */
  readonly continues: boolean;
  /** It ends inside a fence that continues in the next piece. */
  readonly goesOn: boolean;
}

/** Beyond this length, a piece ends at the end of a block or of a line of code. */
const LONG = 3_000;
/** The maximum length of a piece. */
const LONGEST = 24_000;
/** Longer lines are split themselves: the time to break a line grows with the square of its length. */
const LONGEST_LINE = 2 * LONG;
const LONGEST_WORD = 1_000;

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
/** A line that belongs to the block above it, even after an empty line. */
const BELONGS = /^(\s|[-*+] |\d+[.)] |>|\|)/;

/** How much of a line is needed to see whether it belongs to the block above it. */
const KNOWN = 8;

interface Fence {
  /** The line that opened it. */
  readonly line: string;
  readonly mark: string;
}

/** Splits a text that may still grow: pieces that are complete are not parsed again. */
export class Pieces {
  #text = "";
  #done: Piece[] = [];
  /** Where the last piece starts, and the fence that is open there. */
  #from = 0;
  #fence: Fence | null = null;

  of(text: string): readonly Piece[] {
    if (!text.startsWith(this.#text)) this.#reset();
    this.#text = text;
    for (let cut = this.#cut(); cut; cut = this.#cut()) {
      this.#done.push(piece(detached(text.slice(this.#from, cut.at)), this.#fence, cut.fence));
      [this.#from, this.#fence] = [cut.at, cut.fence];
    }
    return [...this.#done, piece(text.slice(this.#from), this.#fence, null)];
  }

  #reset(): void {
    this.#done = [];
    this.#from = 0;
    this.#fence = null;
  }

  /** Where the last piece ends, and the fence that is open there; null while it is too short. */
  #cut(): { at: number; fence: Fence | null } | null {
    const [text, from] = [this.#text, this.#from];
    if (text.length - from <= LONG) return null;
    let fence = this.#fence;
    let afterBlank = false;
    for (let at = from; at < text.length; ) {
      // No further than necessary: otherwise the end of a line of megabytes would be searched for again for each of its pieces.
      const near = text.slice(at, at + LONGEST_LINE + 1);
      const newline = near.indexOf("\n");
      const end = at + (newline < 0 ? near.length : newline);
      const begins = text.slice(at, at + KNOWN);
      const isFree = afterBlank && begins.length === KNOWN && !BELONGS.test(begins);
      if (at - from >= LONG && (fence || isFree)) return { at, fence };
      if (at > from && (end - from > LONGEST || end - at > LONGEST_LINE)) return { at, fence };
      if (end - at > LONGEST_LINE) return { at: wordEnd(text, from), fence };
      if (newline < 0) return null;
      const line = near.slice(0, Math.min(newline, 200));
      fence = after(line, fence);
      afterBlank = line.trim() === "";
      at = end + 1;
    }
    return null;
  }
}

export function piecesOf(text: string): readonly Piece[] {
  return new Pieces().of(text);
}

function piece(text: string, before: Fence | null, after: Fence | null): Piece {
  const opened = before ? `${before.line}\n${text}` : text;
  const closed = after ? `${opened}${opened.endsWith("\n") ? "" : "\n"}${after.mark}` : opened;
  return { text: closed, continues: before !== null, goesOn: after !== null };
}

/** The fence that is open after a line. */
function after(line: string, open: Fence | null): Fence | null {
  const found = FENCE.exec(line);
  const mark = found?.[1];
  if (!mark) return open;
  if (!open) return mark.startsWith("`") && found[2]?.includes("`") ? null : { line, mark };
  const closes = mark.startsWith(open.mark) && found[2]?.trim() === "";
  return closes ? null : open;
}

/** The end of a word near a position in a line; without one, an earlier position, but not within a character. */
function wordEnd(text: string, from: number): number {
  const near = text.slice(from, from + LONG);
  const space = near.lastIndexOf(" ");
  if (space > LONG / 2) return from + space + 1;
  return wholeCharacter(text, from + LONGEST_WORD);
}

/** A position that does not split a surrogate pair. */
function wholeCharacter(text: string, place: number): number {
  const code = text.charCodeAt(place - 1);
  return code >= 0xd800 && code < 0xdc00 ? place - 1 : place;
}

/** Splits plain text into chunks, between lines if possible. */
export function chunksOf(text: string): string[] {
  const chunks: string[] = [];
  for (let at = 0; at < text.length; ) {
    const near = text.slice(at, at + 2 * LONGEST_WORD);
    const newline = near.lastIndexOf("\n");
    const isLast = at + near.length === text.length;
    const end = newline > 0 && !isLast ? at + newline + 1 : isLast ? text.length : wholeCharacter(text, at + LONGEST_WORD);
    chunks.push(text.slice(at, end));
    at = end;
  }
  return chunks;
}

/** A copy. Browsers keep a slice as a view of the whole string, so every state of a streamed text would stay in memory. */
function detached(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}
